//! Tool calls, told as items: begun, with output in pieces, and whole at their end. A command may
//! outlive its turn; it is then a terminal in the background.

use std::collections::VecDeque;

use holdfast_core::ids::{ItemId, TaskId};
use holdfast_core::item::{Body, CallState, Field, ItemKind, Role, ToolCall};
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};

use super::shown::Shown;
use super::view::Told;
use crate::ordinals::{Ordinals, digits, json_bytes};

/// Bytes of the stored table of calls that have not ended.
const CALLS_BYTES_MAX: usize = 12 * 1024;
/// Bytes of one stored call beside what is counted of it, at most.
const CALL_BYTES: usize = 215;
/// Bytes of the agent's id of a process.
const PROCESS_BYTES_MAX: usize = 32;
/// Digests of ended calls that are kept, so that none of them begins again.
const ENDED_MAX: usize = 64;

/// Where a call belongs: digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// Of the thread.
    pub(super) thread: u64,
    /// Of the turn within it.
    pub(super) turn: u64,
}

/// How far a command is, beside its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Ground {
    /// No command.
    #[serde(rename = "n")]
    None,
    /// A command of the running turn.
    #[serde(rename = "f")]
    Fore,
    /// It outlived its turn.
    #[serde(rename = "b")]
    Back,
    /// It outlived its turn, and that was stopped: so is it.
    #[serde(rename = "e")]
    ToEnd,
}

/// A call that has not ended. Short names: the table is stored with every commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    /// The digest of the item within its thread.
    #[serde(rename = "i")]
    id: u64,
    #[serde(rename = "h")]
    thread: u64,
    #[serde(rename = "u")]
    turn: u64,
    #[serde(rename = "n")]
    item: u32,
    #[serde(rename = "t")]
    name: String,
    #[serde(rename = "k")]
    kind: String,
    #[serde(rename = "g")]
    ground: Ground,
    /// Bytes of input shown.
    #[serde(rename = "j", default)]
    input: Shown,
    #[serde(rename = "o", default)]
    output: Shown,
    /// The agent's id of the process.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    process: Option<String>,
    /// The call of a subagent that it was made in.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    within: Option<ItemId>,
    /// The task that it became.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    task: Option<TaskId>,
}

/// A command that goes on in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terminal {
    /// The digest of its item.
    pub(super) id: u64,
    /// What it is called.
    pub(super) name: String,
}

/// The calls of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Calls {
    /// Oldest first.
    rows: VecDeque<Call>,
    /// Digests, oldest first.
    ended: VecDeque<u64>,
}

impl Calls {
    /// Takes in what is told of a call. Gives its item; none for a call that has ended before.
    pub(super) fn upsert(
        &mut self,
        (id, at, within): (u64, At, Option<ItemId>),
        told: Told,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) -> Option<u32> {
        if self.ended.contains(&id) {
            return None;
        }
        let place = self.rows.iter().position(|call| call.id == id);
        let place = place.unwrap_or_else(|| {
            let ground = if told.is_command { Ground::Fore } else { Ground::None };
            let call = Call {
                id,
                thread: at.thread,
                turn: at.turn,
                item: ordinals.item(),
                name: told.name.clone(),
                kind: told.kind.clone(),
                ground,
                input: Shown::default(),
                output: Shown::default(),
                process: None,
                within,
                task: None,
            };
            out.push(ProviderEvent::ItemOpened {
                item: call.item,
                kind: ItemKind::ToolCall,
                role: Role::Agent,
                body: call.body(CallState::Running),
            });
            self.rows.push_back(call);
            self.rows.len() - 1
        });
        let call = self.rows.get_mut(place)?;
        let item = call.item;
        let renamed = (&call.name, &call.kind) != (&told.name, &told.kind);
        (call.name, call.kind) = (told.name, told.kind);
        if let Some(input) = told.input {
            call.input.whole(item, Field::Input, &input, out);
        }
        if let Some(output) = told.output {
            call.output.whole(item, Field::Output, &output, out);
        }
        call.is_process(told.process);
        if told.state == CallState::Running {
            if renamed {
                out.push(ProviderEvent::ItemChanged { item, body: call.body(told.state) });
            }
            self.fit(id, out);
        } else {
            out.push(ProviderEvent::ItemChanged { item, body: call.body(told.state) });
            out.push(ProviderEvent::ItemClosed { item });
            self.forget(place);
        }
        Some(item)
    }

    fn forget(&mut self, place: usize) {
        let Some(call) = self.rows.remove(place) else { return };
        self.ended.push_back(call.id);
        if self.ended.len() > ENDED_MAX {
            self.ended.pop_front();
        }
    }

    /// A piece of the output of a call.
    pub(super) fn output(&mut self, id: u64, piece: String, out: &mut Vec<ProviderEvent>) {
        if let Some(call) = self.rows.iter_mut().find(|call| call.id == id) {
            call.output.add(call.item, Field::Output, piece, out);
        }
    }

    /// More input of a running call, on a line of its own.
    pub(super) fn input(&mut self, id: u64, json: &str, out: &mut Vec<ProviderEvent>) {
        if let Some(call) = self.rows.iter_mut().find(|call| call.id == id) {
            call.input.add(call.item, Field::Input, format!("\n{json}"), out);
        }
    }

    /// The name of a call that has not ended.
    pub(super) fn name(&self, id: u64) -> Option<&str> {
        self.rows.iter().find(|call| call.id == id).map(|call| call.name.as_str())
    }

    /// A turn has ended. Its commands go on in the background, but for those that still waited for
    /// leave; of any other call that has no end nobody will tell one. Where the turn was stopped its
    /// commands are to end too.
    pub(super) fn turn_ended(
        &mut self,
        at: At,
        stopped: bool,
        waits: &dyn Fn(u64) -> bool,
        out: &mut Vec<ProviderEvent>,
    ) -> Vec<Terminal> {
        let mut terminals = Vec::new();
        self.rows.retain_mut(|call| {
            let of_it = (call.thread, call.turn) == (at.thread, at.turn);
            if !of_it || matches!(call.ground, Ground::Back | Ground::ToEnd) {
                return true;
            }
            if call.ground == Ground::None || waits(call.id) {
                call.give_up(out);
                return false;
            }
            call.ground = if stopped { Ground::ToEnd } else { Ground::Back };
            terminals.push(Terminal { id: call.id, name: call.name.clone() });
            true
        });
        terminals
    }

    /// A command has become a task.
    pub(super) fn is_task(&mut self, id: u64, task: TaskId, out: &mut Vec<ProviderEvent>) {
        if let Some(call) = self.rows.iter_mut().find(|call| call.id == id) {
            call.task = Some(task);
            let body = call.body(CallState::Running);
            out.push(ProviderEvent::ItemChanged { item: call.item, body });
        }
    }

    /// A terminal that lives, as the agent lists it. Whether it is to be ended.
    pub(super) fn listed(&mut self, id: u64, process: Option<String>) -> bool {
        let Some(call) = self.rows.iter_mut().find(|call| call.id == id) else { return false };
        call.is_process(process);
        let to_end = call.ground == Ground::ToEnd;
        if to_end {
            call.ground = Ground::Back;
        }
        to_end
    }

    /// The thread that a command runs in, and the agent's id of its process.
    pub(super) fn process(&self, id: u64) -> Option<(u64, &str)> {
        let call = self.rows.iter().find(|call| call.id == id)?;
        Some((call.thread, call.process.as_deref()?))
    }

    /// Gives up the oldest calls beyond the bound, never the one just told.
    fn fit(&mut self, just: u64, out: &mut Vec<ProviderEvent>) {
        let mut bytes: usize = self.rows.iter().map(Call::bytes).sum();
        while bytes > CALLS_BYTES_MAX {
            let Some(place) = self.rows.iter().position(|call| call.id != just) else { return };
            if let Some(call) = self.rows.get(place) {
                bytes = bytes.saturating_sub(call.bytes());
                call.give_up(out);
            }
            self.forget(place);
        }
    }
}

impl Call {
    fn bytes(&self) -> usize {
        let numbers = [self.id, self.thread, self.turn, u64::from(self.item)];
        CALL_BYTES
            + numbers.into_iter().map(digits).sum::<usize>()
            + json_bytes(&self.name)
            + json_bytes(&self.kind)
            + self.process.as_deref().map_or(0, json_bytes)
    }

    fn is_process(&mut self, process: Option<String>) {
        let process = process.filter(|process| process.len() <= PROCESS_BYTES_MAX);
        self.process = process.or_else(|| self.process.take());
    }

    fn body(&self, state: CallState) -> Body {
        Body::Call(ToolCall {
            name: self.name.clone(),
            tool_kind: self.kind.clone(),
            state,
            task: self.task,
            within: self.within,
        })
    }

    fn give_up(&self, out: &mut Vec<ProviderEvent>) {
        let body = self.body(CallState::Unknown);
        out.push(ProviderEvent::ItemChanged { item: self.item, body });
        out.push(ProviderEvent::ItemClosed { item: self.item });
    }
}
