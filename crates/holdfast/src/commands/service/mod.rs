//! `holdfast service`: a host that the person's service manager starts. It writes and removes the
//! manager's files, and says what to do next; it starts and stops nothing behind anybody's back.

mod unit;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use crate::commands::place;
use crate::config::Config;
use crate::data_dir;
use crate::environment;
use crate::exit::{Failed, NOT_FOUND, REFUSED, USAGE};

/// What `service` does.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum What {
    /// Write the unit, and say what to do next.
    Install {
        #[command(flatten)]
        options: Options,
        /// With a socket of systemd's, which starts the host when somebody connects.
        #[arg(long)]
        socket: bool,
    },
    /// Remove the unit, and say what to do before.
    Uninstall(Options),
    /// Whether the unit is there and up to date, and whether a host runs.
    Status(Options),
}

/// Which host, and how to answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    place: place::Args,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The files of the service manager.
struct Service {
    manager: Manager,
    unit: Unit,
    /// A socket beside it: where one is wanted, or was installed.
    socket: Option<Unit>,
    data_dir: PathBuf,
}

/// One file of the service manager.
struct Unit {
    file: PathBuf,
    /// What the file says if this program writes it.
    text: String,
}

/// Who starts services for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Systemd,
    Launchd,
}

/// What is at the place of a file; of several files, what is to be done for all is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum There {
    /// What this program would write.
    Same,
    /// What it wrote for another place, or in another version.
    Older,
    Nothing,
    /// Somebody else's.
    Foreign,
}

/// Does it.
pub(crate) fn run(what: &What) -> ExitCode {
    let (options, done) = match what {
        What::Install { options, socket } => {
            (options, service(options, *socket).and_then(|service| service.install()))
        }
        What::Uninstall(options) => {
            (options, service(options, false).and_then(|service| service.uninstall()))
        }
        What::Status(options) => {
            (options, service(options, false).and_then(|service| service.status()))
        }
    };
    match done {
        Ok(told) => {
            let text = if options.json { told.json.to_string() } else { told.text };
            let _ = writeln!(std::io::stdout().lock(), "{text}");
            ExitCode::from(told.code)
        }
        Err(failed) => {
            let _ = writeln!(std::io::stderr(), "holdfast: {:#}", failed.error);
            ExitCode::from(failed.code)
        }
    }
}

/// What is told at the end.
struct Told {
    text: String,
    json: Value,
    code: u8,
}

fn service(options: &Options, with_socket: bool) -> Result<Service, Failed> {
    let told = options.place.told(None);
    let config = Config::read(&told).map_err(|faults| Failed::new(USAGE, faults))?;
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let mut arguments = vec!["serve".to_owned()];
    // A service does not see what is set here: what names the place goes with it.
    let file = config.file.display().to_string();
    if told.names_config() {
        arguments.extend(["--config".to_owned(), file]);
    }
    if told.names_data_dir() {
        arguments.extend(["--data-dir".to_owned(), config.data_dir.display().to_string()]);
    }
    let manager = if cfg!(target_os = "macos") { Manager::Launchd } else { Manager::Systemd };
    let home = environment::var("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| Failed::new(USAGE, anyhow!("HOME is not set")))?;
    let (unit, socket) = match manager {
        Manager::Systemd => {
            let configured = environment::var("XDG_CONFIG_HOME").map(PathBuf::from);
            let configured = configured.filter(|dir| dir.is_absolute());
            let dir = configured.unwrap_or_else(|| home.join(".config")).join("systemd/user");
            let text = unit::systemd(&program, &arguments);
            let unit = Unit { file: dir.join("holdfast.service"), text };
            let text = unit::socket(config.listen);
            let socket = Unit { file: dir.join("holdfast.socket"), text };
            let has_one = matches!(socket.there()?, There::Same | There::Older);
            (unit, (with_socket || has_one).then_some(socket))
        }
        Manager::Launchd => {
            if with_socket {
                let text = "--socket is for systemd: launchd has none that a host could use";
                return Err(Failed::new(USAGE, anyhow!(text)));
            }
            let name = format!("{}.plist", unit::LAUNCHD_LABEL);
            let log = config.data_dir.join("host.log");
            let text = unit::launchd(&program, &arguments, &log);
            (Unit { file: home.join("Library/LaunchAgents").join(name), text }, None)
        }
    };
    if socket.is_some() && config.listen.port() == 0 {
        let text = "a socket needs a port of its own: set `listen` in the configuration";
        return Err(Failed::new(USAGE, anyhow!(text)));
    }
    Ok(Service { manager, unit, socket, data_dir: config.data_dir })
}

impl Unit {
    fn there(&self) -> anyhow::Result<There> {
        match std::fs::read_to_string(&self.file) {
            Ok(text) if text == self.text => Ok(There::Same),
            Ok(text) if text.contains(unit::MARK) => Ok(There::Older),
            Ok(_) => Ok(There::Foreign),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(There::Nothing),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}", self.file.display()))
            }
        }
    }

    fn not_foreign(&self) -> Result<(), Failed> {
        if self.there()? == There::Foreign {
            let text = format!(
                "{} was not written by `holdfast service install`: move it away first",
                self.file.display()
            );
            return Err(Failed::new(REFUSED, anyhow!(text)));
        }
        Ok(())
    }

    fn write(&self) -> anyhow::Result<()> {
        let write = || {
            let new = self.file.with_extension("new");
            if let Some(dir) = self.file.parent() {
                std::fs::create_dir_all(dir)?;
            }
            std::fs::write(&new, &self.text)?;
            std::fs::rename(&new, &self.file)
        };
        write().with_context(|| format!("cannot write {}", self.file.display()))
    }

    fn remove(&self) -> anyhow::Result<()> {
        let removed = std::fs::remove_file(&self.file);
        removed.with_context(|| format!("cannot remove {}", self.file.display()))
    }
}

impl Service {
    fn units(&self) -> impl Iterator<Item = &Unit> {
        std::iter::once(&self.unit).chain(&self.socket)
    }

    fn there(&self) -> anyhow::Result<There> {
        self.units().try_fold(There::Same, |most, unit| Ok(most.max(unit.there()?)))
    }

    fn install(&self) -> Result<Told, Failed> {
        let there = self.there()?;
        for unit in self.units() {
            unit.not_foreign()?;
        }
        for unit in self.units() {
            if unit.there()? != There::Same {
                unit.write()?;
            }
        }
        let next = match self.manager {
            Manager::Systemd => {
                let mut next = vec!["systemctl --user daemon-reload".to_owned()];
                if self.socket.is_some() {
                    next.push("systemctl --user enable --now holdfast.socket".to_owned());
                }
                next.push("systemctl --user enable --now holdfast".to_owned());
                if !lingers() {
                    // Without it the service, and every agent, ends with the last login.
                    next.push("loginctl enable-linger".to_owned());
                }
                next
            }
            Manager::Launchd => {
                vec![format!("launchctl bootstrap gui/$(id -u) '{}'", self.unit.file.display())]
            }
        };
        let what = match there {
            There::Same => "As it should be",
            There::Older => "Brought up to date",
            There::Nothing | There::Foreign => "Written",
        };
        let files: Vec<String> = self.units().map(|unit| unit.file.display().to_string()).collect();
        let mut text = format!("{what}: {}. Next:\n", files.join(" and "));
        for line in &next {
            text.push_str(&format!("\n  {line}"));
        }
        if self.socket.is_some() {
            text.push_str(
                "\n\nThe socket starts the host again when somebody connects, an open page too; to stop both:\n\n  \
                 systemctl --user stop holdfast.socket holdfast",
            );
        }
        if self.manager == Manager::Systemd && !lingers() {
            text.push_str(
                "\n\n`enable-linger` keeps the host and its agents running while you are not logged in.",
            );
        }
        let changed = there != There::Same;
        let json = json!({ "file": self.unit.file, "changed": changed, "next": next });
        Ok(Told { text, json, code: 0 })
    }

    fn uninstall(&self) -> Result<Told, Failed> {
        if self.unit.there()? == There::Nothing && self.socket.is_none() {
            let text = format!("there is no {}", self.unit.file.display());
            return Err(Failed::new(NOT_FOUND, anyhow!(text)));
        }
        for unit in self.units() {
            unit.not_foreign()?;
        }
        for unit in self.units() {
            if unit.there()? != There::Nothing {
                unit.remove()?;
            }
        }
        let next = match self.manager {
            Manager::Systemd if self.socket.is_some() => vec![
                "systemctl --user disable --now holdfast.socket holdfast",
                "systemctl --user daemon-reload",
            ],
            Manager::Systemd => {
                vec!["systemctl --user disable --now holdfast", "systemctl --user daemon-reload"]
            }
            Manager::Launchd => vec!["launchctl bootout gui/$(id -u)/dev.holdfast.host"],
        };
        let text = format!(
            "{} was removed. A host that runs goes on until you stop it:\n\n  {}",
            self.unit.file.display(),
            next.join("\n  ")
        );
        let json = json!({ "file": self.unit.file, "changed": true, "next": next });
        Ok(Told { text, json, code: 0 })
    }

    fn status(&self) -> Result<Told, Failed> {
        let there = self.there()?;
        let (word, sentence) = match there {
            There::Nothing => ("missing", "is not there: `holdfast service install` writes it"),
            There::Same => ("current", "is there and up to date"),
            There::Older => {
                ("outdated", "was written for another place or version: install it again")
            }
            There::Foreign => ("foreign", "was not written by `holdfast service install`"),
        };
        let running = data_dir::check_free(&self.data_dir).is_err();
        let mut text = format!("unit  {} {sentence}\n", self.unit.file.display());
        let host = if running { "runs" } else { "does not run" };
        text.push_str(&format!("host  {host} on {}", self.data_dir.display()));
        let lingers = (self.manager == Manager::Systemd).then(lingers);
        if let Some(lingers) = lingers {
            let what = if lingers {
                "on: the host runs while you are not logged in"
            } else {
                "off: host and agents end with your last login (`loginctl enable-linger`)"
            };
            text.push_str(&format!("\nlinger  {what}"));
        }
        let json = json!({
            "file": self.unit.file,
            "unit": word,
            "running": running,
            "data_dir": self.data_dir,
            "lingers": lingers,
        });
        let code = if there == There::Nothing { NOT_FOUND } else { 0 };
        Ok(Told { text, json, code })
    }
}

/// Whether what the person runs outlives their last login.
fn lingers() -> bool {
    let user = environment::var("USER").or_else(|| environment::var("LOGNAME"));
    let user = user.map(PathBuf::from).and_then(|user| user.file_name().map(ToOwned::to_owned));
    user.is_some_and(|user| Path::new("/var/lib/systemd/linger").join(user).exists())
}
