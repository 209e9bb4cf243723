//! `cargo xtask ablate`: rules are proven by what happens without them. Each file of
//! `docs/proof/ablations` takes one rule out of a copy of the code, and names the test that has to
//! fail then.
//!
//! A file is a patch below two lines of its own:
//!
//! ```text
//! rule: what holds, in a sentence
//! test: PACKAGE [--test TARGET] NAME
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use anyhow::{Context, Result, anyhow, bail};

use crate::copy::{self, Copy, Way};

/// Where the ablations are.
const PATCHES: &str = "docs/proof/ablations";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only those whose names contain this.
    #[arg(long)]
    only: Option<String>,
}

/// A rule, how it is taken out, and the test that sees it.
struct Ablation {
    patch: PathBuf,
    rule: String,
    /// The arguments that choose the tests of one program.
    target: Vec<String>,
    test: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let ablations: Vec<Ablation> = copy::patches(PATCHES, args.only.as_deref())?
        .into_iter()
        .map(|patch| read(patch.clone()).with_context(|| patch.display().to_string()))
        .collect::<Result<_>>()?;
    let copy = Copy::named("ablations")?;
    copy.refresh()?;
    with_every_rule(&copy, &ablations)?;
    let mut unseen = Vec::new();
    for ablation in &ablations {
        let name = copy::name(&ablation.patch);
        copy.apply(&ablation.patch, Way::Forth)?;
        let failed = fails(&copy, ablation);
        copy.apply(&ablation.patch, Way::Back)?;
        if failed.with_context(|| name.clone())? {
            println!("{name}: without it {} fails. {}", ablation.test, ablation.rule);
        } else {
            println!("{name}: NOT SEEN by {}. {}", ablation.test, ablation.rule);
            unseen.push(name);
        }
    }
    if !unseen.is_empty() {
        bail!("not seen: {}", unseen.join(", "));
    }
    println!("{} rules, each seen to be missed by its test", ablations.len());
    Ok(())
}

fn read(patch: PathBuf) -> Result<Ablation> {
    let text = fs::read_to_string(&patch)?;
    let line = |key: &str| {
        let found = text.lines().take(2).find_map(|line| line.strip_prefix(key));
        found.map(str::trim).ok_or_else(|| anyhow!("the first two lines say no {key:?}"))
    };
    let rule = line("rule:")?.to_owned();
    let words: Vec<&str> = line("test:")?.split_whitespace().collect();
    let (package, target, test) = match words.as_slice() {
        [package, test] => (package, vec!["--lib"], test),
        [package, "--test", target, test] => (package, vec!["--test", target], test),
        _ => bail!("`test:` names a package, `--test TARGET` where it is no unit test, and a test"),
    };
    let target = ["--package", package].into_iter().chain(target).map(str::to_owned).collect();
    Ok(Ablation { patch, rule, target, test: (*test).to_owned() })
}

/// All of the tests pass while nothing is missing: their failures mean something.
fn with_every_rule(copy: &Copy, ablations: &[Ablation]) -> Result<()> {
    let mut programs: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    for Ablation { target, test, .. } in ablations {
        programs.entry(target).or_default().push(test);
    }
    for (target, mut tests) in programs {
        tests.sort_unstable();
        tests.dedup();
        let output = output(copy, target, &tests)?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !text.contains(&format!(" {} passed;", tests.len())) {
            bail!("not each of the tests is there and passes with every rule in place:\n{text}");
        }
    }
    Ok(())
}

/// Whether the test of an ablation fails.
fn fails(copy: &Copy, ablation: &Ablation) -> Result<bool> {
    let Ablation { target, test, .. } = ablation;
    let built = copy.cargo("test").arg("--quiet").args(target).arg("--no-run").output()?;
    if !built.status.success() {
        let text = String::from_utf8_lossy(&built.stderr);
        bail!("without the rule it does not build:\n{text}");
    }
    let output = output(copy, target, &[test])?;
    let text = String::from_utf8_lossy(&output.stdout);
    match (output.status.success(), text.contains(" 0 passed; 1 failed;")) {
        (true, false) => Ok(false),
        (false, true) => Ok(true),
        (true, true) | (false, false) => bail!("the test did not tell how it ended:\n{text}"),
    }
}

fn output(copy: &Copy, target: &[String], tests: &[&str]) -> Result<Output> {
    let mut cargo = copy.cargo("test");
    cargo.args(target).args(["--", "--exact"]).args(tests);
    cargo.output().context("cannot start cargo")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Ablation> {
        let folder = std::env::temp_dir().join(format!("holdfast-ablate-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let patch = folder.join("one.patch");
        fs::write(&patch, text).unwrap();
        let read = read(patch);
        fs::remove_dir_all(&folder).unwrap();
        read
    }

    #[test]
    fn an_ablation_names_its_rule_and_its_test() {
        let one = of("rule: it holds\ntest: holdfast-core a::b\n\ndiff --git").unwrap();
        assert_eq!((one.rule.as_str(), one.test.as_str()), ("it holds", "a::b"));
        assert_eq!(one.target, ["--package", "holdfast-core", "--lib"]);
        let two = of("rule: it holds\ntest: holdfast --test offers a::b\n").unwrap();
        assert_eq!(two.target, ["--package", "holdfast", "--test", "offers"]);
        for wrong in ["", "rule: x\n", "rule: x\ntest: one\n", "test: a b\n\nrule: too late\n"] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }
}
