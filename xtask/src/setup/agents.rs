//! The real agents that tests drive, installed from npm while other steps run.

use std::path::PathBuf;
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail};
use holdfast_pinned::{ALL, InstallError, Pinned};

use crate::setup::tools::Install;

type Installed = Vec<(&'static Pinned, Result<PathBuf, InstallError>)>;

/// An installation that goes on by itself until somebody asks for its end.
pub(crate) struct Installing {
    /// None where nothing may be installed.
    thread: Option<JoinHandle<Installed>>,
}

impl Installing {
    /// Begins; nothing is waited for.
    pub(crate) fn begin(install: Install) -> Self {
        let all = || ALL.into_iter().map(|pinned| (pinned, pinned.ensure())).collect();
        let thread = match install {
            Install::Missing => Some(std::thread::spawn(all)),
            Install::Nothing => None,
        };
        Self { thread }
    }

    /// Waits until every agent is there.
    ///
    /// # Errors
    /// One is missing and may not be installed, or its installation failed. The message names each.
    pub(crate) fn finish(self) -> Result<()> {
        let Some(thread) = self.thread else { return all_there(Pinned::folder) };
        let Ok(installed) = thread.join() else { bail!("the installation panicked") };
        for (pinned, result) in installed {
            let program = result.with_context(|| name(pinned))?;
            println!("{} is at {}", name(pinned), program.display());
        }
        Ok(())
    }
}

fn all_there(folder: impl Fn(&Pinned) -> Result<PathBuf, InstallError>) -> Result<()> {
    let mut missing = Vec::new();
    for pinned in ALL {
        let folder = folder(pinned)?;
        if pinned.is_in(&folder) {
            println!("{} is there", name(pinned));
        } else {
            missing.push(format!("{} is missing in {}", name(pinned), folder.display()));
        }
    }
    if !missing.is_empty() {
        bail!(missing.join("; "));
    }
    Ok(())
}

fn name(pinned: &Pinned) -> String {
    format!("{} {}", pinned.name, pinned.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_place() {
        let root = tempfile::tempdir().unwrap();
        let error = all_there(|pinned| Ok(root.path().join(name(pinned)))).unwrap_err().to_string();
        let first = root.path().join("opencode 1.18.33");
        let first = format!("opencode 1.18.33 is missing in {}; claude ", first.display());
        assert!(error.starts_with(&first), "{error}");
        assert_eq!(error.matches(" is missing in ").count(), ALL.len());
    }
}
