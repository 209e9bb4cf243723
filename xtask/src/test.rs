//! `cargo xtask test`: sets up a fresh machine and checks everything.
//!
//! Every check runs even when an earlier one failed, so that one run tells all. The tests run
//! last: their closing lines are the end of the output.

mod totals;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::setup::agents::Installing;
use crate::setup::tools::{self, Install};
use crate::setup::{packages, tools::CARGO_DENY};
use crate::{contract, run as build, shell, tidy, web};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only this step; may be given several times.
    #[arg(long, value_name = "STEP")]
    only: Vec<Step>,
    /// Install nothing; say what is missing.
    #[arg(long)]
    no_install: bool,
}

/// One step, in the order in which they run: what the others need comes first, then from quick to
/// slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Step {
    /// Debian packages.
    Packages,
    /// Formatting.
    Fmt,
    /// House rules.
    Tidy,
    /// Dependencies: bans, licences, sources.
    Deny,
    /// The page's build, form, types, and tests that need no browser.
    Page,
    /// Lints.
    Clippy,
    /// The binaries that whole-process tests start.
    Build,
    /// The real agents that tests drive; they are installed while the steps before this run.
    Agents,
    /// The page in a browser, against the real host.
    Browser,
    /// The running program against the document of its API.
    Contract,
    /// All tests.
    Test,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let install = if args.no_install { Install::Nothing } else { Install::Missing };
    let mut results = Vec::new();
    let mut closing = Vec::new();
    let mut agents = None;
    let steps = wanted(&args.only);
    // Not before the packages: npm is one of them.
    let begin_agents = steps.iter().find(|step| **step != Step::Packages).copied();
    for step in steps.iter().copied() {
        println!("\n[{}]", name(step));
        if step == Step::Test && !results.is_empty() {
            println!("{}", summary(&results));
        }
        if Some(step) == begin_agents && steps.contains(&Step::Agents) {
            agents = Some(Installing::begin(install));
        }
        let result = take(step, install, &mut agents, &mut closing);
        if let Err(error) = &result {
            eprintln!("{}: {error:#}", name(step));
        }
        let failed = result.is_err();
        results.push((step, if failed { Outcome::Failed } else { Outcome::Passed }));
        if failed && step == Step::Packages {
            break;
        }
    }
    // After the tests only a failure adds a line: their own closing lines are the end.
    if results.iter().all(|(step, _)| *step != Step::Test) {
        println!("\n{}", summary(&results));
    }
    let failed: Vec<String> = results
        .iter()
        .filter(|(_, outcome)| *outcome == Outcome::Failed)
        .map(|(step, _)| name(*step))
        .collect();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// The steps to take, in their order.
fn wanted(only: &[Step]) -> Vec<Step> {
    let all = Step::value_variants().iter().copied();
    all.filter(|step| only.is_empty() || only.contains(step)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Passed,
    Failed,
}

/// Takes a step. What the page's tests said at their end is kept, and said again at the end of all.
fn take(
    step: Step,
    install: Install,
    agents: &mut Option<Installing>,
    closing: &mut Vec<String>,
) -> Result<()> {
    match step {
        Step::Packages => packages::ensure(install),
        Step::Fmt => shell::must(shell::cargo().args(["fmt", "--all", "--check"])),
        Step::Tidy => {
            println!("$ cargo xtask tidy");
            tidy::run()
        }
        Step::Deny => {
            let folder = tools::ensure(&CARGO_DENY, install)?;
            shell::must(
                shell::cargo()
                    .args(["deny", "check", "bans", "licenses", "sources"])
                    .env("PATH", tools::path_with(&folder)?),
            )
        }
        Step::Page => {
            web::build()?;
            closing.extend(web::check()?);
            Ok(())
        }
        Step::Clippy => shell::must(shell::cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])),
        Step::Build => shell::must(shell::cargo().args(["build", "--workspace", "--bins"])),
        Step::Agents => agents.take().map_or(Ok(()), Installing::finish),
        Step::Browser => {
            closing.extend(web::browser(&build::binary()?)?);
            Ok(())
        }
        Step::Contract => contract::run(&contract::Args::SHORT, install),
        Step::Test => totals::run_tests(closing).context("cargo test"),
    }
}

fn name(step: Step) -> String {
    step.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn summary(results: &[(Step, Outcome)]) -> String {
    let words: Vec<String> = results
        .iter()
        .map(|(step, outcome)| match outcome {
            Outcome::Passed => format!("{} ok", name(*step)),
            Outcome::Failed => format!("{} FAILED", name(*step)),
        })
        .collect();
    format!("so far: {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_are_the_last_step() {
        assert_eq!(Step::value_variants().last(), Some(&Step::Test));
    }

    #[test]
    fn the_agents_are_there_before_the_tests_and_after_what_is_built_meanwhile() {
        let all = wanted(&[]);
        let at = |step| all.iter().position(|one| *one == step).unwrap();
        assert!(at(Step::Packages) < at(Step::Build) && at(Step::Build) < at(Step::Agents));
        assert!(at(Step::Agents) < at(Step::Test));
        assert_eq!(wanted(&[Step::Test, Step::Fmt]), [Step::Fmt, Step::Test]);
    }

    #[test]
    fn a_failed_step_stands_out() {
        let results = [(Step::Fmt, Outcome::Passed), (Step::Deny, Outcome::Failed)];
        assert_eq!(summary(&results), "so far: fmt ok, deny FAILED");
    }
}
