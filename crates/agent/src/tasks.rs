//! The live background tasks of an attempt, whatever the agent calls them: each is told once when it
//! begins and once when it ends.

use holdfast_core::limits::{LIVE_TASKS_MAX, label};
use holdfast_core::provider::{ProviderEvent, TaskEnd, TaskKind};
use serde::{Deserialize, Serialize};

use crate::ordinals::{Ordinals, digest, json_bytes};

/// Bytes of a task's own id within JSON; a task with a longer one cannot be stopped by itself.
const TASK_ID_BYTES_MAX: usize = 64;
/// Bytes of all the ids that are kept; tasks beyond it cannot be stopped by themselves.
const TASK_IDS_BYTES_MAX: usize = 4 * 1024;
/// Live tasks beyond [`LIVE_TASKS_MAX`] whose ends are known by their ids.
const FURTHER_IDS_MAX: usize = 64;

/// One live task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Task {
    #[serde(rename = "n")]
    task: u32,
    /// The digest of the agent's id.
    #[serde(rename = "i")]
    id: u64,
    /// The agent's id, where the task can be stopped.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    stop: Option<String>,
    /// Whether it ends with the turn.
    #[serde(rename = "f", default, skip_serializing_if = "std::ops::Not::not")]
    foreground: bool,
    /// Whether the agent lists it among all that runs in the background.
    #[serde(rename = "l", default, skip_serializing_if = "std::ops::Not::not")]
    listed: bool,
}

/// Live tasks that are counted and nothing else. They share one number, because nothing tells one
/// from another: each begins and ends under it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Nameless {
    /// The number; 0 before the first of them.
    task: u32,
    background: u32,
    foreground: u32,
}

/// Whether a task can be stopped by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// By naming it to the agent.
    ById,
    /// Not.
    No,
}

/// The live tasks.
///
/// All of them are told, because a chat with a live task is not idle; the chat tells the first
/// [`LIVE_TASKS_MAX`] apart and counts the rest. This table stays small: [`FURTHER_IDS_MAX`] more are
/// known by the digest of their id, and beyond those there is only a number of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tasks {
    rows: Vec<Task>,
    /// Tasks that began when [`LIVE_TASKS_MAX`] were in `rows`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    further: Vec<Task>,
    /// Tasks that began when `further` was full too. (States of older builds have a number called
    /// `uncounted` here: of those the chat was never told, so their ends are none of its.)
    #[serde(default)]
    nameless: Nameless,
}

/// What the chat knows of a task that it is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// The agent's id of it.
    Id(&'a str),
    /// It lives, but cannot be stopped.
    NotStoppable,
    /// It has ended.
    Gone,
}

impl Tasks {
    /// A task runs. Gives its number, where it is told apart.
    pub(crate) fn runs(
        &mut self,
        id: &str,
        stop: Stop,
        described: (TaskKind, &str, bool),
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) -> Option<u32> {
        if let Some(known) = self.known(id) {
            return Some(known.task);
        }
        let (kind, text, foreground) = described;
        let named = label(text);
        let label = if named.is_empty() { label(id) } else { named };
        let told_apart = self.rows.len() < LIVE_TASKS_MAX;
        let known = if told_apart || self.further.len() < FURTHER_IDS_MAX {
            let task = ordinals.task();
            let stop = (told_apart && stop == Stop::ById && self.fits(id)).then(|| id.to_owned());
            let rows = if told_apart { &mut self.rows } else { &mut self.further };
            let id = digest(id.as_bytes());
            rows.push(Task { task, id, stop, foreground, listed: false });
            Some(task)
        } else {
            None
        };
        let task = known.unwrap_or_else(|| self.nameless.begins(foreground, ordinals));
        out.push(ProviderEvent::TaskStarted { task, kind, label, foreground });
        known
    }

    /// Whether one more id can be kept.
    fn fits(&self, id: &str) -> bool {
        let bytes = json_bytes(id);
        let kept: usize = self.rows.iter().filter_map(|t| t.stop.as_deref()).map(json_bytes).sum();
        bytes <= TASK_ID_BYTES_MAX && kept + bytes <= TASK_IDS_BYTES_MAX
    }

    /// A task has ended. One that is not known is one of those without a name, while there are any;
    /// otherwise it ended before, or never began, and that says nothing. An agent that makes up
    /// ids can thus lower the number of its tasks without a name, and nothing else.
    ///
    /// Gives its number, where it was told apart.
    pub(crate) fn ended(
        &mut self,
        id: &str,
        how: TaskEnd,
        out: &mut Vec<ProviderEvent>,
    ) -> Option<u32> {
        let key = digest(id.as_bytes());
        let known = [&mut self.rows, &mut self.further].into_iter().find_map(|rows| {
            let place = rows.iter().position(|task| task.id == key)?;
            Some(rows.remove(place).task)
        });
        let task = known.or_else(|| self.nameless.ends());
        out.extend(task.map(|task| ProviderEvent::TaskEnded { task, how }));
        known
    }

    fn known(&mut self, id: &str) -> Option<&mut Task> {
        let key = digest(id.as_bytes());
        self.rows.iter_mut().chain(&mut self.further).find(|task| task.id == key)
    }

    /// A task goes on when the turn ends.
    pub(crate) fn detach(&mut self, id: &str, out: &mut Vec<ProviderEvent>) {
        if let Some(row) = self.known(id).filter(|row| row.foreground) {
            row.foreground = false;
            out.push(ProviderEvent::TaskDetached { task: row.task });
        }
    }

    /// The agent lists a task among all that runs in the background.
    pub(crate) fn listed(&mut self, id: &str) {
        if let Some(row) = self.known(id) {
            row.listed = true;
        }
    }

    /// The agent lists all that runs in the background: what was listed and is not any more has ended.
    /// Gives the numbers.
    pub(crate) fn not_among(
        &mut self,
        ids: &[&str],
        how: TaskEnd,
        out: &mut Vec<ProviderEvent>,
    ) -> Vec<u32> {
        let keys: Vec<u64> = ids.iter().map(|id| digest(id.as_bytes())).collect();
        let mut ended = Vec::new();
        for rows in [&mut self.rows, &mut self.further] {
            rows.retain(|row| {
                let missing = row.listed && !keys.contains(&row.id);
                if missing {
                    ended.push(row.task);
                    out.push(ProviderEvent::TaskEnded { task: row.task, how });
                }
                !missing
            });
        }
        ended
    }

    /// A turn has ended, and what ends with it. The chat ends those that it tells apart by itself;
    /// it is told all the same, so that none of them is heard to end a second time.
    pub(crate) fn turn_ended(&mut self, out: &mut Vec<ProviderEvent>) {
        let how = TaskEnd::Completed;
        for rows in [&mut self.rows, &mut self.further] {
            rows.retain(|row| {
                if row.foreground {
                    out.push(ProviderEvent::TaskEnded { task: row.task, how });
                }
                !row.foreground
            });
        }
        let Nameless { task, background: _, foreground } = &mut self.nameless;
        for _ in 0..std::mem::take(foreground) {
            out.push(ProviderEvent::TaskEnded { task: *task, how });
        }
    }

    /// What to name when a task is to be stopped.
    pub(crate) fn target(&self, task: u32) -> Target<'_> {
        match self.rows.iter().find(|row| row.task == task) {
            Some(Task { stop: Some(id), .. }) => Target::Id(id),
            Some(Task { stop: None, .. }) => Target::NotStoppable,
            None => Target::Gone,
        }
    }
}

impl Nameless {
    /// One begins. One that is told again is one more: nothing says that it is the same.
    fn begins(&mut self, foreground: bool, ordinals: &mut Ordinals) -> u32 {
        if self.task == 0 {
            self.task = ordinals.task();
        }
        let count = if foreground { &mut self.foreground } else { &mut self.background };
        *count = count.saturating_add(1);
        self.task
    }

    /// One ends, if there is one: of the background first, as those of a turn end with it anyway.
    fn ends(&mut self) -> Option<u32> {
        let counts = [&mut self.background, &mut self.foreground];
        let count = counts.into_iter().find(|count| **count > 0)?;
        *count -= 1;
        Some(self.task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: usize = LIVE_TASKS_MAX + FURTHER_IDS_MAX;

    /// A table and what it told: which numbers live, and how often.
    #[derive(Default)]
    struct Told {
        tasks: Tasks,
        ordinals: Ordinals,
        live: Vec<u32>,
    }

    impl Told {
        fn runs(&mut self, id: &str, foreground: bool) {
            let described = (TaskKind::Agent, "", foreground);
            let mut out = Vec::new();
            self.tasks.runs(id, Stop::ById, described, &mut self.ordinals, &mut out);
            self.hear(out);
        }

        fn many(&mut self, ids: std::ops::Range<usize>) {
            ids.for_each(|n| self.runs(&n.to_string(), false));
        }

        fn ends(&mut self, id: &str) {
            let mut out = Vec::new();
            self.tasks.ended(id, TaskEnd::Completed, &mut out);
            self.hear(out);
        }

        fn turn_ends(&mut self) {
            let mut out = Vec::new();
            self.tasks.turn_ended(&mut out);
            self.hear(out);
        }

        fn hear(&mut self, out: Vec<ProviderEvent>) {
            for event in out {
                match event {
                    ProviderEvent::TaskStarted { task, .. } => self.live.push(task),
                    ProviderEvent::TaskEnded { task, .. } => {
                        let place = self.live.iter().position(|live| *live == task);
                        self.live.remove(place.expect("only what lives can end"));
                    }
                    other => panic!("{other:?}"),
                }
            }
            // The state is read back after each step.
            let bytes = serde_json::to_vec(&self.tasks).unwrap();
            self.tasks = serde_json::from_slice(&bytes).unwrap();
        }
    }

    #[test]
    fn every_task_is_told_and_ends_once_whatever_their_number() {
        for count in [1, LIVE_TASKS_MAX, LIVE_TASKS_MAX + 1, KNOWN, KNOWN + 1, 2 * KNOWN] {
            let mut told = Told::default();
            told.many(0..count);
            // Those that are known by their ids are told once.
            told.many(0..count.min(KNOWN));
            assert_eq!(told.live.len(), count);
            // In another order than they began in.
            for n in (0..count).rev() {
                told.ends(&n.to_string());
                assert_eq!(told.live.len(), n);
            }
            told.ends("0");
            assert!(told.tasks.rows.is_empty() && told.tasks.further.is_empty());
        }
    }

    #[test]
    fn ends_of_what_never_began_end_no_more_than_there_is_and_nothing_that_has_a_name() {
        let mut told = Told::default();
        told.many(0..KNOWN);
        told.ends("never");
        assert_eq!(told.live.len(), KNOWN);
        told.many(KNOWN..KNOWN + 2);
        for n in 0..5 {
            told.ends(&format!("never {n}"));
        }
        assert_eq!(told.live.len(), KNOWN, "two were without a name, and no more can end");
        told.many(KNOWN..KNOWN + 1);
        assert_eq!(told.live.len(), KNOWN + 1);
    }

    #[test]
    fn what_ends_with_the_turn_ends_once() {
        let mut told = Told::default();
        told.many(0..LIVE_TASKS_MAX - 1);
        told.runs("fore, told apart", true);
        told.runs("fore, further", true);
        told.many(LIVE_TASKS_MAX..LIVE_TASKS_MAX + FURTHER_IDS_MAX - 1);
        told.runs("fore, nameless", true);
        told.runs("nameless", false);
        assert_eq!(told.live.len(), KNOWN + 2);
        told.turn_ends();
        assert_eq!(told.live.len(), KNOWN - 1);
        told.ends("nameless");
        assert_eq!(told.live.len(), KNOWN - 2);
        for id in ["fore, told apart", "fore, further", "fore, nameless"] {
            told.ends(id);
        }
        told.turn_ends();
        assert_eq!(told.live.len(), KNOWN - 2, "it is heard to end once");
    }

    #[test]
    fn a_state_of_an_older_build_is_read_and_what_it_did_not_tell_does_not_end() {
        // The digest is that of the id "0".
        let old = r#"{"rows":[{"n":1,"i":12638135523509116079,"s":"0"}],"uncounted":3}"#;
        let tasks = serde_json::from_str(old).unwrap();
        let mut told = Told { tasks, live: vec![1], ..Told::default() };
        told.ends("not told");
        assert_eq!(told.live, [1]);
        told.ends("0");
        assert!(told.live.is_empty());
    }

    #[test]
    fn the_table_stays_small() {
        let mut told = Told::default();
        let mut runs = |ids: std::ops::Range<usize>, width: usize| {
            told.ordinals =
                serde_json::from_str(r#"{"item":1,"prompt":1,"task":4000000000}"#).unwrap();
            for n in ids {
                told.runs(&format!("{n:0>width$}"), true);
            }
            serde_json::to_vec(&told.tasks).unwrap().len()
        };
        let bytes = runs(0..2 * KNOWN, TASK_IDS_BYTES_MAX / LIVE_TASKS_MAX);
        let most = LIVE_TASKS_MAX * 59 + TASK_IDS_BYTES_MAX + FURTHER_IDS_MAX * 52 + 128;
        assert!(bytes <= most, "{bytes} of {most}");
        let mut told = Told::default();
        for n in 0..LIVE_TASKS_MAX {
            told.runs(&format!("{n:0>width$}", width = TASK_ID_BYTES_MAX), false);
        }
        assert!(matches!(told.tasks.target(1), Target::Id(_)));
        let last = u32::try_from(LIVE_TASKS_MAX).unwrap();
        assert_eq!(told.tasks.target(last), Target::NotStoppable);
    }
}
