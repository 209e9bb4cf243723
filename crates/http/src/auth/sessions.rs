//! Browsers in which a person signed in. A link holds a code that counts once; it, or the owner's
//! token, becomes a session, whose secret is the page's cookie. Only digests are kept.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use subtle::ConstantTimeEq;

use crate::auth::Principal;
use crate::auth::token::digest;

/// Codes that may wait to be used; a newer one takes the place of the oldest.
const CODES_MAX: usize = 16;
/// Browsers that may be signed in; a newer one takes the place of the oldest.
const SESSIONS_MAX: usize = 256;
/// Bytes of randomness in a code and in a session.
const SECRET_BYTES: usize = 32;

type Digest = [u8; 32];
type Keep = dyn Fn(&[Digest]) -> io::Result<()> + Send + Sync;

/// The sessions of one host.
pub struct Sessions {
    holder: Principal,
    cookie: String,
    known: Mutex<Known>,
    keep: Box<Keep>,
}

#[derive(Default)]
struct Known {
    codes: VecDeque<Digest>,
    sessions: VecDeque<Digest>,
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum NotSignedIn {
    /// The code is not one that waits: wrong, or used before.
    #[error("the code is not known, or was used")]
    UnknownCode,
    /// The session could not be kept.
    #[error("the session could not be kept")]
    NotKept(#[from] io::Error),
}

impl Sessions {
    /// The sessions of this person. `suffix` tells the cookie from that of another host on the same
    /// machine, since a browser does not look at the port. `kept` are the digests of the sessions of
    /// earlier starts; `keep` is told all of them before one counts, and may block.
    pub fn new(
        holder: Principal,
        suffix: &str,
        kept: Vec<Digest>,
        keep: impl Fn(&[Digest]) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let known = Known { codes: VecDeque::new(), sessions: kept.into() };
        let cookie = format!("holdfast_{suffix}");
        Self { holder, cookie, known: Mutex::new(known), keep: Box::new(keep) }
    }

    /// The name of the cookie.
    #[must_use]
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// What follows the address of a host in a sign-in link. It is a fragment: a browser sends it to
    /// nobody, neither in a request nor as where it came from.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn link(&self) -> io::Result<String> {
        let code = secret()?;
        let mut known = self.known();
        while known.codes.len() >= CODES_MAX {
            known.codes.pop_front();
        }
        known.codes.push_back(digest(&code));
        Ok(format!("/#sign-in={code}"))
    }

    /// Uses a code up, and gives the secret of a new session. Blocks until it is kept.
    ///
    /// # Errors
    /// The code does not count, or the session could not be kept; then the code still counts.
    pub fn sign_in(&self, code: &str) -> Result<String, NotSignedIn> {
        let wanted = digest(code);
        let mut known = self.known();
        let at = position(&known.codes, &wanted).ok_or(NotSignedIn::UnknownCode)?;
        let session = self.open(&mut known)?;
        known.codes.remove(at);
        Ok(session)
    }

    /// The secret of a new session, for who has shown to be its holder. Blocks until it is kept.
    ///
    /// # Errors
    /// It could not be kept.
    pub fn admit(&self) -> io::Result<String> {
        self.open(&mut self.known())
    }

    fn open(&self, known: &mut Known) -> io::Result<String> {
        let session = secret()?;
        let mut sessions = known.sessions.clone();
        while sessions.len() >= SESSIONS_MAX {
            sessions.pop_front();
        }
        sessions.push_back(digest(&session));
        (self.keep)(sessions.make_contiguous())?;
        known.sessions = sessions;
        Ok(session)
    }

    /// Who is signed in with this secret.
    #[must_use]
    pub fn holder(&self, session: &str) -> Option<Principal> {
        let found = position(&self.known().sessions, &digest(session));
        found.map(|_| self.holder.clone())
    }

    /// Ends a session. Blocks until that is kept.
    ///
    /// # Errors
    /// It could not be kept; the session goes on.
    pub fn end(&self, session: &str) -> io::Result<()> {
        let mut known = self.known();
        let Some(at) = position(&known.sessions, &digest(session)) else { return Ok(()) };
        let mut sessions = known.sessions.clone();
        sessions.remove(at);
        (self.keep)(sessions.make_contiguous())?;
        known.sessions = sessions;
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a digest is, compared in constant time.
fn position(list: &VecDeque<Digest>, wanted: &Digest) -> Option<usize> {
    list.iter().position(|known| bool::from(known.ct_eq(wanted)))
}

fn secret() -> io::Result<String> {
    let mut random = [0; SECRET_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    type Kept = Arc<Mutex<Vec<Digest>>>;

    fn sessions(kept: &Kept) -> Sessions {
        let (from, to) = (kept.lock().unwrap().clone(), Arc::clone(kept));
        Sessions::new(Principal::person("owner"), "x", from, move |all| {
            *to.lock().unwrap() = all.to_vec();
            Ok(())
        })
    }

    fn code(sessions: &Sessions) -> String {
        sessions.link().unwrap().strip_prefix("/#sign-in=").unwrap().to_owned()
    }

    #[test]
    fn a_code_counts_once() {
        let sessions = sessions(&Kept::default());
        let code = code(&sessions);
        let session = sessions.sign_in(&code).unwrap();
        assert_eq!(sessions.holder(&session), Some(Principal::person("owner")));
        assert!(matches!(sessions.sign_in(&code), Err(NotSignedIn::UnknownCode)));
        assert!(matches!(sessions.sign_in("no"), Err(NotSignedIn::UnknownCode)));
        assert_eq!(sessions.holder(&code), None);
    }

    #[test]
    fn a_session_is_kept_across_starts_until_it_is_ended() {
        let kept = Kept::default();
        let session = sessions(&kept).admit().unwrap();
        let again = sessions(&kept);
        assert!(again.holder(&session).is_some());
        again.end(&session).unwrap();
        assert!(again.holder(&session).is_none());
        assert!(sessions(&kept).holder(&session).is_none());
    }

    #[test]
    fn what_cannot_be_kept_does_not_count_and_costs_no_code() {
        let full = std::sync::atomic::AtomicBool::new(true);
        let full = Arc::new(full);
        let seen = Arc::clone(&full);
        let sessions = Sessions::new(Principal::person("owner"), "x", Vec::new(), move |_| {
            let full = seen.load(std::sync::atomic::Ordering::SeqCst);
            if full { Err(io::Error::other("full")) } else { Ok(()) }
        });
        let code = code(&sessions);
        assert!(matches!(sessions.sign_in(&code), Err(NotSignedIn::NotKept(_))));
        full.store(false, std::sync::atomic::Ordering::SeqCst);
        assert!(sessions.sign_in(&code).is_ok());
    }

    #[test]
    fn codes_and_sessions_are_bounded_and_the_newest_stay() {
        let kept = Kept::default();
        let sessions = sessions(&kept);
        let first = code(&sessions);
        let last = (0..CODES_MAX).map(|_| code(&sessions)).last().unwrap();
        assert!(sessions.sign_in(&first).is_err());
        let oldest = sessions.sign_in(&last).unwrap();
        for _ in 0..SESSIONS_MAX {
            sessions.admit().unwrap();
        }
        assert!(sessions.holder(&oldest).is_none());
        assert_eq!(kept.lock().unwrap().len(), SESSIONS_MAX);
    }
}
