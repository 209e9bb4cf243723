//! `cargo xtask contract`: does the running program keep to the document of its API? Schemathesis
//! calls it with whatever the document allows and much that it does not: no answer may be a defect
//! (5xx), have a status or a shape that the document has not, or take what it says is refused.
//!
//! All of it is on loopback. The host runs in a folder of its own without any agent but the built-in
//! one, is stopped at the end, and has to leave no process behind.

mod host;
mod http;
mod seed;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::openapi::KEPT;
use crate::setup::tools::{self, Install, SCHEMATHESIS};
use crate::{run, shell};
use host::Host;

/// What is not called: whatever is done to the host itself, and the stream that does not end.
const LEFT_ALONE: &str = "^/api/v1/(host/.+|events)$";

/// What is looked at in each answer.
const CHECKS: &[&str] = &[
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "ignored_auth",
    "negative_data_rejection",
    "use_after_free",
    "ensure_resource_availability",
    "missing_required_header",
    "allow_header_conformance",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long to call, at most.
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    seconds: u32,
    /// Test cases of each call, at most.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    cases: u32,
    /// What the calls are made from; the same seed makes the same calls.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Args {
    /// What `cargo xtask test` runs.
    pub(crate) const SHORT: Self = Self { seconds: 60, cases: 12, seed: 1 };
}

pub(crate) fn run(args: &Args, install: Install) -> Result<()> {
    let tool = tools::ensure(&SCHEMATHESIS, install)?;
    let binary = run::build()?;
    let home = tempfile::tempdir().context("cannot make a folder")?;
    let mut host = Host::start(&binary, home.path())?;
    let called = seed::seed(&host).and_then(|seeded| call(args, &tool, &host, &seeded));
    let stopped = host.stop();
    if called.is_err() || stopped.is_err() {
        println!("what the host said:\n{}", host.said());
    }
    called.and(stopped)
}

fn call(args: &Args, tool: &Path, host: &Host, seeded: &seed::Seeded) -> Result<()> {
    let config = host.home().join("schemathesis.toml");
    std::fs::write(&config, seeded.config(&host.token))
        .with_context(|| format!("cannot write {}", config.display()))?;
    let mut command = SCHEMATHESIS.command(tool);
    command.arg("--config-file").arg(&config).arg("run").arg(shell::root().join(KEPT)).args([
        "--no-color",
        "--url",
        &host.url,
        "--exclude-path-regex",
        LEFT_ALONE,
        "--checks",
        &CHECKS.join(","),
        "--max-examples",
        &args.cases.to_string(),
        "--max-time",
        &args.seconds.to_string(),
        "--seed",
        &args.seed.to_string(),
        "--generation-database",
        "none",
        "--suppress-health-check",
        "all",
        "--warnings",
        "off",
        "--request-timeout",
        "30",
        "--continue-on-failure",
    ]);
    // It says nothing to anybody but the host.
    command.current_dir(host.home()).env("NO_PROXY", "*").env("SCHEMATHESIS_TELEMETRY", "false");
    shell::must(&mut command)?;
    if host.alive() { Ok(()) } else { bail!("the host did not outlive the calls") }
}
