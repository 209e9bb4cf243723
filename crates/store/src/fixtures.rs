//! Stored facts are read for ever: `tests/fixtures/facts.jsonl` holds one line for every kind of
//! fact, and for every form of one that has several, as serde writes it. A line is never changed;
//! a new kind adds one, and so does a kind that is written in a new way.

use holdfast_core::activity::{Lead, Leftover};
use holdfast_core::attachment::Attachment;
use holdfast_core::fact::{
    Author, Death, Evidence, Fact, OfferEnd, Paused, Place, RefusedWhy, Secret, StopWhy,
    WithdrawnWhy,
};
use holdfast_core::fork::{Fork, ForkedFile, TurnPlace};
use holdfast_core::frame::{Answer, Outgoing, QuestionAnswer, Setting};
use holdfast_core::ids::{
    AttachmentId, AttemptId, ChatId, FrameNo, GrantId, ItemId, MessageId, PromptId, TaskId, TurnId,
};
use holdfast_core::input::Choice;
use holdfast_core::item::{ItemKind, Role};
use holdfast_core::offer::{Action, Cause, Failure, PromptLine, Snapshot, TaskCounts, TaskLine};
use holdfast_core::provider::{
    Asked, Capabilities, Forks, Handle, PromptKind, PromptOption, ProtocolFrame, Question, TaskEnd,
    TaskKind, TurnEnd, Usage,
};
use holdfast_core::time::Micros;
use serde_json::Value;
use uuid::Uuid;

use crate::sqlite::words::{KINDS, kind};

const STORED: &str = include_str!("../tests/fixtures/facts.jsonl");

const CHAT: ChatId = ChatId::new(Uuid::from_u128(0x30));
const MESSAGE: MessageId = MessageId::new(Uuid::from_u128(0x10));
const ATTACHMENT: AttachmentId = AttachmentId::new(Uuid::from_u128(0x30));
const ATTEMPT: AttemptId = AttemptId::new(Uuid::from_u128(0x20));
const ITEM: ItemId = ItemId::new(1, 2);
const PROMPT: PromptId = PromptId::new(1, 3);
const TASK: TaskId = TaskId::new(1, 4);
const TURN: TurnId = TurnId(5);
const FRAME: FrameNo = FrameNo(6);
const AT: Micros = Micros(1_760_000_000_000_000);

fn text(text: &str) -> String {
    text.to_owned()
}

fn chat_and_queue() -> Vec<Fact> {
    let (message, place, item) = (MESSAGE, Place::Head, ITEM);
    vec![
        Fact::ChatOpened {
            agent: text("demo"),
            cwd: text("/home/ada/wörk"),
            project: Some(text("engine")),
            title: Some(text("A \"title\"")),
            slot: Some(text("main")),
            model: Some(text("m")),
            mode: Some(text("plan")),
        },
        Fact::ChatOpened {
            agent: text("demo"),
            cwd: text("/"),
            project: None,
            title: None,
            slot: None,
            model: None,
            mode: None,
        },
        Fact::ChatAdopted {
            handle: Handle { root: text("r"), leaf: text("l") },
            messages: 3,
            shown: 9,
            older: 2,
        },
        Fact::ChatForked(Fork {
            from: CHAT,
            at: 9,
            handle: Handle { root: text("r"), leaf: text("l") },
            until: None,
            unreached: 0,
            messages: 3,
            attempts: 2,
            turns: 4,
            host_items: 5,
            attachments: Vec::new(),
        }),
        Fact::ChatForked(Fork {
            from: CHAT,
            at: 9,
            handle: Handle { root: text("r"), leaf: text("l") },
            until: None,
            unreached: 0,
            messages: 3,
            attempts: 2,
            turns: 4,
            host_items: 5,
            attachments: vec![ForkedFile { id: ATTACHMENT, bytes: 7, named: MESSAGE }],
        }),
        Fact::ChatForked(Fork {
            from: CHAT,
            at: 9,
            handle: Handle { root: text("r"), leaf: text("l") },
            until: Some(text("mark")),
            unreached: 1,
            messages: 3,
            attempts: 2,
            turns: 4,
            host_items: 5,
            attachments: Vec::new(),
        }),
        Fact::ChatRewound { to: turn_place(), handle: Handle { root: text("r"), leaf: text("l") } },
        Fact::ChatTitled { title: text("t"), by: holdfast_core::fact::Namer::Person },
        Fact::SlotBound { slot: Some(text("s")) },
        Fact::SlotBound { slot: None },
        Fact::ChatPinned { pinned: true },
        Fact::ChatFiled { folder: Some(text("f")) },
        Fact::ChatFiled { folder: None },
        Fact::ChatTagged { tags: vec![text("a"), text("b")] },
        Fact::ChatMuted { muted: true },
        Fact::ChatSeen { seen: true },
        Fact::ChatTuned { model: Some(text("m")), mode: None, effort: None },
        Fact::ChatTuned { model: None, mode: None, effort: Some(text("high")) },
        Fact::SettingDeferred,
        Fact::AgentRetuned { model: Some(text("m")), mode: Some(text("plan")), effort: None },
        Fact::AgentRetuned { model: None, mode: None, effort: Some(text("low")) },
        Fact::EffortsTold { efforts: vec![text("low"), text("high")] },
        Fact::ChatClosed,
        Fact::ChatReopened,
        Fact::ChatDeleted,
        Fact::MessageAccepted {
            message,
            by: Author::Person,
            bytes: 7,
            digest: text("d"),
            place,
            attachments: Vec::new(),
        },
        Fact::MessageAccepted {
            message,
            by: Author::App,
            bytes: 0,
            digest: text("d"),
            place,
            attachments: vec![ATTACHMENT],
        },
        Fact::AttachmentAdded(Attachment {
            id: ATTACHMENT,
            name: text("Bericht – März.pdf"),
            media_type: text("application/pdf"),
            bytes: 9,
            sha256: text("00ff"),
        }),
        Fact::AttachmentRemoved { attachment: ATTACHMENT },
        Fact::MessageEdited { message, bytes: 8, digest: text("e") },
        Fact::QueueOrdered { order: vec![message, MessageId::new(Uuid::from_u128(0x11))] },
        Fact::MessageWithdrawn { message, why: WithdrawnWhy::OfferEnded },
        Fact::MessageWithdrawn { message, why: WithdrawnWhy::StartedFresh },
        Fact::QueuePaused { by: Paused::Stop },
        Fact::QueuePaused { by: Paused::Close },
        Fact::QueueResumed,
        Fact::QueueExempted { message },
        Fact::MessageHanded { message, attempt: ATTEMPT, frame: FRAME, item, into: None },
        Fact::MessageHanded {
            message,
            attempt: ATTEMPT,
            frame: FRAME,
            item,
            into: Some(TurnId(3)),
        },
        Fact::SteerWished { message, turn: TurnId(3) },
        Fact::MessageTaken { message, evidence: Evidence::AgentStore },
        Fact::MessageSettled { message, evidence: Evidence::Agent },
        Fact::MessageRefused { message, why: RefusedWhy::Rejected { text: text("no") } },
        Fact::MessageRefused { message, why: RefusedWhy::NotWritten },
        Fact::MessageRefused { message, why: RefusedWhy::NotInStore },
        Fact::SettledSuspected { message },
        Fact::MessageDisproved { message },
        Fact::MessageDoubted { message, asking: true },
        Fact::MessageRequeued { message, place: Place::Tail },
    ]
}

fn asked() -> Asked {
    let option = PromptOption { id: text("a"), label: text("A"), kind: text("allow_once") };
    let question = Question {
        id: text("q"),
        text: text("Which?"),
        multi: true,
        free: false,
        options: vec![option.clone()],
    };
    Asked {
        kind: PromptKind::Approval,
        label: text("Run `ls`"),
        options: vec![option],
        questions: vec![question],
        deed: Some(text("d")),
    }
}

fn turn_place() -> TurnPlace {
    TurnPlace { turn: TURN, at: 9, mark: text("mark"), messages: 3 }
}

fn turns_and_prompts() -> Vec<Fact> {
    let usage = Usage { input_tokens: Some(1), output_tokens: Some(2), ..Usage::default() };
    let costly = Usage {
        cached_tokens: Some(3),
        context_tokens: Some(4),
        context_window: Some(5),
        cost_micros: Some(6),
        ..usage.clone()
    };
    let (how, evidence) = (TurnEnd::Completed, Evidence::Quiet);
    let (by, prompt, item) = (text("ada"), PROMPT, ITEM);
    let answer = |answer, device| {
        let by = by.clone();
        Fact::PromptAnswered { prompt, answer, by, device, frame: FRAME }
    };
    let chosen = QuestionAnswer { question: text("q"), options: vec![text("a")], text: None };
    let plain = Asked { questions: Vec::new(), kind: PromptKind::Question, ..asked() };
    vec![
        Fact::TurnOpened { turn: TURN, message: Some(MESSAGE) },
        Fact::TurnOpened { turn: TURN, message: None },
        Fact::TurnClaimed { turn: TURN, message: MESSAGE },
        Fact::TurnEnded { turn: TURN, how, evidence, usage: Some(usage) },
        Fact::TurnEnded { turn: TURN, how, evidence, usage: Some(costly) },
        Fact::TurnEnded { turn: TURN, how: TurnEnd::Lost, evidence: Evidence::Death, usage: None },
        Fact::TurnMarked(turn_place()),
        Fact::InterruptRequested { turn: TURN },
        Fact::ItemAdded {
            item,
            place: 9,
            kind: ItemKind::ToolCall,
            role: Role::Agent,
            turn: Some(TURN),
        },
        Fact::CallsAbandoned { origin: 1 },
        Fact::PromptOpened { prompt, item, asked: asked() },
        Fact::PromptOpened { prompt, item, asked: plain },
        answer(Answer::Option { option: text("a"), text: Some(text("fine")) }, Some(text("phone"))),
        answer(Answer::Answers { answers: vec![chosen] }, None),
        answer(Answer::Changed { option: text("a"), input: text("{}") }, None),
        answer(Answer::Cancelled, None),
        Fact::AnswerWritten { prompt },
        Fact::AnswerTaken { prompt },
        Fact::AnswerLost { prompt, written: true },
        Fact::PromptGone { prompt },
        Fact::GrantGiven { grant: GrantId(7), deed: text("d"), label: text("l"), by: text("ada") },
        Fact::GrantEnded { grant: GrantId(7) },
        Fact::TaskStarted {
            task: TASK,
            kind: TaskKind::Monitor,
            label: text("watch"),
            foreground: false,
        },
        Fact::TaskDetached { task: TASK },
        Fact::TaskEnded { task: TASK, how: TaskEnd::Stopped },
    ]
}

fn attempts() -> Vec<Fact> {
    let (attempt, frame) = (ATTEMPT, FRAME);
    let (id, command) = (text("12:34"), text("npm run dev"));
    let left = Leftover { id, command, ports: vec![8080], since: AT };
    let issued = |out| Fact::FrameIssued { frame, out };
    let answer = Answer::Option { option: text("a"), text: None };
    let stop = |why| Fact::StopRequested { attempt, why };
    let ended = |death| Fact::AttemptEnded { attempt, death };
    vec![
        Fact::AttemptStarting { attempt, origin: 1, secret: Secret(text("00ff")), resuming: true },
        Fact::LeftoversSeen { count: 2, named: vec![left] },
        Fact::AttemptBorn { attempt, pid: 4242 },
        Fact::AttemptReady {
            attempt,
            handle: Handle { root: text("r"), leaf: text("l") },
            capabilities: Capabilities { load: true, forks: Forks::AtTheEnd, ..Capabilities::NONE },
            model: Some(text("m")),
            mode: None,
        },
        Fact::AttemptReady {
            attempt,
            handle: Handle { root: text("r"), leaf: text("l") },
            capabilities: Capabilities {
                retune: true,
                keeps_prompts: true,
                change_input: true,
                ..Capabilities::default()
            },
            model: None,
            mode: None,
        },
        issued(Outgoing::Protocol(ProtocolFrame::Request {
            method: text("initialize"),
            params: text("{}"),
        })),
        issued(Outgoing::Protocol(ProtocolFrame::Notification {
            method: text("initialized"),
            params: text("{}"),
        })),
        issued(Outgoing::Protocol(ProtocolFrame::Reply {
            id: text("7"),
            outcome: text("\"result\":null"),
        })),
        issued(Outgoing::Message { message: MESSAGE }),
        issued(Outgoing::Answer { prompt: PROMPT, answer }),
        issued(Outgoing::Steer { message: MESSAGE }),
        issued(Outgoing::Interrupt),
        issued(Outgoing::StopTask { task: TASK }),
        issued(Outgoing::Set { setting: Setting::Model(text("m")) }),
        issued(Outgoing::Set { setting: Setting::Mode(text("plan")) }),
        issued(Outgoing::Set { setting: Setting::Effort(text("high")) }),
        Fact::SessionMoved { attempt, handle: Handle { root: text("s"), leaf: text("s") } },
        Fact::StoreRead { attempt, frames: vec![frame] },
        Fact::FrameBegun { frame },
        Fact::FrameDone { frame },
        Fact::FrameCancelled { frame },
        Fact::WithdrawRequested { message: MESSAGE },
        stop(StopWhy::Offered(Cause::Update)),
        stop(StopWhy::Close),
        Fact::StopWithdrawn { attempt },
        Fact::AttemptStalled { attempt },
        Fact::AttemptGoesOn { attempt },
        ended(Death::Exited { code: Some(1), signal: None }),
        ended(Death::HostLost),
        Fact::TreeMayLive { attempt, pids: vec![1, 2] },
        Fact::StartedAnyway,
    ]
}

fn offers() -> Vec<Fact> {
    let recorded_at = AT;
    let snapshot = Snapshot {
        lead: Lead::Blocked,
        starting: false,
        prompts: vec![PromptLine { kind: PromptKind::Question, label: text("Which?") }],
        tasks: vec![TaskLine { kind: TaskKind::Agent, label: text("look") }],
        more_prompts: 0,
        more_tasks: 1,
        task_counts: TaskCounts { agent: 2, ..TaskCounts::default() },
    };
    let (code, actions) = (text("agent_died"), vec![Action::Retry, Action::OpenChat]);
    vec![
        Fact::OfferRecorded {
            cause: Cause::HostLost,
            recorded_at,
            snapshot: Box::new(snapshot),
            continuation: MESSAGE,
            root: Some(text("r")),
        },
        Fact::OfferShown { recorded_at },
        Fact::OfferEnded { recorded_at, how: OfferEnd::Progress },
        Fact::ResumeStarted { recorded_at, choice: Some(Choice::SendAgain) },
        Fact::ResumeStarted { recorded_at, choice: None },
        Fact::ResumeStopped { recorded_at },
        Fact::SessionLeft { recap: MESSAGE },
        Fact::FailureFiled(Failure { code, text: text("It died."), actions }),
        Fact::FailureCleared,
    ]
}

fn samples() -> Vec<Fact> {
    [chat_and_queue(), turns_and_prompts(), attempts(), offers()].concat()
}

/// Whether all that is in `old` is in `new` too.
fn holds(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            old.iter().all(|(key, old)| new.get(key).is_some_and(|new| holds(new, old)))
        }
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| holds(new, old))
        }
        _ => new == old,
    }
}

#[test]
fn every_form_of_a_fact_has_its_line() {
    let stored: Vec<&str> = STORED.lines().collect();
    let written = samples().into_iter().map(|fact| serde_json::to_string(&fact).unwrap());
    let missing: Vec<String> = written.filter(|line| !stored.contains(&line.as_str())).collect();
    assert!(missing.is_empty(), "facts.jsonl lacks these lines:\n{}", missing.join("\n"));
}

#[test]
fn every_line_is_read_as_ever() {
    for line in STORED.lines() {
        let fact: Fact = serde_json::from_str(line).unwrap();
        let again = serde_json::to_value(&fact).unwrap();
        let old: Value = serde_json::from_str(line).unwrap();
        assert!(holds(&again, &old), "{line}\n{again}");
    }
    for fact in samples() {
        let line = serde_json::to_string(&fact).unwrap();
        assert_eq!(serde_json::from_str::<Fact>(&line).unwrap(), fact, "{line}");
    }
}

#[test]
fn every_kind_of_fact_has_a_line_and_the_word_that_is_stored() {
    for fact in samples() {
        let json = serde_json::to_value(&fact).unwrap();
        assert_eq!(json["fact"], kind(&fact));
        assert!(KINDS.contains(&kind(&fact)));
    }
    for word in KINDS {
        assert!(samples().iter().any(|fact| kind(fact) == *word), "{word} has no line");
    }
}

#[test]
fn a_field_of_a_newer_version_does_not_hide_a_fact() {
    for line in STORED.lines() {
        let more = line.replacen('{', "{\"newer\":{\"a\":[1]},", 1);
        let fact: Fact = serde_json::from_str(&more).unwrap();
        assert_eq!(fact, serde_json::from_str(line).unwrap());
    }
}
