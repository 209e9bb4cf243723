//! Which host is meant, and how it is found.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::fault::{Exit, Fault};
use crate::out::Out;

/// Where a host says how it is reached, within its data directory.
pub const ENDPOINT: &str = "endpoint.json";
/// Bytes of a file with a token or an endpoint.
const SMALL_FILE_BYTES_MAX: u64 = 64 * 1024;

/// What the program knows of where it runs; it is told, and reads nothing of it by itself.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// `HOLDFAST_DATA_DIR`, or the usual data directory; none where there is no home.
    pub data_dir: Option<PathBuf>,
    /// `HOLDFAST_HOST`.
    pub host: Option<OsString>,
    /// `HOLDFAST_TOKEN`.
    pub token: Option<OsString>,
    /// The directory that the program was started in.
    pub cwd: Option<PathBuf>,
}

/// Which host, and how the answer is shown.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Host and output")]
pub struct Reach {
    /// Print JSON for programs: one value, or one a line where the answer goes on.
    #[arg(long, global = true)]
    pub json: bool,
    /// Ask the host at this address instead of the one on this machine [env: HOLDFAST_HOST].
    #[arg(long, global = true, value_name = "URL")]
    pub host: Option<String>,
    /// The token is in this file; otherwise it is HOLDFAST_TOKEN, or this machine's own.
    #[arg(long, global = true, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The host on this machine is the one with this data directory [env: HOLDFAST_DATA_DIR].
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "host")]
    pub data_dir: Option<PathBuf>,
    /// Wait at most so many seconds, for an answer or with --wait for a turn.
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "a number of seconds above 0".to_owned())
}

/// Where a host can be reached, as it says itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    /// `http://HOST:PORT`.
    pub url: String,
    /// A token that it knows.
    pub token: String,
    /// Its process.
    pub pid: u32,
    /// How often a host was started on these data.
    pub generation: u64,
    /// Its version.
    pub version: String,
}

/// The host that is meant.
#[derive(Clone, Debug)]
pub enum Target {
    /// The one with this data directory; looked up at each call.
    Here {
        /// The data directory.
        data_dir: PathBuf,
        /// A token instead of the host's own.
        token: Option<String>,
    },
    /// One at an address.
    There {
        /// `http://HOST:PORT`, without a slash at its end.
        url: String,
        /// The token.
        token: String,
    },
}

/// A host that may answer.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) url: String,
    pub(crate) token: String,
    /// Whether its process lives, as far as can be told from here.
    pub(crate) lives: bool,
}

impl Reach {
    /// The outputs that are wanted.
    #[must_use]
    pub fn out(&self) -> Out {
        Out::of(self.json)
    }

    /// A client of the host that is meant.
    ///
    /// # Errors
    /// An address that is none, no token for another machine, a token file that cannot be read.
    pub fn client(&self, around: &Surroundings) -> Result<Client, Fault> {
        Client::new(self.target(around)?, self.timeout)
    }

    /// The data directory that is meant on this machine.
    ///
    /// # Errors
    /// None is named and there is no home.
    pub fn data_dir(&self, around: &Surroundings) -> Result<PathBuf, Fault> {
        let named = self.data_dir.clone().or_else(|| around.data_dir.clone());
        named.ok_or_else(|| {
            Fault::usage("Neither XDG_DATA_HOME nor HOME is set: name the host's --data-dir.")
        })
    }

    /// The address of the host that is meant, where it is not the one on this machine. A data
    /// directory that is named says that it is.
    #[must_use]
    pub fn host(&self, around: &Surroundings) -> Option<String> {
        let named = || around.host.as_ref().map(|host| host.to_string_lossy().into_owned());
        self.host.clone().or_else(|| if self.data_dir.is_some() { None } else { named() })
    }

    /// Which host is meant.
    ///
    /// # Errors
    /// As [`Reach::client`].
    pub fn target(&self, around: &Surroundings) -> Result<Target, Fault> {
        let token = self.token(around)?;
        match self.host(around) {
            None => Ok(Target::Here { data_dir: self.data_dir(around)?, token }),
            Some(host) => {
                let url = address(&host)?;
                let token = token.ok_or_else(|| {
                    let text = format!("There is no token for {url}.");
                    Fault::new(Exit::NotAuthorised, "no_token", text).advice(
                        "Run `holdfast token` on that machine, and give what it prints as \
                         HOLDFAST_TOKEN or in a --token-file.",
                    )
                })?;
                Ok(Target::There { url, token })
            }
        }
    }

    fn token(&self, around: &Surroundings) -> Result<Option<String>, Fault> {
        let text = match (&self.token_file, &around.token) {
            (Some(path), _) => read_small(path).map_err(|error| {
                Fault::usage(format!("The token file {} cannot be read: {error}.", path.display()))
            })?,
            (None, Some(token)) => token.to_string_lossy().into_owned(),
            (None, None) => return Ok(None),
        };
        let token = text.trim();
        let sound = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !sound {
            return Err(Fault::usage("The token is empty or has characters that no token has."));
        }
        Ok(Some(token.to_owned()))
    }
}

/// The address that a person wrote, as a URL without a path.
fn address(host: &str) -> Result<String, Fault> {
    let host = host.trim_end_matches('/');
    if host.starts_with("https://") {
        let text = format!("{host}: this version calls hosts over plain HTTP only.");
        return Err(Fault::usage(text).advice(
            "Reach a host on another machine through a tunnel: ssh -L 7433:127.0.0.1:7433 MACHINE, \
             then --host http://127.0.0.1:7433.",
        ));
    }
    let url = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
    let wrong = || Fault::usage(format!("{host:?} is no address: write http://HOST:PORT."));
    let parsed = reqwest::Url::parse(&url).map_err(|_| wrong())?;
    let plain = parsed.scheme() == "http"
        && parsed.host().is_some()
        && parsed.path() == "/"
        && parsed.query().is_none()
        && parsed.username().is_empty();
    if plain { Ok(url) } else { Err(wrong()) }
}

impl Target {
    /// Looks the host up: it may have moved since the last call.
    pub(crate) fn find(&self) -> Result<Found, Fault> {
        match self {
            Self::There { url, token } => {
                Ok(Found { url: url.clone(), token: token.clone(), lives: false })
            }
            Self::Here { data_dir, token } => {
                let endpoint = endpoint(data_dir)?;
                let lives = lives(endpoint.pid);
                let token = token.clone().unwrap_or(endpoint.token);
                Ok(Found { url: endpoint.url, token, lives })
            }
        }
    }
}

/// What the host with this data directory says of itself; it may have ended since.
///
/// # Errors
/// No host ever served here, or what it wrote cannot be read.
pub fn endpoint(data_dir: &Path) -> Result<Endpoint, Fault> {
    let path = data_dir.join(ENDPOINT);
    let none = |text: String| {
        Fault::new(Exit::Unreachable, "no_host", text).advice(
            "Start one with `holdfast serve`, or name another with --data-dir DIR or --host URL.",
        )
    };
    let text = match read_small(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(none(format!("No host has served from {} yet.", data_dir.display())));
        }
        Err(error) => return Err(none(format!("{} cannot be read: {error}.", path.display()))),
    };
    serde_json::from_str(&text)
        .map_err(|error| none(format!("{} is damaged: {error}.", path.display())))
}

/// Whether a process has this number, and has not ended. It may be another's by now: this is no
/// more than a reason to wait or to try again.
pub(crate) fn lives(pid: u32) -> bool {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let there = process.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
    there && !is_zombie(pid)
}

/// Whether a process has ended, and its parent has not looked yet. Where there is no `/proc` this is
/// not known.
fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Its name comes before, in brackets, and may hold anything.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('Z' | 'X'))
}

fn read_small(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(SMALL_FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("http://10.0.0.1:7433", Some("http://10.0.0.1:7433"))]
    #[case("http://box:7433/", Some("http://box:7433"))]
    #[case("box:7433", Some("http://box:7433"))]
    #[case("[::1]:7433", Some("http://[::1]:7433"))]
    #[case("https://box", None)]
    #[case("ftp://box", None)]
    #[case("http://box/api", None)]
    #[case("http://me@box", None)]
    #[case("", None)]
    fn an_address_is_a_host_and_a_port(#[case] written: &str, #[case] url: Option<&str>) {
        assert_eq!(address(written).ok().as_deref(), url);
    }

    #[rstest]
    #[case("0.5", true)]
    #[case("0", false)]
    #[case("-1", false)]
    #[case("inf", false)]
    #[case("soon", false)]
    fn a_time_to_wait_is_a_number_of_seconds(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(seconds(text).is_ok(), fits);
    }
}
