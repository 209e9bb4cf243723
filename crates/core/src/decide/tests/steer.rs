//! Messages that are given to a running turn.

use super::*;
use crate::head::{Delivery, Life};
use crate::input::Send;
use crate::input::{Command, KeeperEvent, Reply};
use crate::item::{Body, Steered};
use crate::limits::{STEERED_MESSAGES_MAX, STEERS_WAITING_MAX};
use crate::provider::{Proof, ProviderEvent, TurnEnd};

/// An agent that can be steered, in a turn that `m0` opened.
fn working() -> Scene {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { steer: true, ..ABLE }).written().taken();
    scene
}

fn steer(scene: &mut Scene, name: &str) {
    scene.sends(name, Author::Person, Send::Steer);
}

fn shown(scene: &Scene) -> Option<Steered> {
    scene.rows.iter().rev().find_map(|row| match row {
        Row::ItemBody { body: Body::Message { steer, .. }, .. } => *steer,
        _ => None,
    })
}

fn fails(scene: &mut Scene, proof: Proof) {
    let frame = scene.frame();
    scene.says(ProviderEvent::MessageFailed { frame, proof, text: "no".to_owned() });
}

#[test]
fn it_is_given_to_the_turn_and_settles_with_it() {
    let mut scene = working();
    scene.send("q");
    steer(&mut scene, "s");
    assert_eq!(
        scene.last()[..2],
        ["accepted s at head", "steer s into t1"],
        "durable before it is given"
    );
    assert_eq!(scene.last().last().unwrap(), "frame 2: steer s");
    assert_eq!(shown(&scene), Some(Steered::Given));
    assert_eq!(scene.queue(), ["q"]);
    scene.written().taken();
    assert_eq!(scene.last(), ["taken s agent"], "no turn of its own");
    assert_eq!(shown(&scene), Some(Steered::TakenUp));
    scene.ends(TurnEnd::Completed);
    let last = scene.last();
    assert_eq!(last[..3], ["t1 completed agent", "settled m0 agent", "settled s agent"]);
    assert_eq!(scene.at_agent().as_deref(), Some("q"));
}

#[test]
fn one_at_a_time_is_on_its_way_and_the_others_follow_in_their_order() {
    let mut scene = working();
    steer(&mut scene, "a");
    steer(&mut scene, "b");
    steer(&mut scene, "c");
    assert_eq!(scene.queue(), ["b", "c"]);
    scene.written().taken();
    assert_eq!(scene.queue(), ["c"]);
    assert_eq!(scene.last().last().unwrap(), "frame 3: steer b");
    // The turn ends without it: it is the message at the agent, and the last one waits.
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("b"));
    assert_eq!(scene.queue(), ["c"]);
    scene.written().taken();
    assert_eq!(scene.last(), ["taken b agent", "t2 opened by b"]);
    assert_eq!(shown(&scene), Some(Steered::OwnTurn));
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("c"));
    assert_eq!(shown(&scene), Some(Steered::OwnTurn), "the turn that it was for is over");
}

#[test]
fn what_the_turn_would_not_have_waits_at_the_head() {
    for proof in [Proof::NotTaken, Proof::TakenBack] {
        let mut scene = working();
        scene.send("q");
        steer(&mut scene, "s");
        scene.written();
        fails(&mut scene, proof);
        assert_eq!(scene.last(), ["requeued s at head"]);
        assert_eq!(shown(&scene), Some(Steered::Returned));
        assert_eq!(scene.queue(), ["s", "q"], "nothing is held, and it is not tried again");
        scene.ends(TurnEnd::Completed);
        assert_eq!(scene.at_agent().as_deref(), Some("s"));
    }
    // The turn has ended in the meantime: it runs at once.
    let mut scene = working();
    steer(&mut scene, "s");
    scene.ends(TurnEnd::Completed);
    fails(&mut scene, Proof::NotTaken);
    assert_eq!(scene.last(), ["requeued s at head", "handed s", "frame 3: s"]);
    // A frame that was never begun is taken back.
    let mut scene = working();
    steer(&mut scene, "s");
    let frame = scene.frame();
    scene.keeper(KeeperEvent::FrameCancelled(frame));
    assert_eq!(scene.last(), ["frame 2 cancelled", "requeued s at head"]);
    assert_eq!(shown(&scene), Some(Steered::Returned));
}

#[test]
fn what_nobody_knows_of_is_in_doubt_and_holds_nothing() {
    let mut scene = working();
    scene.send("q");
    steer(&mut scene, "s");
    scene.written();
    fails(&mut scene, Proof::Nothing);
    assert_eq!(scene.last(), ["doubted s"]);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("q"));
}

#[test]
fn it_waits_until_the_turn_is_known_to_run() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { steer: true, ..ABLE }).written();
    steer(&mut scene, "s");
    assert_eq!(scene.queue(), ["s"], "the message of the turn is not taken yet");
    scene.taken();
    assert_eq!(scene.last()[..2], ["taken m0 agent", "t1 opened by m0"], "{:?}", scene.last());
    assert_eq!(scene.last().last().unwrap(), "frame 2: steer s");
}

#[test]
fn a_stop_takes_it_back_with_the_queue() {
    let mut scene = working();
    steer(&mut scene, "s");
    scene.written().does(Command::Interrupt);
    assert!(scene.last().contains(&"paused stop".to_owned()), "{:?}", scene.last());
    fails(&mut scene, Proof::TakenBack);
    scene.written().ends(TurnEnd::Interrupted);
    assert_eq!(scene.queue(), ["s"], "it waits for the person");
    // A turn that is being stopped is given nothing, and the note says so.
    let mut scene = working();
    scene.does(Command::Interrupt);
    steer(&mut scene, "s");
    assert!(matches!(&scene.reply, Some(Reply::Accepted { note: Some(_), .. })));
    assert_eq!(scene.queue(), ["s"]);
}

#[test]
fn an_app_does_not_pass_a_pause_by() {
    let mut scene = working();
    scene.does(Command::PauseQueue).sends("app", Author::App, Send::Steer);
    assert_eq!(scene.queue(), ["app"]);
    steer(&mut scene, "s");
    assert_eq!(scene.last().last().unwrap(), "frame 2: steer s", "a person does");
    scene.written().taken().does(Command::ResumeQueue);
    assert_eq!(scene.last().last().unwrap(), "frame 3: steer app");
}

#[test]
fn a_death_settles_each_for_itself() {
    let mut scene = working();
    steer(&mut scene, "a");
    scene.written().taken();
    steer(&mut scene, "b");
    scene.written();
    let frames: Vec<FrameNo> = scene.chat.head.at_agent().map(|o| o.frame).collect();
    assert_eq!(frames.len(), 3);
    let mut lost = scene.clone();
    lost.keeper(KeeperEvent::StoreRead { frames: frames[..2].to_vec() }).lost();
    let last = lost.last();
    for said in ["settled m0 agentstore", "settled a agentstore", "refused b not in store"] {
        assert!(last.contains(&said.to_owned()), "{said}: {last:?}");
    }
    // Where nothing was read, the agent's own store is asked for each when it is brought back.
    scene.lost();
    let last = scene.last();
    for said in ["doubted m0 asking", "doubted a asking", "doubted b asking"] {
        assert!(last.contains(&said.to_owned()), "{said}: {last:?}");
    }
    assert_eq!(scene.chat.head.at_agent().count(), 0);
    scene.resume().born();
    for (name, held) in [("m0", true), ("a", true), ("b", false)] {
        scene.says(ProviderEvent::StoreAnswered { message: id(name), held });
    }
    scene.ready();
    assert!(scene.queue().contains(&"b".to_owned()), "{:?}", scene.queue());
}

#[test]
fn one_that_was_not_begun_can_be_had_back() {
    let mut scene = working();
    steer(&mut scene, "s");
    scene.does(Command::WithdrawQueued { message: id("s") });
    let frame = scene.frame();
    scene.keeper(KeeperEvent::FrameCancelled(frame));
    assert_eq!(scene.last(), ["frame 2 cancelled", "withdrawn s person"]);
    assert!(scene.chat.head.at_agent().all(|o| o.state == Delivery::Taken));
}

/// The message that opened the turn was wanted back too late; that does not keep the next one there.
#[test]
fn one_is_had_back_though_an_earlier_one_was_wanted_back_too_late() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { steer: true, ..ABLE });
    scene.does(Command::WithdrawQueued { message: id("m0") });
    let withdrawn = |scene: &Scene| crate::effect::owed(&scene.chat).and_then(|owed| owed.withdraw);
    assert_eq!(withdrawn(&scene), Some(FrameNo(1)));
    scene.written().taken();
    assert_eq!(withdrawn(&scene), None, "it is written");
    steer(&mut scene, "s");
    scene.does(Command::WithdrawQueued { message: id("s") });
    assert_eq!(withdrawn(&scene), Some(scene.frame()));
}

#[test]
fn what_a_turn_of_the_agents_own_took_settles_where_no_end_of_it_is_told() {
    let mut scene = Scene::starting();
    let able = Capabilities { steer: true, own_turns_end: false, ..ABLE };
    scene.born().ready_as("root", able).runs().stirred();
    steer(&mut scene, "s");
    scene.written().taken().send("q").quiet(crate::limits::QUIET_TURN_MICROS, None);
    assert!(scene.last().contains(&"settled s agent".to_owned()), "{:?}", scene.last());
    assert_eq!(scene.at_agent().as_deref(), Some("q"));
}

/// The chat is closed, or its agent ended, while a message is on its way into the turn; it comes back after.
#[test]
fn what_comes_back_to_a_chat_that_was_closed_or_stopped_starts_nothing_by_itself() {
    for ends in [CLOSE, Command::StopAgent] {
        let mut scene = working();
        steer(&mut scene, "s");
        scene.written().does(ends);
        fails(&mut scene, Proof::NotTaken);
        scene.dies();
        if scene.chat.head.life == Life::Closed {
            scene.does(Command::Reopen);
        }
        assert_eq!((scene.queue(), scene.has_agent()), (vec!["s".to_owned()], false));
    }
}

#[test]
fn so_many_are_given_to_one_turn_and_so_many_wait() {
    let mut scene = working();
    for n in 0..STEERED_MESSAGES_MAX {
        steer(&mut scene, &format!("s{n}"));
        scene.written().taken();
    }
    for n in 0..STEERS_WAITING_MAX {
        steer(&mut scene, &format!("w{n}"));
        assert!(matches!(&scene.reply, Some(Reply::Accepted { note: None, .. })));
    }
    assert_eq!(scene.queue().len(), STEERS_WAITING_MAX);
    steer(&mut scene, "more");
    assert!(matches!(&scene.reply, Some(Reply::Accepted { note: Some(_), .. })));
}

#[test]
fn a_turn_of_the_agents_own_is_steered_too_and_leaves_behind_what_opens_the_next() {
    let mut scene = Scene::starting();
    let able = Capabilities { steer: true, own_turns_end: true, ..ABLE };
    scene.born().ready_as("root", able).runs().stirred();
    steer(&mut scene, "s");
    assert_eq!(scene.last().last().unwrap(), "frame 2: steer s");
    scene.send("q").written().ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("s"), "it is there, and nothing else goes");
    assert_eq!(scene.queue(), ["q"]);
    scene.taken();
    assert_eq!(scene.last(), ["taken s agent", "t3 opened by s"]);
}

#[test]
fn a_turn_that_is_being_stopped_is_given_nothing_that_waited_for_it() {
    let mut scene = working();
    steer(&mut scene, "a");
    steer(&mut scene, "b");
    scene.does(Command::Interrupt).written().taken();
    assert_eq!(scene.last(), ["taken a agent"]);
    scene.ends(TurnEnd::Interrupted);
    assert_eq!(scene.queue(), ["b"], "it waits for the person");
}

#[test]
fn what_waited_for_a_turn_is_not_for_a_later_one() {
    let mut scene = working();
    steer(&mut scene, "a");
    steer(&mut scene, "b");
    scene.does(Command::Interrupt).written().taken().ends(TurnEnd::Interrupted);
    scene.send("next").written().taken();
    assert_eq!(scene.last(), ["taken next agent", "t2 opened by next"]);
    assert_eq!(scene.queue(), ["b"]);
}

/// An agent that tells no end of its own turns: whatever the turn was given stays with it, and the next
/// message waits rather than taking its place.
#[test]
fn what_an_own_turn_was_given_is_not_pushed_out_by_the_next_message() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { steer: true, own_turns_end: false, ..ABLE });
    steer(&mut scene, "s");
    scene.stirred();
    fails(&mut scene, Proof::NotTaken);
    scene.does(Command::SendNow { message: id("s") });
    assert_eq!(scene.last().last().unwrap(), "frame 2: steer s");
    scene.send("n");
    assert_eq!((scene.queue(), scene.chat.head.steered.len()), (vec!["n".to_owned()], 1));
    scene.written().taken().ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("n"));
}
