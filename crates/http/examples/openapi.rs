//! Prints the document of the API; `cargo xtask openapi` puts it into `docs/openapi.json`.

#![allow(clippy::print_stdout, reason = "its output is its purpose")]

fn main() {
    print!("{}", holdfast_http::openapi::text());
}
