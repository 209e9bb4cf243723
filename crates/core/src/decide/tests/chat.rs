use super::*;
use crate::frame::{Outgoing, Setting};
use crate::head::Life;
use crate::item::{Body, Notice};
use crate::limits::{CWD_BYTES_MAX, EFFORTS_MAX, OUTBOX_FRAMES_MAX, TITLE_CHARS_MAX};
use crate::provider::ProtocolFrame;

fn open_with(change: impl FnOnce(&mut Command)) -> Result<Vec<String>, Code> {
    let mut scene = Scene::unborn();
    let mut command = open_command(None);
    change(&mut command);
    scene.input(Input::Command(command)).map(|()| scene.last()).map_err(|refusal| refusal.code)
}

#[test]
fn a_chat_opens_with_or_without_a_message_and_once() {
    assert_eq!(open_with(|_| {}).unwrap(), ["opened"]);
    let mut scene = Scene::unborn();
    scene.does(open_command(Some("m0")));
    assert_eq!(scene.last().len(), 3, "{:?}", scene.last());
    assert!(scene.has_agent(), "a message starts an agent");
    assert_eq!(scene.refused(open_command(None)), Code::ChatOpen);
    assert!(!Scene::open().has_agent(), "opening starts none");
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_there() {
    let long = "x".repeat(TITLE_CHARS_MAX + 1);
    let title = |text: &str| {
        let text = text.to_owned();
        open_with(move |c| {
            let Command::Open { title, .. } = c else { return };
            *title = Some(text);
        })
    };
    assert_eq!(title(&long), Err(Code::FieldTooLong));
    assert_eq!(title(&long[1..]).map(|_| ()), Ok(()));
    assert_eq!(title("  "), Err(Code::EmptyField));
    assert_eq!(title("a\u{7}b"), Err(Code::InvalidField));
    let slot = |text: &str| {
        let text = text.to_owned();
        open_with(move |c| {
            let Command::Open { slot, .. } = c else { return };
            *slot = Some(text);
        })
    };
    assert_eq!(slot("a/b"), Err(Code::InvalidField));
    assert_eq!(slot("a-b_c.9").map(|_| ()), Ok(()));
    assert_eq!(
        open_with(|c| {
            let Command::Open { cwd, .. } = c else { return };
            *cwd = "x".repeat(CWD_BYTES_MAX + 1);
        }),
        Err(Code::FieldTooLong)
    );
    assert_eq!(
        open_with(|c| {
            let Command::Open { model, .. } = c else { return };
            *model = Some("x".repeat(TITLE_CHARS_MAX + 1));
        }),
        Err(Code::FieldTooLong)
    );
    assert_eq!(
        open_with(|c| {
            let Command::Open { message, .. } = c else { return };
            *message = Some((id("m"), " \n".to_owned(), Author::Person));
        }),
        Err(Code::EmptyField)
    );
}

#[test]
fn what_is_not_there_is_told_nothing() {
    let mut scene = Scene::unborn();
    assert_eq!(scene.refused(CLOSE), Code::ChatNotFound);
    let mut scene = Scene::open();
    scene.does(Command::Delete);
    assert_eq!(scene.refused(Command::Reopen), Code::ChatNotFound);
    assert_eq!(scene.refused(open_command(None)), Code::ChatNotFound);
}

#[test]
fn a_closed_chat_takes_no_message_and_shows_that_it_does_not() {
    let mut scene = Scene::idle();
    scene.does(CLOSE);
    assert_eq!(scene.last(), ["stop close", "closed"]);
    let message = scene.message("m1", Author::Person, Send::Queue);
    assert_eq!(scene.refused(message), Code::ChatClosed);
    scene.dies();
    assert_eq!((scene.has_agent(), scene.has_offer()), (false, false));
}

#[test]
fn closing_twice_is_closing_once_and_the_reopened_chat_is_the_same() {
    let mut scene = Scene::idle();
    scene.does(CLOSE).does(CLOSE);
    assert!(scene.last.is_empty());
    scene.dies().does(Command::Reopen);
    assert_eq!(scene.last(), ["reopened"]);
    scene.does(Command::Reopen);
    assert!(scene.last.is_empty());
    scene.send("m1");
    assert!(scene.has_agent());
}

#[test]
fn opening_a_closed_chat_again_releases_nothing() {
    // Not even what was to run in spite of a pause.
    let mut scene = Scene::working();
    scene.send("m1").send("m2").does(Command::Interrupt).send("m3");
    assert_eq!(scene.chat.head.exempt, Some(id("m3")));
    scene.does(CLOSE).dies().does(Command::Reopen);
    assert_eq!(scene.queue(), ["m3", "m1", "m2"]);
    assert!(!scene.has_agent(), "{:?}", scene.last());

    let mut scene = Scene::working();
    scene.send("m1").does(CLOSE).dies().does(Command::Reopen);
    assert_eq!(scene.queue(), ["m1"]);
    assert!(!scene.has_agent());
    scene.does(Command::ResumeQueue);
    assert!(scene.has_agent());
}

#[test]
fn a_close_ends_the_offer_and_makes_none() {
    let mut scene = Scene::offered();
    scene.does(CLOSE);
    assert_eq!(scene.last(), ["offer ended closed", "closed"]);

    let mut scene = Scene::working();
    scene.does(CLOSE).lost();
    assert!(!scene.has_offer());
}

#[test]
fn a_send_that_races_a_close_lands_in_one_clean_chat() {
    let mut scene = Scene::working();
    scene.does(CLOSE).does(Command::Reopen).send("m1");
    assert_eq!(scene.at_agent().as_deref(), Some("m0"), "the old agent is given nothing more");
    scene.dies();
    assert_eq!(scene.chat.head.attempts, 2);
    scene.born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("m1"));
}

#[test]
fn a_close_of_a_resume_withdraws_the_continuation_that_waits() {
    let mut scene = Scene::offered();
    scene.resume().does(CLOSE);
    assert_eq!(
        scene.last(),
        ["offer ended closed", "withdrawn continuation offerended", "stop close", "closed"]
    );
    // One that was handed over does not hold up the close.
    let mut scene = Scene::offered();
    scene.resume().born().replays(1, Some("m0")).ready();
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    scene.does(CLOSE);
    assert_eq!(scene.chat.head.life, Life::Closed);
}

#[test]
fn a_deleted_chat_holds_nothing() {
    let mut scene = Scene::working();
    scene.send("m1").does(Command::Delete);
    assert_eq!(scene.last(), ["stop delete", "deleted"]);
    assert!(scene.queue().is_empty());
    scene.dies();
    assert_eq!(scene.last(), ["t1 lost death", "ended", "withdrawn m0 chatdeleted"]);
    assert!(scene.stranded().is_empty());
    assert_eq!((scene.has_offer(), scene.has_agent()), (false, false));

    let mut scene = Scene::offered();
    scene.does(Command::Delete);
    assert!(scene.chat.head.offer.is_none() && scene.chat.head.stranded.is_empty());
}

#[test]
fn the_agent_names_the_chat_within_bounds() {
    let mut scene = Scene::idle();
    scene.says(ProviderEvent::Titled { title: "a\nb".to_owned() });
    assert_eq!(scene.last(), ["titled a b"]);
    scene.says(ProviderEvent::Titled { title: " ".to_owned() });
    assert!(scene.last.is_empty());
    scene.says(ProviderEvent::Titled { title: "x".repeat(5000) });
    assert!(scene.last()[0].chars().count() <= TITLE_CHARS_MAX + "titled ".len());
    scene.does(titled_by_hand(" mine "));
    assert_eq!(scene.last(), ["titled mine"]);
}

#[test]
fn the_agent_names_a_chat_that_nobody_has_named() {
    let titled = |title: &str| ProviderEvent::Titled { title: title.to_owned() };
    let mut scene = Scene::working();
    scene.says(titled("By the agent"));
    assert_eq!(scene.last(), ["titled By the agent"]);
    scene.does(titled_by_hand("By me")).says(titled("Again"));
    assert_eq!(scene.last(), [""; 0]);
}

fn titled_by_hand(title: &str) -> Command {
    Command::Change(ChangeChat { title: Some(title.to_owned()), ..ChangeChat::default() })
}

fn change(scene: &mut Scene, with: impl FnOnce(&mut ChangeChat)) {
    let mut change = ChangeChat::default();
    with(&mut change);
    scene.does(Command::Change(change));
}

#[test]
fn a_person_arranges_chats_and_a_refused_change_changes_nothing() {
    let mut scene = Scene::open();
    change(&mut scene, |c| {
        c.pinned = Some(true);
        c.muted = Some(true);
        c.folder = Some(" Work ".to_owned());
        c.tags = Some(vec!["a".to_owned(), " b".to_owned(), "a ".to_owned()]);
        c.slot = Some("here".to_owned());
    });
    let marks = scene.chat.head.marks.clone();
    assert_eq!((marks.pinned, marks.muted, marks.folder.as_deref()), (true, true, Some("Work")));
    assert_eq!(marks.tags, ["a", "b"]);
    for (what, change) in [
        ("tag", ChangeChat { tags: Some(vec!["x".repeat(33)]), ..ChangeChat::default() }),
        ("tags", ChangeChat { tags: Some(vec!["x".to_owned(); 17]), ..ChangeChat::default() }),
        ("folder", ChangeChat { folder: Some("x".repeat(201)), ..ChangeChat::default() }),
        ("slot", ChangeChat { slot: Some("a b".to_owned()), ..ChangeChat::default() }),
    ] {
        let change = ChangeChat { pinned: Some(false), ..change };
        scene.refused(Command::Change(change));
        assert_eq!(scene.chat.head.marks, marks, "{what}");
    }
    change(&mut scene, |c| {
        c.folder = Some(String::new());
        c.tags = Some(Vec::new());
        c.slot = Some(String::new());
    });
    assert_eq!((scene.chat.head.marks.folder.clone(), scene.chat.head.marks.tags.len()), (None, 0));
    assert!(scene.chat.head.marks.pinned, "what is not named stays");
}

#[test]
fn a_pinned_chat_is_not_deleted_and_nothing_is_touched() {
    let mut scene = Scene::working();
    change(&mut scene, |c| c.pinned = Some(true));
    assert_eq!(scene.refused(Command::Delete), Code::ChatPinned);
    assert!(scene.chat.head.turn.is_some() && scene.chat.head.life == Life::Open);
    change(&mut scene, |c| c.pinned = Some(false));
    scene.does(Command::Delete);
    assert_eq!(scene.chat.head.life, Life::Deleted);
}

#[test]
fn what_happens_unseen_makes_a_chat_unread() {
    let unread = |scene: &Scene| scene.chat.head.marks.unread;
    let mut scene = Scene::working();
    assert!(!unread(&scene));
    scene.ends(TurnEnd::Completed);
    assert!(unread(&scene));
    change(&mut scene, |c| c.unread = Some(false));
    assert!(!unread(&scene));
    scene.prompt(1, PromptKind::Question, "q");
    assert!(unread(&scene));
    scene.send("m1");
    assert!(!unread(&scene), "who writes has seen it");
    scene.sends("app", Author::App, Send::Queue).runs();
    assert!(unread(&scene));
    // An offer is seen before a failed resume of it is not.
    let mut scene = Scene::starting();
    scene.born().quit().dies();
    assert!(scene.has_offer() && unread(&scene));
    change(&mut scene, |c| c.unread = Some(false));
    scene.resume().born().start_fails(StartFault::LoginNeeded);
    assert!(unread(&scene));
}

#[test]
fn another_model_is_a_new_start_once_there_is_nothing_to_do() {
    let mut scene = Scene::working();
    scene.send("m1");
    change(&mut scene, |c| c.model = Some("large".to_owned()));
    assert_eq!(scene.chat.head.model.as_deref(), Some("large"));
    assert_eq!(scene.last(), ["chattuned { model: some(\"large\"), mode: none, effort: none }"]);
    scene.ends(TurnEnd::Completed);
    assert!(scene.last().contains(&"stop ordered".to_owned()), "{:?}", scene.last());
    assert_eq!(scene.at_agent(), None, "the next message is for the new one");
    scene.dies();
    assert!(!scene.has_offer());
    scene.born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("m1"));
    scene.runs();
    assert!(scene.has_agent(), "once is enough");
    // One that is idle goes at once; one that does not run gets it with its next start.
    change(&mut scene, |c| c.mode = Some("plan".to_owned()));
    scene.dies();
    change(&mut scene, |c| c.mode = Some("code".to_owned()));
    scene.send("m2").born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("m2"));
}

#[test]
fn an_agent_that_would_lose_its_session_gets_no_other_model() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { load: false, ..ABLE }).runs();
    let model = Some("large".to_owned());
    let code = scene.refused(Command::Change(ChangeChat { model, ..ChangeChat::default() }));
    assert_eq!(code, Code::NotSupported);
}

#[test]
fn an_agent_that_takes_another_model_while_it_runs_is_told_of_it() {
    let able = Capabilities { retune: true, ..ABLE };
    let mut scene = Scene::starting();
    scene.born().ready_as("root", able).written().taken();
    let (model, mode) = (Some("large".to_owned()), Some("plan".to_owned()));
    scene.does(Command::Change(ChangeChat { model, mode, ..ChangeChat::default() }));
    let said = scene.last();
    assert!(said[1].ends_with(": set model(\"large\")"), "{said:?}");
    assert!(said[2].ends_with(": set mode(\"plan\")"), "{said:?}");
    scene.ends(TurnEnd::Completed);
    assert!(scene.has_agent() && !scene.chat.head.tuned, "no new start is owed");
    let text = "no such mode".to_owned();
    scene.says(ProviderEvent::SettingRefused { text });
    assert_eq!(scene.last.len(), 1, "the refusal is shown");
    scene.says(ProviderEvent::Retuned { model: None, mode: Some("default".to_owned()) });
    assert_eq!(scene.chat.head.mode.as_deref(), Some("default"));
    assert_eq!(scene.chat.head.model.as_deref(), Some("large"));
    scene.says(ProviderEvent::Retuned { model: Some("large".to_owned()), mode: None });
    assert!(scene.last.is_empty(), "what is known is not told again");
}

#[test]
fn of_settings_that_wait_the_last_counts_and_none_is_left_out_for_want_of_room() {
    let able = Capabilities { retune: true, ..ABLE };
    let mut scene = Scene::starting();
    scene.born().ready_as("root", able).written().taken();
    for model in ["large", "small", "large"] {
        change(&mut scene, |c| c.model = Some(model.to_owned()));
    }
    let outbox = &scene.chat.head.attempt.as_ref().unwrap().outbox;
    let waits: Vec<Outgoing> = outbox.iter().map(|one| one.out.clone()).collect();
    let set = |model: &str| Outgoing::Set { setting: Setting::Model(model.to_owned()) };
    assert_eq!(waits, [set("large"), set("small"), set("large")]);

    for n in waits.len()..OUTBOX_FRAMES_MAX - 1 {
        let outcome = "\"error\":{}".to_owned();
        scene.says(ProviderEvent::Wants(ProtocolFrame::Reply { id: n.to_string(), outcome }));
    }
    let (model, mode) = (Some("tiny".to_owned()), Some("plan".to_owned()));
    let both = ChangeChat { model, mode, ..ChangeChat::default() };
    assert_eq!(scene.refused(Command::Change(both)), Code::Overloaded, "one place for two");
    assert_eq!(scene.chat.head.model.as_deref(), Some("large"));
    change(&mut scene, |c| c.mode = Some("plan".to_owned()));
    assert_eq!(scene.outbox().len(), OUTBOX_FRAMES_MAX);
}

#[test]
fn a_setting_that_is_taken_only_at_a_start_is_a_new_start() {
    let able = Capabilities { retune: true, ..ABLE };
    let mut scene = Scene::starting();
    scene.born().ready_as("root", able).written().taken();
    change(&mut scene, |c| c.mode = Some("bypass".to_owned()));
    scene.says(ProviderEvent::SettingDeferred);
    scene.says(ProviderEvent::SettingDeferred);
    assert!(scene.last.is_empty(), "once is enough");
    scene.ends(TurnEnd::Completed).written();
    scene.send("m1");
    scene.dies();
    assert_eq!(scene.chat.head.mode.as_deref(), Some("bypass"));
    assert!(!scene.chat.head.tuned && scene.has_agent(), "the next start has it");
}

#[test]
fn a_conversation_that_moves_is_brought_back_where_it_went() {
    let mut scene = Scene::working();
    assert_eq!(scene.chat.head.session_messages, 1);
    let handle = Handle { root: "new".to_owned(), leaf: "new".to_owned() };
    scene.says(ProviderEvent::SessionMoved { handle: handle.clone() });
    assert_eq!(scene.chat.head.handle, Some(handle.clone()));
    assert_eq!(scene.chat.head.session_messages, 0, "it holds nothing yet");
    scene.says(ProviderEvent::SessionMoved { handle });
    assert!(scene.last.is_empty());
}

#[test]
fn an_effort_is_told_to_an_agent_that_takes_it_and_to_no_other() {
    let able = Capabilities { retune: true, effort: true, ..ABLE };
    let mut scene = Scene::open();
    change(&mut scene, |c| c.effort = Some("low".to_owned()));
    assert_eq!(scene.chat.head.effort.as_deref(), Some("low"));
    scene.send("m0").born().ready_as("root", able).runs();
    change(&mut scene, |c| c.effort = Some("high".to_owned()));
    assert!(scene.last()[1].ends_with(": set effort(\"high\")"), "{:?}", scene.last());
    // What the agent tells of it wins; empty, it is the agent's own.
    scene.says(ProviderEvent::EffortTold { effort: "max".to_owned() });
    assert_eq!(scene.chat.head.effort.as_deref(), Some("max"));
    scene.says(ProviderEvent::EffortTold { effort: "max".to_owned() });
    assert!(scene.last.is_empty(), "what is known is not told again");
    scene.says(ProviderEvent::EffortTold { effort: String::new() });
    assert_eq!(scene.chat.head.effort, None);
    let all = vec!["low".to_owned(), "max".to_owned()];
    scene.says(ProviderEvent::EffortsTold { efforts: all.clone() });
    assert_eq!(scene.chat.head.efforts, all);
    scene.says(ProviderEvent::EffortsTold { efforts: vec!["x".to_owned(); 100] });
    assert_eq!(scene.chat.head.efforts.len(), EFFORTS_MAX);

    let mut scene = Scene::idle();
    let effort = Some("high".to_owned());
    let code = scene.refused(Command::Change(ChangeChat { effort, ..ChangeChat::default() }));
    assert_eq!(code, Code::NotSupported);
    // One that was asked for before the agent was known is taken back, and that is said.
    let mut scene = Scene::open();
    change(&mut scene, |c| c.effort = Some("low".to_owned()));
    scene.send("m0").born().ready();
    assert_eq!(scene.chat.head.effort, None);
    let said = scene
        .rows
        .iter()
        .any(|row| matches!(row, Row::ItemBody { body: Body::Notice(Notice::SettingRefused), .. }));
    assert!(said, "{:?}", scene.rows);
}
