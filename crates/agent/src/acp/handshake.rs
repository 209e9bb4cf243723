//! The start of a session: `initialize`, then a session that is new, loaded or resumed, then its
//! mode and model, then ready.

use holdfast_core::limits::CWD_BYTES_MAX;
use holdfast_core::provider::{
    Capabilities, Forks, Handle, ProtocolFrame, ProviderEvent, StartFault,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::replay::Replay;
use super::wire;
use crate::attached::Takes;
use crate::codec::{History, SessionSpec};
use crate::faults::{Asked, Fault};
use crate::jsonrpc::PeerError;
use crate::ordinals::head;

/// The version of ACP that this codec speaks.
const PROTOCOL_VERSION: u64 = 1;
/// Bytes of a session's id. The state carries it.
pub(super) const SESSION_ID_BYTES_MAX: usize = 512;
/// Bytes of the name of a mode or a model.
const CHOICE_BYTES_MAX: usize = 512;
/// The demo agent, which can stop its tasks.
const DEMO_AGENT: &str = "holdfast-demo";

/// How far the start is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub(super) enum Stage {
    /// `initialize` is asked.
    Initializing {
        /// What the chat wants.
        spec: SessionSpec,
    },
    /// The session is asked for.
    Opening {
        /// How.
        opening: Opening,
        /// The root that was asked for.
        asked: Option<Handle>,
        /// What the agent can do.
        capabilities: Capabilities,
        /// The model that the chat wants.
        model: Option<String>,
        /// The mode that the chat wants.
        mode: Option<String>,
    },
    /// The session stands; mode and model are being set.
    Setting {
        /// What is still to be set; the first is asked.
        wanted: Vec<Setting>,
        /// What will be said when all is set.
        ready: Ready,
    },
    /// Messages may come.
    Ready,
    /// The agent does not work for this chat.
    Failed,
}

/// How a session is opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Opening {
    /// `session/new`
    New,
    /// `session/load`: the history comes first.
    Load(Replay),
    /// `session/resume`
    Resume,
    /// `session/fork`: some agents show the history that was copied first.
    Fork(Replay),
}

/// One thing to set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Setting {
    what: What,
    method: String,
    params: String,
    value: String,
}

/// What is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    /// The mode.
    Mode,
    /// The model.
    Model,
}

/// What is said at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ready {
    handle: Handle,
    capabilities: Capabilities,
    model: Option<String>,
    mode: Option<String>,
}

/// An answer of the agent during the start.
pub(super) type Outcome<'a> = Result<Option<&'a RawValue>, PeerError<'a>>;

/// Begins: the state to be in and the first words.
pub(super) fn start(spec: &SessionSpec) -> (Stage, Vec<ProviderEvent>) {
    if let Some(what) = too_long(spec) {
        let text = format!("The {what} of the chat is too long for an agent.");
        return failed(StartFault::AgentRefused, text);
    }
    let params = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientInfo": {
            "name": "holdfast",
            "title": "Holdfast",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "clientCapabilities": {
            // Agents that find no file system and no terminal here use their own.
            "fs": { "readTextFile": false, "writeTextFile": false },
            "terminal": false,
            "elicitation": { "form": {} },
            // codex-acp tells of its subagents only to clients that say this.
            "subagents": {},
        },
    });
    let stage = Stage::Initializing { spec: spec.clone() };
    (stage, vec![wants("initialize", params.to_string())])
}

fn too_long(spec: &SessionSpec) -> Option<&'static str> {
    let over = |text: Option<&String>, max: usize| text.is_some_and(|text| text.len() > max);
    let fork_of = spec.fork_of.as_ref().map(|trunk| &trunk.session);
    let handle = spec.handle.as_ref().or(fork_of);
    if spec.cwd.len() > CWD_BYTES_MAX {
        Some("directory")
    } else if over(handle.map(|handle| &handle.root), SESSION_ID_BYTES_MAX)
        || over(handle.map(|handle| &handle.leaf), SESSION_ID_BYTES_MAX)
    {
        Some("session id")
    } else if over(spec.model.as_ref(), CHOICE_BYTES_MAX) {
        Some("model")
    } else if over(spec.mode.as_ref(), CHOICE_BYTES_MAX) {
        Some("mode")
    } else {
        None
    }
}

/// What it takes in a prompt, by its answer to `initialize`.
pub(super) fn takes(told: Option<&RawValue>) -> Takes {
    let told: wire::Initialized<'_> = wire::read(told).unwrap_or_default();
    told.capabilities.and_then(|told| told.prompt).map_or_else(Takes::default, |told| Takes {
        image: wire::declared(told.image),
        embedded: wire::declared(told.embedded),
    })
}

/// The agent answered `initialize`.
pub(super) fn initialized(spec: SessionSpec, outcome: Outcome<'_>) -> (Stage, Vec<ProviderEvent>) {
    let told = match outcome {
        Err(error) => return refused(&error, Asked::Anything),
        Ok(result) => wire::read::<wire::Initialized<'_>>(result).unwrap_or_default(),
    };
    if let Some(version) = wire::count(told.version).filter(|it| *it != PROTOCOL_VERSION) {
        let text = format!(
            "The agent speaks version {version} of the Agent Client Protocol; \
             this host speaks version {PROTOCOL_VERSION}."
        );
        return failed(StartFault::AgentRefused, text);
    }
    let agent = told.agent.and_then(|agent| wire::text(agent.name));
    let told = told.capabilities.unwrap_or_default();
    let session = told.session.unwrap_or_default();
    let holdfast = told.meta.and_then(|meta| meta.holdfast).unwrap_or_default();
    let capabilities = Capabilities {
        load: wire::declared(told.load),
        resume: wire::declared(session.resume),
        steer: false,
        stop_task: wire::declared(holdfast.task_stop) || agent.as_deref() == Some(DEMO_AGENT),
        own_turns_end: false,
        forks: match (wire::declared(session.fork), wire::declared(holdfast.turns)) {
            (true, true) => Forks::AtTurns,
            (true, false) => Forks::AtTheEnd,
            (false, _) => Forks::Nowhere,
        },
        ..Capabilities::NONE
    };
    open(spec, capabilities)
}

fn open(spec: SessionSpec, capabilities: Capabilities) -> (Stage, Vec<ProviderEvent>) {
    // No agent is known to name messages by ids of ours in its history.
    let SessionSpec { cwd, handle, fork_of, history, model, mode, .. } = spec;
    let opening = match &handle {
        None if fork_of.is_some() => match capabilities.forks {
            Forks::AtTheEnd | Forks::AtTurns | Forks::AtTurnsInMemory => {
                Opening::Fork(Replay::default())
            }
            Forks::Nowhere => {
                let text = "This agent cannot fork a session any more.";
                return failed(StartFault::AgentRefused, text.to_owned());
            }
        },
        None => Opening::New,
        Some(_) if capabilities.resume && (history == History::Skip || !capabilities.load) => {
            Opening::Resume
        }
        Some(_) if capabilities.load => Opening::Load(Replay::default()),
        Some(_) => {
            let text =
                "This agent cannot bring back a session: it can neither load nor resume one.";
            return failed(StartFault::SessionNotFound, text.to_owned());
        }
    };
    let (fork_of, until) = fork_of.map_or((None, None), |of| (Some(of.session), of.until));
    let asked = handle.or(fork_of);
    let mut params = json!({ "cwd": cwd, "mcpServers": [] });
    if let (Some(handle), Some(params)) = (&asked, params.as_object_mut()) {
        params.insert("sessionId".to_owned(), json!(handle.leaf));
        if let (Opening::Fork(_), Some(until)) = (&opening, until) {
            params.insert("_meta".to_owned(), json!({ "holdfast": { "until": until } }));
        }
    }
    let method = match opening {
        Opening::New => "session/new",
        Opening::Load(_) => "session/load",
        Opening::Resume => "session/resume",
        Opening::Fork(_) => "session/fork",
    };
    let event = wants(method, params.to_string());
    (Stage::Opening { opening, asked, capabilities, model, mode }, vec![event])
}

/// The agent answered for the session. `wanted` are mode and model, where the chat wants one.
pub(super) fn opened(
    opening: Opening,
    asked: Option<Handle>,
    capabilities: Capabilities,
    (model, mode): (Option<String>, Option<String>),
    outcome: Outcome<'_>,
) -> (Stage, Vec<ProviderEvent>) {
    let known = if asked.is_some() { Asked::KnownSession } else { Asked::Anything };
    let told = match outcome {
        Err(error) => return refused(&error, known),
        Ok(result) => wire::read::<wire::Opened<'_>>(result).unwrap_or_default(),
    };
    let named = told.session.clone().filter(|session| !session.is_empty());
    let forked = matches!(opening, Opening::Fork(_));
    if forked && named == asked.as_ref().map(|asked| asked.leaf.clone()) {
        let text = "The agent was asked for a fork and gave the same session.";
        return failed(StartFault::AgentRefused, text.to_owned());
    }
    let kept = asked.filter(|_| !forked);
    let handle = match (named, kept) {
        // Another session than the one asked for is another root: a fork.
        (Some(id), Some(asked)) if id != asked.leaf => Handle { root: id.clone(), leaf: id },
        (_, Some(asked)) => asked,
        (Some(id), None) => Handle { root: id.clone(), leaf: id },
        (None, None) => {
            let text = "The agent opened a session without giving its id.";
            return failed(StartFault::AgentRefused, text.to_owned());
        }
    };
    if handle.leaf.len() > SESSION_ID_BYTES_MAX {
        let text = format!("The agent's session id has more than {SESSION_ID_BYTES_MAX} bytes.");
        return failed(StartFault::AgentRefused, text);
    }
    let mut events = Vec::new();
    match opening {
        Opening::Load(replay) | Opening::Fork(replay) => events.extend(replay.end()),
        Opening::New | Opening::Resume => {}
    }
    let choices = Choices::of(&told);
    let wanted = [
        mode.and_then(|mode| choices.mode(&handle.leaf, mode)),
        model.and_then(|model| choices.model(&handle.leaf, model)),
    ];
    let (mode, model) = (bounded(choices.current_mode), bounded(choices.current_model));
    let ready = Ready { handle, capabilities, model, mode };
    let (stage, more) = next(wanted.into_iter().flatten().collect(), ready);
    events.extend(more);
    (stage, events)
}

/// The agent answered for a mode or a model. One that it refuses stays as it was; `Ready` says how
/// it is.
pub(super) fn set(
    mut wanted: Vec<Setting>,
    mut ready: Ready,
    outcome: &Outcome<'_>,
) -> (Stage, Vec<ProviderEvent>) {
    if !wanted.is_empty() {
        let done = wanted.remove(0);
        if outcome.is_ok() {
            match done.what {
                What::Mode => ready.mode = Some(done.value),
                What::Model => ready.model = Some(done.value),
            }
        }
    }
    next(wanted, ready)
}

fn next(wanted: Vec<Setting>, ready: Ready) -> (Stage, Vec<ProviderEvent>) {
    if let Some(first) = wanted.first() {
        let event = wants(&first.method, first.params.clone());
        return (Stage::Setting { wanted, ready }, vec![event]);
    }
    let Ready { handle, capabilities, model, mode } = ready;
    (Stage::Ready, vec![ProviderEvent::Ready { handle, capabilities, model, mode }])
}

impl Ready {
    /// The id of the session that stands.
    pub(super) fn session(&self) -> &str {
        &self.handle.leaf
    }
}

/// What the agent lets one choose.
struct Choices<'a> {
    modes: Vec<String>,
    current_mode: Option<String>,
    models: Vec<String>,
    current_model: Option<String>,
    options: Vec<wire::ConfigOption<'a>>,
}

impl<'a> Choices<'a> {
    fn of(told: &wire::Opened<'a>) -> Self {
        let options: Vec<wire::ConfigOption<'a>> =
            told.config.as_ref().map(|list| list.each().collect()).unwrap_or_default();
        let current = |category: &str| {
            let option = options.iter().find(|it| it.category.as_deref() == Some(category));
            option.and_then(|option| option.current.clone())
        };
        let (modes, models) = (told.modes.as_ref(), told.models.as_ref());
        let listed_modes = modes.and_then(|modes| modes.available.as_ref());
        let listed_models = models.and_then(|models| models.available.as_ref());
        Self {
            modes: listed_modes
                .map(|list| list.each::<wire::Mode>().filter_map(|mode| mode.id).collect())
                .unwrap_or_default(),
            current_mode: modes.and_then(|it| it.current.clone()).or_else(|| current("mode")),
            models: listed_models
                .map(|list| list.each::<wire::Model>().filter_map(|model| model.id).collect())
                .unwrap_or_default(),
            current_model: models.and_then(|it| it.current.clone()).or_else(|| current("model")),
            options,
        }
    }

    fn mode(&self, session: &str, value: String) -> Option<Setting> {
        if self.current_mode.as_ref() == Some(&value) {
            return None;
        }
        if self.modes.contains(&value) {
            let params = json!({ "sessionId": session, "modeId": value });
            return Some(setting(What::Mode, "session/set_mode", params, value));
        }
        self.option(session, What::Mode, "mode", value)
    }

    fn model(&self, session: &str, value: String) -> Option<Setting> {
        if self.current_model.as_ref() == Some(&value) {
            return None;
        }
        if self.models.contains(&value) {
            let params = json!({ "sessionId": session, "modelId": value });
            return Some(setting(What::Model, "session/set_model", params, value));
        }
        self.option(session, What::Model, "model", value)
    }

    /// By the configuration option of this category, if it lists the value.
    fn option(&self, session: &str, what: What, category: &str, value: String) -> Option<Setting> {
        let option = self.options.iter().find(|it| it.category.as_deref() == Some(category))?;
        let id = option.id.as_ref().filter(|id| id.len() <= CHOICE_BYTES_MAX)?;
        let listed = option.options.as_ref()?.each::<wire::ConfigValue<'_>>().any(|one| {
            let group = one.options.unwrap_or_default();
            let mut members = group.each::<wire::ConfigValue<'_>>();
            one.value.as_ref() == Some(&value)
                || members.any(|member| member.value.as_ref() == Some(&value))
        });
        let params = json!({ "sessionId": session, "configId": id, "value": value });
        listed.then(|| setting(what, "session/set_config_option", params, value))
    }
}

fn setting(what: What, method: &str, params: serde_json::Value, value: String) -> Setting {
    Setting { what, method: method.to_owned(), params: params.to_string(), value }
}

fn bounded(text: Option<String>) -> Option<String> {
    text.map(|text| head(&text, CHOICE_BYTES_MAX).to_owned())
}

fn refused(error: &PeerError<'_>, asked: Asked) -> (Stage, Vec<ProviderEvent>) {
    let fault = Fault::of(error);
    failed(fault.at_start(asked), fault.text)
}

fn failed(fault: StartFault, text: String) -> (Stage, Vec<ProviderEvent>) {
    (Stage::Failed, vec![ProviderEvent::StartFailed { fault, text }])
}

fn wants(method: &str, params: String) -> ProviderEvent {
    ProviderEvent::Wants(ProtocolFrame::Request { method: method.to_owned(), params })
}
