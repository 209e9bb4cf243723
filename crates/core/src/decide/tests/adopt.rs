//! A chat that goes on with a session which was there before it.

use super::*;
use crate::adopt::{Adopted, Entry};
use crate::effect::owes;
use crate::fact::Namer;
use crate::ids::ItemId;
use crate::item::{Body, Field, ItemKind, Notice, Role};

const SINCE: Micros = Micros(7);

fn said(role: Role, text: &str) -> Entry {
    let texts = vec![(Field::Text, text.to_owned())];
    Entry { kind: ItemKind::Message, role, body: Body::Text, texts, at: Some(SINCE) }
}

fn adopted() -> Adopted {
    Adopted {
        handle: Handle { root: "s".to_owned(), leaf: "s".to_owned() },
        title: Some("What it was about".to_owned()),
        messages: 3,
        entries: vec![said(Role::User, "fix it"), said(Role::Agent, "fixed")],
        older: 4,
        damaged: 2,
        since: Some(SINCE),
    }
}

fn open(adopted: Adopted, title: Option<&str>, message: Option<&str>) -> Command {
    let mut command = open_command(message);
    if let Command::Open { adopt, title: named, .. } = &mut command {
        *adopt = Some(Box::new(adopted));
        *named = title.map(str::to_owned);
    }
    command
}

#[test]
fn what_was_said_before_stands_in_the_chat_and_nothing_runs() {
    let mut scene = Scene::unborn();
    scene.does(open(adopted(), None, None));
    let head = &scene.chat.head;
    assert_eq!((head.handle.clone(), head.session_messages), (Some(adopted().handle), 3));
    assert_eq!((head.places, head.attempts, head.host_items), (3, 1, 1));
    assert!(!scene.has_agent() && !owes(&scene.chat) && !head.marks.unread);
    assert_eq!(scene.shown(), Shown::Idle);
    let first = ItemId::new(1, 1);
    let row = |row: Row| assert!(scene.rows.contains(&row), "{row:?} in {:#?}", scene.rows);
    row(Row::ItemText { item: first, field: Field::Text, at: 0, text: "fix it".to_owned() });
    row(Row::ItemDated { item: first, at: SINCE });
    row(Row::ItemClosed { item: ItemId::new(1, 2) });
    let notice = Notice::Adopted { shown: 2, older: 4, since: Some(SINCE) };
    row(Row::ItemBody { item: ItemId::new(0, 1), body: Body::Notice(notice) });
    let text = "2 lines of the agent's file could not be read.".to_owned();
    row(Row::ItemText { item: ItemId::new(0, 1), field: Field::Text, at: 0, text });
}

#[test]
fn the_next_message_starts_an_agent_in_the_session() {
    let mut scene = Scene::unborn();
    scene.does(open(adopted(), None, None)).send("m");
    let attempt = scene.chat.head.attempt.as_ref().unwrap();
    assert_eq!(attempt.origin, 2, "its items do not meet those of before");
    scene.born().ready_as("s", Capabilities { resume: true, ..Capabilities::NONE });
    assert!(!scene.has_offer());
    assert_eq!(scene.at_agent().as_deref(), Some("m"));
    scene.written().taken().ends(TurnEnd::Completed);
    assert_eq!(scene.chat.head.session_messages, 4, "those of before, and this one");
    // With its first message at once.
    let mut scene = Scene::unborn();
    scene.does(open(adopted(), None, Some("m")));
    assert!(scene.has_agent());
}

#[test]
fn a_persons_title_goes_before_that_of_the_session() {
    let titled = |scene: &Scene| {
        scene.last.iter().any(|fact| matches!(fact, Fact::ChatTitled { by: Namer::Agent, .. }))
    };
    let mut scene = Scene::unborn();
    scene.does(open(adopted(), None, None));
    assert!(titled(&scene) && !scene.chat.head.named);
    let mut scene = Scene::unborn();
    scene.does(open(adopted(), Some("Mine"), None));
    assert!(!titled(&scene) && scene.chat.head.named);
    let mut scene = Scene::unborn();
    scene.does(open(Adopted { title: None, ..adopted() }, None, None));
    assert!(!titled(&scene));
}

#[test]
fn a_turn_that_nobody_is_logged_in_for_holds_what_waits_until_a_person_acts() {
    let mut scene = Scene::working();
    scene.ends(TurnEnd::Failed).says(ProviderEvent::LoginNeeded { text: "log in".to_owned() });
    assert_eq!(scene.failure(), Some("login_needed"));
    let stop = scene.chat.head.attempt.as_ref().unwrap().stop;
    assert_eq!(stop, Some(StopWhy::StartFailed), "a new agent finds what was done about it");
    // Said once more while it ends, it is not filed twice.
    scene.says(ProviderEvent::LoginNeeded { text: "log in".to_owned() });
    assert!(scene.last.is_empty());
    scene.dies();
    assert!(!scene.has_offer(), "nothing was going on");
    scene.send("again");
    assert_eq!(scene.failure(), None);
    assert!(scene.has_agent());
}
