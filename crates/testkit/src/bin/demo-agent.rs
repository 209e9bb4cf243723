//! The built-in demo agent as a program of its own, for tests that need no host.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let code = holdfast_agent::demo::main(&args);
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}
