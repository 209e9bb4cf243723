//! The real agents that tests drive, each at a pinned version, installed by npm into the user's
//! cache folder. For tests and for the command that runs them; nothing here is part of the product.

#![allow(
    clippy::disallowed_methods,
    reason = "a developer's tool starts npm and reads the environment; it is no part of the product"
)]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of somebody else, pinned by the files on which `npm ci` runs.
#[derive(Debug)]
pub struct Pinned {
    /// Its name, which is its command's as well.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    files: [(&'static str, &'static str); 3],
    /// The program, below the folder of the install.
    program: &'static str,
}

macro_rules! files {
    ($folder:literal) => {
        [
            ("package.json", include_str!(concat!("../agents/", $folder, "/package.json"))),
            (
                "package-lock.json",
                include_str!(concat!("../agents/", $folder, "/package-lock.json")),
            ),
            (".npmrc", include_str!(concat!("../agents/", $folder, "/.npmrc"))),
        ]
    };
}

/// opencode, which speaks the Agent Client Protocol.
pub const OPENCODE: Pinned = Pinned {
    name: "opencode",
    version: "1.18.33",
    files: files!("opencode"),
    program: "node_modules/opencode-linux-x64/bin/opencode",
};

/// Claude Code: what the product is made for.
pub const CLAUDE: Pinned = Pinned {
    name: "claude",
    version: "2.1.332",
    files: files!("claude"),
    program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
};

/// The oldest Claude Code that is tested.
pub const CLAUDE_OLDEST: Pinned = Pinned {
    name: "claude",
    version: "2.1.197",
    files: files!("claude-oldest"),
    program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
};

/// Codex.
pub const CODEX: Pinned = Pinned {
    name: "codex",
    version: "0.171.0",
    files: files!("codex"),
    program: "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
};

/// All of them.
pub const ALL: [&Pinned; 4] = [&OPENCODE, &CLAUDE, &CLAUDE_OLDEST, &CODEX];

const NPM_CI: [&str; 2] = ["npm", "ci"];

/// Why a program could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    #[error("no cache folder: set XDG_CACHE_HOME or HOME")]
    NoCacheFolder,
    /// The packages are made for Linux on x86-64 only.
    #[error("{name} {version} is pinned for linux-x64, this is {os}-{arch}")]
    OtherPlatform {
        /// The program.
        name: &'static str,
        /// Its version.
        version: &'static str,
        /// `std::env::consts::OS`
        os: &'static str,
        /// `std::env::consts::ARCH`
        arch: &'static str,
    },
    /// A file of the install could not be made.
    #[error("installing {name} into {folder}")]
    Io {
        /// The program.
        name: &'static str,
        /// The folder of the install.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// npm could not be run at all.
    #[error("running npm, which comes with Node")]
    NoNpm(#[source] io::Error),
    /// npm ran and failed.
    #[error("npm ci failed ({status}) in {folder}:\n{output}")]
    NpmFailed {
        /// Where it ran; it is left there to be looked at.
        folder: PathBuf,
        /// npm's exit status.
        status: std::process::ExitStatus,
        /// All that npm wrote.
        output: String,
    },
}

impl Pinned {
    /// Installs it below the user's cache folder unless it is there, and gives its program.
    ///
    /// # Errors
    ///
    /// See [`InstallError`]. A test fails with it: it is never a reason to pass a test over.
    pub fn ensure(&self) -> Result<PathBuf, InstallError> {
        self.ensure_in(&self.folder()?)
    }

    /// As [`Self::ensure`], into a folder of one's choice. Several processes may ask at once: one
    /// installs, the others wait.
    ///
    /// # Errors
    ///
    /// As for [`Self::ensure`].
    pub fn ensure_in(&self, folder: &Path) -> Result<PathBuf, InstallError> {
        if (std::env::consts::OS, std::env::consts::ARCH) != ("linux", "x86_64") {
            let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
            let Self { name, version, .. } = self;
            return Err(InstallError::OtherPlatform { name, version, os, arch });
        }
        let io = |source| self.io(folder, source);
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(io)?;
        }
        let lock = File::create(folder.with_added_extension("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        if !self.is_in(folder) {
            self.install(folder, &NPM_CI)?;
        }
        Ok(folder.join(self.program))
    }

    /// The folder of the install, below the user's cache folder.
    ///
    /// # Errors
    ///
    /// [`InstallError::NoCacheFolder`]
    pub fn folder(&self) -> Result<PathBuf, InstallError> {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        let cache = cache.ok_or(InstallError::NoCacheFolder)?;
        Ok(cache.join("holdfast/agents").join(format!("{}-{}", self.name, self.version)))
    }

    /// Whether this folder holds exactly what the committed files say; nothing is installed. It got
    /// its name only when npm had ended well.
    pub fn is_in(&self, folder: &Path) -> bool {
        let same = |(name, text): &(&str, &str)| {
            fs::read_to_string(folder.join(name)).is_ok_and(|there| there == *text)
        };
        self.files.iter().all(same) && folder.join(self.program).is_file()
    }

    /// Runs `npm_ci` in a folder beside the wanted one, which gets its name when that has ended
    /// well.
    fn install(&self, folder: &Path, npm_ci: &[&str; 2]) -> Result<(), InstallError> {
        let io = |source| self.io(folder, source);
        let staging = folder.with_added_extension("new");
        remove(&staging).map_err(io)?;
        fs::create_dir_all(&staging).map_err(io)?;
        for (name, text) in self.files {
            fs::write(staging.join(name), text).map_err(io)?;
        }
        let [program, argument] = npm_ci;
        let npm = Command::new(program).arg(argument).current_dir(&staging).output();
        let npm = npm.map_err(InstallError::NoNpm)?;
        if !npm.status.success() {
            let output = [npm.stdout, npm.stderr].concat();
            return Err(InstallError::NpmFailed {
                folder: staging,
                status: npm.status,
                output: String::from_utf8_lossy(&output).into_owned(),
            });
        }
        remove(folder).map_err(io)?;
        fs::rename(&staging, folder).map_err(io)
    }

    fn io(&self, folder: &Path, source: io::Error) -> InstallError {
        InstallError::Io { name: self.name, folder: folder.to_owned(), source }
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    /// Stands in for npm: a program that is run in the folder of the install.
    fn npm(folder: &Path, script: &str) -> String {
        let path = folder.join("npm.sh");
        fs::write(&path, script).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    #[test]
    fn an_install_gets_its_name_only_when_npm_ended_well() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("opencode-0");
        let script = npm(dir.path(), "echo no such package; exit 3");
        let failed = OPENCODE.install(&folder, &["sh", &script]).unwrap_err();
        assert!(failed.to_string().ends_with("no such package\n"), "{failed}");
        assert!(!folder.exists());

        let works = "mkdir -p node_modules/opencode-linux-x64/bin && \
                     cp package.json node_modules/opencode-linux-x64/bin/opencode";
        let script = npm(dir.path(), works);
        OPENCODE.install(&folder, &["sh", &script]).unwrap();
        assert!(OPENCODE.is_in(&folder));
        fs::write(folder.join("package-lock.json"), "another version").unwrap();
        assert!(!OPENCODE.is_in(&folder));
        OPENCODE.install(&folder, &["sh", &script]).unwrap();
        assert!(OPENCODE.is_in(&folder));
    }

    #[test]
    fn the_pinned_version_is_the_one_in_the_package_files() {
        for pinned in ALL {
            for (name, text) in &pinned.files[..2] {
                let says = text.contains(&format!("\"{}\"", pinned.version))
                    || text.contains(&format!("{}-linux-x64\"", pinned.version));
                assert!(says, "{} {} in {name}", pinned.name, pinned.version);
            }
            assert!(!pinned.files[1].1.contains("resolved"), "{}", pinned.name);
        }
    }

    #[test]
    fn no_two_share_a_folder() {
        let mut folders: Vec<_> = ALL.iter().map(|pinned| pinned.folder().unwrap()).collect();
        folders.dedup();
        assert_eq!(folders.len(), ALL.len());
    }
}
