//! The scripted model server as a program: `scripted-model [--port N] [--log FILE]`.
//!
//! One line goes to stdout when it serves: `{"event":"ready","port":N}`.

use std::io::Write;
use std::process::ExitCode;

use holdfast_testkit::model::{ModelServer, Options};
use serde_json::json;

const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let Some(options) = options(std::env::args().skip(1)) else {
        complain("usage: scripted-model [--port N] [--log FILE]");
        return ExitCode::from(EXIT_USAGE);
    };
    let server = match ModelServer::start_with(options) {
        Ok(server) => server,
        Err(error) => {
            complain(&format!("scripted-model: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let ready = json!({ "event": "ready", "port": server.port });
    if let Err(error) = writeln!(std::io::stdout(), "{ready}") {
        complain(&format!("scripted-model: stdout: {error}"));
        return ExitCode::FAILURE;
    }
    server.serve_on();
    ExitCode::SUCCESS
}

fn options(mut args: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options::default();
    while let Some(name) = args.next() {
        let value = args.next()?;
        match name.as_str() {
            "--port" => options.port = value.parse().ok()?,
            "--log" => options.log = Some(value.into()),
            _ => return None,
        }
    }
    Some(options)
}

fn complain(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}
