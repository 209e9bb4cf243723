use super::*;
use crate::item::{Body, Notice};

const TELLS: Capabilities = Capabilities { own_turns_end: true, ..ABLE };

#[test]
fn an_agent_that_stirs_opens_a_turn_of_its_own_once() {
    let mut scene = Scene::idle();
    scene.stirred();
    assert_eq!(scene.last(), ["t2 opened"]);
    assert_eq!(scene.shown(), Shown::Working);
    scene.stirred();
    assert!(scene.last.is_empty());
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t2 completed agent"]);
}

#[test]
fn a_failed_turns_late_output_opens_none_until_a_message_is_accepted() {
    let mut scene = Scene::working();
    scene.says(ProviderEvent::TurnEnded {
        how: TurnEnd::Failed,
        usage: None,
        text: Some("overloaded".to_owned()),
        mark: None,
    });
    assert_eq!(scene.last(), ["t1 failed agent", "settled m0 agent"]);
    assert!(
        scene
            .rows
            .iter()
            .any(|r| matches!(r, Row::ItemBody { body: Body::Notice(Notice::TurnFailed), .. }))
    );
    scene.stirred();
    assert!(scene.last.is_empty());
    scene.send("m1").runs().stirred();
    assert_eq!(scene.last(), ["t3 opened"]);
}

#[test]
fn a_turn_ends_once() {
    let mut scene = Scene::working();
    scene.ends(TurnEnd::Completed).ends(TurnEnd::Completed).ends(TurnEnd::Failed);
    assert!(scene.last.is_empty());
    let ends = scene.all.iter().filter(|fact| matches!(fact, Fact::TurnEnded { .. })).count();
    assert_eq!(ends, 1);
}

#[test]
fn a_message_waits_for_an_own_turn_only_where_its_end_is_told() {
    let mut scene = Scene::idle();
    scene.stirred().send("m1");
    assert_eq!(
        scene.last(),
        ["accepted m1 at tail", "t2 completed message", "handed m1", "frame 2: m1"]
    );

    let mut scene = Scene::starting();
    scene.born().ready_as("root", TELLS).runs().stirred().send("m1");
    assert_eq!(scene.last(), ["accepted m1 at tail"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t2 completed agent", "handed m1", "frame 2: m1"]);
}

#[test]
fn a_message_may_be_taken_into_a_turn_that_the_agent_opened_in_the_same_instant() {
    let mut scene = Scene::idle();
    scene.send("m1").stirred();
    assert_eq!(scene.last(), ["t2 opened"]);
    scene.written().taken();
    assert_eq!(scene.last(), ["taken m1 agent"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t2 completed agent", "settled m1 agent"]);
}

#[test]
fn an_own_turn_that_ends_before_the_echo_of_a_message_leaves_nothing_behind() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", TELLS).runs().send("m1").stirred().ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t2 completed agent"]);
    scene.written().taken();
    assert_eq!(scene.last(), ["taken m1 agent", "t3 opened by m1"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.shown(), Shown::Idle);
}

#[test]
fn ten_quiet_seconds_end_an_own_turn_and_nothing_else() {
    const QUIET: u64 = crate::limits::QUIET_TURN_MICROS;
    let mut scene = Scene::idle();
    scene.stirred().quiet(QUIET - 1, None);
    assert!(scene.last.is_empty());
    scene.quiet(QUIET, None);
    assert_eq!(scene.last(), ["t2 completed quiet"]);
    // Not a message's turn, however long.
    let mut scene = Scene::working();
    scene.quiet(QUIET * 1_000_000, None);
    assert!(scene.last.is_empty());
    // Not one that waits for a person.
    let mut scene = Scene::idle();
    scene.stirred().prompt(1, PromptKind::Approval, "run").quiet(QUIET, None);
    assert!(scene.last.is_empty());
    // Not one whose end is told.
    let mut scene = Scene::starting();
    scene.born().ready_as("root", TELLS).runs().stirred().quiet(QUIET, None);
    assert!(scene.last.is_empty());
}

#[test]
fn a_stop_is_a_frame_of_its_own_told_once_and_counts_as_the_end() {
    let mut scene = Scene::working();
    scene.send("m1").does(Command::Interrupt);
    assert_eq!(scene.last(), ["paused stop", "frame 2: interrupt", "interrupt t1"]);
    scene.does(Command::Interrupt);
    assert!(scene.last.is_empty());
    scene.written().ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t1 interrupted agent", "settled m0 agent"]);
    assert_eq!(scene.refused(Command::Interrupt), Code::NoTurn);
}

#[test]
fn an_interrupt_takes_back_what_is_asked_also_what_is_asked_late() {
    let mut scene = Scene::working();
    scene.prompt(1, PromptKind::Approval, "run").does(Command::Interrupt);
    assert_eq!(
        scene.last(),
        ["frame 2: interrupt", "frame 3: cancel p1.1", "p1.1 gone", "interrupt t1"]
    );
    let answer = scene.answer(1);
    assert_eq!(scene.refused(answer), Code::PromptGone);
    scene.prompt(2, PromptKind::Approval, "other").does(Command::Interrupt);
    assert_eq!(scene.last(), ["frame 4: cancel p1.2", "p1.2 gone"]);
}

#[test]
fn a_message_that_is_not_taken_yet_is_interrupted_once_while_the_frame_waits() {
    let mut scene = Scene::starting();
    scene.born().ready().does(Command::Interrupt);
    assert_eq!(scene.last(), ["frame 2: interrupt"]);
    scene.does(Command::Interrupt);
    assert!(scene.last.is_empty());
}

#[test]
fn a_stop_while_the_agent_starts_holds_the_message_that_it_starts_for() {
    let mut scene = Scene::starting();
    scene.does(Command::Interrupt);
    assert_eq!(scene.last(), ["paused stop"]);
    scene.born().ready();
    assert_eq!((scene.at_agent(), scene.queue()), (None, vec!["m0".to_owned()]));
}

#[test]
fn a_turn_that_was_taken_for_the_agents_own_is_of_the_message_that_opened_it() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", TELLS).written().stirred();
    assert_eq!(scene.last(), ["t1 opened"], "whose it is, is not known yet");
    let frame = scene.frame();
    scene.says(ProviderEvent::TurnClaimed { frame });
    assert!(scene.last.is_empty(), "nothing is taken yet");
    scene.taken().says(ProviderEvent::TurnClaimed { frame });
    assert_eq!(scene.last(), ["t1 is of m0"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t1 completed agent", "settled m0 agent"]);
}
