//! The host that is called: started in a folder of its own, stopped, and looked after.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::contract::http;
use crate::shell;

/// Longer than anything here takes; a stop with offers takes 15 seconds at most.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Agents are released soon, so that only few are there at once.
const CONFIG: &str = "[idle]\nrelease-minutes = 0.05\n";

/// A host, ended with this value.
pub(super) struct Host {
    child: Child,
    home: PathBuf,
    pub(super) url: String,
    pub(super) token: String,
}

impl Host {
    /// Starts it: no environment but its own, so that no agent of this machine is found.
    pub(super) fn start(binary: &Path, home: &Path) -> Result<Self> {
        let config = home.join("config.toml");
        std::fs::write(&config, CONFIG).context("cannot write the configuration")?;
        let log = File::create(home.join("host.log")).context("cannot make the log")?;
        let child = Command::new(binary)
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .arg("--data-dir")
            .arg(home.join("data"))
            .arg("--config")
            .arg(&config)
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .env("PATH", home.join("no-programs"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let mut host =
            Self { child, home: home.to_owned(), url: String::new(), token: String::new() };
        let mut line = String::new();
        let stdout = host.child.stdout.take().context("the host has no stdout")?;
        BufReader::new(stdout).read_line(&mut line).context("the host says nothing")?;
        let ready: Value = serde_json::from_str(&line)
            .with_context(|| format!("the host is not ready: {line:?}\n{}", host.said()))?;
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        (host.url, host.token) = (text("url"), text("token"));
        Ok(host)
    }

    /// The folder of all of it.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// A call by hand.
    pub(super) fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        http::call(&self.url, &self.token, method, &format!("/api/v1{path}"), body)
    }

    /// Whether it answers.
    pub(super) fn alive(&self) -> bool {
        self.call("GET", "/host", None).is_ok()
    }

    /// What it wrote to its log.
    pub(super) fn said(&self) -> String {
        std::fs::read_to_string(self.home.join("host.log")).unwrap_or_default()
    }

    /// Stops it as a person does. Nothing that it started may be left.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.signal("TERM")?;
        let code = wait("the host to stop", || Ok(self.child.try_wait()?))?;
        if !code.success() {
            bail!("the host stopped with {code}");
        }
        wait("its processes to end", || {
            let left = within(&self.home)?;
            Ok(left.is_empty().then_some(()))
        })
        .with_context(|| format!("left behind: {:?}", within(&self.home).unwrap_or_default()))
    }

    fn signal(&self, name: &str) -> Result<()> {
        let pid = self.child.id().to_string();
        shell::output(shell::command("kill").args(["-s", name, &pid])).map(drop)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // The keepers end what they keep when they are told; the host does that at a stop.
            let _ = self.stop();
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Looks until something is there.
///
/// # Errors
/// It is not there within the bound, or the look fails.
pub(super) fn wait<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if Instant::now() > until {
            bail!("waited {PATIENCE:?} for {what}");
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// The processes that belong to this folder: the host, whose command line names it, its keepers,
/// which work in it, and agents, whose home it is.
fn within(home: &Path) -> Result<Vec<String>> {
    let home = home.as_os_str().as_encoded_bytes();
    let mut found = Vec::new();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Ok(found) };
    for process in processes {
        let process = process?.path();
        // What ends meanwhile, or is another user's, cannot be read.
        let Ok(environment) = std::fs::read(process.join("environ")) else { continue };
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let names = |text: &[u8]| text.windows(home.len()).any(|piece| piece == home);
        let works_in = std::fs::read_link(process.join("cwd")).unwrap_or_default();
        if names(&environment) || names(&line) || names(works_in.as_os_str().as_encoded_bytes()) {
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            found.push(format!("{}: {line}", process.display()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lives_within_a_folder_is_found_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        assert!(within(home).unwrap().is_empty());
        let (mut agent, mut keeper) = (Command::new("cat"), Command::new("cat"));
        for command in [agent.env("HOME", home), keeper.env_clear().current_dir(home)] {
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            let found = wait("the child", || {
                let found = within(home)?;
                Ok(found.iter().any(|line| line.contains(": cat")).then_some(found))
            });
            assert_eq!(found.unwrap().len(), 1);
            drop(child.stdin.take());
            child.wait().unwrap();
            assert!(within(home).unwrap().is_empty());
        }
    }
}
