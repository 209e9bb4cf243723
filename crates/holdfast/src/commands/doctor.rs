//! `holdfast doctor`: each line says what was looked at, how it is, and what to do.

mod here;
mod host;

use std::path::Path;

use holdfast_cli::{Exit, Fault, Out, Reach, Surroundings};
use serde::Serialize;
use serde_json::json;

/// What `doctor` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The configuration; by default `config.toml` in the data directory.
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    /// Where its words go.
    pub(crate) fn out(&self) -> Out {
        self.reach.out()
    }
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    Warn,
    Fail,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    level: Level,
    text: String,
    advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, text: text.into(), advice: None }
    }

    fn warn(check: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, level: Level::Warn, text: text.into(), advice: Some(advice.into()) }
    }

    fn fail(check: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, level: Level::Fail, text: text.into(), advice: Some(advice.into()) }
    }
}

/// Looks at everything. Fails where something is broken, not where it could only be better.
pub(crate) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let mut findings = Vec::new();
    // Of another machine only its host can be looked at.
    if args.reach.host(around).is_none() {
        let data_dir = args.reach.data_dir(around)?;
        findings.extend(here::look(&data_dir, args.config.as_deref()));
    }
    let of_host = host::look(&args.reach, around, &findings)?;
    findings.extend(of_host);
    tell(args.out(), &findings)
}

fn tell(out: Out, findings: &[Finding]) -> Result<(), Fault> {
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (fails, warns) = (count(Level::Fail), count(Level::Warn));
    if out.is_json() {
        out.json(&json!({ "checks": findings, "fail": fails, "warn": warns }))?;
    } else {
        for finding in findings {
            let word = match finding.level {
                Level::Ok => "ok",
                Level::Warn => "warn",
                Level::Fail => "fail",
            };
            let mut lines = finding.text.lines().filter(|line| !line.trim().is_empty());
            let first = lines.next().unwrap_or_default();
            out.line(&format!("{word:<5} {:<12} {first}", finding.check))?;
            for line in lines {
                out.line(&format!("{:<18} {line}", ""))?;
            }
            if let Some(advice) = &finding.advice {
                out.line(&format!("{:<18} {advice}", ""))?;
            }
        }
    }
    match fails {
        0 => Ok(()),
        1 => Err(Fault::new(Exit::Failed, "unwell", "One thing is broken.")),
        n => Err(Fault::new(Exit::Failed, "unwell", format!("{n} things are broken."))),
    }
}

/// A path as it is shown.
fn name(path: &Path) -> std::path::Display<'_> {
    path.display()
}
