//! Hand-made faults: each is a patch of the code that the simulation runs, applied to a copy of the
//! workspace, and the simulation has to find it.

use anyhow::{Context, Result, bail};

use crate::copy::{self, Copy, Way};

/// Where the patches are.
const PATCHES: &str = "crates/sim/mutations";

/// What runs the histories.
const SIM: [&str; 2] = ["--package", "holdfast-sim"];

/// Applies each patch to a copy and runs at most `seeds` histories of it.
pub(super) fn run(seeds: u64, only: Option<&str>) -> Result<()> {
    let copy = Copy::named("mutations")?;
    let patches = copy::patches(PATCHES, only)?;
    copy.refresh()?;
    if let Some(seed) = first_failure(&copy, seeds.min(300))? {
        bail!("seed {seed} fails without any mutation");
    }
    let mut missed = Vec::new();
    for patch in &patches {
        let name = copy::name(patch);
        copy.apply(patch, Way::Forth)?;
        let failure = first_failure(&copy, seeds)?;
        copy.apply(patch, Way::Back)?;
        match failure {
            Some(seed) => println!("{name}: caught by seed {seed}"),
            None => {
                println!("{name}: NOT CAUGHT by {seeds} seeds");
                missed.push(name);
            }
        }
    }
    if !missed.is_empty() {
        bail!("not caught: {}", missed.join(", "));
    }
    println!("{} mutations, each caught", patches.len());
    Ok(())
}

/// The first seed whose history fails, if one of so many does.
fn first_failure(copy: &Copy, seeds: u64) -> Result<Option<u64>> {
    let built = copy.cargo("build").args(SIM).status().context("cannot start cargo")?;
    if !built.success() {
        bail!("the copy does not build");
    }
    let output = copy
        .cargo("run")
        .args(SIM)
        .args(["--quiet", "--", "--seeds", &seeds.to_string()])
        .output()
        .context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let failed = text.lines().find_map(|line| {
        let (seed, _) = line.strip_prefix("seed ")?.split_once(" fails: ")?;
        seed.parse().ok()
    });
    match (output.status.success(), failed) {
        (true, None) => Ok(None),
        (false, Some(seed)) => Ok(Some(seed)),
        (true, Some(_)) | (false, None) => {
            bail!("the simulation did not tell how it ended: {text}")
        }
    }
}
