//! Prompts, turns and tasks.

use holdfast_core::fact::{Death, Evidence, Fact};
use holdfast_core::frame::Answer;
use holdfast_core::ids::{FrameNo, GrantId, ItemId, PromptId, TaskId, TurnId};
use holdfast_core::item::{Body, ItemKind, Row};
use holdfast_core::provider::{Asked, PromptKind, PromptOption, TaskEnd, TaskKind, TurnEnd, Usage};
use holdfast_core::slash::SlashCommand;

use super::{Backend, Pen};
use crate::{AnswerLife, CommitError, PromptStatus, What};

pub(super) const ITEM: ItemId = ItemId::new(1, 40);
const PROMPT: PromptId = PromptId::new(1, 1);

pub(super) fn asked() -> Asked {
    let option = |id: &str| PromptOption {
        id: id.to_owned(),
        label: id.to_uppercase(),
        kind: "choice".to_owned(),
    };
    Asked {
        kind: PromptKind::Question,
        label: "Which \"one\"?".to_owned(),
        options: vec![option("a"), option("b")],
        questions: Vec::new(),
        deed: None,
    }
}

fn answered(option: &str, by: &str) -> Fact {
    let answer = Answer::Option { option: option.to_owned(), text: None };
    let device = Some("laptop".to_owned());
    Fact::PromptAnswered { prompt: PROMPT, answer, by: by.to_owned(), device, frame: FrameNo(3) }
}

async fn asks(pen: &mut Pen) {
    pen.start().await;
    let fact = pen.added(ITEM, ItemKind::Prompt);
    let opened = Fact::PromptOpened { prompt: PROMPT, item: ITEM, asked: asked() };
    let body = Body::Prompt { prompt: PROMPT };
    pen.write([fact, opened], [Row::ItemBody { item: ITEM, body }]).await;
}

pub(super) async fn a_prompt_is_answered_once(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    asks(&mut pen).await;
    let open = store.prompt(pen.id, PROMPT).await.unwrap().unwrap();
    assert_eq!((open.state, open.given.clone()), (PromptStatus::Open, None));
    assert_eq!((open.item, open.asked.clone()), (ITEM, asked()));
    assert_eq!(store.item(pen.id, ITEM).await.unwrap().unwrap().prompt, Some(open));
    pen.put([answered("a", "ada")]).await;
    let at = pen.now;
    pen.put([answered("b", "bob")]).await;
    pen.put([Fact::PromptGone { prompt: PROMPT }]).await;
    let row = store.prompt(pen.id, PROMPT).await.unwrap().unwrap();
    let given = row.given.clone().unwrap();
    assert_eq!(row.state, PromptStatus::Answered);
    assert_eq!(given.answer, Answer::Option { option: "a".to_owned(), text: None });
    assert_eq!((given.by.as_str(), given.device.as_deref()), ("ada", Some("laptop")));
    assert_eq!((given.at.0, given.life), (at, AnswerLife::Answered));
    assert_eq!(store.item(pen.id, ITEM).await.unwrap().unwrap().prompt, Some(row));
    let again = Fact::PromptOpened { prompt: PROMPT, item: ITEM, asked: asked() };
    let error = pen.refused([again], []).await;
    assert!(matches!(error, CommitError::Refused(_)), "{error}");
    assert_eq!(store.prompt(pen.id, PromptId::new(2, 1)).await.unwrap(), None);
}

pub(super) async fn an_answer_has_a_life(b: impl Backend) {
    let prompt = PROMPT;
    let written = Fact::AnswerWritten { prompt };
    for (n, facts, life) in [
        (1, vec![written.clone()], AnswerLife::Written),
        (2, vec![written.clone(), Fact::AnswerTaken { prompt }], AnswerLife::Taken),
        (3, vec![Fact::AnswerLost { prompt, written: false }], AnswerLife::NotUsed),
        (4, vec![written, Fact::AnswerLost { prompt, written: true }], AnswerLife::Unknown),
    ] {
        let mut pen = Pen::open(b.store(), n).await;
        asks(&mut pen).await;
        pen.put([answered("b", "ada")]).await;
        let done = pen.put(facts).await;
        let row = b.store().prompt(pen.id, prompt).await.unwrap().unwrap();
        assert_eq!(row.given.unwrap().life, life);
        let told = b.store().changes(done.changes().start - 1, 10).await.unwrap();
        assert!(told.iter().any(|change| change.what == What::Prompt(prompt)));
        assert!(told.iter().any(|change| change.what == What::Item(ITEM)));
    }
}

pub(super) async fn the_end_of_an_attempt_ends_what_it_had_going(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    asks(&mut pen).await;
    let attempt = super::pen::attempt_id(1);
    let (task, other, kind) = (TaskId::new(1, 1), TaskId::new(1, 2), TaskKind::Command);
    let started = |task, label: &str| {
        let label = label.to_owned();
        Fact::TaskStarted { task, kind, label, foreground: true }
    };
    let turn = TurnId(1);
    let opened = Fact::TurnOpened { turn, message: None };
    pen.put([opened, started(task, "make"), started(other, "wait")]).await;
    pen.put([Fact::TaskEnded { task: other, how: TaskEnd::Completed }]).await;
    let row = store.task(pen.id, task).await.unwrap().unwrap();
    assert_eq!(
        (row.label.as_str(), row.kind, row.foreground, row.ended),
        ("make", kind, true, None)
    );
    pen.put([Fact::TaskDetached { task }]).await;
    assert!(!store.task(pen.id, task).await.unwrap().unwrap().foreground);
    pen.put([Fact::AttemptEnded { attempt, death: Death::KeeperLost }]).await;
    assert_eq!(store.prompt(pen.id, PROMPT).await.unwrap().unwrap().state, PromptStatus::Gone);
    let ended = |task| store.task(super::pen::chat_id(1), task);
    assert_eq!(ended(task).await.unwrap().unwrap().ended.unwrap().0, TaskEnd::Lost);
    assert_eq!(ended(other).await.unwrap().unwrap().ended.unwrap().0, TaskEnd::Completed);
    let end = store.turn(pen.id, turn).await.unwrap().unwrap().ended.unwrap();
    assert_eq!((end.how, end.evidence), (TurnEnd::Lost, Evidence::Death));
}

pub(super) async fn turns_are_listed_backwards(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let message = pen.accept(1, "hello").await;
    pen.start().await;
    pen.hand(message, 1).await;
    let usage = Usage { input_tokens: Some(5), total_tokens: Some(9), ..Usage::default() };
    let (how, evidence) = (TurnEnd::Completed, Evidence::Agent);
    let ended = |turn, usage| Fact::TurnEnded { turn: TurnId(turn), how, evidence, usage };
    pen.put([ended(1, Some(usage.clone()))]).await;
    for turn in 2..=5 {
        pen.put([Fact::TurnOpened { turn: TurnId(turn), message: None }, ended(turn, None)]).await;
    }
    let first = store.turn(pen.id, TurnId(1)).await.unwrap().unwrap();
    assert_eq!(first.message, Some(message));
    assert_eq!(first.seq.0, 7);
    let end = first.ended.unwrap();
    assert_eq!((end.how, end.evidence, end.usage), (how, evidence, Some(usage)));
    // It is closed once.
    let (how, evidence) = (TurnEnd::Failed, Evidence::Death);
    pen.put([Fact::TurnEnded { turn: TurnId(1), how, evidence, usage: None }]).await;
    let first = store.turn(pen.id, TurnId(1)).await.unwrap().unwrap();
    assert_eq!(first.ended.unwrap().how, TurnEnd::Completed);
    let ids = async |before: Option<u32>, limit| {
        let page = store.turns(super::pen::chat_id(1), before.map(TurnId), limit).await.unwrap();
        page.iter().map(|turn| turn.id.0).collect::<Vec<_>>()
    };
    assert_eq!(ids(None, 2).await, [4, 5]);
    assert_eq!(ids(Some(4), 2).await, [2, 3]);
    assert_eq!(ids(Some(2), 2).await, [1]);
    assert_eq!(ids(Some(1), 2).await, [0_u32; 0]);
    // One that was taken for the agent's own.
    let claimed = Fact::TurnClaimed { turn: TurnId(6), message };
    pen.put([Fact::TurnOpened { turn: TurnId(6), message: None }, claimed]).await;
    assert_eq!(store.turn(pen.id, TurnId(6)).await.unwrap().unwrap().message, Some(message));
    let again = Fact::TurnOpened { turn: TurnId(3), message: None };
    let error = pen.refused([again], []).await;
    assert!(matches!(error, CommitError::Refused(_)), "{error}");
}

pub(super) async fn grants_are_kept_until_they_end(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let given = |n, deed: &str| Fact::GrantGiven {
        grant: GrantId(n),
        deed: deed.to_owned(),
        label: format!("make {deed}"),
        by: "ada".to_owned(),
    };
    pen.put([given(1, "a"), given(2, "b"), given(3, "c")]).await;
    let at = holdfast_core::time::Micros(pen.now);
    pen.put([Fact::GrantEnded { grant: GrantId(2) }]).await;
    for _ in 0..2 {
        let rows = b.store().grants(pen.id).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [GrantId(1), GrantId(3)]);
        let row = &rows[0];
        assert_eq!((row.label.as_str(), row.by.as_str(), row.at), ("make a", "ada", at));
        let loaded = b.store().load(pen.id).await.unwrap().unwrap().chat;
        assert_eq!(loaded.aside.grants, pen.chat.aside.grants);
        assert_eq!(loaded.head.grants, 3);
        b.reopen();
        pen.store = b.store();
    }
    pen.put([Fact::ChatDeleted]).await;
    assert_eq!(b.store().grants(pen.id).await.unwrap(), []);
}

pub(super) async fn commands_are_the_chats_own_or_its_places(mut b: impl Backend) {
    let told = |names: &[&str]| {
        let each = names.iter().filter_map(|name| SlashCommand::told(name, "does it", "[file]"));
        SlashCommand::distinct(each)
    };
    let mut pens = Vec::new();
    for n in 1..=4 {
        pens.push(Pen::new(b.store(), n));
    }
    let opened = |agent: &str, cwd: &str| Fact::ChatOpened {
        agent: agent.to_owned(),
        cwd: cwd.to_owned(),
        project: None,
        title: None,
        slot: None,
        model: None,
        mode: None,
    };
    let places = [("demo", "/a"), ("demo", "/a"), ("demo", "/b"), ("other", "/a")];
    for (pen, (agent, cwd)) in pens.iter_mut().zip(places) {
        pen.put([opened(agent, cwd)]).await;
    }
    let all = async |b: &dyn Fn() -> std::sync::Arc<dyn crate::Store>| {
        let mut all = Vec::new();
        for n in 1..=4 {
            let kept = b().commands(super::pen::chat_id(n)).await.unwrap();
            all.push(kept.into_iter().map(|one| one.name).collect::<Vec<_>>().join(" "));
        }
        all
    };
    assert_eq!(all(&|| b.store()).await, ["", "", "", ""]);
    let [first, second, ..] = &mut pens[..] else { unreachable!() };
    first.write([], [Row::Commands(told(&["one"]))]).await;
    assert_eq!(all(&|| b.store()).await, ["one", "one", "", ""]);
    second.write([], [Row::Commands(told(&["two"]))]).await;
    first.write([], [Row::Commands(told(&["three", "four"]))]).await;
    // A third chat of the place would get the newest word.
    let mut third = Pen::new(b.store(), 5);
    third.put([opened("demo", "/a")]).await;
    for _ in 0..2 {
        assert_eq!(all(&|| b.store()).await, ["three four", "two", "", ""]);
        let whole = b.store().commands(third.id).await.unwrap();
        assert_eq!(whole, told(&["three", "four"]));
        b.reopen();
    }
    for pen in [first, second, &mut third] {
        pen.store = b.store();
    }
    // That there are none any more is an answer too.
    let [first, second, ..] = &mut pens[..] else { unreachable!() };
    second.write([], [Row::Commands(Vec::new())]).await;
    assert_eq!(all(&|| b.store()).await, ["three four", "", "", ""]);
    assert_eq!(b.store().commands(third.id).await.unwrap(), []);
    second.put([Fact::ChatDeleted]).await;
    // What comes after it is nothing that is kept.
    second.write([], [Row::Commands(told(&["five"]))]).await;
    assert_eq!(b.store().commands(second.id).await.unwrap(), []);
    assert_eq!(b.store().commands(third.id).await.unwrap(), told(&["three", "four"]));
    first.put([Fact::ChatDeleted]).await;
    assert_eq!(b.store().commands(third.id).await.unwrap(), []);
}
