//! A keeper as a program of its own, for the tests of this crate. The product enters
//! [`holdfast_keeper::serve::main`] from its own binary.

fn main() -> std::process::ExitCode {
    holdfast_keeper::serve::main()
}
