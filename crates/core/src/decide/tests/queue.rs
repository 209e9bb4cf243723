use super::*;
use crate::input::Leftovers;
use crate::queue::{Held, held};

fn paused() -> Scene {
    let mut scene = Scene::working();
    scene.does(Command::PauseQueue).send("m1").send("m2").send("m3");
    scene
}

#[test]
fn a_paused_queue_waits_until_it_is_resumed() {
    let mut scene = paused();
    scene.ends(TurnEnd::Completed);
    assert_eq!((scene.at_agent(), held(&scene.chat)), (None, Some(Held::Person)));
    scene.does(Command::ResumeQueue);
    assert_eq!(scene.last(), ["queue resumed", "handed m1", "frame 2: m1"]);
}

#[test]
fn a_paused_queue_starts_no_agent() {
    let mut scene = Scene::open();
    scene.does(Command::PauseQueue).send("m1");
    assert!(!scene.has_agent());
}

#[test]
fn what_waits_is_edited_ordered_and_withdrawn() {
    let mut scene = paused();
    scene.does(Command::EditQueued { message: id("m2"), text: "new".to_owned() });
    assert_eq!(scene.last(), ["edited m2"]);
    assert_eq!(scene.chat.aside.queue[1].digest, crate::digest("new"));
    scene.does(Command::OrderQueue { order: vec![id("m3"), id("m1"), id("m2")] });
    assert_eq!(scene.queue(), ["m3", "m1", "m2"]);
    scene.does(Command::WithdrawQueued { message: id("m1") });
    assert_eq!(scene.queue(), ["m3", "m2"]);
}

#[test]
fn an_order_names_every_message_once() {
    for order in [vec!["m1", "m2"], vec!["m1", "m2", "m3", "m3"], vec!["m1", "m2", "m0"], vec![]] {
        let order = order.into_iter().map(id).collect();
        assert_eq!(paused().refused(Command::OrderQueue { order }), Code::NotQueued);
    }
}

#[test]
fn what_was_handed_over_is_not_in_the_queue_any_more() {
    let mut scene = paused();
    let message = id("m0");
    let text = "new".to_owned();
    assert_eq!(scene.refused(Command::EditQueued { message, text }), Code::NotQueued);
    assert_eq!(scene.refused(Command::WithdrawQueued { message }), Code::NotQueued);
    assert_eq!(scene.refused(Command::SendNow { message }), Code::NotQueued);
    let message = id("m1");
    let text = "  ".to_owned();
    assert_eq!(scene.refused(Command::EditQueued { message, text }), Code::EmptyField);
}

#[test]
fn send_now_runs_that_one_next_and_alone() {
    let mut scene = paused();
    scene.does(Command::SendNow { message: id("m3") });
    assert_eq!(scene.last(), ["ordered m3 m1 m2", "exempted m3"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("m3"));
    scene.runs();
    assert_eq!((scene.at_agent(), scene.queue()), (None, vec!["m1".to_owned(), "m2".to_owned()]));
}

#[test]
fn after_a_stop_the_next_message_runs_first_and_alone_and_none_overtakes_it() {
    let mut scene = Scene::working();
    scene.send("q1").send("q2").does(Command::Interrupt);
    assert_eq!(held(&scene.chat), Some(Held::Stop));
    scene.send("n1").send("n2");
    assert_eq!(scene.queue(), ["n1", "q1", "q2", "n2"]);
    scene.written().ends(TurnEnd::Interrupted);
    assert_eq!(scene.at_agent().as_deref(), Some("n1"));
    scene.runs();
    assert_eq!(scene.at_agent(), None);
    assert_eq!(scene.queue(), ["q1", "q2", "n2"]);
    scene.send("n3");
    assert_eq!(scene.at_agent().as_deref(), Some("n3"));
    scene.runs().does(Command::ResumeQueue);
    assert_eq!(scene.at_agent().as_deref(), Some("q1"));
}

#[test]
fn in_a_chat_that_was_closed_the_next_message_runs_first_and_alone() {
    let mut scene = Scene::working();
    scene.send("q1").send("q2");
    scene.does(Command::Close { leftovers: Leftovers::End }).dies();
    assert_eq!(held(&scene.chat), Some(Held::Close));
    scene.does(Command::Reopen);
    assert_eq!((scene.at_agent(), held(&scene.chat)), (None, Some(Held::Close)));
    scene.sends("a1", Author::App, Send::Queue);
    assert!(!scene.has_agent(), "opening it, and an app, release nothing");
    scene.send("n1").send("n2");
    assert_eq!(scene.queue(), ["n1", "q1", "q2", "a1", "n2"]);
    scene.born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("n1"));
    scene.runs();
    assert_eq!((scene.at_agent(), held(&scene.chat)), (None, Some(Held::Close)));
    scene.does(Command::ResumeQueue);
    assert_eq!(scene.at_agent().as_deref(), Some("q1"));
}

#[test]
fn an_apps_message_does_not_run_after_a_stop() {
    let mut scene = Scene::working();
    scene.send("q1").does(Command::Interrupt).ends(TurnEnd::Interrupted);
    scene.sends("a1", Author::App, Send::Queue);
    assert_eq!((scene.at_agent(), scene.queue()), (None, vec!["q1".to_owned(), "a1".to_owned()]));
}

#[test]
fn a_pause_also_holds_what_was_to_run_in_spite_of_an_earlier_one() {
    for pause in [Command::PauseQueue, Command::Interrupt] {
        let mut scene = paused();
        scene.does(Command::SendNow { message: id("m3") }).does(pause);
        scene.written().ends(TurnEnd::Completed);
        assert_eq!(scene.at_agent(), None);
        assert_eq!(scene.queue().len(), 3);
    }
}

#[test]
fn a_stop_with_nothing_waiting_pauses_nothing() {
    let mut scene = Scene::working();
    scene.does(Command::Interrupt).written().ends(TurnEnd::Interrupted);
    scene.sends("a1", Author::App, Send::Queue);
    assert_eq!(scene.at_agent().as_deref(), Some("a1"));
}

#[test]
fn a_continuation_is_its_offers() {
    let mut scene = Scene::offered();
    scene.resume();
    let message = scene.chat.aside.queue[0].message;
    let text = "other".to_owned();
    assert_eq!(scene.refused(Command::EditQueued { message, text }), Code::NotQueued);
    assert_eq!(scene.refused(Command::WithdrawQueued { message }), Code::NotQueued);
    assert_eq!(scene.refused(Command::SendNow { message }), Code::NotQueued);
}

#[test]
fn a_queue_drains_with_no_client_connected() {
    let mut scene = Scene::starting();
    for n in 1..=10 {
        scene.send(&format!("m{n}"));
    }
    scene.born().ready();
    for n in 0..=10 {
        assert_eq!(scene.at_agent(), Some(format!("m{n}")));
        scene.runs();
    }
    assert_eq!(scene.at_agent(), None);
    assert!((0..=10).all(|n| scene.handed(&format!("m{n}")) == 1));
}

#[test]
fn what_was_handed_over_is_had_back_if_its_frame_has_not_begun() {
    let mut scene = Scene::starting();
    scene.born().ready();
    let frame = scene.frame();
    scene.does(Command::WithdrawQueued { message: id("m0") });
    assert_eq!(scene.last(), ["withdraw requested"]);
    assert_eq!(crate::effect::owed(&scene.chat).unwrap().withdraw, Some(frame));
    // Asked twice, it is asked once.
    scene.does(Command::WithdrawQueued { message: id("m0") });
    assert_eq!(scene.last(), [""; 0]);
    scene.keeper(KeeperEvent::FrameCancelled(frame));
    assert_eq!(scene.at_agent(), None);
    assert_eq!((scene.queue(), scene.chat.head.user_messages), (vec![], 0));
    // One whose frame had begun runs: the agent may have it.
    let mut scene = Scene::starting();
    scene.born().ready().does(Command::WithdrawQueued { message: id("m0") });
    scene.written().taken();
    assert_eq!(scene.at_agent().as_deref(), Some("m0"));
}
