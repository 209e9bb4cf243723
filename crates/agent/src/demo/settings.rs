//! What the environment tells the demo agent.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use super::EXIT_DIED;

/// Set by the agent itself for the process that `[[fork]]` leaves behind.
pub(super) const ROLE_VARIABLE: &str = "HOLDFAST_DEMO_ROLE";
pub(super) const ROLE_GRANDCHILD: &str = "grandchild";

/// The folder of the sessions, below the user's state folder.
const STATE_FOLDER: &str = "holdfast-demo-agent";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Agent,
    /// Does nothing but live on, see `[[fork]]`.
    Grandchild,
}

/// Whether `session/load` and `session/resume` work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loading {
    Works,
    Refused,
}

/// Whether `session/cancel` ends a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cancelling {
    Works,
    Ignored,
}

/// Whether the ends of turns have names, at which a session can be forked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TurnEnds {
    Named,
    Nameless,
}

#[derive(Debug)]
pub(super) struct Settings {
    pub(super) role: Role,
    /// Where sessions are kept; `None` when neither a folder nor a home is known.
    pub(super) dir: Option<PathBuf>,
    pub(super) log: Option<PathBuf>,
    pub(super) start_delay: Duration,
    /// The exit code to die with before anything is read.
    pub(super) die_at_start: Option<i32>,
    pub(super) loading: Loading,
    pub(super) cancelling: Cancelling,
    pub(super) turn_ends: TurnEnds,
}

impl Settings {
    pub(super) fn from_env() -> Self {
        Self::from_lookup(|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn from_lookup(get: impl Fn(&str) -> Option<std::ffi::OsString>) -> Self {
        let text = |name: &str| get(name).map(|value| value.to_string_lossy().into_owned());
        let path = |name: &str| get(name).map(PathBuf::from);
        let dir = path("HOLDFAST_DEMO_DIR")
            .or_else(|| path("XDG_STATE_HOME").map(|state| state.join(STATE_FOLDER)))
            .or_else(|| path("HOME").map(|home| home.join(".local/state").join(STATE_FOLDER)));
        Self {
            role: match text(ROLE_VARIABLE).as_deref() {
                Some(ROLE_GRANDCHILD) => Role::Grandchild,
                Some(_) | None => Role::Agent,
            },
            dir,
            log: path("HOLDFAST_DEMO_LOG"),
            start_delay: text("HOLDFAST_DEMO_START_DELAY_MS")
                .and_then(|ms| ms.trim().parse().ok())
                .map_or(Duration::ZERO, Duration::from_millis),
            die_at_start: text("HOLDFAST_DEMO_DIE_AT_START")
                .map(|code| code.trim().parse().unwrap_or(EXIT_DIED)),
            loading: match get("HOLDFAST_DEMO_REFUSE_LOAD") {
                Some(_) => Loading::Refused,
                None => Loading::Works,
            },
            cancelling: match get("HOLDFAST_DEMO_IGNORE_CANCEL") {
                Some(_) => Cancelling::Ignored,
                None => Cancelling::Works,
            },
            turn_ends: match get("HOLDFAST_DEMO_NAME_NO_TURNS") {
                Some(_) => TurnEnds::Nameless,
                None => TurnEnds::Named,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Settings {
        Settings::from_lookup(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_folder_is_the_named_one_then_the_state_folder_then_the_home() {
        let all = [("HOLDFAST_DEMO_DIR", "/d"), ("XDG_STATE_HOME", "/s"), ("HOME", "/h")];
        assert_eq!(with(&all).dir, Some("/d".into()));
        assert_eq!(with(&all[1..]).dir, Some("/s/holdfast-demo-agent".into()));
        assert_eq!(with(&all[2..]).dir, Some("/h/.local/state/holdfast-demo-agent".into()));
        assert_eq!(with(&[]).dir, None);
    }

    #[test]
    fn dying_at_start_takes_a_code_or_one() {
        assert_eq!(with(&[("HOLDFAST_DEMO_DIE_AT_START", "7")]).die_at_start, Some(7));
        assert_eq!(with(&[("HOLDFAST_DEMO_DIE_AT_START", "yes")]).die_at_start, Some(1));
        assert_eq!(with(&[]).die_at_start, None);
    }
}
