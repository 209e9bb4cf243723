use super::*;
use crate::limits::{LABEL_CHARS_MAX, LIVE_TASKS_MAX};
use crate::provider::TaskEnd;

#[test]
fn a_task_lives_until_its_own_end_whatever_the_turn_does() {
    let mut scene = Scene::working();
    scene.task(1, TaskKind::Agent, "look").ends(TurnEnd::Completed);
    assert_eq!(scene.shown(), Shown::Working);
    scene.quiet(u64::MAX / 4, Some(1));
    assert!(scene.last.is_empty(), "silence ends nothing");
    scene.says(ProviderEvent::TaskEnded { task: 1, how: TaskEnd::Completed });
    assert_eq!(scene.last(), ["k1.1 completed"]);
    assert_eq!(scene.shown(), Shown::Idle);
    scene.says(ProviderEvent::TaskEnded { task: 1, how: TaskEnd::Completed });
    assert!(scene.last.is_empty());
}

#[test]
fn the_end_of_a_turn_ends_its_foreground_tasks_only() {
    let mut scene = Scene::working();
    scene.task(1, TaskKind::Command, "back");
    let label = "fore".to_owned();
    let kind = TaskKind::Command;
    scene.says(ProviderEvent::TaskStarted { task: 2, kind, label, foreground: true });
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.last()[0], "k1.2 completed");
    assert_eq!(scene.chat.head.tasks.len(), 1);
}

#[test]
fn a_death_loses_every_task() {
    let mut scene = Scene::idle();
    scene.task(1, TaskKind::Agent, "a").task(2, TaskKind::Monitor, "m").dies();
    assert!(scene.last().contains(&"k1.1 lost".to_owned()));
    assert!(scene.last().contains(&"k1.2 lost".to_owned()));
}

#[test]
fn a_task_is_told_once_and_its_label_is_bounded() {
    let mut scene = Scene::working();
    scene.task(1, TaskKind::Agent, &"x".repeat(5000));
    assert_eq!(scene.chat.aside.tasks[&scene.task_id(1)].chars().count(), LABEL_CHARS_MAX);
    scene.task(1, TaskKind::Command, "again");
    assert!(scene.last.is_empty());
}

#[test]
fn more_tasks_than_are_told_apart_are_counted() {
    let mut scene = Scene::idle();
    let most = u32::try_from(LIVE_TASKS_MAX).unwrap();
    for n in 1..=most + 2 {
        scene.task(n, TaskKind::Command, "c");
    }
    assert_eq!(scene.chat.head.tasks.len(), LIVE_TASKS_MAX);
    assert_eq!(Activity::of(&scene.chat).task_counts.command, most + 2);
    for n in 1..=most + 2 {
        assert_ne!(scene.shown(), Shown::Idle);
        scene.says(ProviderEvent::TaskEnded { task: n, how: TaskEnd::Completed });
    }
    assert_eq!(scene.shown(), Shown::Idle);
}

#[test]
fn counted_tasks_may_share_a_number_and_keep_the_chat_at_work_to_the_last() {
    let mut scene = Scene::idle();
    let most = u32::try_from(LIVE_TASKS_MAX).unwrap();
    for n in 1..=most {
        scene.task(n, TaskKind::Monitor, "told apart");
    }
    for _ in 0..3 {
        scene.task(most + 1, TaskKind::Agent, "counted");
    }
    assert_eq!(scene.chat.head.more_tasks.total(), 3);
    let task = scene.task_id(most + 1);
    assert_eq!(scene.refused(Command::StopTask { task }), Code::TaskNotFound);
    // A place that is free again is for what begins next, not for what was counted.
    for n in 1..=most {
        scene.says(ProviderEvent::TaskEnded { task: n, how: TaskEnd::Completed });
    }
    assert!(scene.chat.head.tasks.is_empty());
    for left in (0..3).rev() {
        assert_eq!(scene.shown(), Shown::Working);
        assert!(!crate::effect::releasable(&scene.chat), "{left} more");
        scene.quiet(u64::MAX / 4, Some(1));
        assert!(scene.last.is_empty(), "silence ends nothing");
        scene.says(ProviderEvent::TaskEnded { task: most + 1, how: TaskEnd::Completed });
        assert_eq!(scene.chat.head.more_tasks.total(), left);
    }
    assert_eq!(scene.shown(), Shown::Idle);
    assert!(crate::effect::releasable(&scene.chat));
    scene.says(ProviderEvent::TaskEnded { task: most + 1, how: TaskEnd::Completed });
    assert!(scene.last.is_empty(), "there is none left that could end");
}

#[test]
fn a_task_is_stopped_by_a_frame_and_over_when_the_agent_says_so() {
    let mut scene = Scene::idle();
    scene.task(1, TaskKind::Command, "c");
    let task = scene.task_id(1);
    scene.does(Command::StopTask { task });
    assert_eq!(scene.last(), ["frame 2: stop k1.1"]);
    assert_eq!(scene.chat.head.tasks.len(), 1);
    let task = scene.task_id(9);
    assert_eq!(scene.refused(Command::StopTask { task }), Code::TaskNotFound);

    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { stop_task: false, ..ABLE });
    scene.task(1, TaskKind::Command, "c");
    let task = scene.task_id(1);
    assert_eq!(scene.refused(Command::StopTask { task }), Code::NotSupported);
}

#[test]
fn work_of_a_turn_that_goes_on_in_the_background_outlives_the_turn() {
    let mut scene = Scene::working();
    let label = "build".to_owned();
    let kind = TaskKind::Command;
    scene.says(ProviderEvent::TaskStarted { task: 1, kind, label, foreground: true });
    scene.says(ProviderEvent::TaskDetached { task: 1 });
    assert_eq!(scene.last(), ["k1.1 detached"]);
    scene.says(ProviderEvent::TaskDetached { task: 1 });
    assert!(scene.last.is_empty());
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.chat.head.tasks.len(), 1);
}
