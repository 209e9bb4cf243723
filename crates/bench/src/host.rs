//! The program that is measured, as a process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

/// How long it may take to serve, or to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host that serves; it ends with this.
pub(crate) struct Running {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
    /// When its process was started.
    pub(crate) begun: Instant,
}

impl Running {
    /// Starts a host on a data directory and waits until it says that it serves.
    pub(crate) fn start(program: &Path, data_dir: &Path) -> anyhow::Result<Self> {
        let begun = Instant::now();
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--data-dir"])
            .arg(data_dir)
            .env("HOME", data_dir)
            .env("HOLDFAST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("its output is piped")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).context("it does not serve")?;
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        Ok(Self { child, url: text("url"), token: text("token"), begun })
    }

    pub(crate) fn api(&self, path: &str) -> String {
        format!("{}/api/v1{path}", self.url)
    }

    /// KiB of memory: resident, and of that anonymous.
    pub(crate) fn memory_kib(&self) -> anyhow::Result<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kib = |name: &str| -> Option<u64> {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        let memory = kib("VmRSS:").zip(kib("RssAnon:"));
        memory.context("the kernel does not tell its memory")
    }

    /// Stops it, its agents too.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > PATIENCE {
                bail!("it does not end");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}
