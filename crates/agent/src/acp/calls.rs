//! Tool calls. A call may first appear as a `tool_call`, as an update, or inside a permission
//! request; it may be told again and again, and its output may come whole each time.

use std::collections::VecDeque;

use holdfast_core::item::{Body, CallState, Field, ItemKind, Role, ToolCall};
use holdfast_core::limits::{cut, label};
use holdfast_core::provider::{ProviderEvent, TurnEnd};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::content::call_text;
use super::wire;
use crate::ordinals::{Ordinals, digest, digits, json_bytes};

/// Calls of an attempt that are told apart.
pub(super) const CALLS_MAX: usize = 512;
/// Bytes of the stored table of calls.
const CALLS_BYTES_MAX: usize = 20 * 1024;
/// Bytes of one stored call beside what is counted of it.
const CALL_BYTES: usize = 80;
/// Bytes of one stored text of a call beside its numbers.
const SHOWN_BYTES: usize = 24;
/// Digests of forgotten calls that are kept, so that none of them is taken for a new call.
const FORGOTTEN_MAX: usize = 256;
/// Characters of a call's kind.
const KIND_CHARS_MAX: usize = 32;
/// What stands between an output and another that replaces it.
const REPLACED: &str = "\n[the agent replaced the output above]\n";

/// A text of a call that was shown and may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
    /// Bytes shown in all: where the next piece begins.
    #[serde(rename = "a")]
    at: u64,
    /// Bytes of what the agent last told as the whole text.
    #[serde(rename = "w")]
    whole: u64,
    /// Its digest.
    #[serde(rename = "d")]
    digest: u64,
}

/// One call. Short names: up to [`CALLS_MAX`] of them are stored with every commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    #[serde(rename = "i")]
    id: u64,
    #[serde(rename = "n")]
    item: u32,
    #[serde(rename = "t")]
    name: String,
    #[serde(rename = "k")]
    kind: String,
    #[serde(rename = "s")]
    state: CallState,
    #[serde(rename = "p")]
    phase: Phase,
    /// The turn that it belongs to; none for a subagent's call, which no turn ends.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    #[serde(rename = "o", default, skip_serializing_if = "Shown::is_nothing")]
    output: Shown,
    #[serde(rename = "j", default, skip_serializing_if = "Shown::is_nothing")]
    input: Shown,
}

/// How far a call is, beside its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// Told, not begun.
    #[serde(rename = "p")]
    Pending,
    /// Begun.
    #[serde(rename = "b")]
    Begun,
    /// Its item was closed.
    #[serde(rename = "c")]
    Closed,
}

/// Whose call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The chat's own session.
    Own,
    /// Another session: a subagent.
    Foreign,
}

/// Whether a call was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was, or is one that was forgotten.
    Yes,
    /// It is new.
    No,
}

/// The calls of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Calls {
    /// Turns that have ended.
    turn: u32,
    /// Oldest first.
    rows: VecDeque<Call>,
    /// Digests, oldest first.
    forgotten: VecDeque<u64>,
}

impl Calls {
    /// Whether a call of this digest was seen before.
    pub(super) fn known(&self, id: u64) -> Known {
        let seen = self.rows.iter().any(|call| call.id == id) || self.forgotten.contains(&id);
        if seen { Known::Yes } else { Known::No }
    }

    /// Whether a call of this digest is still told apart.
    pub(super) fn holds(&self, id: u64) -> bool {
        self.rows.iter().any(|call| call.id == id)
    }

    /// The name of a call.
    pub(super) fn name(&self, id: u64) -> Option<&str> {
        self.rows.iter().find(|call| call.id == id).map(|call| call.name.as_str())
    }

    /// Takes in what is told of a call: opens its item or changes it, adds input and output, closes
    /// it at its end. A closed call may speak again; its item then grows and changes once more.
    pub(super) fn upsert(
        &mut self,
        id: u64,
        owner: Owner,
        told: &wire::Call<'_>,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        let place = match self.rows.iter().position(|call| call.id == id) {
            Some(place) => place,
            None => self.open(id, owner, told, ordinals, out),
        };
        let Some(call) = self.rows.get_mut(place) else { return };
        call.input(told, out);
        call.output(told, out);
        call.change(told, out);
        call.close_if_ended(out);
        self.fit(id, out);
    }

    fn open(
        &mut self,
        id: u64,
        owner: Owner,
        told: &wire::Call<'_>,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) -> usize {
        let name = told.title.as_deref().or(told.name.as_deref()).map(label);
        let (state, phase) = state(told.status.as_deref());
        let call = Call {
            id,
            item: ordinals.item(),
            name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| "tool".to_owned()),
            kind: cut(told.kind.as_deref().unwrap_or("other"), KIND_CHARS_MAX),
            state,
            phase,
            turn: match owner {
                Owner::Own => Some(self.turn),
                Owner::Foreign => None,
            },
            output: Shown::default(),
            input: Shown::default(),
        };
        out.push(ProviderEvent::ItemOpened {
            item: call.item,
            kind: ItemKind::ToolCall,
            role: Role::Agent,
            body: call.body(),
        });
        self.forgotten.retain(|forgotten| *forgotten != id);
        self.rows.push_back(call);
        self.rows.len() - 1
    }

    /// A turn has ended. What did not begin will not; what still runs after a turn that was
    /// interrupted or failed, or a whole turn later, has an end that nobody told.
    pub(super) fn turn_ended(&mut self, how: TurnEnd, out: &mut Vec<ProviderEvent>) {
        let now = self.turn;
        for call in &mut self.rows {
            let Some(turn) = call.turn else { continue };
            let goes_on = call.phase == Phase::Begun && turn == now && how == TurnEnd::Completed;
            if call.phase != Phase::Closed && !goes_on {
                call.give_up(out);
            }
        }
        self.turn = now.saturating_add(1);
    }

    /// Forgets the oldest calls beyond the bounds, ended ones first, never the one just told.
    fn fit(&mut self, just: u64, out: &mut Vec<ProviderEvent>) {
        let mut bytes: usize = self.rows.iter().map(Call::bytes).sum();
        while self.rows.len() > CALLS_MAX || bytes > CALLS_BYTES_MAX {
            let ended = self.rows.iter().position(|c| c.phase == Phase::Closed && c.id != just);
            let oldest = || self.rows.iter().position(|call| call.id != just);
            let Some(place) = ended.or_else(oldest) else { return };
            let Some(mut call) = self.rows.remove(place) else { return };
            bytes = bytes.saturating_sub(call.bytes());
            if call.phase != Phase::Closed {
                call.give_up(out);
            }
            self.forgotten.push_back(call.id);
            if self.forgotten.len() > FORGOTTEN_MAX {
                self.forgotten.pop_front();
            }
        }
    }
}

impl Call {
    fn bytes(&self) -> usize {
        CALL_BYTES
            + json_bytes(&self.name)
            + json_bytes(&self.kind)
            + digits(self.id)
            + digits(u64::from(self.item))
            + self.output.bytes()
            + self.input.bytes()
    }

    fn body(&self) -> Body {
        Body::Call(ToolCall {
            name: self.name.clone(),
            tool_kind: self.kind.clone(),
            state: self.state,
            task: None,
            within: None,
        })
    }

    fn change(&mut self, told: &wire::Call<'_>, out: &mut Vec<ProviderEvent>) {
        let before = (self.name.clone(), self.kind.clone(), self.state);
        if let Some(name) = told.title.as_deref().map(label).filter(|name| !name.is_empty()) {
            self.name = name;
        }
        if let Some(kind) = &told.kind {
            self.kind = cut(kind, KIND_CHARS_MAX);
        }
        if told.status.is_some() {
            let (state, phase) = state(told.status.as_deref());
            self.state = state;
            if self.phase != Phase::Closed {
                self.phase = phase;
            }
        }
        if (&before.0, &before.1, before.2) != (&self.name, &self.kind, self.state) {
            out.push(ProviderEvent::ItemChanged { item: self.item, body: self.body() });
        }
    }

    fn close_if_ended(&mut self, out: &mut Vec<ProviderEvent>) {
        let ended = match self.state {
            CallState::Completed | CallState::Failed => true,
            CallState::Running | CallState::Unknown => false,
        };
        if ended && self.phase != Phase::Closed {
            self.phase = Phase::Closed;
            out.push(ProviderEvent::ItemClosed { item: self.item });
        }
    }

    fn give_up(&mut self, out: &mut Vec<ProviderEvent>) {
        self.state = CallState::Unknown;
        self.phase = Phase::Closed;
        out.push(ProviderEvent::ItemChanged { item: self.item, body: self.body() });
        out.push(ProviderEvent::ItemClosed { item: self.item });
    }

    /// The input is a JSON text; where the agent tells another one later, that follows on a line of
    /// its own: the last line is what holds.
    fn input(&mut self, told: &wire::Call<'_>, out: &mut Vec<ProviderEvent>) {
        let Some(input) = told.input.map(RawValue::get) else { return };
        if matches!(input, "null" | "{}" | "[]" | "\"\"") {
            return;
        }
        let (whole, told) = (input.len() as u64, digest(input.as_bytes()));
        if (self.input.whole, self.input.digest) == (whole, told) && self.input.at > 0 {
            return;
        }
        let text = if self.input.at == 0 { input.to_owned() } else { format!("\n{input}") };
        self.input.whole = whole;
        self.input.digest = told;
        self.input.add(self.item, Field::Input, text, out);
    }

    /// What the agent tells as the whole output: only what is new of it is added; where it is not
    /// what it was before, it follows below a line that says so. Pieces that come beside the call
    /// are added as they come. An output in no text at all is shown as JSON, once the call is over.
    fn output(&mut self, told: &wire::Call<'_>, out: &mut Vec<ProviderEvent>) {
        let item = self.item;
        if let Some(meta) = &told.meta {
            for piece in [&meta.terminal_output_delta, &meta.terminal_output].into_iter().flatten()
            {
                let text = wire::text(piece.data).unwrap_or_default();
                self.output.add(item, Field::Output, text, out);
            }
        }
        let mut text = told.content.as_ref().map(call_text).unwrap_or_default();
        if text.is_empty() && self.output.at == 0 && ends(told.status.as_deref()) {
            text = told.output.map(raw_output).unwrap_or_default();
        }
        if text.is_empty() {
            return;
        }
        let known = usize::try_from(self.output.whole).unwrap_or(usize::MAX);
        let before = text.as_bytes().get(..known);
        let whole = text.len() as u64;
        let grown = before.is_some_and(|before| known == 0 || digest(before) == self.output.digest);
        self.output.whole = whole;
        self.output.digest = digest(text.as_bytes());
        let piece = if grown {
            text.get(known..).unwrap_or_default().to_owned()
        } else {
            format!("{REPLACED}{text}")
        };
        self.output.add(item, Field::Output, piece, out);
    }
}

impl Shown {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn bytes(&self) -> usize {
        if self.is_nothing() {
            return 0;
        }
        SHOWN_BYTES + digits(self.at) + digits(self.whole) + digits(self.digest)
    }

    fn add(&mut self, item: u32, field: Field, text: String, out: &mut Vec<ProviderEvent>) {
        if text.is_empty() {
            return;
        }
        let at = self.at;
        self.at = at.saturating_add(text.len() as u64);
        out.push(ProviderEvent::ItemText { item, field, at, text });
    }
}

fn ends(status: Option<&str>) -> bool {
    matches!(status, Some("completed" | "failed" | "cancelled"))
}

/// ACP's states; what is not known runs.
fn state(status: Option<&str>) -> (CallState, Phase) {
    match status {
        Some("completed") => (CallState::Completed, Phase::Begun),
        Some("failed" | "cancelled") => (CallState::Failed, Phase::Begun),
        Some("pending") | None => (CallState::Running, Phase::Pending),
        Some(_) => (CallState::Running, Phase::Begun),
    }
}

/// The text of an output that came as data: the member that agents put text in, else the JSON.
fn raw_output(raw: &RawValue) -> String {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return text;
    }
    let members: wire::Entries<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let text = ["output", "formatted_output", "stdout"].into_iter().find_map(|name| {
        let (_, value) = members.0.iter().find(|(member, _)| member == name)?;
        wire::text(Some(value)).filter(|text| !text.is_empty())
    });
    match text {
        Some(text) => text,
        None if matches!(raw.get(), "null" | "{}" | "[]") => String::new(),
        None => raw.get().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(calls: &mut Calls, ordinals: &mut Ordinals, id: u64, json: &str) -> Vec<ProviderEvent> {
        let mut out = Vec::new();
        let call: wire::Call<'_> = serde_json::from_str(json).unwrap();
        calls.upsert(id, Owner::Own, &call, ordinals, &mut out);
        out
    }

    fn texts(events: &[ProviderEvent], wanted: Field) -> Vec<(u64, &str)> {
        events
            .iter()
            .filter_map(|event| match event {
                ProviderEvent::ItemText { field, at, text, .. } if *field == wanted => {
                    Some((*at, text.as_str()))
                }
                _ => None,
            })
            .collect()
    }

    fn content(text: &str) -> String {
        let text = serde_json::to_string(text).unwrap();
        format!(r#"{{"content":[{{"type":"content","content":{{"type":"text","text":{text}}}}}]}}"#)
    }

    #[test]
    fn an_output_that_is_told_again_is_added_only_where_it_grew() {
        let (mut calls, mut ordinals) = (Calls::default(), Ordinals::default());
        let mut all = String::new();
        for (text, added) in [
            ("one", vec![(0, "one")]),
            ("one", vec![]),
            ("one\ntwo", vec![(3, "\ntwo")]),
            ("", vec![]),
            ("three", vec![(7, "\n[the agent replaced the output above]\nthree")]),
            ("three!", vec![(51, "!")]),
        ] {
            let events = told(&mut calls, &mut ordinals, 1, &content(text));
            let new = texts(&events, Field::Output);
            assert_eq!(new, added, "{text}");
            for (at, piece) in new {
                assert_eq!(at, all.len() as u64);
                all.push_str(piece);
            }
        }
    }

    #[test]
    fn pieces_beside_a_call_are_added_as_they_come() {
        let (mut calls, mut ordinals) = (Calls::default(), Ordinals::default());
        let piece = r#"{"_meta":{"terminal_output_delta":{"data":"x\n"}},"rawOutput":{"exit_code":0},"status":"completed"}"#;
        let first = told(&mut calls, &mut ordinals, 1, piece);
        assert_eq!(texts(&first, Field::Output), [(0, "x\n")]);
        let second = told(&mut calls, &mut ordinals, 1, piece);
        assert_eq!(texts(&second, Field::Output), [(2, "x\n")]);
    }

    #[test]
    fn an_output_in_data_is_shown_once_the_call_is_over() {
        let (mut calls, mut ordinals) = (Calls::default(), Ordinals::default());
        let raw =
            |status: &str, output: &str| format!(r#"{{"status":"{status}","rawOutput":{output}}}"#);
        let running = raw("in_progress", r#"{"output":"o"}"#);
        let events = told(&mut calls, &mut ordinals, 1, &running);
        assert_eq!(texts(&events, Field::Output), []);
        for (id, output, shown) in [
            (1, r#"{"output":"o"}"#, "o"),
            (2, r#"{"stdout":"s","code":0}"#, "s"),
            (3, r#"{"code":0}"#, r#"{"code":0}"#),
            (4, r#""text""#, "text"),
        ] {
            let events = told(&mut calls, &mut ordinals, id, &raw("completed", output));
            assert_eq!(texts(&events, Field::Output), [(0, shown)]);
        }
        let events = told(&mut calls, &mut ordinals, 5, &raw("completed", "{}"));
        assert_eq!(texts(&events, Field::Output), []);
    }

    #[test]
    fn a_changed_input_follows_on_its_own_line() {
        let (mut calls, mut ordinals) = (Calls::default(), Ordinals::default());
        let inputs = [r#"{}"#, r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":2}"#, "null"];
        let shown: Vec<_> = inputs
            .iter()
            .flat_map(|input| {
                let json = format!(r#"{{"rawInput":{input}}}"#);
                let events = told(&mut calls, &mut ordinals, 1, &json);
                texts(&events, Field::Input)
                    .into_iter()
                    .map(|(at, text)| (at, text.to_owned()))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(shown, [(0, r#"{"a":1}"#.to_owned()), (7, "\n{\"a\":2}".to_owned())]);
    }

    #[test]
    fn a_call_that_never_ended_has_an_unknown_end() {
        let unknown = |events: &[ProviderEvent]| {
            events
                .iter()
                .filter(|event| {
                    matches!(event, ProviderEvent::ItemChanged { body: Body::Call(call), .. }
                        if call.state == CallState::Unknown)
                })
                .count()
        };
        for (status, how, at_once, a_turn_later) in [
            ("in_progress", TurnEnd::Completed, 0, 1),
            ("in_progress", TurnEnd::Interrupted, 1, 0),
            ("in_progress", TurnEnd::Failed, 1, 0),
            ("pending", TurnEnd::Completed, 1, 0),
            ("completed", TurnEnd::Interrupted, 0, 0),
        ] {
            let (mut calls, mut ordinals) = (Calls::default(), Ordinals::default());
            let json = format!(r#"{{"status":"{status}"}}"#);
            let _ = told(&mut calls, &mut ordinals, 1, &json);
            let mut out = Vec::new();
            calls.turn_ended(how, &mut out);
            assert_eq!(unknown(&out), at_once, "{status} {how:?}");
            let mut out = Vec::new();
            calls.turn_ended(TurnEnd::Completed, &mut out);
            assert_eq!(unknown(&out), a_turn_later, "{status} {how:?}");
        }
    }

    #[test]
    fn the_table_stays_small_and_a_forgotten_call_is_not_new() {
        let (mut calls, mut ordinals) = (Calls::default(), Ordinals::default());
        let name = "\\".repeat(300);
        let mut closed = 0;
        for id in 0..2000 {
            let json = format!(r#"{{"title":{}}}"#, serde_json::to_string(&name).unwrap());
            let events = told(&mut calls, &mut ordinals, u64::MAX - id, &json);
            closed += events
                .iter()
                .filter(|event| matches!(event, ProviderEvent::ItemClosed { .. }))
                .count();
        }
        assert_eq!(closed + calls.rows.len(), 2000, "a forgotten call has no end");
        assert!(calls.forgotten.len() <= FORGOTTEN_MAX);
        let bytes = serde_json::to_vec(&calls).unwrap().len();
        assert!(bytes <= CALLS_BYTES_MAX + FORGOTTEN_MAX * 21 + 64, "{bytes}");
        assert_eq!(calls.known(u64::MAX - 1900), Known::Yes);
        assert!(!calls.holds(u64::MAX - 1900));
        assert_eq!(calls.known(7), Known::No);
    }
}
