use super::*;
use crate::limits::LABEL_CHARS_MAX;
use crate::time::Micros;

fn snapshot(lead: Lead, prompts: &[(PromptKind, &str)], tasks: &[(TaskKind, &str)]) -> Snapshot {
    use crate::activity::{LiveTask, OpenPrompt};
    use crate::ids::{ItemId, PromptId, TaskId};
    let prompt = |(n, (kind, label)): (u32, &(PromptKind, &str))| OpenPrompt {
        id: PromptId::new(1, n),
        kind: *kind,
        label: (*label).to_owned(),
        item: ItemId::new(1, n),
        since: Micros(0),
    };
    let task = |(n, (kind, label)): (u32, &(TaskKind, &str))| LiveTask {
        id: TaskId::new(1, n),
        kind: *kind,
        label: (*label).to_owned(),
        since: Micros(0),
        foreground: false,
    };
    let mut task_counts = TaskCounts::default();
    for (kind, _) in tasks {
        *task_counts.of(*kind) += 1;
    }
    let tasks: Vec<LiveTask> = (1..).zip(tasks).map(task).collect();
    let prompts: Vec<OpenPrompt> = (1..).zip(prompts).map(prompt).collect();
    let mut chat = crate::head::Chat::default();
    chat.head.more_tasks = task_counts;
    let activity =
        Activity { lead, starting: false, prompts, tasks, task_counts, ..Activity::of(&chat) };
    Snapshot::of(&activity)
}

/// The main agent, prompts, tasks, and what is said of them.
type Row<'a> = (Lead, &'a [(PromptKind, &'a str)], &'a [(TaskKind, &'a str)], &'a str);

const APPROVAL: PromptKind = PromptKind::Approval;
const QUESTION: PromptKind = PromptKind::Question;
const AGENT: TaskKind = TaskKind::Agent;
const WORKFLOW: TaskKind = TaskKind::Workflow;
const COMMAND: TaskKind = TaskKind::Command;
const MONITOR: TaskKind = TaskKind::Monitor;
const UNKNOWN: TaskKind = TaskKind::Unknown;

#[test]
fn the_sentence_of_a_row() {
    use Lead::{Blocked, Done, Working};
    let rows: &[Row<'_>] = &[
        // 1: the first prompt.
        (Blocked, &[(APPROVAL, "run x")], &[], "Waiting for your approval: run x"),
        (Blocked, &[(QUESTION, "a?"), (APPROVAL, "b")], &[], "Waiting for your answer: a?"),
        (Blocked, &[], &[], ""),
        // 2.
        (Working, &[], &[], "Was mid-reply"),
        (Done, &[], &[], ""),
        // 3: subagents, whatever the main agent did.
        (Done, &[], &[(AGENT, "a")], "Subagent running: a"),
        (Done, &[], &[(COMMAND, "c"), (WORKFLOW, "w")], "Subagent running: w · Monitoring: c"),
        (Done, &[], &[(AGENT, "a"), (WORKFLOW, "w")], "2 subagents running"),
        (Working, &[], &[(AGENT, "a")], "Was mid-reply · Subagent running: a"),
        (
            Blocked,
            &[(QUESTION, "Can I?")],
            &[(AGENT, "a"), (AGENT, "b")],
            "Waiting for your answer: Can I? · 2 subagents running",
        ),
        // 4: the rest only when the main agent was not working.
        (Working, &[], &[(COMMAND, "c"), (MONITOR, "m"), (UNKNOWN, "u")], "Was mid-reply"),
        (Done, &[], &[(COMMAND, "c")], "Monitoring: c"),
        (Done, &[], &[(MONITOR, "m")], "Monitoring: m"),
        (Done, &[], &[(COMMAND, "c"), (MONITOR, "m")], "Monitoring 2 tasks"),
        (Done, &[], &[(UNKNOWN, "u")], "Background task: u"),
        (Done, &[], &[(UNKNOWN, "u"), (UNKNOWN, "v")], "2 background tasks"),
        (
            Blocked,
            &[(APPROVAL, "p")],
            &[(AGENT, "a"), (COMMAND, "c"), (UNKNOWN, "u")],
            "Waiting for your approval: p · Subagent running: a · Monitoring: c · Background task: u",
        ),
        // 5: no label.
        (Blocked, &[(APPROVAL, "")], &[], "Waiting for your approval: unnamed"),
        (Done, &[], &[(AGENT, "")], "Subagent running: unnamed"),
        (Done, &[], &[(MONITOR, "")], "Monitoring: unnamed"),
        (Done, &[], &[(UNKNOWN, "")], "Background task: unnamed"),
    ];
    for (lead, prompts, tasks, text) in rows {
        let sentence = sentence(&snapshot(*lead, prompts, tasks));
        assert_eq!(sentence.text, *text);
        assert_eq!(sentence.parts.len(), text.split(" · ").filter(|t| !t.is_empty()).count());
    }
}

#[test]
fn starting_is_said_in_place_of_a_reply() {
    let mut starting = snapshot(Lead::Working, &[], &[]);
    starting.starting = true;
    assert_eq!(sentence(&starting).text, "Was starting");
    assert!(!starting.is_only_the_turn());
}

#[test]
fn the_parts_have_keys_and_named_parameters() {
    let tasks = [(AGENT, "a"), (AGENT, "b"), (MONITOR, "m"), (UNKNOWN, "u")];
    let said = sentence(&snapshot(Lead::Blocked, &[(QUESTION, "Can I?")], &tasks));
    insta::assert_snapshot!(serde_json::to_string_pretty(&said).unwrap());
}

#[test]
fn a_snapshot_is_bounded_and_counts_over_all() {
    let many = vec![(COMMAND, "c"); 40];
    let prompts = vec![(APPROVAL, "p"); 9];
    let bounded = snapshot(Lead::Blocked, &prompts, &many);
    assert_eq!((bounded.prompts.len(), bounded.more_prompts), (SNAPSHOT_PROMPTS_MAX, 5));
    assert_eq!((bounded.tasks.len(), bounded.more_tasks), (SNAPSHOT_TASKS_MAX, 24));
    assert_eq!(bounded.task_counts.command, 40);
    let said = sentence(&bounded).text;
    assert_eq!(said, "Waiting for your approval: p · Monitoring 40 tasks");
    let lines = details(&bounded);
    assert_eq!(lines.len(), SNAPSHOT_PROMPTS_MAX + SNAPSHOT_TASKS_MAX + 1);
    assert_eq!(lines.last().map(String::as_str), Some("and 29 more"));

    let long = "x".repeat(10_000);
    let cut = snapshot(Lead::Blocked, &[(APPROVAL, &long)], &[(AGENT, &long)]);
    assert_eq!(cut.prompts[0].label.chars().count(), LABEL_CHARS_MAX);
    assert_eq!(cut.tasks[0].label.chars().count(), LABEL_CHARS_MAX);
}

#[test]
fn tasks_that_are_only_counted_are_counted_as_more() {
    let mut activity = Activity::of(&crate::head::Chat::default());
    activity.task_counts.monitor = 3;
    assert_eq!(Snapshot::of(&activity).more_tasks, 3);
}

#[test]
fn the_details_name_everything_once_in_order() {
    let prompts = [(APPROVAL, "p"), (QUESTION, "")];
    let tasks = [(MONITOR, "m"), (AGENT, "a")];
    assert_eq!(details(&snapshot(Lead::Blocked, &prompts, &tasks)), ["p", "unnamed", "m", "a"]);
    assert!(details(&snapshot(Lead::Done, &[], &[])).is_empty());
}

#[test]
fn only_a_turn_by_itself_is_only_a_turn() {
    assert!(snapshot(Lead::Working, &[], &[]).is_only_the_turn());
    assert!(!snapshot(Lead::Working, &[], &[(COMMAND, "c")]).is_only_the_turn());
    assert!(!snapshot(Lead::Blocked, &[(APPROVAL, "p")], &[]).is_only_the_turn());
    assert!(!snapshot(Lead::Done, &[], &[(AGENT, "a")]).is_only_the_turn());
}
