//! Builds the crate again when the page was built; the page itself is built by `cargo xtask`.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
