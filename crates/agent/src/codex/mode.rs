//! The modes of a Codex chat: named pairs of what it asks leave for and what its sandbox lets it do,
//! as Codex's own menu has them, and its plan mode.

use serde_json::{Map, Value, json};

/// The mode in which Codex plans and asks before it works.
pub(super) const PLAN: &str = "plan";

/// Name, approval policy, sandbox as it is asked for, sandbox as it is told.
const MODES: [(&str, &str, &str, &str); 3] = [
    ("read-only", "on-request", "read-only", "readOnly"),
    ("auto", "on-request", "workspace-write", "workspaceWrite"),
    ("full-access", "never", "danger-full-access", "dangerFullAccess"),
];

/// The parameters that begin a thread in this mode; none for a mode that Codex has not, and for the
/// plan mode, which is a matter of turns.
pub(super) fn settings(mode: &str) -> Option<Map<String, Value>> {
    let (_, approval, sandbox, _) = MODES.iter().find(|(name, ..)| *name == mode)?;
    let settings = json!({ "approvalPolicy": approval, "sandbox": sandbox });
    settings.as_object().cloned()
}

/// The mode that a thread is in, where it has a name.
pub(super) fn of(approval: Option<&str>, sandbox: Option<&str>, plan: bool) -> Option<String> {
    if plan {
        return Some(PLAN.to_owned());
    }
    let mode =
        MODES.iter().find(|(_, asks, _, told)| Some(*asks) == approval && Some(*told) == sandbox);
    mode.map(|(name, ..)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_what_it_was_begun_with() {
        for (name, approval, _, told) in MODES {
            assert_eq!(of(Some(approval), Some(told), false).as_deref(), Some(name));
            assert_eq!(settings(name).unwrap()["approvalPolicy"], approval);
        }
        assert_eq!(of(Some("untrusted"), Some("readOnly"), false), None);
        assert_eq!(of(None, None, true).as_deref(), Some(PLAN));
        assert_eq!(settings(PLAN), None);
        assert_eq!(settings("nosuch"), None);
    }
}
