//! What agents run in: asked of the login shell when the host starts and whenever it is asked to
//! ask again, with the ssh agent behind a link that stays where it is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_host::agents::{Environment, Source};
use tokio::sync::{Mutex, watch};

use super::{all, shell};

/// The link to the ssh agent, in the data directory.
const SSH_LINK: &str = "ssh-agent.sock";
const SSH_VARIABLE: &str = "SSH_AUTH_SOCK";
/// Bytes of the path of a socket that the system takes.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Who asks the shell.
#[derive(Debug)]
pub(crate) struct Surroundings {
    program: PathBuf,
    data_dir: PathBuf,
    asks_shell: bool,
    environment: watch::Sender<Arc<Environment>>,
    /// One question at a time.
    asking: Mutex<()>,
}

impl Surroundings {
    /// For a host with this program and data directory. Agents that start wait until
    /// [`Self::refresh`] has been there once.
    pub(crate) fn new(program: PathBuf, data_dir: PathBuf, asks_shell: bool) -> Self {
        let known = Environment::of_host(Source::Asking, all());
        let environment = watch::Sender::new(Arc::new(known));
        Self { program, data_dir, asks_shell, environment, asking: Mutex::new(()) }
    }

    /// What agents run in, now and from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<Environment>> {
        self.environment.subscribe()
    }

    /// Asks the shell. Where it does not answer, what it said before holds, else the host's own.
    pub(crate) async fn refresh(&self) -> Source {
        let _one = self.asking.lock().await;
        let mut known = self.ask().await;
        aim(&self.data_dir, &mut known);
        let source = known.source.clone();
        self.environment.send_replace(Arc::new(known));
        source
    }

    async fn ask(&self) -> Environment {
        let host = |why: String| Environment::of_host(Source::Host { why }, all());
        if !self.asks_shell {
            return host("environment.login-shell is false.".to_owned());
        }
        let shell = shell::of_person();
        let name = shell.display().to_string();
        match shell::ask(&shell, &self.program).await {
            Ok(said) => Environment::of_shell(name, &host(String::new()), said),
            Err(why) => {
                let why = format!("The login shell {name} was not heard: {why}.");
                tracing::warn!("{why}");
                let before = Arc::clone(&self.environment.borrow());
                match &before.source {
                    Source::LoginShell { shell, .. } => {
                        let source = Source::LoginShell { shell: shell.clone(), stale: Some(why) };
                        before.with_source(source)
                    }
                    Source::Asking | Source::Host { .. } => host(why),
                }
            }
        }
    }
}

/// Has the link point to the ssh agent of now, and agents use the link: those that run find the
/// new one there.
fn aim(data_dir: &Path, known: &mut Environment) {
    let Some(target) = known.get(OsStr::new(SSH_VARIABLE)).map(|variable| variable.value.clone())
    else {
        return;
    };
    let link = data_dir.join(SSH_LINK);
    if link.as_os_str().as_bytes().len() > SOCKET_PATH_BYTES_MAX {
        tracing::warn!(
            "{} is too long for a socket: agents use {SSH_VARIABLE} as it is",
            link.display()
        );
        return;
    }
    if target != link.as_os_str()
        && let Err(error) = point(&link, &target)
    {
        tracing::warn!("{} cannot be made: {error}", link.display());
        return;
    }
    known.set(SSH_VARIABLE, link.into_os_string());
}

/// Makes a link, in place of the one that is there.
fn point(link: &Path, target: &OsString) -> std::io::Result<()> {
    if std::fs::read_link(link).is_ok_and(|now| now.as_os_str() == target) {
        return Ok(());
    }
    let new = link.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::os::unix::fs::symlink(target, &new)?;
    std::fs::rename(&new, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aimed(dir: &Path, socket: &str) -> OsString {
        let said = [(SSH_VARIABLE.into(), socket.into())];
        let mut known = Environment::of_host(Source::Asking, said);
        aim(dir, &mut known);
        known.get(OsStr::new(SSH_VARIABLE)).unwrap().value.clone()
    }

    #[test]
    fn the_link_stays_and_points_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join(SSH_LINK);
        for socket in ["/run/one", "/run/two", "/run/two"] {
            assert_eq!(aimed(dir.path(), socket), link.as_os_str());
            assert_eq!(std::fs::read_link(&link).unwrap(), Path::new(socket));
        }
        // A host that an agent started has the link itself: it never points to itself.
        assert_eq!(aimed(dir.path(), link.to_str().unwrap()), link.as_os_str());
        assert_eq!(std::fs::read_link(&link).unwrap(), Path::new("/run/two"));
    }

    #[test]
    fn a_path_that_is_too_long_for_a_socket_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("x".repeat(100));
        assert_eq!(aimed(&long, "/run/one"), "/run/one");
    }
}
