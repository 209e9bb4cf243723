//! The life of a chat: opened, named, closed, opened again, deleted.

use super::{Draft, adopt, fork, message, offer};
use crate::effect::comes_back;
use crate::fact::{Fact, Namer, Paused, StopWhy};
use crate::frame::{Outgoing, Setting};
use crate::head::{Attempt, Life, Phase};
use crate::ids::Subject;
use crate::input::{ChangeChat, Command, Leftovers, Reply, Send};
use crate::limits::{
    CWD_BYTES_MAX, FOLDER_CHARS_MAX, PROJECT_CHARS_MAX, SLOT_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX,
    TITLE_CHARS_MAX, cut,
};
use crate::refusal::{Code, Refusal};

pub(super) fn open(d: &mut Draft<'_>, command: Command) -> Result<Reply, Refusal> {
    let Command::Open {
        agent,
        cwd,
        project,
        title,
        slot,
        model,
        mode,
        effort,
        fork,
        adopt,
        message,
    } = command
    else {
        return Ok(Reply::Done);
    };
    if d.chat.head.life != Life::Unborn {
        return Err(Refusal::new(Code::ChatOpen, "The chat exists already."));
    }
    if cwd.len() > CWD_BYTES_MAX {
        return Err(too_long("cwd", CWD_BYTES_MAX, "bytes"));
    }
    let title = title.map(|title| trimmed("title", &title, TITLE_CHARS_MAX)).transpose()?;
    let project = project.map(|name| trimmed("project", &name, PROJECT_CHARS_MAX)).transpose()?;
    let slot = slot.map(|slot| slot_name(&slot)).transpose()?;
    for (field, value) in [("model", &model), ("mode", &mode), ("effort", &effort)] {
        if value.as_ref().is_some_and(|value| value.chars().count() > TITLE_CHARS_MAX) {
            return Err(too_long(field, TITLE_CHARS_MAX, "characters"));
        }
    }
    if let Some((_, text, _)) = &message {
        message::check_text("message", text, message::Empty::Refused)?;
    }
    d.push(Fact::ChatOpened { agent, cwd, project, title, slot, model, mode });
    if effort.is_some() {
        d.push(Fact::ChatTuned { model: None, mode: None, effort });
    }
    if let Some(fork) = fork {
        fork::begin(d, *fork);
    }
    if let Some(adopted) = adopt {
        adopt::begin(d, *adopted);
    }
    let mut receipt = None;
    if let Some((id, text, by)) = message {
        message::send(d, (id, by, Send::Queue), text, Vec::new())?;
        receipt = Some(d.receipt(Subject::Message(id)));
    }
    Ok(Reply::Opened { chat: d.given.chat, receipt })
}

/// What is to be another becomes another, all of it or nothing.
pub(super) fn change(d: &mut Draft<'_>, change: ChangeChat) -> Result<Reply, Refusal> {
    let ChangeChat { title, slot, pinned, folder, tags, muted, unread, model, mode, effort } =
        change;
    let mut facts = Vec::new();
    if let Some(title) = title {
        let title = trimmed("title", &title, TITLE_CHARS_MAX)?;
        facts.push(Fact::ChatTitled { title, by: Namer::Person });
    }
    if let Some(slot) = slot {
        let slot = if slot.trim().is_empty() { None } else { Some(slot_name(&slot)?) };
        facts.push(Fact::SlotBound { slot });
    }
    if let Some(pinned) = pinned {
        facts.push(Fact::ChatPinned { pinned });
    }
    if let Some(folder) = folder {
        let none = folder.trim().is_empty();
        let folder = if none { None } else { Some(trimmed("folder", &folder, FOLDER_CHARS_MAX)?) };
        facts.push(Fact::ChatFiled { folder });
    }
    if let Some(tags) = tags {
        facts.push(Fact::ChatTagged { tags: tag_names(&tags)? });
    }
    if let Some(muted) = muted {
        facts.push(Fact::ChatMuted { muted });
    }
    if let Some(unread) = unread {
        facts.push(Fact::ChatSeen { seen: !unread });
    }
    let settings = if model.is_some() || mode.is_some() || effort.is_some() {
        let (fact, settings) = tuned(d, model, mode, effort)?;
        facts.push(fact);
        settings
    } else {
        Vec::new()
    };
    for fact in facts {
        d.push(fact);
    }
    for setting in settings {
        d.issue_anew(Outgoing::Set { setting });
    }
    Ok(Reply::Row)
}

/// The agent works with another model or mode than before.
pub(super) fn retuned(d: &mut Draft<'_>, model: Option<String>, mode: Option<String>) {
    let bounded = |told: Option<String>, known: &Option<String>| {
        told.map(|told| cut(&told, TITLE_CHARS_MAX))
            .filter(|told| !told.is_empty() && Some(told) != known.as_ref())
    };
    let model = bounded(model, &d.chat.head.model);
    let mode = bounded(mode, &d.chat.head.mode);
    if model.is_some() || mode.is_some() {
        d.push(Fact::AgentRetuned { model, mode, effort: None });
    }
}

/// The agent gets its settings by a new start, once it has nothing to do.
pub(super) fn setting_deferred(d: &mut Draft<'_>) {
    if !d.chat.head.tuned {
        d.push(Fact::SettingDeferred);
    }
}

/// A running agent is told of another model or mode, where it takes one; any other gets it by a new
/// start, once it has nothing to do.
fn tuned(
    d: &Draft<'_>,
    model: Option<String>,
    mode: Option<String>,
    effort: Option<String>,
) -> Result<(Fact, Vec<Setting>), Refusal> {
    let name = |field, text: Option<String>| {
        text.map(|text| trimmed(field, &text, TITLE_CHARS_MAX)).transpose()
    };
    let (model, mode) = (name("model", model)?, name("mode", mode)?);
    let effort = name("effort", effort)?;
    let head = &d.chat.head;
    let ready = head.attempt.as_ref().filter(|attempt| attempt.phase == Phase::Ready);
    if effort.is_some() && ready.is_some_and(|attempt| !attempt.capabilities.effort) {
        let text = "This agent takes no effort.";
        return Err(Refusal::new(Code::NotSupported, text).field("effort"));
    }
    if head.attempt.as_ref().is_some_and(Attempt::retunes) {
        let settings = [
            model.clone().map(Setting::Model),
            mode.clone().map(Setting::Mode),
            effort.clone().map(Setting::Effort),
        ];
        let settings: Vec<Setting> = settings.into_iter().flatten().collect();
        if !d.has_room(settings.len()) {
            return Err(super::prompt::full());
        }
        return Ok((Fact::ChatTuned { model, mode, effort }, settings));
    }
    if ready.is_some_and(|attempt| !comes_back(attempt) && attempt.stop.is_none()) {
        let field = match (&model, &mode) {
            (Some(_), _) => "model",
            (None, Some(_)) => "mode",
            (None, None) => "effort",
        };
        let text = "This agent cannot bring its session back, and a new model, mode or effort needs a \
            new start. Open another chat with it.";
        return Err(Refusal::new(Code::NotSupported, text).field(field));
    }
    Ok((Fact::ChatTuned { model, mode, effort }, Vec::new()))
}

fn tag_names(tags: &[String]) -> Result<Vec<String>, Refusal> {
    if tags.len() > TAGS_MAX {
        let text = format!("A chat has at most {TAGS_MAX} tags.");
        return Err(Refusal::new(Code::InvalidField, text).field("tags").limit(TAGS_MAX));
    }
    let mut names: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = trimmed("tags", tag, TAG_CHARS_MAX)?;
        if !names.contains(&tag) {
            names.push(tag);
        }
    }
    Ok(names)
}

pub(super) fn titled_by_agent(d: &mut Draft<'_>, title: &str) {
    let title = cut(title, TITLE_CHARS_MAX);
    if !title.is_empty() && !d.chat.head.named {
        d.push(Fact::ChatTitled { title, by: Namer::Agent });
    }
}

pub(super) fn close(d: &mut Draft<'_>, wanted: Leftovers) -> Result<Reply, Refusal> {
    let leftovers = d.chat.aside.leftovers.clone();
    if d.chat.head.life == Life::Closed {
        return Ok(Reply::Closed { leftovers });
    }
    let leaving = wanted == Leftovers::Leave && d.chat.head.leftovers > 0;
    go_away(d, if leaving { StopWhy::CloseLeaving } else { StopWhy::Close });
    let waits = !d.chat.aside.queue.is_empty() || d.chat.head.may_come_back();
    if waits && d.chat.head.paused.is_none() {
        // Opening it again is looking at it: that releases nothing.
        d.push(Fact::QueuePaused { by: Paused::Close });
    }
    d.push(Fact::ChatClosed);
    Ok(Reply::Closed { leftovers })
}

pub(super) fn reopen(d: &mut Draft<'_>) -> Result<Reply, Refusal> {
    if d.chat.head.life == Life::Closed {
        d.push(Fact::ChatReopened);
    }
    Ok(Reply::Row)
}

pub(super) fn delete(d: &mut Draft<'_>) -> Result<Reply, Refusal> {
    if d.chat.head.marks.pinned {
        let text = "The chat is pinned. Unpin it first, if it is really to be deleted.";
        return Err(Refusal::new(Code::ChatPinned, text));
    }
    go_away(d, StopWhy::Delete);
    d.push(Fact::ChatDeleted);
    Ok(Reply::Done)
}

/// The funnel: every way in which a chat goes away passes here. It ends the offer by key, unread,
/// and can neither block nor fail.
fn go_away(d: &mut Draft<'_>, why: StopWhy) {
    offer::end(d, crate::fact::OfferEnd::Closed);
    if let Some(attempt) = d.chat.head.attempt.as_ref().filter(|a| a.stop != Some(StopWhy::Delete))
    {
        let attempt = attempt.id;
        d.push(Fact::StopRequested { attempt, why });
    }
}

fn slot_name(slot: &str) -> Result<String, Refusal> {
    let slot = trimmed("slot", slot, SLOT_CHARS_MAX)?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if slot.chars().all(plain) {
        Ok(slot)
    } else {
        let text = "A slot is made of letters, digits, '-', '_' and '.'.";
        Err(Refusal::new(Code::InvalidField, text).field("slot"))
    }
}

fn trimmed(field: &str, text: &str, chars: usize) -> Result<String, Refusal> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Refusal::new(Code::EmptyField, format!("{field} is empty.")).field(field));
    }
    if text.chars().count() > chars {
        return Err(too_long(field, chars, "characters"));
    }
    if text.chars().any(char::is_control) {
        let text = format!("{field} holds a control character.");
        return Err(Refusal::new(Code::InvalidField, text).field(field));
    }
    Ok(text.to_owned())
}

/// The refusal of a field that is too long.
pub(super) fn too_long(field: &str, limit: usize, unit: &str) -> Refusal {
    let text = format!("{field} is longer than {limit} {unit}.");
    Refusal::new(Code::FieldTooLong, text).field(field).limit(limit)
}
