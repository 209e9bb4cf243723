//! The real opencode, pinned, installed into the user's cache folder and driven offline.
//!
//! What it does differently from what one would expect of an ACP agent is written down in
//! `README.md` of this crate.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

/// The pinned version, as in `agents/opencode/package.json`.
pub const VERSION: &str = "1.18.33";

const PACKAGE_FILES: [(&str, &str); 3] = [
    ("package.json", include_str!("../agents/opencode/package.json")),
    ("package-lock.json", include_str!("../agents/opencode/package-lock.json")),
    (".npmrc", include_str!("../agents/opencode/.npmrc")),
];
const NPM_CI: [&str; 2] = ["npm", "ci"];
/// The program, below the folder of the install.
const PROGRAM: &str = "node_modules/opencode-linux-x64/bin/opencode";

/// Why opencode could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    #[error("no cache folder: set XDG_CACHE_HOME or HOME")]
    NoCacheFolder,
    /// The pinned package is made for Linux on x86-64 only.
    #[error("opencode {VERSION} is pinned for linux-x64, this is {os}-{arch}")]
    OtherPlatform {
        /// `std::env::consts::OS`
        os: &'static str,
        /// `std::env::consts::ARCH`
        arch: &'static str,
    },
    /// A file of the install could not be made.
    #[error("installing opencode into {folder}")]
    Io {
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

/// Installs opencode below the user's cache folder unless it is there, and gives its program.
///
/// # Errors
///
/// See [`InstallError`]. A test fails with it: it is never a reason to pass a test over.
pub fn ensure() -> Result<PathBuf, InstallError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.ok_or(InstallError::NoCacheFolder)?;
    ensure_in(&cache.join("holdfast/agents").join(format!("opencode-{VERSION}")))
}

/// The right to run opencode, which takes up to 800 MB: one holder at a time on this machine.
#[derive(Debug)]
pub struct Alone {
    _lock: File,
}

/// Waits until nobody else runs opencode.
///
/// # Errors
///
/// When the lock file, in the folder for temporary files, cannot be made.
pub fn alone() -> io::Result<Alone> {
    let lock = File::create(std::env::temp_dir().join("holdfast-testkit-opencode.lock"))?;
    lock.lock()?;
    Ok(Alone { _lock: lock })
}

/// As [`ensure`], into a folder of one's choice. Several processes may ask at once: one installs,
/// the others wait.
///
/// # Errors
///
/// As for [`ensure`].
pub fn ensure_in(folder: &Path) -> Result<PathBuf, InstallError> {
    if (std::env::consts::OS, std::env::consts::ARCH) != ("linux", "x86_64") {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        return Err(InstallError::OtherPlatform { os, arch });
    }
    let io = |source| InstallError::Io { folder: folder.to_owned(), source };
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(io)?;
    }
    let lock = File::create(folder.with_added_extension("lock")).map_err(io)?;
    lock.lock().map_err(io)?;
    if !is_installed(folder) {
        install(folder, &NPM_CI)?;
    }
    Ok(folder.join(PROGRAM))
}

/// Whether the folder holds exactly what the committed files say. It got its name only when npm had
/// ended well.
fn is_installed(folder: &Path) -> bool {
    let same = |(name, text): &(&str, &str)| {
        fs::read_to_string(folder.join(name)).is_ok_and(|there| there == *text)
    };
    PACKAGE_FILES.iter().all(same) && folder.join(PROGRAM).is_file()
}

/// Runs `npm_ci` in a folder beside the wanted one, which gets its name when that has ended well.
fn install(folder: &Path, npm_ci: &[&str; 2]) -> Result<(), InstallError> {
    let io = |source| InstallError::Io { folder: folder.to_owned(), source };
    let staging = folder.with_added_extension("new");
    remove(&staging).map_err(io)?;
    fs::create_dir_all(&staging).map_err(io)?;
    for (name, text) in PACKAGE_FILES {
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

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Writes a home for opencode into `scratch` and gives the environment that makes it live there,
/// talk only to the model server on `model_port`, and ask nobody else. Run it as `opencode acp`.
///
/// # Errors
///
/// When the files cannot be written.
pub fn home(scratch: &Path, model_port: u16) -> io::Result<Vec<(String, String)>> {
    let config = json!({
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": {
                    "baseURL": format!("http://127.0.0.1:{model_port}/v1"),
                    "apiKey": "k",
                },
                "models": { "m": {
                    "name": "M",
                    "attachment": true,
                    "modalities": { "input": ["text", "image"], "output": ["text"] },
                } },
            },
        },
        "model": "scripted/m",
        "small_model": "scripted/m",
        "permission": { "bash": "ask", "edit": "ask" },
        "autoupdate": false,
        "share": "disabled",
    });
    let folders = [
        ("HOME", ""),
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
        ("TMPDIR", "tmp"),
    ];
    let mut environment = Vec::new();
    for (name, below) in folders {
        let folder = scratch.join(below);
        fs::create_dir_all(&folder)?;
        let folder = folder.into_os_string().into_string();
        let folder = folder.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        environment.push((name.to_owned(), folder));
    }
    let config_folder = scratch.join(".config/opencode");
    fs::create_dir_all(&config_folder)?;
    fs::write(config_folder.join("opencode.json"), config.to_string())?;
    for (name, value) in [
        // Without these two it looks up a models host and asks for a plugin package.
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("npm_config_offline", "true"),
        ("NO_PROXY", "127.0.0.1,localhost"),
    ] {
        environment.push((name.to_owned(), value.to_owned()));
    }
    Ok(environment)
}

#[cfg(test)]
mod tests {
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
        let failed = install(&folder, &["sh", &script]).unwrap_err();
        assert!(failed.to_string().ends_with("no such package\n"), "{failed}");
        assert!(!folder.exists());

        let works = "mkdir -p node_modules/opencode-linux-x64/bin && \
                     cp package.json node_modules/opencode-linux-x64/bin/opencode";
        let script = npm(dir.path(), works);
        install(&folder, &["sh", &script]).unwrap();
        assert!(is_installed(&folder));
        fs::write(folder.join("package-lock.json"), "another version").unwrap();
        assert!(!is_installed(&folder));
        install(&folder, &["sh", &script]).unwrap();
        assert!(is_installed(&folder));
    }

    #[test]
    fn the_pinned_version_is_the_one_in_the_package_files() {
        for (name, text) in &PACKAGE_FILES[..2] {
            assert!(text.contains(&format!("\"{VERSION}\"")), "{name}");
        }
        assert!(!PACKAGE_FILES[1].1.contains("resolved"));
    }

    #[test]
    fn a_home_holds_a_configuration_for_loopback_only() {
        let dir = tempfile::tempdir().unwrap();
        let environment = home(dir.path(), 4711).unwrap();
        let config = fs::read_to_string(dir.path().join(".config/opencode/opencode.json")).unwrap();
        assert!(config.contains("http://127.0.0.1:4711/v1"));
        let folder = dir.path().to_str().unwrap();
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
        {
            let set = environment.iter().find(|(key, _)| key == name).unwrap();
            assert!(set.1.starts_with(folder), "{name}");
        }
    }
}
