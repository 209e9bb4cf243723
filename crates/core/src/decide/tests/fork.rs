//! Forks: what another chat begins with, and how that one begins.

use super::*;
use crate::effect::owes;
use crate::fork::Fork;
use crate::item::{Body, Notice};
use crate::provider::Trunk;

/// The wish for a fork at a place where no turn has a name.
fn fork_at(at: u64) -> Command {
    Command::Fork { at, turn: None, attachments: Vec::new() }
}

/// What another chat would begin with.
fn forkable(scene: &mut Scene) -> Fork {
    let at = scene.chat.head.places;
    scene.does(fork_at(at));
    assert!(scene.last.is_empty(), "the chat that is forked stays as it is");
    match scene.reply.take() {
        Some(Reply::Forkable { fork }) => *fork,
        other => panic!("{other:?}"),
    }
}

fn open(fork: Fork, message: Option<&str>) -> Command {
    let mut command = open_command(message);
    if let Command::Open { fork: begins, .. } = &mut command {
        *begins = Some(Box::new(fork));
    }
    command
}

/// A chat that was just forked from an idle one.
fn forked() -> Scene {
    let fork = forkable(&mut Scene::idle());
    let mut scene = Scene::unborn();
    scene.does(open(fork, None));
    scene
}

fn notices(scene: &Scene) -> Vec<Notice> {
    let notice = |row: &Row| match row {
        Row::ItemBody { body: Body::Notice(notice), .. } => Some(notice.clone()),
        _ => None,
    };
    scene.rows.iter().filter_map(notice).collect()
}

#[test]
fn a_fork_goes_on_where_the_other_chat_is() {
    let mut other = Scene::idle();
    let fork = forkable(&mut other);
    let head = &other.chat.head;
    assert_eq!((fork.at, fork.messages), (head.places, 1));
    assert_eq!((fork.attempts, fork.turns), (head.attempts, head.turns));
    assert_eq!(Some(fork.handle.clone()), head.handle);

    let mut scene = Scene::unborn();
    scene.does(open(fork.clone(), None));
    assert_eq!(scene.last(), ["opened", "forked", "starting 2"]);
    assert_eq!(notices(&scene), [Notice::Forked { from: fork.from }]);
    assert_eq!(scene.chat.head.places, fork.at + 1);
    assert_eq!(scene.chat.head.host_items, fork.host_items + 1, "the notice has an id of its own");
    assert_eq!(scene.chat.head.handle, None, "a copy is not the session itself");

    scene.born().ready_as("copy", ABLE);
    assert_eq!(scene.chat.head.handle.as_ref().map(|h| h.root.as_str()), Some("copy"));
    assert_eq!(scene.chat.head.fork, None);
    let copied = |scene: &Scene| scene.chat.head.copied_from.clone();
    let whole = Trunk { session: fork.handle.clone(), until: None };
    assert_eq!(copied(&scene), Some(whole), "no message is settled in the copy");
    let mut went_on = scene.clone();
    went_on.send("m1").runs();
    assert_eq!(copied(&went_on), None);
    assert_eq!(scene.chat.head.session_messages, 1, "the copy holds what the session held");
    scene.send("m1").runs();
    assert_eq!(scene.chat.head.session_messages, 2);
    assert_eq!(scene.chat.head.turns, other.chat.head.turns + 1);
}

#[test]
fn what_is_not_at_rest_is_not_forked() {
    for (name, mut scene) in [
        ("working", Scene::working()),
        ("at work in the background", {
            let mut scene = Scene::idle();
            scene.task(1, TaskKind::Agent, "look around");
            scene
        }),
        ("in doubt", {
            let mut scene = Scene::idle();
            scene.send("m1").lost();
            scene
        }),
        ("asked", {
            let mut scene = Scene::idle();
            scene.prompt(1, PromptKind::Question, "Which?");
            assert!(scene.chat.head.turn.is_none(), "a subagent asks");
            scene
        }),
    ] {
        let at = scene.chat.head.places;
        assert_eq!(scene.refused(fork_at(at)), Code::ChatBusy, "{name}");
    }
}

#[test]
fn an_agent_is_asked_only_for_what_it_can() {
    let mut starting = Scene::starting();
    assert_eq!(starting.refused(fork_at(0)), Code::NotSupported);

    let mut idle = Scene::idle();
    let places = idle.chat.head.places;
    assert_eq!(idle.refused(fork_at(places - 1)), Code::NotSupported);

    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { forks: Forks::Nowhere, ..ABLE });
    scene.runs();
    let at = scene.chat.head.places;
    assert_eq!(scene.refused(fork_at(at)), Code::NotSupported);

    // What it can is known when its agent is gone, and when the chat is closed.
    idle.stop(StopWhy::Idle).dies();
    forkable(&mut idle);
    idle.does(Command::Close { leftovers: crate::input::Leftovers::End });
    forkable(&mut idle);
}

#[test]
fn a_session_that_was_left_is_not_forked() {
    let mut scene = Scene::idle();
    scene.task(1, TaskKind::Command, "watch").quit().dies().resume().born();
    scene.start_fails(StartFault::SessionNotFound);
    let session = Session::Fresh { recap: "recap".to_owned() };
    scene.does(Command::Resume { recorded_at: None, choice: None, session, anyway: Anyway::No });
    let at = scene.chat.head.places;
    assert_eq!(scene.refused(fork_at(at)), Code::NotSupported);
}

#[test]
fn a_host_that_was_killed_makes_the_copy_all_the_same() {
    let mut scene = forked();
    scene.born().lost();
    assert_eq!(scene.last().last().map(String::as_str), Some("starting 3"));
    assert!(!scene.has_offer(), "nothing was going on");

    // A stop by a person starts nothing; the next message does.
    scene.born().does(Command::StopAgent).dies();
    assert!(scene.chat.head.attempt.is_none());
    assert!(!owes(&scene.chat));
    scene.send("m1");
    assert!(scene.chat.head.attempt.is_some());
    assert!(scene.chat.head.fork.is_some());

    let mut quit = forked();
    quit.born().quit();
    assert!(owes(&quit.chat), "the next host makes it");
}

#[test]
fn a_copy_that_is_refused_is_a_failure_with_a_way_on() {
    let mut scene = forked();
    scene.born().start_fails(StartFault::SessionNotFound).dies();
    assert_eq!(scene.failure(), Some("session_not_found"));
    assert!(scene.chat.head.attempt.is_none(), "it is not tried again by itself");
    assert!(!owes(&scene.chat));
    scene.send("m1");
    assert!(scene.chat.head.attempt.is_some(), "{:?}", scene.last());

    // Dying before it could answer is one too, so that nothing starts for ever.
    let mut scene = forked();
    scene.born().dies();
    assert_eq!(scene.failure(), Some("agent_died"));
    assert!(scene.chat.head.attempt.is_none());

    // A new session with a recap is a way on as well.
    let session = Session::Fresh { recap: "recap".to_owned() };
    scene.does(Command::Resume { recorded_at: None, choice: None, session, anyway: Anyway::No });
    assert_eq!(scene.chat.head.fork, None);
    scene.send("m1").born().ready_as("new", ABLE).written().taken();
    assert_eq!(scene.chat.head.session_messages, 1, "the recap alone");
}

#[test]
fn a_copy_that_holds_more_is_called_so() {
    for (held, told) in [(1, false), (2, true)] {
        let mut scene = forked();
        scene.born().says(ProviderEvent::ReplayEnded { messages: held, last: None });
        assert_eq!(notices(&scene).contains(&Notice::ForkHoldsMore), told, "{held}");
    }
}

#[test]
fn a_closed_fork_starts_nothing() {
    let mut scene = forked();
    scene.does(Command::Close { leftovers: crate::input::Leftovers::End }).dies();
    assert!(scene.chat.head.attempt.is_none());
    assert!(!owes(&scene.chat));
    scene.does(Command::Reopen);
    assert!(scene.chat.head.attempt.is_some(), "it is looked at again");
}
