use super::*;
use crate::activity::{Process, process};
use crate::effect::owed;

#[test]
fn an_attempt_is_born_and_ready_once() {
    let mut scene = Scene::starting();
    assert_eq!(process(&scene.chat), Process::Starting);
    scene.born().born();
    assert!(scene.last.is_empty());
    scene.ready();
    assert_eq!(process(&scene.chat), Process::Running);
    scene.ready_as("other", ABLE);
    assert!(scene.last.is_empty());
    assert_eq!(scene.chat.head.handle.as_ref().unwrap().root, "root");
}

#[test]
fn what_is_owed_is_read_from_the_head() {
    assert_eq!(owed(&Scene::open().chat), None);
    let mut scene = Scene::starting();
    scene.born().ready();
    let frames = |scene: &Scene| owed(&scene.chat).unwrap().frames.len();
    assert_eq!(frames(&scene), 1);
    scene.written();
    assert_eq!(frames(&scene), 0);
    scene.stop(StopWhy::Offered(Cause::Quit));
    assert_eq!(owed(&scene.chat).unwrap().stop, Some(StopWhy::Offered(Cause::Quit)));
}

#[test]
fn a_frame_that_is_done_is_not_written_again() {
    let mut scene = Scene::working();
    scene.prompt(1, PromptKind::Approval, "a").does(Command::Interrupt);
    assert_eq!(scene.outbox(), [FrameNo(2), FrameNo(3)]);
    scene.keeper(KeeperEvent::FrameDone(FrameNo(2)));
    assert_eq!(scene.outbox(), [FrameNo(3)]);
    scene.keeper(KeeperEvent::FrameCancelled(FrameNo(3)));
    assert!(scene.outbox().is_empty());
}

#[test]
fn an_agent_that_is_being_stopped_is_given_nothing_more() {
    let mut scene = Scene::idle();
    scene.stop(StopWhy::Offered(Cause::Quit)).send("m1");
    assert_eq!((scene.at_agent(), scene.outbox().len()), (None, 0));
    assert_eq!(process(&scene.chat), Process::Stopping);
    scene.stop(StopWhy::Offered(Cause::Update));
    assert!(scene.last.is_empty(), "one stop is enough");
}

#[test]
fn a_keeper_that_does_not_answer_is_shown_and_ends_nothing() {
    let mut scene = Scene::working();
    scene.keeper(KeeperEvent::Answers);
    assert!(scene.last.is_empty(), "as ever");
    scene.keeper(KeeperEvent::Silent);
    assert_eq!(scene.last(), ["stalled"]);
    assert_eq!((process(&scene.chat), scene.shown()), (Process::Stalled, Shown::Working));
    scene.keeper(KeeperEvent::Silent).stop(StopWhy::Ordered);
    assert_eq!(process(&scene.chat), Process::Stalled, "nor does it hear of a stop");
    scene.keeper(KeeperEvent::Answers);
    assert_eq!(scene.last(), ["goes on"]);
    assert_eq!(process(&scene.chat), Process::Stopping);
    scene.keeper(KeeperEvent::Silent).dies();
    assert_eq!(process(&scene.chat), Process::Stopped);
}

#[test]
fn a_start_that_fails_keeps_the_message_and_says_why() {
    let fails: [Does; 3] = [
        |scene| {
            scene.start_fails(StartFault::LoginNeeded);
        },
        |scene| {
            let (fault, text) = (StartFault::AgentMissing, String::new());
            scene
                .keeper(KeeperEvent::SpawnFailed { fault, text })
                .dead(Death::NeverBorn, Boot::Same);
        },
        |scene| {
            scene.born().dies();
        },
    ];
    for (fail, code) in fails.into_iter().zip(["login_needed", "agent_missing", "agent_died"]) {
        let mut scene = Scene::starting();
        fail(&mut scene);
        assert_eq!(scene.failure(), Some(code));
        assert_eq!((scene.queue(), scene.shown()), (vec!["m0".to_owned()], Shown::ToCheck));
        assert_eq!((scene.has_agent(), scene.has_offer()), (false, false), "{code}");
        scene.sends("a1", Author::App, Send::Queue);
        assert!(!scene.has_agent(), "an app's message waits with it");
        // A person's own message tries again, and what waited goes first.
        let mut retried = scene.clone();
        retried.send("m1").born().ready();
        assert_eq!(retried.at_agent().as_deref(), Some("m0"));
        assert_eq!(retried.queue(), ["a1", "m1"]);
        // So do the resume of the queue and a retry.
        for retry in [Command::ResumeQueue, resume_command(None)] {
            let mut scene = scene.clone();
            scene.does(retry);
            assert_eq!(scene.last(), ["failure cleared", "starting 2"]);
        }
    }
}

#[test]
fn a_failure_holds_also_what_was_to_run_in_spite_of_a_pause() {
    // Otherwise a start that fails is tried again for ever.
    let mut scene = Scene::working();
    scene.send("q1").does(Command::Interrupt).dead(Death::KeeperLost, Boot::Same).dismiss();
    scene.does(Command::SendNow { message: id("q1") });
    assert!(scene.has_agent());
    scene.start_fails(StartFault::AgentMissing);
    assert_eq!((scene.has_agent(), scene.failure()), (false, Some("agent_missing")));
    scene.does(Command::SendNow { message: id("q1") });
    assert!(scene.has_agent());
}

#[test]
fn a_failure_without_an_offer_can_be_let_go() {
    let mut scene = Scene::starting();
    scene.start_fails(StartFault::LoginNeeded).dismiss();
    assert_eq!(scene.last(), ["failure cleared", "paused dismiss"]);
    assert_eq!((scene.has_agent(), scene.queue()), (false, vec!["m0".to_owned()]));
    scene.dismiss();
    assert!(matches!(scene.reply, Some(Reply::NotResumed { .. })));
}

#[test]
fn what_was_never_started_is_started_again() {
    let mut scene = Scene::starting();
    scene.dead(Death::NeverBorn, Boot::Same);
    assert_eq!(scene.last(), ["ended", "starting 2"]);
}

#[test]
fn only_a_person_starts_beside_what_may_still_live() {
    let mut scene = Scene::idle();
    scene.leaves_survivors();
    assert_eq!(scene.failure(), Some("agent_may_live"));
    for message in ["m1", "m2"] {
        scene.send(message);
        assert!(!scene.has_agent(), "a message starts none");
    }
    scene.does(Command::ResumeQueue);
    assert!(!scene.has_agent(), "nor does the queue");
    scene.resume();
    assert!(matches!(scene.reply, Some(Reply::NotResumed { .. })));
    scene.dismiss();
    assert_eq!(scene.failure(), Some("agent_may_live"), "it cannot be wished away");
    let anyway = Anyway::Yes;
    scene.does(Command::Resume {
        recorded_at: None,
        choice: None,
        session: Session::Recorded,
        anyway,
    });
    assert_eq!(scene.last(), ["started anyway", "failure cleared", "starting 2"]);
}

#[test]
fn an_offer_beside_what_may_still_live_needs_the_same_word() {
    let mut scene = Scene::working();
    scene.leaves_survivors();
    assert!(scene.has_offer());
    scene.resume();
    assert!(matches!(scene.reply, Some(Reply::NotResumed { .. })));
    let anyway = Anyway::Yes;
    scene.does(Command::Resume {
        recorded_at: None,
        choice: None,
        session: Session::Recorded,
        anyway,
    });
    assert!(scene.has_agent());
}

#[test]
fn a_closed_chat_starts_nothing_whatever_a_person_says_to_what_may_still_live() {
    let mut scene = Scene::idle();
    scene.send("m1").leaves_survivors();
    scene.does(CLOSE);
    assert_eq!(scene.failure(), Some("agent_may_live"));
    let (session, anyway) = (Session::Recorded, Anyway::Yes);
    scene.does(Command::Resume { recorded_at: None, choice: None, session, anyway });
    assert!(matches!(scene.reply, Some(Reply::NotResumed { .. })));
    assert!(scene.last.is_empty() && !scene.has_agent(), "{:?}", scene.last());
}

#[test]
fn a_person_stops_the_agent_and_nothing_starts_it_by_itself() {
    let mut scene = Scene::working();
    scene.send("m1").does(Command::SendNow { message: id("m1") }).does(Command::StopAgent);
    assert_eq!(scene.last(), ["paused stop", "stop ordered"]);
    scene.dies();
    assert_eq!((scene.has_offer(), scene.has_agent()), (false, false));
    assert_eq!(scene.stranded(), ["m0 asking"]);
    assert_eq!(scene.refused(Command::StopAgent), Code::NoTurn);
    scene.does(Command::ResumeQueue);
    assert!(scene.has_agent());
}

#[test]
fn a_person_stops_the_agent_of_a_resume_and_the_offer_stays() {
    let mut scene = Scene::offered();
    scene.resume().born().does(Command::StopAgent);
    assert_eq!(scene.last(), ["resume stopped", "stop ordered"]);
    scene.dies();
    assert_eq!((scene.has_offer(), scene.has_agent()), (true, false));
    scene.resume();
    assert!(scene.has_agent(), "it can be resumed again");
}

#[test]
fn a_session_with_another_root_counts_anew() {
    let mut scene = Scene::idle();
    assert_eq!(scene.chat.head.session_messages, 1);
    scene.stop(StopWhy::Idle).dies().send("m1").born().ready_as("root", ABLE).runs();
    assert_eq!(scene.chat.head.session_messages, 2);
    scene.stop(StopWhy::Idle).dies().send("m2").born().ready_as("other", ABLE).runs();
    assert_eq!(scene.chat.head.session_messages, 1);
}

#[test]
fn a_stopped_agent_is_not_started_again_by_what_waited_behind_an_offer() {
    let mut scene = Scene::working();
    scene.send("q1").lost().resume().born().replays(1, Some("m0")).ready();
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    scene.does(Command::StopAgent);
    assert!(scene.last().contains(&"paused stop".to_owned()), "{:?}", scene.last());
    scene.written().taken().dies();
    assert!(!scene.has_agent());
    assert_eq!(scene.queue(), ["q1"]);
}
