//! An attempt's life up to its death: started, born, ready, its frames, its stop.

use super::{Draft, effort, offer, prompt, replay, steer};
use crate::activity::Leftover;
use crate::fact::{Author, Fact, Place, StopWhy, WithdrawnWhy};
use crate::frame::Outgoing;
use crate::head::{Outstanding, Phase, Written};
use crate::ids::FrameNo;
use crate::input::Reply;
use crate::item::{Notice, Steered};
use crate::limits::{LEFTOVERS_NAMED_MAX, label};
use crate::provider::{Capabilities, Handle, StartFault};
use crate::queue::next;
use crate::refusal::{Code, Refusal};

/// Starts an agent for what waits. Never while another attempt, or what is left of one, may live.
pub(super) fn start(d: &mut Draft<'_>) {
    let head = &d.chat.head;
    if head.attempt.is_some() || head.may_live {
        return;
    }
    let resuming = head.is_resuming();
    d.push(Fact::AttemptStarting {
        attempt: d.given.attempt,
        origin: head.attempts.saturating_add(1),
        secret: d.given.secret.clone(),
        resuming,
    });
}

pub(super) fn born(d: &mut Draft<'_>, pid: u32) {
    if let Some(attempt) = d.chat.head.attempt.as_ref().filter(|attempt| attempt.pid.is_none()) {
        let attempt = attempt.id;
        d.push(Fact::AttemptBorn { attempt, pid });
    }
}

/// The session stands.
pub(super) fn ready(
    d: &mut Draft<'_>,
    handle: Handle,
    capabilities: Capabilities,
    model: Option<String>,
    mode: Option<String>,
) {
    let starting = d.chat.head.attempt.as_ref().filter(|a| a.phase == Phase::Starting);
    let Some(attempt) = starting.map(|attempt| attempt.id) else { return };
    let root = handle.root.clone();
    let held = d.chat.head.session_messages > 0;
    d.push(Fact::AttemptReady { attempt, handle, capabilities, model, mode });
    // A session that held nothing was not left behind: the agent has begun it anew.
    if held {
        offer::rewound(d, &root);
    }
    replay::no_more_to_ask(d);
    effort::unheard(d);
    super::resume::settle(d);
}

/// The conversation goes on in a session that holds nothing yet.
pub(super) fn session_moved(d: &mut Draft<'_>, handle: Handle) {
    let ready = d.chat.head.attempt.as_ref().filter(|a| a.phase == Phase::Ready && !a.left);
    let Some(attempt) = ready.map(|attempt| attempt.id) else { return };
    if d.chat.head.handle.as_ref() != Some(&handle) {
        d.push(Fact::SessionMoved { attempt, handle });
    }
}

/// The agent will not, or could not, work for this chat.
pub(super) fn start_failed(d: &mut Draft<'_>, fault: StartFault, text: &str) {
    let Some(attempt) = d.serving().map(|attempt| attempt.id) else { return };
    d.push(Fact::StopRequested { attempt, why: StopWhy::StartFailed });
    offer::resume_failed(d, fault, text);
}

/// Nobody is logged in. That is filed as what a start without a login is; a new agent, started with what
/// a person does next, finds what was done about it.
pub(super) fn login_needed(d: &mut Draft<'_>, text: &str) {
    let Some(attempt) = d.serving().map(|attempt| attempt.id) else { return };
    offer::file(d, StartFault::LoginNeeded, text);
    d.push(Fact::StopRequested { attempt, why: StopWhy::StartFailed });
}

pub(super) fn frame_begun(d: &mut Draft<'_>, frame: FrameNo) {
    if d.chat.head.at_agent().any(|o| o.frame == frame) {
        d.push(Fact::FrameBegun { frame });
    }
}

pub(super) fn frame_done(d: &mut Draft<'_>, frame: FrameNo) {
    d.push(Fact::FrameDone { frame });
    prompt::written(d, frame);
}

/// Not a byte of it was written: a message in it waits again.
pub(super) fn frame_cancelled(d: &mut Draft<'_>, frame: FrameNo) {
    let issued = d.chat.head.attempt.as_ref().and_then(|attempt| {
        attempt.outbox.iter().find(|issued| issued.frame == frame).map(|issued| issued.out.clone())
    });
    d.push(Fact::FrameCancelled { frame });
    if let Some(Outgoing::StopTask { task }) = issued
        && d.chat.head.tasks.contains_key(&task)
    {
        let text = "The agent was not asked to stop this task: it has no name for it any more.";
        d.say(Notice::TaskNotStopped, text);
    }
    let here = |o: &&Outstanding| o.frame == frame && o.written == Written::No;
    let unwritten = d.chat.head.at_agent().find(here);
    let unwritten = unwritten.map(|o| (o.message, o.withdrawing, o.into.map(|_| o.item)));
    if let Some((message, withdrawing, steered)) = unwritten {
        if withdrawing {
            let why = WithdrawnWhy::Person;
            d.push(Fact::MessageWithdrawn { message, why });
            return;
        }
        d.push(Fact::MessageRequeued { message, place: Place::Head });
        if let Some(item) = steered {
            steer::show(d, item, message, Steered::Returned);
        }
        if d.chat.head.is_resuming() {
            d.push(Fact::QueueExempted { message });
        }
    }
}

/// A stop of this agent, for the host's reasons. A chat without one has nothing to stop.
pub(super) fn stop(d: &mut Draft<'_>, why: StopWhy) -> Result<Reply, Refusal> {
    let Some(attempt) = d.serving().map(|attempt| attempt.id) else { return Ok(Reply::Done) };
    match why {
        StopWhy::Offered(cause) => offer::record(d, cause),
        StopWhy::Close
        | StopWhy::CloseLeaving
        | StopWhy::Delete
        | StopWhy::Ordered
        | StopWhy::Idle
        | StopWhy::StartFailed => {}
    }
    d.push(Fact::StopRequested { attempt, why });
    Ok(Reply::Done)
}

/// A person ends the agent itself. It makes no offer: it was ordered for this one chat. What waits
/// stays, and starts an agent again when a person lets it.
pub(super) fn stop_agent(d: &mut Draft<'_>) -> Result<Reply, Refusal> {
    if d.serving().is_none() {
        return Err(Refusal::new(Code::NoTurn, "No agent is running for this chat."));
    }
    offer::stop_resume(d);
    // Whatever holds the queue now may be over before the agent is: nothing starts another by itself.
    let waits = d.chat.aside.queue.iter().any(|queued| queued.by != Author::Host)
        || d.chat.head.may_come_back();
    let starts = next(d.chat).is_some() || d.chat.head.fork.is_some();
    if starts || (waits && d.chat.head.paused.is_none()) {
        d.push(Fact::QueuePaused { by: crate::fact::Paused::Stop });
    }
    stop(d, StopWhy::Ordered)
}

/// The agent said something after the position at which its release was decided: it goes on.
pub(super) fn stop_refused(d: &mut Draft<'_>) {
    let idle = d.chat.head.attempt.as_ref().filter(|attempt| attempt.stop == Some(StopWhy::Idle));
    if let Some(attempt) = idle.map(|attempt| attempt.id) {
        d.push(Fact::StopWithdrawn { attempt });
    }
}

/// Its keeper does not answer. That ends nothing: it is shown until it is over.
pub(super) fn stalled(d: &mut Draft<'_>) {
    if let Some(attempt) = d.chat.head.attempt.as_ref().filter(|attempt| !attempt.stalled) {
        let attempt = attempt.id;
        d.push(Fact::AttemptStalled { attempt });
    }
}

/// Its keeper answers.
pub(super) fn goes_on(d: &mut Draft<'_>) {
    if let Some(attempt) = d.chat.head.attempt.as_ref().filter(|attempt| attempt.stalled) {
        let attempt = attempt.id;
        d.push(Fact::AttemptGoesOn { attempt });
    }
}

/// What is left running of tool calls that ended; told whenever it changes.
pub(super) fn leftovers(d: &mut Draft<'_>, named: Vec<(String, String, Vec<u16>)>, count: u32) {
    let old = &d.chat.aside.leftovers;
    let since = |id: &str| old.iter().find(|known| known.id == id).map(|known| known.since);
    let named: Vec<Leftover> = named
        .into_iter()
        .take(LEFTOVERS_NAMED_MAX)
        .map(|(id, command, ports)| Leftover {
            since: since(&id).unwrap_or(d.given.at),
            command: label(&command),
            id,
            ports,
        })
        .collect();
    if named != *old || count != d.chat.head.leftovers {
        d.push(Fact::LeftoversSeen { count, named });
    }
}
