//! Places: forks at the end of an earlier turn, and ways back to one.

use super::*;
use crate::effect::{forks, owes};
use crate::fork::{Fork, TurnPlace};
use crate::ids::TurnId;
use crate::input::{Anyway, Choice, Send};
use crate::item::{Body, ItemKind, Notice, Role};
use crate::provider::{Proof, Trunk};

const PLACES: Capabilities =
    Capabilities { resume: true, forks: Forks::AtTurnsInMemory, ..Capabilities::NONE };

/// A chat of an agent that names the ends of its turns, with three turns behind it.
fn talked() -> (Scene, Vec<TurnPlace>) {
    let mut scene = Scene::unborn();
    scene.does(open_command(None)).send("m1").born().ready_as("root", PLACES);
    let mut places = vec![turn(&mut scene, "u1")];
    for (message, mark) in [("m2", "u2"), ("m3", "u3")] {
        scene.send(message);
        places.push(turn(&mut scene, mark));
    }
    (scene, places)
}

/// The turn of the message at the agent, with the name of its end.
fn turn(scene: &mut Scene, mark: &str) -> TurnPlace {
    scene.written().taken();
    let item = u32::try_from(scene.chat.head.places).unwrap() + 1;
    let (kind, role, body) = (ItemKind::Message, Role::Agent, Body::Text);
    scene.says(ProviderEvent::ItemOpened { item, kind, role, body });
    let mark = Some(mark.to_owned());
    scene.says(ProviderEvent::TurnEnded { how: TurnEnd::Completed, usage: None, text: None, mark });
    let marked = scene.last.iter().find_map(|fact| match fact {
        Fact::TurnMarked(place) => Some(place.clone()),
        _ => None,
    });
    marked.expect("its end has a name")
}

fn back(to: &TurnPlace, text: Option<&str>) -> Command {
    let message = MessageId::new(Uuid::from_u128(0xb));
    let message = text.map(|text| (message, text.to_owned(), Author::Person));
    Command::Rewind { at: to.at, turn: Some(to.clone()), message }
}

fn fork_at(at: u64, turn: Option<&TurnPlace>) -> Command {
    Command::Fork { at, turn: turn.cloned(), attachments: Vec::new() }
}

fn opening(fork: Fork) -> Command {
    let mut open = open_command(None);
    if let Command::Open { fork: begins, .. } = &mut open {
        *begins = Some(Box::new(fork));
    }
    open
}

fn forked(scene: &mut Scene, command: Command) -> Fork {
    scene.does(command);
    match scene.reply.take() {
        Some(Reply::Forkable { fork }) => *fork,
        other => panic!("{other:?}"),
    }
}

fn trunk(session: &str, until: &str) -> Option<Trunk> {
    let session = Handle { root: session.to_owned(), leaf: session.to_owned() };
    Some(Trunk { session, until: Some(until.to_owned()) })
}

#[test]
fn the_end_of_a_turn_is_a_place_with_a_name() {
    let (scene, places) = talked();
    let ends: Vec<_> = places.iter().map(|p| (p.turn.0, p.mark.as_str(), p.messages)).collect();
    assert_eq!(ends, [(1, "u1", 1), (2, "u2", 2), (3, "u3", 3)]);
    assert!(places.iter().map(|place| place.at).is_sorted());
    assert_eq!(places[2].at, scene.chat.head.places);

    // One that is longer than any is none, and a turn without one has none.
    let (mut scene, _) = talked();
    for mark in [Some("u".repeat(crate::limits::MARK_BYTES_MAX + 1)), None] {
        scene.send("m4").written().taken();
        let how = TurnEnd::Completed;
        scene.says(ProviderEvent::TurnEnded { how, usage: None, text: None, mark });
        assert!(!scene.last.iter().any(|fact| matches!(fact, Fact::TurnMarked(_))));
    }
}

#[test]
fn a_fork_at_an_earlier_turn_has_what_was_said_until_then() {
    let (mut scene, places) = talked();
    let fork = forked(&mut scene, fork_at(places[0].at, Some(&places[0])));
    assert_eq!((fork.at, fork.messages), (places[0].at, 1));
    assert_eq!(fork.until.as_deref(), Some("u1"));
    assert_eq!(fork.turns, 3, "numbers go on");

    // At the end of all it is asked for by name as well: this chat may go on before the copy is made.
    let last = forked(&mut scene, fork_at(places[2].at, Some(&places[2])));
    assert_eq!((last.until.as_deref(), last.messages), (Some("u3"), 3));
    // What came after that has no name: all that there is of it.
    scene.send("m4").runs();
    let at = scene.chat.head.places;
    let whole = forked(&mut scene, fork_at(at, Some(&places[2])));
    assert_eq!((whole.until, whole.messages), (None, 4));

    let mut other = Scene::unborn();
    other.does(opening(fork));
    assert_eq!(other.chat.head.fork, trunk("root", "u1"));
    other.born().ready_as("copy", PLACES);
    // Nothing is written down in the copy yet: what is made a copy of it is one of the other session.
    let again = forked(&mut other, fork_at(places[0].at, Some(&places[0])));
    assert_eq!((again.handle.leaf.as_str(), again.until.as_deref()), ("root", Some("u1")));
    other.send("m5");
    let place = turn(&mut other, "u5");
    assert_eq!(other.chat.head.copied_from, None);
    let again = forked(&mut other, fork_at(place.at, Some(&place)));
    assert_eq!((again.handle.leaf.as_str(), again.until.as_deref()), ("copy", Some("u5")));
}

#[test]
fn going_back_stops_the_agent_and_goes_on_in_a_copy() {
    let (mut scene, places) = talked();
    let at = scene.chat.head.places;
    scene.does(back(&places[0], Some("instead")));
    assert!(matches!(scene.reply, Some(Reply::Rewound { receipt: Some(_) })), "{:?}", scene.reply);
    let head = &scene.chat.head;
    assert_eq!(head.fork, trunk("root", "u1"));
    assert_eq!((head.handle.as_ref(), head.session_messages), (None, 1));
    assert_eq!(head.places, at + 1, "one line says it; what was said stays");
    let said = scene.rows.iter().find_map(|row| match row {
        Row::ItemBody { body: Body::Notice(Notice::WentBack { to }), .. } => Some(*to),
        _ => None,
    });
    assert_eq!(said, Some(places[0].at));
    assert_eq!(scene.chat.aside.queue.len(), 1, "kept in the same commit");
    assert!(head.outstanding.is_none() && head.attempt.as_ref().is_some_and(|a| a.stop.is_some()));
    assert!(owes(&scene.chat));

    scene.dies();
    assert!(scene.chat.head.attempt.is_some(), "{:?}", scene.last());
    assert!(scene.chat.head.outstanding.is_none(), "the copy comes first");
    scene.born().ready_as("copy", PLACES);
    assert_eq!(scene.chat.head.handle.as_ref().map(|handle| handle.leaf.as_str()), Some("copy"));
    assert!(scene.chat.head.outstanding.is_some());
    let place = turn(&mut scene, "u4");
    assert_eq!((place.turn.0, place.messages), (4, 2));
}

#[test]
fn the_last_word_of_an_agent_that_is_left_is_not_the_copy() {
    let (mut scene, places) = talked();
    scene.does(back(&places[0], None));
    scene.says(ProviderEvent::SessionMoved {
        handle: Handle { root: "late".to_owned(), leaf: "late".to_owned() },
    });
    assert_eq!((scene.chat.head.handle.as_ref(), forks(&scene.chat)), (None, true));
}

#[test]
fn a_kill_at_any_point_leaves_the_copy_to_be_made() {
    let (mut scene, places) = talked();
    scene.does(back(&places[1], None)).lost();
    assert!(!scene.has_offer(), "nothing was going on");
    assert_eq!(scene.chat.head.fork, trunk("root", "u2"));
    assert!(scene.chat.head.attempt.is_some(), "the next agent makes it");
    scene.born().lost();
    assert!(scene.chat.head.attempt.is_some(), "and the next");
    // One that was made and in which nothing was said may not be written down.
    scene.born().ready_as("copy", PLACES).lost();
    assert_eq!(scene.chat.head.copied_from, trunk("root", "u2"));
    assert_eq!(scene.chat.head.fork, None);

    // Without an agent there is none to stop.
    let (mut idle, places) = talked();
    idle.stop(StopWhy::Idle).dies().does(back(&places[1], None));
    assert!(idle.chat.head.attempt.is_some());
    assert!(!idle.last.iter().any(|fact| matches!(fact, Fact::StopRequested { .. })));
}

#[test]
fn what_was_left_behind_is_no_place_any_more() {
    let (mut scene, places) = talked();
    scene.does(back(&places[0], None)).dies().born().ready_as("copy", PLACES);
    for left in &places[1..] {
        assert_eq!(scene.refused(back(left, None)), Code::NotSupported);
        assert_eq!(scene.refused(fork_at(left.at, Some(left))), Code::NotSupported);
    }
    // From the copy, in which nothing was said yet, it goes back in the session that it is of.
    scene.send("m4");
    let fourth = turn(&mut scene, "u4");
    scene.send("m5");
    turn(&mut scene, "u5");
    scene.does(back(&fourth, None));
    assert_eq!(scene.chat.head.fork, trunk("copy", "u4"));
    // One that cannot be made leaves another way back.
    scene.dies().born().start_fails(StartFault::AgentRefused).dies();
    assert!(scene.failure().is_some());
    scene.does(back(&places[0], None));
    assert_eq!((scene.failure(), scene.chat.head.fork.clone()), (None, trunk("copy", "u1")));
}

#[test]
fn only_the_end_of_a_turn_that_the_session_reaches_back_to_is_a_place() {
    let (mut scene, places) = talked();
    let refused = |scene: &mut Scene, at, turn: Option<&TurnPlace>| {
        let message = None;
        let command = Command::Rewind { at, turn: turn.cloned(), message };
        let mut chat = scene.chat.clone();
        let refusal = decide(&mut chat, Input::Command(command), &scene.given()).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::NotSupported, Some("at")));
        refusal.text
    };
    let between = refused(&mut scene, places[1].at - 1, Some(&places[0]));
    assert!(between.contains(&format!("entry {}", places[0].at)), "{between}");
    assert!(refused(&mut scene, 1, None).contains("no end of a turn"));
    assert_eq!(scene.refused(back(&places[2], None)), Code::InvalidField, "it is there already");

    // The memory is shortened: of what came before the agent knows no place.
    scene.send("m4").written().taken();
    let (item, kind, role, body) = (9, ItemKind::Compaction, Role::Agent, Body::Text);
    scene.says(ProviderEvent::ItemOpened { item, kind, role, body }).ends(TurnEnd::Completed);
    refused(&mut scene, places[2].at, Some(&places[2]));
    scene.send("m5");
    let after = turn(&mut scene, "u5");
    scene.send("m6").runs();
    scene.does(back(&after, None));

    // Another session: what came before was in the one that was left.
    let (mut moved, places) = talked();
    let handle = Handle { root: "new".to_owned(), leaf: "new".to_owned() };
    moved.says(ProviderEvent::SessionMoved { handle }).send("m4").runs();
    refused(&mut moved, places[2].at, Some(&places[2]));
    // So it is in another chat that begins there.
    let at = moved.chat.head.places;
    let fork = forked(&mut moved, fork_at(at, Some(&places[2])));
    let mut other = Scene::unborn();
    other.does(opening(fork)).born().ready_as("copy", PLACES);
    other.send("m9").runs();
    refused(&mut other, places[2].at, Some(&places[2]));

    // And so it is after a start over with a recap.
    let (mut fresh, places) = talked();
    fresh.task(1, TaskKind::Command, "watch").quit().dies().resume().born();
    fresh.start_fails(StartFault::SessionNotFound).dies();
    let session = Session::Fresh { recap: "recap".to_owned() };
    fresh.does(Command::Resume { recorded_at: None, choice: None, session, anyway: Anyway::No });
    fresh.born().ready_as("anew", PLACES).runs();
    refused(&mut fresh, places[2].at, Some(&places[2]));
}

#[test]
fn a_way_back_whose_message_has_no_room_is_refused_whole() {
    let (mut scene, places) = talked();
    scene.does(Command::PauseQueue);
    for n in 0..crate::limits::QUEUE_MESSAGES_MAX {
        scene.send(&format!("q{n}"));
    }
    let before = scene.chat.clone();
    let command = Input::Command(back(&places[0], Some("instead")));
    let given = scene.given();
    let refusal = decide(&mut scene.chat, command, &given).unwrap_err();
    assert_eq!((refusal.code, scene.chat == before), (Code::QueueFull, true));
}

#[test]
fn what_the_agent_said_by_itself_is_in_the_copy() {
    let (mut scene, places) = talked();
    scene.does(back(&places[1], None)).dies().born().ready_as("copy", PLACES);
    assert!(scene.chat.head.copied_from.is_some());
    scene.stirred();
    let mark = Some("own".to_owned());
    scene.says(ProviderEvent::TurnEnded { how: TurnEnd::Completed, usage: None, text: None, mark });
    assert_eq!(scene.chat.head.copied_from, None);
}

fn ends_with(scene: &mut Scene, how: TurnEnd, mark: &str) {
    let mark = Some(mark.to_owned());
    scene.says(ProviderEvent::TurnEnded { how, usage: None, text: None, mark });
}

fn is_marked(scene: &Scene) -> bool {
    scene.last.iter().any(|fact| matches!(fact, Fact::TurnMarked(_)))
}

/// What is shown before the end of a turn and is not in the session there would be shown in a fork as if
/// the agent knew it.
#[test]
fn the_end_of_a_turn_is_no_place_while_something_shown_is_not_in_the_session() {
    let able = Capabilities { steer: true, own_turns_end: true, ..PLACES };
    let talked = || {
        let mut scene = Scene::unborn();
        scene.does(open_command(None)).send("m1").born().ready_as("root", able);
        scene.written().taken();
        scene
    };
    // The agent began by itself while a message was on its way to it.
    let mut scene = talked();
    scene.ends(TurnEnd::Completed).send("m2").written().stirred();
    ends_with(&mut scene, TurnEnd::Completed, "u2");
    assert!(!is_marked(&scene), "m2 is not in it");
    // A steered message was let go of, and waits again.
    let mut scene = talked();
    scene.does(Command::PauseQueue).sends("s", Author::Person, Send::Steer).written();
    let (frame, proof) = (scene.frame(), Proof::TakenBack);
    scene.says(ProviderEvent::MessageFailed { frame, proof, text: String::new() });
    ends_with(&mut scene, TurnEnd::Interrupted, "u1");
    assert_eq!((scene.queue(), is_marked(&scene)), (vec!["s".to_owned()], false));
    // Or nobody knows of it: once it is sent again it is in a later turn.
    let mut scene = talked();
    scene.sends("s", Author::Person, Send::Steer).written();
    let (frame, proof) = (scene.frame(), Proof::Nothing);
    scene.says(ProviderEvent::MessageFailed { frame, proof, text: String::new() });
    ends_with(&mut scene, TurnEnd::Completed, "u1");
    assert!(!is_marked(&scene));
    // A later turn, without any of it, is a place again.
    scene.does(Command::Resolve { message: id("s"), choice: Choice::SendAgain });
    scene.written().taken();
    ends_with(&mut scene, TurnEnd::Completed, "u2");
    assert!(is_marked(&scene));
}

#[test]
fn what_an_agent_says_that_is_left_is_no_place() {
    let (mut scene, places) = talked();
    scene.does(back(&places[0], None)).stirred();
    ends_with(&mut scene, TurnEnd::Completed, "late");
    assert!(!is_marked(&scene), "the copy does not know it");
}

#[test]
fn a_fork_at_the_last_entry_is_of_all_also_behind_a_notice() {
    let (mut scene, places) = talked();
    scene.says(ProviderEvent::SettingRefused { text: "no".to_owned() });
    let at = scene.chat.head.places;
    let fork = forked(&mut scene, fork_at(at, Some(&places[2])));
    assert_eq!((fork.until, fork.messages), (None, 3));
}

#[test]
fn nothing_goes_back_that_is_at_work_or_cannot() {
    let (mut scene, places) = talked();
    scene.send("m4").written().taken();
    assert_eq!(scene.refused(back(&places[0], None)), Code::ChatBusy);
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.refused(back(&places[0], Some(" "))), Code::EmptyField);
    scene.does(CLOSE).dies();
    assert_eq!(scene.refused(back(&places[0], None)), Code::ChatClosed);

    let mut other = Scene::idle();
    let place = TurnPlace { turn: TurnId(1), at: 1, mark: "u1".to_owned(), messages: 1 };
    assert_eq!(other.refused(back(&place, None)), Code::NotSupported, "it knows no place");
}

#[test]
fn going_back_ends_an_offer() {
    let (mut scene, places) = talked();
    scene.task(1, TaskKind::Command, "watch").lost();
    assert!(scene.has_offer());
    scene.does(back(&places[0], None));
    assert!(!scene.has_offer());
    assert!(scene.chat.head.attempt.is_some());
}
