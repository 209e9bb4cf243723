use super::*;
use crate::limits::{MESSAGE_BYTES_MAX, QUEUE_MESSAGES_MAX, STRANDED_MESSAGES_MAX};
use crate::provider::Proof;

fn fails(scene: &mut Scene, proof: Proof) {
    let frame = scene.frame();
    scene.says(ProviderEvent::MessageFailed { frame, proof, text: "no".to_owned() });
}

#[test]
fn a_message_starts_an_agent_waits_for_it_and_is_handed_over_once() {
    let mut scene = Scene::open();
    scene.send("m1");
    assert_eq!(scene.last(), ["accepted m1 at tail", "starting 1"]);
    scene.born();
    assert_eq!(scene.last(), ["born"]);
    scene.ready();
    assert_eq!(scene.last(), ["ready", "handed m1", "frame 1: m1"]);
    scene.written();
    assert_eq!(scene.at_agent().as_deref(), Some("m1"));
    scene.taken();
    assert_eq!(scene.last(), ["taken m1 agent", "t1 opened by m1"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t1 completed agent", "settled m1 agent"]);
}

#[test]
fn only_one_message_is_at_an_agent_and_the_next_follows_the_end_of_its_turn() {
    let mut scene = Scene::working();
    scene.send("m1").send("m2");
    assert_eq!(scene.queue(), ["m1", "m2"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(
        scene.last(),
        ["t1 completed agent", "settled m0 agent", "handed m1", "frame 2: m1"]
    );
    // Handed, not taken: the end of some turn is not the end of this message.
    scene.ends(TurnEnd::Completed);
    assert!(scene.last.is_empty());
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("m2"));
}

#[test]
fn a_message_in_the_first_turn_waits_for_its_end() {
    let mut scene = Scene::starting();
    scene.send("m1").born().ready();
    assert_eq!((scene.at_agent().as_deref(), scene.queue()), (Some("m0"), vec!["m1".to_owned()]));
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("m1"));
}

#[test]
fn what_no_agent_is_given_is_refused_and_changes_nothing() {
    let mut scene = Scene::open();
    let text = |text: String| Command::Send {
        message: id("m"),
        text,
        by: Author::Person,
        send: Send::Queue,
        attachments: Vec::new(),
    };
    assert_eq!(scene.refused(text(" \n".to_owned())), Code::EmptyField);
    assert_eq!(scene.refused(text("x".repeat(MESSAGE_BYTES_MAX + 1))), Code::FieldTooLong);
    scene.does(text("x".repeat(MESSAGE_BYTES_MAX)));
}

#[test]
fn a_full_queue_refuses_and_keeps_what_it_has() {
    let mut scene = Scene::open();
    scene.does(Command::PauseQueue);
    for n in 0..QUEUE_MESSAGES_MAX {
        scene.send(&format!("q{n}"));
    }
    let message = scene.message("more", Author::Person, Send::Queue);
    assert_eq!(scene.refused(message), Code::QueueFull);
    assert_eq!(scene.queue().len(), QUEUE_MESSAGES_MAX);
}

#[test]
fn the_proof_is_of_this_frame_and_of_this_attempt() {
    let mut scene = Scene::starting();
    scene.born().ready().written();
    scene.says(ProviderEvent::MessageTaken { frame: FrameNo(9) });
    assert!(scene.last.is_empty());
    let attempt = AttemptId::new(Uuid::from_u128(99));
    let event = ProviderEvent::MessageTaken { frame: scene.frame() };
    scene.input(Input::Provider { attempt, event }).unwrap();
    assert!(scene.last.is_empty());
    let event = KeeperEvent::Dead {
        death: Death::HostLost,
        boot: Boot::Same,
        survivors: Vec::new(),
        stderr: String::new(),
    };
    scene.input(Input::Keeper { attempt, event }).unwrap();
    assert!(scene.last.is_empty() && scene.has_agent());
    scene.taken();
    assert!(!scene.last.is_empty());
    scene.taken();
    assert!(scene.last.is_empty(), "a proof that is told again is no second one");
}

#[test]
fn a_rejected_message_is_refused_and_holds_the_queue_until_a_person_acts() {
    let mut scene = Scene::starting();
    scene.born().ready().written().send("m1");
    fails(&mut scene, Proof::NotTaken);
    assert_eq!(scene.last(), ["refused m0 rejected", "failure agent_refused"]);
    assert_eq!(scene.stranded(), ["m0 refused"]);
    assert_eq!(scene.queue(), ["m1"]);
    scene.does(Command::Resolve { message: id("m0"), choice: Choice::SendAgain });
    assert_eq!(
        scene.last(),
        ["requeued m0 at head", "failure cleared", "exempted m0", "handed m0", "frame 2: m0"]
    );
}

#[test]
fn an_error_without_proof_is_a_doubt_that_a_person_settles() {
    for (choice, then) in [
        (Choice::Arrived, vec!["settled m0 person"]),
        (Choice::Discard, vec!["withdrawn m0 discarded"]),
        (
            Choice::SendAgain,
            vec![
                "requeued m0 at head",
                "failure cleared",
                "exempted m0",
                "handed m0",
                "frame 2: m0",
            ],
        ),
    ] {
        let mut scene = Scene::starting();
        scene.born().ready().written();
        fails(&mut scene, Proof::Nothing);
        assert_eq!(scene.last(), ["doubted m0", "failure agent_refused"]);
        assert_eq!(scene.shown(), Shown::ToCheck);
        scene.does(Command::Resolve { message: id("m0"), choice });
        assert_eq!(scene.last(), then);
    }
}

#[test]
fn what_was_refused_did_not_arrive_and_what_is_settled_is_in_no_doubt() {
    let mut scene = Scene::starting();
    scene.born().ready().written();
    fails(&mut scene, Proof::NotTaken);
    let arrived = Command::Resolve { message: id("m0"), choice: Choice::Arrived };
    assert_eq!(scene.refused(arrived), Code::NotInDoubt);
    scene.does(Command::Resolve { message: id("m0"), choice: Choice::Discard });
    let again = Command::Resolve { message: id("m0"), choice: Choice::SendAgain };
    assert_eq!(scene.refused(again), Code::NotInDoubt);
    assert_eq!(scene.handed("m0"), 1);
}

#[test]
fn a_closed_chat_sends_nothing_again() {
    let mut scene = Scene::starting();
    scene.born().ready().written();
    fails(&mut scene, Proof::NotTaken);
    scene.does(CLOSE);
    let again = Command::Resolve { message: id("m0"), choice: Choice::SendAgain };
    assert_eq!(scene.refused(again), Code::ChatClosed);
}

#[test]
fn what_ends_with_the_turn_ends_with_a_message_that_the_agent_gave_up() {
    let mut scene = Scene::idle();
    scene.send("m1").written();
    let (kind, label) = (TaskKind::Command, "fore".to_owned());
    scene.says(ProviderEvent::TaskStarted { task: 1, kind, label, foreground: true });
    fails(&mut scene, Proof::Nothing);
    assert!(scene.chat.head.tasks.is_empty(), "it would show work for ever");
}

#[test]
fn an_error_after_the_take_up_is_a_failed_turn_and_no_refusal() {
    let mut scene = Scene::working();
    fails(&mut scene, Proof::NotTaken);
    assert_eq!(scene.last(), ["t1 failed agent", "settled m0 agent"]);
    assert!(scene.stranded().is_empty());
}

#[test]
fn too_many_without_an_outcome_stop_every_way_of_making_more() {
    let mut scene = Scene::open();
    for n in 0..STRANDED_MESSAGES_MAX {
        scene.send(&format!("m{n}"));
        if n == 0 {
            scene.born().ready();
        }
        scene.written();
        fails(&mut scene, Proof::Nothing);
    }
    let message = scene.message("more", Author::Person, Send::Queue);
    assert_eq!(scene.refused(message), Code::TooManyUnknown);
    assert_eq!(scene.refused(Command::ResumeQueue), Code::TooManyUnknown);
    scene.does(Command::Resolve { message: id("m0"), choice: Choice::Arrived }).send("more");
}

#[test]
fn messages_of_people_are_counted_until_they_are_withdrawn() {
    let mut scene = Scene::open();
    scene.does(Command::PauseQueue).send("m1").sends("m2", Author::Channel, Send::Queue);
    scene.sends("m3", Author::App, Send::Queue).sends("m4", Author::Schedule, Send::Queue);
    assert_eq!(scene.chat.head.user_messages, 2);
    scene.does(Command::WithdrawQueued { message: id("m1") });
    scene.does(Command::WithdrawQueued { message: id("m3") });
    assert_eq!(scene.chat.head.user_messages, 1);
}

#[test]
fn an_interrupting_message_ends_the_turn_and_runs_next() {
    let mut scene = Scene::working();
    scene.send("m1").sends("m2", Author::Person, Send::Interrupt);
    assert_eq!(
        scene.last(),
        ["accepted m2 at head", "exempted m2", "frame 2: interrupt", "interrupt t1"]
    );
    scene.written().ends(TurnEnd::Completed);
    assert_eq!(scene.last()[0], "t1 interrupted agent");
    assert_eq!(scene.at_agent().as_deref(), Some("m2"));
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("m1"), "it pauses nothing");
}

#[test]
fn a_steer_that_cannot_be_given_to_the_turn_says_so_and_runs_next() {
    let mut scene = Scene::working();
    scene.send("m1").sends("m2", Author::Person, Send::Steer);
    assert!(matches!(&scene.reply, Some(Reply::Accepted { note: Some(_), .. })));
    assert_eq!(scene.queue(), ["m2", "m1"]);
    let mut scene = Scene::idle();
    scene.sends("m1", Author::Person, Send::Steer);
    assert!(matches!(&scene.reply, Some(Reply::Accepted { note: None, .. })));
    assert_eq!(scene.at_agent().as_deref(), Some("m1"));
}

#[test]
fn a_frame_that_was_cancelled_before_its_first_byte_was_never_handed_over() {
    let mut scene = Scene::starting();
    scene.born().ready().does(Command::Interrupt);
    let frame = scene.frame();
    scene.keeper(KeeperEvent::FrameCancelled(frame));
    assert_eq!(
        scene.last(),
        ["frame 1 cancelled", "requeued m0 at head", "handed m0", "frame 3: m0"]
    );
    // One that may have begun is not taken back.
    let frame = scene.frame();
    scene.keeper(KeeperEvent::FrameBegun(frame)).keeper(KeeperEvent::FrameCancelled(frame));
    assert_eq!(scene.last(), ["frame 3 cancelled"]);
}

#[test]
fn the_message_is_one_item_however_often_it_is_handed_over() {
    let mut scene = Scene::starting();
    scene.born().ready();
    let item = scene.chat.head.outstanding.as_ref().unwrap().item;
    fails(&mut scene, Proof::NotTaken);
    scene.does(Command::Resolve { message: id("m0"), choice: Choice::SendAgain });
    assert_eq!(scene.chat.head.outstanding.as_ref().unwrap().item, item);
    assert_eq!(scene.handed("m0"), 2);
}

#[test]
fn a_message_that_was_taken_back_in_time_is_refused_and_no_failure_of_the_agent() {
    let mut scene = Scene::starting();
    scene.born().ready().written().send("m1").does(Command::Interrupt);
    let (frame, text) = (scene.frame(), "It was stopped.".to_owned());
    scene.says(ProviderEvent::MessageFailed { frame, proof: Proof::TakenBack, text });
    assert_eq!(scene.last(), ["refused m0 rejected"]);
    assert_eq!((scene.failure(), scene.shown()), (None, Shown::Idle));
    assert_eq!(scene.queue(), ["m1"], "it waits, as after any stop");
    assert_eq!(scene.at_agent(), None);
}
