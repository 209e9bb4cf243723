//! The data directory: one host at a time, its token, and where it can be reached.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
pub(crate) use holdfast_cli::{ENDPOINT, Endpoint};
use holdfast_http::auth::{Principal, Sessions, digest};
use rustix::fs::{FlockOperation, flock};

use crate::exit::{Failed, REFUSED};

pub(crate) const LOCK: &str = "host.lock";
pub(crate) const TOKEN: &str = "token";
const TOKEN_PREFIX: &str = "hf_";
const SESSIONS: &str = "sessions";
/// Bytes of the file of sessions that are read.
const SESSIONS_BYTES_MAX: u64 = 64 * 1024;

/// The data directory of this host, which no other host has while this value lives.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

/// Where the data are by default, below a person's data: `$XDG_DATA_HOME/holdfast`.
pub(crate) fn usual_below(data_home: PathBuf) -> PathBuf {
    data_home.join("holdfast")
}

/// Refuses a directory in which another host is, before anything is touched.
pub(crate) fn check_free(path: &Path) -> Result<(), Failed> {
    if let Ok(lock) = File::open(path.join(LOCK))
        && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err()
    {
        return Err(in_use(path));
    }
    Ok(())
}

fn in_use(path: &Path) -> Failed {
    let other = read_endpoint(path).map_or_else(
        || "another host, which is just starting".to_owned(),
        |other| format!("the host with pid {} at {}", other.pid, other.url),
    );
    let text = format!("the data directory {} is in use by {other}", path.display());
    Failed::new(REFUSED, anyhow!(text))
}

fn read_endpoint(path: &Path) -> Option<Endpoint> {
    serde_json::from_slice(&std::fs::read(path.join(ENDPOINT)).ok()?).ok()
}

impl DataDir {
    /// Takes the directory, and makes it if it is not there.
    pub(crate) fn take(path: &Path) -> Result<Self, Failed> {
        let name = || format!("cannot use the data directory {}", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(name)?;
        let path = std::fs::canonicalize(path).with_context(name)?;
        let lock = private(&path.join(LOCK)).with_context(name)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(in_use(&path));
        }
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The token of this host's owner: made once, so that it stays valid across restarts.
    pub(crate) fn token(&self) -> anyhow::Result<String> {
        let path = self.path.join(TOKEN);
        let mut file = private(&path).with_context(|| format!("cannot open {}", path.display()))?;
        let mut text = String::new();
        Read::by_ref(&mut file).take(256).read_to_string(&mut text)?;
        let text = text.trim();
        if text.starts_with(TOKEN_PREFIX) && text.len() == TOKEN_PREFIX.len() + 64 {
            return Ok(text.to_owned());
        }
        let mut random = [0; 32];
        getrandom::fill(&mut random).context("there is no randomness for a token")?;
        let token = format!("{TOKEN_PREFIX}{}", hex(&random));
        write_whole(&path, format!("{token}\n").as_bytes())?;
        Ok(token)
    }

    /// The browsers that are signed in at this host, as its owner. Their file holds digests alone.
    pub(crate) fn sessions(&self, token: &str) -> anyhow::Result<Sessions> {
        let path = self.path.join(SESSIONS);
        let mut text = String::new();
        let mut file = private(&path).with_context(|| format!("cannot open {}", path.display()))?;
        // What cannot be read signs nobody in.
        let _ = Read::by_ref(&mut file).take(SESSIONS_BYTES_MAX).read_to_string(&mut text);
        let kept = text.lines().filter_map(digest_of).collect();
        let suffix = hex(&digest(token)[..4]);
        let keep = move |all: &[[u8; 32]]| {
            let lines: String = all.iter().map(|one| hex(one) + "\n").collect();
            write_whole(&path, lines.as_bytes()).map_err(std::io::Error::other)
        };
        Ok(Sessions::new(Principal::person("owner"), &suffix, kept, keep))
    }

    /// Says where this host is.
    pub(crate) fn announce(&self, endpoint: &Endpoint) -> anyhow::Result<()> {
        write_whole(&self.path.join(ENDPOINT), &serde_json::to_vec_pretty(endpoint)?)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn digest_of(line: &str) -> Option<[u8; 32]> {
    let byte = |at: usize| u8::from_str_radix(line.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..line.len()).step_by(2).map(byte).collect();
    bytes?.try_into().ok()
}

/// Opens a file that only its owner may read, and makes it if it is not there.
fn private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Writes a file so that a reader finds the old or the new one, whole.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let new = path.with_extension("new");
    let name = || format!("cannot write {}", path.display());
    let _ = std::fs::remove_file(&new);
    let mut file = private(&new).with_context(name)?;
    file.write_all(bytes).with_context(name)?;
    file.sync_all().with_context(name)?;
    std::fs::rename(&new, path).with_context(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_second_host_is_told_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataDir::take(dir.path()).unwrap();
        first
            .announce(&Endpoint {
                url: "http://127.0.0.1:1".into(),
                token: "t".into(),
                pid: 7,
                generation: 1,
                version: "0".into(),
            })
            .unwrap();
        for refused in [check_free(dir.path()), DataDir::take(dir.path()).map(|_| ())] {
            let failed = refused.unwrap_err();
            assert_eq!(failed.code, REFUSED);
            let text = failed.error.to_string();
            assert!(text.contains("pid 7") && text.contains("http://127.0.0.1:1"), "{text}");
        }
        drop(first);
        assert!(check_free(dir.path()).is_ok());
    }

    #[test]
    fn a_session_is_kept_as_a_private_digest_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::take(dir.path()).unwrap();
        let session = data.sessions("t").unwrap().admit().unwrap();
        let again = data.sessions("t").unwrap();
        assert!(again.holder(&session).is_some());
        let path = dir.path().join(SESSIONS);
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(!kept.contains(&session));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "nonsense\né\n00\n").unwrap();
        assert!(data.sessions("t").unwrap().holder(&session).is_none());
    }

    #[test]
    fn a_token_is_private_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::take(dir.path()).unwrap();
        let token = data.token().unwrap();
        assert_eq!(data.token().unwrap(), token);
        let mode = std::fs::metadata(dir.path().join(TOKEN)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
