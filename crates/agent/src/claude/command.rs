//! How the CLI is started: what the host adds to the command that the configuration names.

use std::ffi::OsString;

use holdfast_core::ids::AttemptId;
use holdfast_core::provider::{Handle, Trunk};

use super::ids;

/// The mode in which nothing is asked: the CLI takes it only when it was told at its start that it may
/// come.
pub(super) const BYPASS: &str = "bypassPermissions";

/// With which session the CLI is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// A session that does not exist yet, by the id that it will have.
    New(String),
    /// A session that exists.
    Resume(String),
    /// A copy of a session that exists, by the id that it will have.
    Fork {
        /// The session.
        of: String,
        /// The last message of the model that the copy has; none where it has all of them.
        until: Option<String>,
        /// The id of the copy.
        id: String,
    },
}

/// Whether the CLI's session file is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// It is.
    There,
    /// It is not, where it would be.
    Missing,
}

impl Begin {
    /// How an attempt begins the chat's session. One whose file is not there was begun and lost before
    /// anything was written down, if the host knows of no message that it holds: it begins again under
    /// the same id. Any other that is missing is asked for, so that the CLI says that it is gone.
    #[must_use]
    pub fn of(
        attempt: AttemptId,
        handle: Option<&Handle>,
        fork_of: Option<&Trunk>,
        holds: u64,
        file: File,
    ) -> Self {
        let own = ids::session_id(attempt);
        let fork = |of: &Trunk, id| {
            let Trunk { session, until } = of.clone();
            Self::Fork { of: session.leaf, until, id }
        };
        match (handle, fork_of, file) {
            (None, Some(of), _) => fork(of, own),
            (None, None, _) => Self::New(own),
            // A copy is written down only with its first message.
            (Some(copy), Some(of), File::Missing) => fork(of, copy.leaf.clone()),
            (Some(handle), _, File::Missing) if holds == 0 => Self::New(handle.leaf.clone()),
            (Some(handle), _, File::There | File::Missing) => Self::Resume(handle.leaf.clone()),
        }
    }
}

/// How a chat wants the CLI to work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// The model.
    pub model: Option<&'a str>,
    /// The mode.
    pub mode: Option<&'a str>,
    /// How hard it thinks.
    pub effort: Option<&'a str>,
}

/// The arguments behind the program's own. Settings are given at each start: the CLI does not take them
/// over with a session.
#[must_use]
pub fn arguments(begin: &Begin, wanted: Wanted<'_>) -> Vec<OsString> {
    let Wanted { model, mode, effort } = wanted;
    let mut all: Vec<&str> = vec![
        "--print",
        "--verbose",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
        "--replay-user-messages",
        "--permission-prompt-tool",
        "stdio",
    ];
    match begin {
        Begin::New(id) => all.extend(["--session-id", id]),
        Begin::Resume(id) => all.extend(["--resume", id]),
        Begin::Fork { of, until, id } => {
            all.extend(["--resume", of, "--fork-session", "--session-id", id]);
            if let Some(until) = until {
                all.extend(["--resume-session-at", until]);
            }
        }
    }
    if let Some(model) = model {
        all.extend(["--model", model]);
    }
    if let Some(mode) = mode {
        if mode == BYPASS {
            all.push("--allow-dangerously-skip-permissions");
        }
        all.extend(["--permission-mode", mode]);
    }
    if let Some(effort) = effort {
        all.extend(["--effort", effort]);
    }
    all.into_iter().map(OsString::from).collect()
}

/// What the CLI is to find in its environment: it tells of its state, and puts its files where the host
/// says. What the configuration gives goes before.
#[must_use]
pub fn environment(temp: &std::path::Path) -> Vec<(&'static str, OsString)> {
    vec![
        ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1".into()),
        ("CLAUDE_CODE_TMPDIR", temp.as_os_str().to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_session_is_begun_once_and_brought_back_afterwards() {
        let attempt = AttemptId::new(Uuid::from_u128(7));
        let handle = Handle { root: "s".to_owned(), leaf: "s".to_owned() };
        let own = "00000000-0000-0000-0000-000000000007".to_owned();
        let (new, resume) = (Begin::New("s".to_owned()), Begin::Resume("s".to_owned()));
        for (handle, holds, file, begin) in [
            (None, 0, File::Missing, Begin::New(own.clone())),
            (None, 3, File::There, Begin::New(own)),
            (Some(&handle), 0, File::There, resume.clone()),
            (Some(&handle), 3, File::There, resume.clone()),
            (Some(&handle), 0, File::Missing, new),
            // It is gone: the CLI says so, and the person decides.
            (Some(&handle), 1, File::Missing, resume),
        ] {
            assert_eq!(Begin::of(attempt, handle, None, holds, file), begin, "{holds} {file:?}");
        }
        let until = Some("m".to_owned());
        let trunk = Trunk { session: handle.clone(), until: until.clone() };
        let copied = |id| Begin::Fork { of: "s".to_owned(), until: until.clone(), id };
        let fork = Begin::of(attempt, None, Some(&trunk), 0, File::Missing);
        assert_eq!(fork, copied(ids::session_id(attempt)));
        let forked = Begin::of(attempt, Some(&handle), Some(&trunk), 1, File::There);
        assert_eq!(forked, Begin::Resume("s".to_owned()), "once");
        let copy = Handle { root: "c".to_owned(), leaf: "c".to_owned() };
        let again = Begin::of(attempt, Some(&copy), Some(&trunk), 1, File::Missing);
        assert_eq!(again, copied("c".to_owned()));
    }

    #[test]
    fn model_and_mode_are_given_at_each_start() {
        let line = |begin: &Begin, model, mode| {
            let all = arguments(begin, Wanted { model, mode, effort: model.map(|_| "high") });
            let all: Vec<&str> = all.iter().map(|one| one.to_str().unwrap()).collect();
            all[10..].join(" ")
        };
        let resume = Begin::Resume("s".to_owned());
        assert_eq!(line(&Begin::New("s".to_owned()), None, None), "--session-id s");
        assert_eq!(
            line(&resume, Some("opus"), Some("plan")),
            "--resume s --model opus --permission-mode plan --effort high"
        );
        assert_eq!(
            line(&resume, None, Some("bypassPermissions")),
            "--resume s --allow-dangerously-skip-permissions --permission-mode bypassPermissions"
        );
        let fork = |until| Begin::Fork { of: "s".to_owned(), until, id: "f".to_owned() };
        assert_eq!(line(&fork(None), None, None), "--resume s --fork-session --session-id f");
        let at = fork(Some("m".to_owned()));
        let words = "--resume s --fork-session --session-id f --resume-session-at m";
        assert_eq!(line(&at, None, None), words);
    }
}
