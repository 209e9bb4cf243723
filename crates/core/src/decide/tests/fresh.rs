//! Starting over: the agent's session is gone, a new one is told a recap.

use super::*;
use crate::input::NotResumed;

fn fresh(scene: &mut Scene, recap: &str, choice: Option<Choice>) {
    let session = Session::Fresh { recap: recap.to_owned() };
    scene.does(Command::Resume { recorded_at: None, choice, session, anyway: Anyway::No });
}

fn why(scene: &Scene) -> Option<NotResumed> {
    match &scene.reply {
        Some(Reply::NotResumed { why }) => Some(why.clone()),
        _ => None,
    }
}

/// The agent forgot the session of a chat with an offer and with `q1` waiting.
fn forgotten() -> Scene {
    let mut scene = Scene::idle();
    scene.task(1, TaskKind::Command, "watch").send("q1").taken().ends(TurnEnd::Completed);
    scene.quit().dies().resume().born().start_fails(StartFault::SessionNotFound);
    assert_eq!(scene.failure(), Some("session_not_found"));
    assert!(scene.has_offer());
    scene
}

#[test]
fn a_recap_goes_to_a_new_session_in_place_of_the_continuation() {
    let mut scene = forgotten();
    fresh(&mut scene, "what was said", None);
    assert_eq!(
        scene.last(),
        [
            "failure cleared",
            "resume",
            "withdrawn continuation startedfresh",
            "session left",
            "accepted continuation at head",
            "exempted continuation",
            "starting 3 to resume",
        ]
    );
    assert_eq!(scene.chat.head.handle, None, "it is not asked to load what it forgot");
    scene.born().ready_as("another root", ABLE);
    assert!(scene.has_offer(), "a new session is no rewind");
    let recap = scene.chat.head.outstanding.as_ref().map(|o| o.digest.clone());
    assert_eq!(recap, Some(crate::digest("what was said")));
    scene.written().taken();
    assert!(!scene.has_offer());
    assert!(scene.last().contains(&"offer ended resumed".to_owned()));
    assert_eq!(scene.chat.head.session_messages, 1);
}

#[test]
fn two_clicks_give_one_recap_and_another_text_takes_its_place() {
    let mut scene = forgotten();
    fresh(&mut scene, "one", None);
    let first = scene.reply.clone();
    fresh(&mut scene, "one", None);
    assert!(scene.last.is_empty());
    assert_eq!(scene.reply, first);
    // It cannot start either; the same text is then the same message, another one another.
    scene.born().start_fails(StartFault::LoginNeeded);
    fresh(&mut scene, "one", None);
    assert_eq!(scene.reply, first);
    scene.born().start_fails(StartFault::LoginNeeded);
    fresh(&mut scene, "two", None);
    assert_ne!(scene.reply, first);
    assert_eq!(scene.queue(), ["continuation"]);
    scene.born().ready().runs();
    assert_eq!(scene.handed("continuation"), 1);
}

#[test]
fn what_is_in_doubt_needs_a_choice_since_a_new_session_cannot_be_asked() {
    for (choice, queue) in [
        (Choice::Arrived, vec!["q1"]),
        (Choice::SendAgain, vec!["m0", "q1"]),
        (Choice::Discard, vec!["q1"]),
    ] {
        let mut scene = Scene::working();
        scene.send("q1").lost();
        assert_eq!(scene.stranded(), ["m0 asking"]);
        fresh(&mut scene, "recap", None);
        assert_eq!(why(&scene), Some(NotResumed::NeedsChoice));
        assert!(scene.last.is_empty());
        fresh(&mut scene, "recap", Some(choice));
        assert!(scene.stranded().is_empty(), "{choice:?}: {:?}", scene.stranded());
        scene.born().ready();
        assert_eq!(scene.at_agent().as_deref(), Some("continuation"), "the recap goes first");
        assert_eq!(scene.queue(), queue);
        scene.runs();
        assert_eq!(scene.at_agent().as_deref(), Some(queue[0]));
    }
}

#[test]
fn a_chat_that_was_only_starting_is_told_the_recap_first() {
    let mut scene = Scene::idle();
    scene.stop(StopWhy::Idle).dies().send("m1").born().quit().dies();
    assert!(scene.has_offer());
    fresh(&mut scene, "recap", None);
    scene.born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    assert_eq!(scene.queue(), ["m1"]);
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("m1"));
}

#[test]
fn a_message_to_an_agent_that_forgot_everything_has_a_way() {
    for pause in [false, true] {
        let mut scene = Scene::idle();
        scene.stop(StopWhy::Idle).dies().send("m1").send("m2").born();
        scene.start_fails(StartFault::SessionNotFound);
        assert!(!scene.has_offer());
        if pause {
            scene.does(Command::PauseQueue);
        }
        fresh(&mut scene, "recap", None);
        scene.born().ready_as("another root", ABLE);
        assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
        scene.runs();
        assert_eq!(scene.at_agent().as_deref(), if pause { None } else { Some("m1") });
    }
}

#[test]
fn a_recap_that_was_refused_is_sent_again_as_the_same_message() {
    let mut scene = Scene::idle();
    scene.stop(StopWhy::Idle).dies().send("m1").born();
    scene.start_fails(StartFault::SessionNotFound);
    fresh(&mut scene, "recap", None);
    scene.born().ready_as("another root", ABLE);
    let frame = scene.frame();
    let (proof, text) = (crate::provider::Proof::NotTaken, "no".to_owned());
    scene.says(ProviderEvent::MessageFailed { frame, proof, text }).dies();
    assert_eq!(scene.stranded(), ["continuation refused"]);
    fresh(&mut scene, "recap", None);
    scene.born().ready_as("another root", ABLE).runs();
    assert_eq!((scene.handed("continuation"), scene.stranded()), (2, Vec::new()));
}

#[test]
fn nothing_that_the_old_agent_still_says_brings_its_session_back() {
    let mut scene = Scene::working();
    scene.lost().resume().born();
    scene.does(Command::StopAgent);
    fresh(&mut scene, "recap", Some(Choice::Arrived));
    scene.ready_as("old root", ABLE);
    assert_eq!(scene.chat.head.handle, None);
    scene.dies().born().ready_as("new root", ABLE);
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    assert_eq!(scene.chat.head.handle.as_ref().map(|h| h.root.as_str()), Some("new root"));
}

#[test]
fn a_recap_is_a_message_and_there_has_to_be_something_to_start_over() {
    let mut scene = forgotten();
    for recap in ["", " \n", &"x".repeat(crate::limits::MESSAGE_BYTES_MAX + 1)] {
        let session = Session::Fresh { recap: recap.to_owned() };
        let anyway = Anyway::No;
        scene.refused(Command::Resume { recorded_at: None, choice: None, session, anyway });
    }
    let mut scene = Scene::idle();
    fresh(&mut scene, "recap", None);
    assert_eq!(why(&scene), Some(NotResumed::NoOffer));
    assert!(scene.last.is_empty());
}

#[test]
fn whatever_comes_instead_is_told_to_the_new_session_after_the_recap() {
    let cases: [(&str, Does); 4] = [
        ("a message", |s| {
            s.send("n");
        }),
        ("dismissed, then a message", |s| {
            s.dismiss();
            assert!(s.chat.head.recap.is_some());
            s.does(Command::ResumeQueue).send("n");
        }),
        ("closed and opened", |s| {
            s.does(CLOSE).dies().does(Command::Reopen).does(Command::ResumeQueue).send("n");
        }),
        ("stopped, then a message", |s| {
            s.does(Command::StopAgent).dies().send("n");
        }),
    ];
    for (what, does) in cases {
        let mut scene = Scene::working();
        scene.lost();
        fresh(&mut scene, "recap", Some(Choice::Arrived));
        scene.born();
        does(&mut scene);
        if scene.chat.head.attempt.as_ref().is_none_or(|attempt| attempt.pid.is_none()) {
            scene.born();
        }
        scene.ready_as("new root", ABLE);
        assert_eq!(scene.at_agent().as_deref(), Some("continuation"), "{what}: the recap is first");
        scene.runs();
        assert_eq!(scene.at_agent().as_deref(), Some("n"), "{what}");
        assert_eq!(scene.chat.head.recap, None);
    }
}

#[test]
fn a_recap_alone_waits_once_its_resume_was_let_go() {
    let mut scene = Scene::working();
    scene.lost();
    fresh(&mut scene, "recap", Some(Choice::Arrived));
    scene.born().dismiss().ready_as("new root", ABLE);
    assert_eq!((scene.at_agent(), scene.queue()), (None, vec!["continuation".to_owned()]));
    scene.does(Command::WithdrawQueued { message: scene.chat.head.recap.unwrap() });
    scene.send("n");
    assert_eq!(scene.at_agent().as_deref(), Some("n"), "a person may let the recap go");
}

#[test]
fn what_the_host_sent_to_the_session_that_is_left_is_not_sent_to_the_new_one() {
    let mut scene = Scene::working();
    scene.lost();
    fresh(&mut scene, "one", Some(Choice::Arrived));
    scene.born().ready_as("new root", ABLE).written().lost();
    assert_eq!(scene.stranded(), ["continuation asking"]);
    let mut unasked = scene.clone();
    fresh(&mut unasked, "two", None);
    assert_eq!(why(&unasked), None, "what becomes of the host's own words is nobody's choice");
    fresh(&mut scene, "two", Some(Choice::SendAgain));
    let told = ["failure cleared", "resume", "withdrawn continuation startedfresh"];
    assert_eq!(scene.last()[..3], told);
    scene.born().ready_as("newer root", ABLE).runs();
    assert_eq!((scene.at_agent(), scene.queue().len()), (None, 0));
}

#[test]
fn a_resume_that_would_tell_something_else_comes_too_late() {
    let mut scene = Scene::working();
    scene.lost().resume();
    fresh(&mut scene, "recap", Some(Choice::Arrived));
    assert_eq!(why(&scene), Some(NotResumed::Superseded));
    let mut scene = forgotten();
    fresh(&mut scene, "mine", None);
    fresh(&mut scene, "yours", None);
    assert_eq!(why(&scene), Some(NotResumed::Superseded));
    scene.resume();
    assert!(matches!(scene.reply, Some(Reply::Resuming { .. })), "it is being resumed");
    scene.born().ready();
    fresh(&mut scene, "mine", None);
    assert!(matches!(scene.reply, Some(Reply::Resuming { .. })), "also while it is at the agent");
}
