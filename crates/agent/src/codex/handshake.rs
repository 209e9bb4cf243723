//! The start of a session: `initialize`, whether somebody is logged in, then a thread that is new or
//! brought back, then what its store knows of messages in doubt, then ready.

use holdfast_core::limits::CWD_BYTES_MAX;
use holdfast_core::provider::{
    Capabilities, Forks, Handle, ProtocolFrame, ProviderEvent, StartFault,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::mode::{self, CHOICE_BYTES_MAX, Settings};
use super::search::Search;
use super::wire;
use crate::codec::SessionSpec;
use crate::faults::{Asked, Fault};
use crate::jsonrpc::PeerError;

/// Bytes of a thread's id. The state carries it.
pub(super) const THREAD_ID_BYTES_MAX: usize = 128;

/// The request that sets something of a thread.
pub(super) const SET: &str = "thread/settings/update";

/// How far the start is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub(super) enum Stage {
    /// `initialize` is asked.
    Initializing {
        /// What the chat wants.
        spec: SessionSpec,
    },
    /// `account/read` is asked.
    Account {
        /// What the chat wants.
        spec: SessionSpec,
    },
    /// The thread is asked for.
    Opening {
        /// What the chat wants.
        spec: SessionSpec,
    },
    /// The thread stands; what it holds is being read.
    Searching {
        /// What is looked for.
        search: Search,
        /// What will be said then.
        ready: Ready,
    },
    /// Messages may come.
    Ready,
    /// The agent does not work for this chat.
    Failed,
}

/// What is said at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ready {
    handle: Handle,
    settings: Settings,
    /// The mode that the chat wants.
    wanted: Option<String>,
    /// How hard the chat wants it to think.
    #[serde(default)]
    effort: Option<String>,
}

/// What the answer for a thread comes to.
pub(super) enum Opened {
    /// The thread stands; what is sought in it, and what will be said then.
    Stands(Search, Ready),
    /// It does not: what is next.
    Not((Stage, Vec<ProviderEvent>)),
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
        "clientInfo": {
            "name": "holdfast",
            "title": "Holdfast",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "capabilities": { "experimentalApi": true, "requestAttestation": false },
    });
    (Stage::Initializing { spec: spec.clone() }, vec![request("initialize", &params)])
}

fn too_long(spec: &SessionSpec) -> Option<&'static str> {
    let over = |text: Option<&String>, max: usize| text.is_some_and(|text| text.len() > max);
    if spec.cwd.len() > CWD_BYTES_MAX {
        Some("directory")
    } else if over(spec.handle.as_ref().map(|handle| &handle.leaf), THREAD_ID_BYTES_MAX)
        || over(spec.fork_of.as_ref().map(|of| &of.session.leaf), THREAD_ID_BYTES_MAX)
    {
        Some("session id")
    } else if over(spec.model.as_ref(), CHOICE_BYTES_MAX) {
        Some("model")
    } else if over(spec.mode.as_ref(), CHOICE_BYTES_MAX) {
        Some("mode")
    } else if over(spec.effort.as_ref(), CHOICE_BYTES_MAX) {
        Some("effort")
    } else {
        None
    }
}

/// The agent answered `initialize`.
pub(super) fn initialized(spec: SessionSpec, outcome: &Outcome<'_>) -> (Stage, Vec<ProviderEvent>) {
    if let Err(error) = outcome {
        return refused(error, Asked::Anything);
    }
    let initialized =
        ProtocolFrame::Notification { method: "initialized".to_owned(), params: "{}".to_owned() };
    let events = vec![ProviderEvent::Wants(initialized), request("account/read", &json!({}))];
    (Stage::Account { spec }, events)
}

/// The agent told whose account it works with. Only a model provider of `OpenAI` wants one; an agent
/// that does not answer is asked for the thread all the same.
pub(super) fn account(spec: SessionSpec, outcome: &Outcome<'_>) -> (Stage, Vec<ProviderEvent>) {
    let told: wire::Account<'_> = match outcome {
        Ok(result) => wire::read(*result).unwrap_or_default(),
        Err(_) => wire::Account::default(),
    };
    let nobody = told.account.is_none_or(|account| account.get() == "null");
    if told.required == Some(true) && nobody {
        let text = "Nobody is logged in to Codex. Run `codex login` in a terminal, or set the key \
                    of its model provider in the environment.";
        return failed(StartFault::LoginNeeded, text.to_owned());
    }
    open(spec)
}

fn open(spec: SessionSpec) -> (Stage, Vec<ProviderEvent>) {
    let mut params = Map::new();
    params.insert("cwd".to_owned(), json!(spec.cwd));
    if let Some(model) = &spec.model {
        params.insert("model".to_owned(), json!(model));
    }
    params.extend(spec.mode.as_deref().and_then(mode::at_start).unwrap_or_default());
    let (method, thread) = match (&spec.handle, &spec.fork_of) {
        (Some(handle), _) => ("thread/resume", Some(handle)),
        (None, Some(of)) => {
            if let Some(turn) = &of.until {
                params.insert("lastTurnId".to_owned(), json!(turn));
            }
            ("thread/fork", Some(&of.session))
        }
        (None, None) => ("thread/start", None),
    };
    if let Some(handle) = thread {
        params.insert("threadId".to_owned(), json!(handle.leaf));
        // What it holds is read page by page.
        params.insert("excludeTurns".to_owned(), json!(true));
    }
    (Stage::Opening { spec }, vec![request(method, &Value::Object(params))])
}

/// The agent answered for the thread: it stands, or something else follows.
pub(super) fn opened(spec: SessionSpec, outcome: Outcome<'_>) -> Opened {
    let asks = spec.handle.is_some() || spec.fork_of.is_some();
    let known = if asks { Asked::KnownSession } else { Asked::Anything };
    let told = match outcome {
        Err(error) => return Opened::Not(not_opened(spec, &error, known)),
        Ok(result) => result,
    };
    let settings = Settings::of(&wire::read(told).unwrap_or_default());
    let told: wire::Opened = wire::read(told).unwrap_or_default();
    let named = told.thread.and_then(|thread| thread.id).filter(|id| !id.is_empty());
    let handle = match (named, spec.handle) {
        // Another thread than the one asked for is another root: a fork.
        (Some(id), Some(asked)) if id != asked.leaf => Handle { root: id.clone(), leaf: id },
        (_, Some(asked)) => asked,
        (Some(id), None) => Handle { root: id.clone(), leaf: id },
        (None, None) => {
            let text = "The agent opened a thread without giving its id.";
            return Opened::Not(failed(StartFault::AgentRefused, text.to_owned()));
        }
    };
    if handle.leaf.len() > THREAD_ID_BYTES_MAX {
        let text = format!("The agent's thread id has more than {THREAD_ID_BYTES_MAX} bytes.");
        return Opened::Not(failed(StartFault::AgentRefused, text));
    }
    Opened::Stands(
        Search::of(spec.sought),
        Ready { handle, settings, wanted: spec.mode, effort: spec.effort },
    )
}

/// A thread is written down with its first turn. One that was asked for and is not there, and that is
/// not known to hold anything, lost nothing: another one is begun, and what was looked for in it was
/// not taken.
fn not_opened(
    mut spec: SessionSpec,
    error: &PeerError<'_>,
    known: Asked,
) -> (Stage, Vec<ProviderEvent>) {
    let fault = Fault::of(error);
    let start = fault.at_start(known);
    if start != StartFault::SessionNotFound || spec.handle.is_none() || spec.holds > 0 {
        return failed(start, in_plain_words(&fault.text));
    }
    let absent = std::mem::take(&mut spec.sought).into_iter();
    let mut events: Vec<ProviderEvent> =
        absent.map(|message| ProviderEvent::StoreAnswered { message, held: false }).collect();
    spec.handle = None;
    let (stage, more) = open(spec);
    events.extend(more);
    (stage, events)
}

fn in_plain_words(text: &str) -> String {
    if text.contains("already has an active writer") {
        return format!(
            "Another program has this Codex thread open; close it there first. ({text})"
        );
    }
    text.to_owned()
}

/// A page of what the thread holds came; none where it did not come whole.
pub(super) fn page(
    mut search: Search,
    ready: Ready,
    outcome: Option<&Outcome<'_>>,
) -> (Stage, Vec<ProviderEvent>) {
    let mut events = Vec::new();
    match outcome {
        Some(Ok(result)) => search.page(*result, &mut events),
        Some(Err(_)) | None => search.give_up(),
    }
    let (stage, more) = self::search(search, ready);
    events.extend(more);
    (stage, events)
}

/// Reads on in what the thread holds, or is ready.
pub(super) fn search(search: Search, ready: Ready) -> (Stage, Vec<ProviderEvent>) {
    if let Some((method, params)) = search.next(&ready.handle.leaf) {
        return (Stage::Searching { search, ready }, vec![request(method, &params)]);
    }
    let Ready { handle, mut settings, wanted, effort } = ready;
    let capabilities = Capabilities {
        load: true,
        resume: true,
        steer: true,
        stop_task: true,
        own_turns_end: true,
        retune: true,
        effort: true,
        change_input: false,
        keeps_prompts: true,
        forks: Forks::AtTurns,
    };
    let mut events = Vec::new();
    let mut mode = settings.mode();
    // What a start cannot say is said right after it.
    let effort = effort.filter(|effort| settings.effort.as_ref() != Some(effort));
    if effort.is_some() {
        settings.effort.clone_from(&effort);
    }
    let towards = wanted.as_deref().and_then(|wanted| settings.towards(wanted));
    if towards.is_some() {
        mode = wanted;
    }
    let effort = effort.map(|effort| Map::from_iter([("effort".to_owned(), json!(effort))]));
    for mut params in [towards, effort].into_iter().flatten() {
        params.insert("threadId".to_owned(), json!(handle.leaf));
        events.push(request(SET, &Value::Object(params)));
    }
    let model = settings.model;
    events.push(ProviderEvent::Ready { handle, capabilities, model, mode });
    (Stage::Ready, events)
}

impl Ready {
    /// The id of the thread that stands, and how it is set.
    pub(super) fn thread(&self) -> (&str, &Settings) {
        (&self.handle.leaf, &self.settings)
    }
}

fn refused(error: &PeerError<'_>, asked: Asked) -> (Stage, Vec<ProviderEvent>) {
    let fault = Fault::of(error);
    failed(fault.at_start(asked), fault.text)
}

fn failed(fault: StartFault, text: String) -> (Stage, Vec<ProviderEvent>) {
    (Stage::Failed, vec![ProviderEvent::StartFailed { fault, text }])
}

/// The wish to ask the agent something.
pub(super) fn request(method: &str, params: &Value) -> ProviderEvent {
    let (method, params) = (method.to_owned(), params.to_string());
    ProviderEvent::Wants(ProtocolFrame::Request { method, params })
}
