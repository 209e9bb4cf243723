//! Debian packages that the tests use, installed by name.

use anyhow::{Result, bail};

use crate::setup::tools::Install;
use crate::shell;

/// One package, how to see that it is there, and what needs it.
struct Package {
    name: &'static str,
    probe: Probe,
    why: &'static str,
}

/// Presence is asked of the thing itself, not of the package database: a machine may have it from
/// elsewhere, and one that is not Debian has no such database.
enum Probe {
    /// A program on the search path.
    Program(&'static str),
    /// A module that `python3` can import.
    PythonModule(&'static str),
}

const PACKAGES: &[Package] = &[
    Package {
        name: "build-essential",
        probe: Probe::Program("cc"),
        why: "links every binary and compiles the bundled SQLite",
    },
    Package {
        name: "chromium",
        probe: Probe::Program("chromium"),
        why: "shows the page as a person sees it",
    },
    Package {
        name: "git",
        probe: Probe::Program("git"),
        why: "tidy asks it which files belong to the repository",
    },
    Package {
        name: "iproute2",
        probe: Probe::Program("ip"),
        why: "shows in a network of its own that the real agents speak to loopback only",
    },
    Package {
        name: "npm",
        probe: Probe::Program("npm"),
        why: "installs the real agents that the tests drive, and builds the page",
    },
    Package {
        name: "patchelf",
        probe: Probe::Program("patchelf"),
        why: "gives a copy of the program a library that loses what was not synced",
    },
    Package {
        name: "python3-venv",
        probe: Probe::PythonModule("ensurepip"),
        why: "installs ready-made tools into a folder of their own",
    },
    Package {
        name: "strace",
        probe: Probe::Program("strace"),
        why: "shows that a sync returns before its answer is written",
    },
    Package {
        name: "systemd",
        probe: Probe::Program("systemd-analyze"),
        why: "checks the unit that a host is started by",
    },
    Package {
        name: "util-linux",
        probe: Probe::Program("setpriv"),
        why: "runs tests as an unprivileged user, so that they prove something as root",
    },
];

/// Makes sure that every package is there.
///
/// # Errors
/// Something is missing and may not (`Install::Nothing`, or not root) or cannot be installed. The
/// message names each package and what needs it.
pub(crate) fn ensure(install: Install) -> Result<()> {
    let missing: Vec<&Package> = PACKAGES.iter().filter(|package| !is_there(package)).collect();
    if missing.is_empty() {
        println!("all {} packages are there", PACKAGES.len());
        return Ok(());
    }
    match install {
        Install::Missing if is_root() => {}
        Install::Missing | Install::Nothing => bail!(refusal(&missing)),
    }
    shell::must(shell::command("apt-get").args(["update", "--quiet"]))?;
    shell::must(
        shell::command("apt-get")
            .args(["install", "--quiet", "--yes", "--no-install-recommends"])
            .args(missing.iter().map(|package| package.name))
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )?;
    let still: Vec<&Package> = missing.into_iter().filter(|package| !is_there(package)).collect();
    if !still.is_empty() {
        bail!("installed, yet not found: {}", names(&still));
    }
    Ok(())
}

fn is_there(package: &Package) -> bool {
    match package.probe {
        Probe::Program(program) => shell::on_path(program),
        Probe::PythonModule(module) => {
            shell::answers(shell::command("python3").args(["-c", &format!("import {module}")]))
        }
    }
}

fn is_root() -> bool {
    shell::output(shell::command("id").arg("-u")).is_ok_and(|id| id.trim_ascii() == b"0")
}

fn refusal(missing: &[&Package]) -> String {
    let mut text = String::from("Debian packages are missing:\n");
    for package in missing {
        text.push_str(&format!("  {}: {}\n", package.name, package.why));
    }
    text.push_str("Install them as root: apt-get install ");
    text.push_str(&names(missing));
    text
}

fn names(packages: &[&Package]) -> String {
    packages.iter().map(|package| package.name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_reason_and_the_command() {
        let packages: Vec<&Package> =
            PACKAGES.iter().filter(|p| ["strace", "util-linux"].contains(&p.name)).collect();
        assert_eq!(
            refusal(&packages),
            "Debian packages are missing:\n  \
             strace: shows that a sync returns before its answer is written\n  \
             util-linux: runs tests as an unprivileged user, so that they prove something as root\n\
             Install them as root: apt-get install strace util-linux"
        );
    }

    #[test]
    fn a_probe_tells_there_from_missing() {
        let package = |probe| Package { name: "x", probe, why: "x" };
        assert!(is_there(&package(Probe::Program("sh"))));
        assert!(!is_there(&package(Probe::Program("holdfast-no-such-program"))));
        assert!(!is_there(&package(Probe::PythonModule("holdfast_no_such_module"))));
    }
}
