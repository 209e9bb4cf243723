//! The real opencode, pinned, installed into the user's cache folder and driven offline.
//!
//! What it does differently from what one would expect of an ACP agent is written down in
//! `README.md` of this crate.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use holdfast_pinned::{InstallError, OPENCODE};
use serde_json::json;

use crate::scripted::agent_table;

/// Installs opencode below the user's cache folder unless it is there, and gives its program.
///
/// # Errors
///
/// See [`InstallError`]. A test fails with it: it is never a reason to pass a test over.
pub fn ensure() -> Result<PathBuf, InstallError> {
    OPENCODE.ensure()
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

/// As [`home`], as a table of a host's configuration: the agent `opencode`.
///
/// # Errors
///
/// As for [`home`].
pub fn agent(program: &Path, scratch: &Path, model_port: u16) -> io::Result<String> {
    Ok(agent_table("opencode", "acp", program, &["acp"], &home(scratch, model_port)?))
}

#[cfg(test)]
mod tests {
    use super::*;

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
