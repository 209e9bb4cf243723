use super::*;
use crate::limits::QUIET_TURN_MICROS;

const AFTER: Option<u64> = Some(1000);

#[test]
fn an_agent_with_nothing_to_do_is_released() {
    let mut scene = Scene::idle();
    scene.quiet(999, AFTER);
    assert!(scene.last.is_empty());
    scene.quiet(1000, None);
    assert!(scene.last.is_empty());
    scene.quiet(1000, AFTER);
    assert_eq!(scene.last(), ["stop idle"]);
    scene.dies();
    assert_eq!((scene.has_offer(), scene.has_agent()), (false, false));
    scene.send("m1");
    assert!(scene.has_agent());
}

#[test]
fn what_shows_work_or_is_owed_keeps_its_agent() {
    let keeps: [(&str, Does); 7] = [
        ("a turn", |s| {
            s.send("m1").written().taken();
        }),
        ("a message that was handed over", |s| {
            s.send("m1");
        }),
        ("a task", |s| {
            s.task(1, TaskKind::Monitor, "m");
        }),
        ("a prompt", |s| {
            s.prompt(1, PromptKind::Question, "q");
        }),
        ("an answer on its way", |s| {
            s.prompt(1, PromptKind::Question, "q");
            let answer = s.answer(1);
            s.does(answer);
        }),
        ("a stop in progress", |s| {
            s.stop(StopWhy::Offered(Cause::Quit));
        }),
        ("an own turn whose end is told", |s| {
            s.chat.head.attempt.as_mut().unwrap().capabilities.own_turns_end = true;
            s.folded = s.chat.clone();
            s.stirred();
        }),
    ];
    for (what, keep) in keeps {
        let mut scene = Scene::idle();
        keep(&mut scene);
        scene.quiet(u64::MAX / 4, AFTER);
        assert!(scene.last.is_empty(), "{what}: {:?}", scene.last());
    }
    let mut scene = Scene::starting();
    scene.quiet(u64::MAX / 4, AFTER);
    assert!(scene.last.is_empty(), "a start in progress");
    let mut scene = Scene::idle();
    scene.leaves_over(1).quiet(u64::MAX / 4, AFTER);
    assert!(scene.last.is_empty(), "a process that outlived its tool call");
    scene.leaves_over(0).quiet(1000, AFTER);
    assert_eq!(scene.last(), ["stop idle"]);
}

#[test]
fn a_paused_queue_and_a_doubt_need_a_person_and_no_process() {
    let mut scene = Scene::idle();
    scene.does(Command::PauseQueue).send("m1").quiet(1000, AFTER);
    assert_eq!(scene.last(), ["stop idle"]);
    let mut scene = Scene::starting();
    scene.born().ready().written();
    let frame = scene.frame();
    let (proof, text) = (crate::provider::Proof::Nothing, String::new());
    scene.says(ProviderEvent::MessageFailed { frame, proof, text }).quiet(1000, AFTER);
    assert_eq!(scene.last(), ["stop idle"]);
}

#[test]
fn a_release_is_taken_back_when_the_agent_said_something() {
    let mut scene = Scene::idle();
    scene.quiet(1000, AFTER).send("m1");
    assert_eq!(scene.at_agent(), None);
    scene.keeper(KeeperEvent::StopRefused);
    assert_eq!(scene.last(), ["stop withdrawn", "handed m1", "frame 2: m1"]);
    // Only a release is conditional.
    let mut scene = Scene::idle();
    scene.stop(StopWhy::Ordered).keeper(KeeperEvent::StopRefused);
    assert!(scene.last.is_empty());
}

#[test]
fn a_message_that_meets_a_release_starts_the_agent_again() {
    let mut scene = Scene::idle();
    scene.quiet(1000, AFTER).send("m1").dies();
    assert_eq!(scene.last(), ["ended", "starting 2"]);
}

#[test]
fn time_ends_no_offer_and_no_failure() {
    let mut scene = Scene::offered();
    scene.quiet(u64::MAX / 4, AFTER);
    assert!(scene.last.is_empty() && scene.has_offer());
    let mut scene = Scene::starting();
    scene.start_fails(StartFault::LoginNeeded).quiet(u64::MAX / 4, AFTER);
    assert!(scene.last.is_empty() && scene.failure().is_some());
}

/// An agent may ask in a turn of its own, have its answer, and say no more.
#[test]
fn an_answer_that_the_agent_has_keeps_neither_turn_nor_agent() {
    let mut scene = Scene::idle();
    scene.stirred().prompt(1, PromptKind::Question, "q");
    let answer = scene.answer(1);
    scene.does(answer).quiet(QUIET_TURN_MICROS, None);
    assert!(scene.last.is_empty(), "the answer is on its way");
    scene.written().quiet(QUIET_TURN_MICROS, None);
    assert_eq!(scene.last(), ["t2 completed quiet"]);
    scene.quiet(1000, AFTER);
    assert_eq!(scene.last(), ["stop idle"]);
}

#[test]
fn an_agent_that_cannot_come_back_is_not_released() {
    let mut scene = Scene::starting();
    let capabilities = Capabilities { load: false, resume: false, ..Capabilities::default() };
    scene.born().ready_as("root", capabilities).runs();
    scene.quiet(u64::MAX / 4, AFTER);
    assert_eq!(scene.last(), [""; 0]);
}

#[test]
fn only_an_owners_ceiling_stops_what_shows_work_and_it_is_offered() {
    let works: [(&str, Does); 3] = [
        ("a task", |s| {
            s.task(1, TaskKind::Monitor, "m");
        }),
        ("a turn", |s| {
            s.send("m1").written().taken();
        }),
        ("a prompt", |s| {
            s.prompt(1, PromptKind::Question, "q");
        }),
    ];
    for (what, work) in works {
        let mut scene = Scene::idle();
        work(&mut scene);
        scene.quiet_below(u64::MAX / 4, AFTER, None);
        assert!(scene.last.is_empty(), "{what}: {:?}", scene.last());
        let mut scene = Scene::idle();
        work(&mut scene);
        scene.quiet_below(999, None, AFTER);
        assert!(scene.last.is_empty(), "{what}: {:?}", scene.last());
        scene.quiet_below(1000, None, AFTER);
        assert!(
            scene.last().iter().any(|fact| fact.contains("stop")),
            "{what}: {:?}",
            scene.last()
        );
        scene.dies();
        let offer = scene.chat.head.offer.as_ref().map(|offer| offer.cause);
        assert_eq!(offer, Some(Cause::IdleStop), "{what}");
    }
    // A start ends by itself, one way or the other.
    let mut scene = Scene::starting();
    scene.quiet_below(u64::MAX / 4, None, AFTER);
    assert!(scene.last.is_empty(), "{:?}", scene.last());
    // What shows no work is released, not offered.
    let mut scene = Scene::idle();
    scene.quiet_below(1000, None, AFTER);
    assert!(scene.last.is_empty(), "{:?}", scene.last());
}
