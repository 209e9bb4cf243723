//! `decide`: the one place where a chat's next facts come from. One file for each family of
//! inputs; every rule pushes facts onto a [`Draft`], which folds them at once, so that the next
//! rule sees what the one before decided. At the end of every input the chat is *advanced*: what
//! it owes and can do now (start an agent, hand over the next message) is decided in the same
//! breath, so that no input has to remember it and no crash can forget it.

mod adopt;
mod attachment;
mod attempt;
mod chat;
mod death;
mod effort;
mod fork;
mod grant;
mod idle;
mod message;
mod offer;
mod prompt;
mod queue;
mod replay;
mod resume;
mod steer;
mod task;
mod turn;

use crate::fact::Fact;
use crate::fold::fold;
use crate::frame::Outgoing;
use crate::head::{Attempt, Chat, Life};
use crate::ids::{AttemptId, FrameNo, ItemId, ReceiptId, Subject, TurnId};
use crate::input::{Command, Given, Input, KeeperEvent, Reply};
use crate::item::{Body, Field, ItemKind, Notice, Role, Row};
use crate::limits::OUTBOX_FRAMES_MAX;
use crate::provider::ProviderEvent;
use crate::refusal::{Code, Refusal};

/// What was decided: facts and rows for one commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The facts, in order.
    pub facts: Vec<Fact>,
    /// What goes with them.
    pub rows: Vec<Row>,
    /// What the caller is answered once this is committed. Only commands are answered.
    pub reply: Option<Reply>,
}

/// Decides what `input` makes of `chat`, and folds it in.
///
/// # Errors
///
/// A refusal leaves `chat` as it was.
pub fn decide(chat: &mut Chat, input: Input, given: &Given) -> Result<Decision, Refusal> {
    let mut draft = Draft { chat, given, facts: Vec::new(), rows: Vec::new() };
    let d = &mut draft;
    let reply = match input {
        Input::Command(command) => Some(self::command(d, command)?),
        Input::Provider { attempt, event } => {
            if d.is_current(attempt) {
                provider(d, event);
            }
            None
        }
        Input::Keeper { attempt, event } => {
            if d.is_current(attempt) {
                keeper(d, event);
            }
            None
        }
        Input::Tick { last_word, release_after, ceiling_after } => {
            idle::tick(d, last_word, release_after, ceiling_after);
            None
        }
    };
    message::advance(d);
    Ok(Decision { facts: draft.facts, rows: draft.rows, reply })
}

fn command(d: &mut Draft<'_>, command: Command) -> Result<Reply, Refusal> {
    match d.chat.head.life {
        Life::Unborn if !matches!(command, Command::Open { .. }) => {
            return Err(Refusal::new(Code::ChatNotFound, "There is no such chat."));
        }
        Life::Deleted => return Err(Refusal::new(Code::ChatNotFound, "There is no such chat.")),
        Life::Unborn | Life::Open | Life::Closed => {}
    }
    match command {
        Command::Open { .. } => chat::open(d, command),
        Command::Fork { at, turn, attachments } => fork::fork(d, at, turn, attachments),
        Command::Rewind { at, turn, message } => fork::rewind(d, at, turn, message),
        Command::Change(change) => chat::change(d, change),
        Command::Close { leftovers } => chat::close(d, leftovers),
        Command::Reopen => chat::reopen(d),
        Command::Delete => chat::delete(d),
        Command::Send { message, text, by, send, attachments } => {
            message::send(d, (message, by, send), text, attachments)
        }
        Command::Attach(attachment) => attachment::add(d, attachment),
        Command::Detach { attachment } => attachment::remove(d, attachment),
        Command::EditQueued { message, text } => queue::edit(d, message, text),
        Command::WithdrawQueued { message } => queue::withdraw(d, message),
        Command::OrderQueue { order } => queue::order(d, &order),
        Command::SendNow { message } => queue::send_now(d, message),
        Command::PauseQueue => queue::pause(d),
        Command::ResumeQueue => queue::resume(d),
        Command::Resolve { message, choice } => message::resolve(d, message, choice),
        Command::Interrupt => turn::interrupt(d),
        Command::StopAgent => attempt::stop_agent(d),
        Command::StopTask { task } => task::stop(d, task),
        Command::Answer { prompt, answer, by, device } => {
            prompt::answer(d, prompt, answer, by, device)
        }
        Command::EndGrant { grant } => grant::end(d, grant),
        Command::Resume { recorded_at, choice, session, anyway } => {
            resume::resume(d, recorded_at, choice, session, anyway)
        }
        Command::Dismiss { recorded_at } => offer::dismiss(d, recorded_at),
        Command::Stop { why } => attempt::stop(d, why),
    }
}

fn provider(d: &mut Draft<'_>, event: ProviderEvent) {
    match event {
        ProviderEvent::Wants(frame) => d.issue(Outgoing::Protocol(frame)),
        ProviderEvent::Ready { handle, capabilities, model, mode } => {
            attempt::ready(d, handle, capabilities, model, mode);
        }
        ProviderEvent::StartFailed { fault, text } => attempt::start_failed(d, fault, &text),
        ProviderEvent::ReplayEnded { messages, last } => replay::ended(d, messages, last),
        ProviderEvent::StoreAnswered { message, held } => replay::answered(d, message, held),
        ProviderEvent::ItemOpened { item, kind, role, body } => {
            let item = d.own_item(item);
            turn::item_opened(d, item, kind, role, body);
        }
        ProviderEvent::ItemText { item, field, at, text } => {
            let item = d.own_item(item);
            d.row(Row::ItemText { item, field, at, text });
        }
        ProviderEvent::ItemChanged { item, body } => {
            let item = d.own_item(item);
            d.row(Row::ItemBody { item, body });
        }
        ProviderEvent::ItemClosed { item } => {
            let item = d.own_item(item);
            d.row(Row::ItemClosed { item });
        }
        ProviderEvent::MessageTaken { frame } => message::taken(d, frame),
        ProviderEvent::TurnClaimed { frame } => message::claims(d, frame),
        ProviderEvent::MessageFailed { frame, proof, text } => {
            message::failed(d, frame, proof, text);
        }
        ProviderEvent::Stirred => turn::stirred(d),
        ProviderEvent::TurnEnded { how, usage, text, mark } => {
            turn::ended(d, how, usage, text, mark);
        }
        ProviderEvent::PromptOpened { prompt, item, asked } => {
            prompt::opened(d, prompt, item, asked);
        }
        ProviderEvent::PromptGone { prompt } => prompt::gone(d, prompt),
        ProviderEvent::AnswerTaken { prompt } => prompt::taken(d, prompt),
        ProviderEvent::TaskStarted { task, kind, label, foreground } => {
            task::started(d, task, kind, &label, foreground);
        }
        ProviderEvent::TaskDetached { task } => task::detached(d, task),
        ProviderEvent::TaskEnded { task, how } => task::ended(d, task, how),
        ProviderEvent::Titled { title } => chat::titled_by_agent(d, &title),
        ProviderEvent::Retuned { model, mode } => chat::retuned(d, model, mode),
        ProviderEvent::EffortTold { effort } => effort::told(d, &effort),
        ProviderEvent::EffortsTold { efforts } => effort::known(d, efforts),
        ProviderEvent::CommandsTold { commands } => d.row(Row::Commands(commands)),
        ProviderEvent::SettingDeferred => chat::setting_deferred(d),
        ProviderEvent::LoginNeeded { text } => attempt::login_needed(d, &text),
        ProviderEvent::SettingRefused { text } => d.say(Notice::SettingRefused, &text),
        ProviderEvent::SessionMoved { handle } => attempt::session_moved(d, handle),
    }
}

fn keeper(d: &mut Draft<'_>, event: KeeperEvent) {
    match event {
        KeeperEvent::Born { pid } => attempt::born(d, pid),
        KeeperEvent::SpawnFailed { fault, text } => attempt::start_failed(d, fault, &text),
        KeeperEvent::FrameBegun(frame) => attempt::frame_begun(d, frame),
        KeeperEvent::FrameDone(frame) => attempt::frame_done(d, frame),
        KeeperEvent::FrameCancelled(frame) => attempt::frame_cancelled(d, frame),
        KeeperEvent::CutOff => offer::cut_off(d),
        KeeperEvent::Signalled { cause } => offer::signalled(d, cause),
        KeeperEvent::StoreRead { frames } => death::store_read(d, frames),
        KeeperEvent::Dead { death, boot, survivors, stderr } => {
            death::died(d, death, boot, survivors, &stderr);
        }
        KeeperEvent::Leftovers { named, count } => attempt::leftovers(d, named, count),
        KeeperEvent::LineSkipped { text } => d.say(Notice::LineSkipped, &text),
        KeeperEvent::StopRefused => attempt::stop_refused(d),
        KeeperEvent::Silent => attempt::stalled(d),
        KeeperEvent::Answers => attempt::goes_on(d),
    }
}

/// A decision in the making: the chat as it will be, and what made it so.
pub(crate) struct Draft<'a> {
    pub(crate) chat: &'a mut Chat,
    pub(crate) given: &'a Given,
    facts: Vec<Fact>,
    rows: Vec<Row>,
}

impl Draft<'_> {
    /// Adds a fact, and folds it.
    fn push(&mut self, fact: Fact) {
        fold(self.chat, &fact, self.given.at);
        self.facts.push(fact);
    }

    fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    fn is_current(&self, attempt: AttemptId) -> bool {
        self.chat.head.attempt.as_ref().is_some_and(|current| current.id == attempt)
    }

    /// The attempt, unless it is being stopped.
    fn serving(&self) -> Option<&Attempt> {
        self.chat.head.attempt.as_ref().filter(|attempt| attempt.stop.is_none())
    }

    fn origin(&self) -> u32 {
        self.chat.head.attempt.as_ref().map_or(0, |attempt| attempt.origin)
    }

    fn own_item(&self, n: u32) -> ItemId {
        ItemId::new(self.origin(), n)
    }

    fn receipt(&self, subject: Subject) -> ReceiptId {
        ReceiptId { chat: self.given.chat, subject }
    }

    /// Commits the next frame for the agent, unless it waits already or too many do: an agent that
    /// takes nothing is not answered either.
    fn issue(&mut self, out: Outgoing) {
        let waits = self.serving().is_some_and(|a| a.outbox.iter().any(|issued| issued.out == out));
        if !waits && self.has_room(1) {
            self.issue_anew(out);
        }
    }

    /// Commits the next frame for the agent, though the same may wait already: of frames that undo
    /// each other the last counts. The caller has made sure of the room.
    fn issue_anew(&mut self, out: Outgoing) {
        if let Some(frame) = self.next_frame() {
            self.push(Fact::FrameIssued { frame, out });
        }
    }

    /// Whether so many frames more may wait for the agent.
    fn has_room(&self, frames: usize) -> bool {
        self.serving().is_none_or(|attempt| attempt.outbox.len() + frames <= OUTBOX_FRAMES_MAX)
    }

    fn next_frame(&self) -> Option<FrameNo> {
        self.serving().map(|attempt| FrameNo(attempt.frame.0.saturating_add(1)))
    }

    /// Adds an item at the end of the transcript.
    fn add_item(
        &mut self,
        item: ItemId,
        kind: ItemKind,
        role: Role,
        turn: Option<TurnId>,
        body: Body,
    ) {
        let place = self.chat.head.places.saturating_add(1);
        self.push(Fact::ItemAdded { item, place, kind, role, turn });
        self.row(Row::ItemBody { item, body });
    }

    fn next_host_item(&self) -> ItemId {
        ItemId::new(0, self.chat.head.host_items.saturating_add(1))
    }

    /// Writes a line of the host's own into the transcript.
    fn say(&mut self, notice: Notice, text: &str) {
        let item = self.next_host_item();
        let turn = self.chat.head.turn.map(|turn| turn.id);
        self.add_item(item, ItemKind::Notice, Role::Host, turn, Body::Notice(notice));
        if !text.is_empty() {
            let text = text.to_owned();
            self.row(Row::ItemText { item, field: Field::Text, at: 0, text });
        }
        self.row(Row::ItemClosed { item });
    }
}

#[cfg(test)]
mod tests;
