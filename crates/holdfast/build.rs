//! A keeper is this same program, and its private memory is counted in pages: at an address that is
//! known when it is linked, what the program is made of needs no relocation and stays clean pages of
//! the file, shared by all keepers (docs/decisions/0026).

#![allow(
    clippy::disallowed_methods,
    reason = "a build script is told by the environment what is built"
)]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
