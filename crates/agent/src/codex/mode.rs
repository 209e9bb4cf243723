//! The modes of a Codex chat: named pairs of what it asks leave for and what its sandbox lets it do,
//! as Codex's own menu has them, and its plan mode.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::wire;
use crate::ordinals::head;

/// Bytes of the name of a mode or a model.
pub(super) const CHOICE_BYTES_MAX: usize = 512;
/// The mode in which Codex plans and asks before it works.
pub(super) const PLAN: &str = "plan";

/// Name, approval policy, sandbox as it is asked for at the start, sandbox as it is told.
const MODES: [(&str, &str, &str, &str); 3] = [
    ("read-only", "on-request", "read-only", "readOnly"),
    ("auto", "on-request", "workspace-write", "workspaceWrite"),
    ("full-access", "never", "danger-full-access", "dangerFullAccess"),
];

/// How a thread is set, as it was told last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<String>,
    approval: Option<String>,
    sandbox: Option<String>,
    plan: bool,
}

impl Settings {
    pub(super) fn of(told: &wire::Settings) -> Self {
        let bounded = |text: Option<&String>| text.map(|it| head(it, CHOICE_BYTES_MAX).to_owned());
        let sandbox = told.sandbox.as_ref().or(told.policy.as_ref());
        let collaboration = told.collaboration.as_ref().and_then(|it| it.mode.as_deref());
        Self {
            model: bounded(told.model.as_ref()),
            effort: bounded(told.effort.as_ref().or(told.opened_effort.as_ref())),
            approval: bounded(told.approval.as_ref()),
            sandbox: bounded(sandbox.and_then(|sandbox| sandbox.kind.as_ref())),
            plan: collaboration == Some(PLAN),
        }
    }

    /// The mode, where it has a name.
    pub(super) fn mode(&self) -> Option<String> {
        if self.plan {
            return Some(PLAN.to_owned());
        }
        let named = MODES.iter().find(|(_, approval, _, sandbox)| {
            self.approval.as_deref() == Some(approval) && self.sandbox.as_deref() == Some(sandbox)
        });
        named.map(|(name, ..)| (*name).to_owned())
    }

    /// The parameters that bring a thread into this mode; none where it is in it, or where Codex has
    /// no such mode. A sandbox of the right kind stays as the person's own configuration has it.
    pub(super) fn towards(&self, mode: &str) -> Option<Map<String, Value>> {
        if self.mode().as_deref() == Some(mode) {
            return None;
        }
        let mut params = Map::new();
        let collaboration = |mode: &str| {
            let model = self.model.as_deref()?;
            let effort = &self.effort;
            let settings = json!({
                "model": model, "reasoning_effort": effort, "developer_instructions": null
            });
            Some(json!({ "mode": mode, "settings": settings }))
        };
        if mode == PLAN {
            params.insert("collaborationMode".to_owned(), collaboration(PLAN)?);
            return Some(params);
        }
        let (_, approval, _, sandbox) = MODES.iter().find(|(name, ..)| *name == mode)?;
        params.insert("approvalPolicy".to_owned(), json!(approval));
        if self.sandbox.as_deref() != Some(sandbox) {
            params.insert("sandboxPolicy".to_owned(), json!({ "type": sandbox }));
        }
        if self.plan {
            params.insert("collaborationMode".to_owned(), collaboration("default")?);
        }
        Some(params)
    }
}

/// Whether Codex has this mode.
pub(super) fn is_known(mode: &str) -> bool {
    mode == PLAN || MODES.iter().any(|(name, ..)| *name == mode)
}

/// The parameters that begin a thread in this mode; none for a mode that Codex has not, and for the
/// plan mode, which comes later.
pub(super) fn at_start(mode: &str) -> Option<Map<String, Value>> {
    let (_, approval, sandbox, _) = MODES.iter().find(|(name, ..)| *name == mode)?;
    let settings = json!({ "approvalPolicy": approval, "sandbox": sandbox });
    settings.as_object().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(approval: &str, sandbox: &str, plan: bool) -> Settings {
        Settings {
            model: Some("m".to_owned()),
            effort: None,
            approval: Some(approval.to_owned()),
            sandbox: Some(sandbox.to_owned()),
            plan,
        }
    }

    #[test]
    fn a_mode_is_what_it_was_begun_with() {
        for (name, approval, sandbox, told) in MODES {
            assert_eq!(set(approval, told, false).mode().as_deref(), Some(name));
            let begun = at_start(name).unwrap();
            assert_eq!(
                (&begun["approvalPolicy"], &begun["sandbox"]),
                (&json!(approval), &json!(sandbox))
            );
        }
        assert_eq!(set("untrusted", "readOnly", false).mode(), None);
        assert_eq!(set("untrusted", "readOnly", true).mode().as_deref(), Some(PLAN));
        assert_eq!(at_start(PLAN), None);
        assert!(at_start("nosuch").is_none() && !is_known("nosuch") && is_known(PLAN));
    }

    #[test]
    fn a_thread_is_changed_only_where_it_is_not_as_wanted() {
        let auto = set("on-request", "workspaceWrite", false);
        assert_eq!(auto.towards("auto"), None);
        assert_eq!(auto.towards("nosuch"), None);
        let plan = auto.towards(PLAN).unwrap();
        assert_eq!(plan["collaborationMode"]["mode"], "plan");
        assert_eq!(plan["collaborationMode"]["settings"]["model"], "m");
        let full = auto.towards("full-access").unwrap();
        assert_eq!(
            Value::from(full),
            json!({
                "approvalPolicy": "never", "sandboxPolicy": { "type": "dangerFullAccess" }
            })
        );
        // The sandbox stays as the person has configured it.
        let back = set("on-request", "workspaceWrite", true).towards("auto").unwrap();
        assert_eq!(back["collaborationMode"]["mode"], "default");
        assert!(!back.contains_key("sandboxPolicy"));
    }
}
