use super::*;
use crate::frame::{Answer, QuestionAnswer};
use crate::limits::{ANSWER_BYTES_MAX, OPEN_PROMPTS_MAX, PROMPT_OPTIONS_MAX};
use crate::provider::Question;

fn asking() -> Scene {
    let mut scene = Scene::working();
    scene.prompt(1, PromptKind::Approval, "run");
    scene
}

fn with(scene: &Scene, answer: Answer) -> Command {
    let prompt = scene.prompt_id(1);
    Command::Answer { prompt, answer, by: "person".to_owned(), device: None }
}

#[test]
fn a_prompt_is_answered_once_and_followed_to_the_agents_next_word() {
    let mut scene = asking();
    assert_eq!(scene.shown(), Shown::Blocked);
    let answer = scene.answer(1);
    scene.does(answer.clone());
    assert_eq!(scene.last(), ["p1.1 answered in 2", "frame 2: answer p1.1"]);
    assert_eq!(scene.refused(answer), Code::AlreadyAnswered);
    scene.written();
    assert_eq!(scene.last(), ["frame 2 done", "p1.1 written"]);
    let answer = scene.answer(1);
    assert_eq!(scene.refused(answer), Code::AlreadyAnswered);
    scene.says(ProviderEvent::AnswerTaken { prompt: 1 });
    assert_eq!(scene.last(), ["p1.1 taken"]);
    assert_eq!(scene.shown(), Shown::Working);
}

#[test]
fn what_the_agent_took_back_is_answered_by_nobody() {
    let mut scene = asking();
    scene.says(ProviderEvent::PromptGone { prompt: 1 });
    assert_eq!(scene.last(), ["p1.1 gone"]);
    let answer = scene.answer(1);
    assert_eq!(scene.refused(answer), Code::PromptGone);
    scene.says(ProviderEvent::PromptGone { prompt: 1 });
    assert!(scene.last.is_empty());
    // An answer that is on its way is not called gone.
    let mut scene = asking();
    let answer = scene.answer(1);
    scene.does(answer).says(ProviderEvent::PromptGone { prompt: 1 });
    assert!(scene.last.is_empty());
    // And an open prompt was not answered by the agent.
    let mut scene = asking();
    scene.says(ProviderEvent::AnswerTaken { prompt: 1 });
    assert!(scene.last.is_empty());
}

#[test]
fn a_fossil_is_answered_never_also_when_a_new_agent_asks_under_the_same_number() {
    let mut scene = asking();
    let fossil = scene.answer(1);
    scene.lost();
    assert_eq!(scene.refused(fossil.clone()), Code::PromptGone);
    scene.send("m1").born().replays(0, None).ready().written().taken();
    scene.prompt(1, PromptKind::Approval, "other");
    assert_eq!(scene.refused(fossil), Code::PromptGone);
    assert_eq!(scene.chat.head.prompts.len(), 1);
}

#[test]
fn an_agent_that_is_being_stopped_is_answered_nothing() {
    let mut scene = asking();
    scene.stop(StopWhy::Offered(Cause::Quit));
    let answer = scene.answer(1);
    assert_eq!(scene.refused(answer), Code::PromptGone);
    assert!(scene.chat.head.offer.is_some(), "a refused answer ends no offer");
}

#[test]
fn a_death_tells_what_became_of_each_answer() {
    let mut scene = asking();
    scene.prompt(2, PromptKind::Approval, "b").prompt(3, PromptKind::Question, "c");
    let (two, three) = (scene.answer(2), scene.answer(3));
    scene.does(two).written().does(three).dies();
    let told: Vec<String> = scene.last().into_iter().filter(|w| w.starts_with("p1.")).collect();
    assert_eq!(told, ["p1.1 gone", "p1.2 lost after written", "p1.3 lost"]);
}

/// A keeper that was killed may have written the answer and not lived to say so.
#[test]
fn an_answer_that_may_have_been_written_was_perhaps_used() {
    for (death, boot) in [(Death::KeeperLost, Boot::Same), (Death::HostLost, Boot::Other)] {
        let mut scene = asking();
        let one = scene.answer(1);
        scene.does(one).dead(death, boot);
        assert!(scene.last().contains(&"p1.1 lost after written".to_owned()), "{death:?}");
    }
}

#[test]
fn the_end_of_a_turn_closes_its_prompts() {
    let mut scene = asking();
    scene.prompt(2, PromptKind::Approval, "b");
    let two = scene.answer(2);
    scene.does(two).written().ends(TurnEnd::Completed);
    assert_eq!(scene.last()[..2], ["p1.1 gone", "p1.2 taken"]);
    assert!(scene.chat.head.prompts.is_empty());
}

#[test]
fn an_answer_fits_what_was_asked() {
    let scene = asking();
    let option = |option: &str| Answer::Option { option: option.to_owned(), text: None };
    assert_eq!(scene.clone().refused(with(&scene, option("maybe"))), Code::InvalidAnswer);
    assert_eq!(scene.clone().refused(with(&scene, Answer::Cancelled)), Code::InvalidAnswer);
    let none = Answer::Answers { answers: Vec::new() };
    assert_eq!(scene.clone().refused(with(&scene, none)), Code::InvalidAnswer);
    let text = Some("x".repeat(ANSWER_BYTES_MAX + 1));
    let long = Answer::Option { option: "yes".to_owned(), text };
    assert_eq!(scene.clone().refused(with(&scene, long)), Code::FieldTooLong);
    scene.clone().does(with(&scene, option("no")));
}

#[test]
fn several_questions_are_answered_one_by_one() {
    let question = |id: &str, multi, free| Question {
        id: id.to_owned(),
        text: id.to_owned(),
        multi,
        free,
        options: asks(PromptKind::Question, "").options,
    };
    let asked = Asked {
        kind: PromptKind::Question,
        label: "two".to_owned(),
        options: Vec::new(),
        questions: vec![question("one", false, false), question("two", true, true)],
        deed: None,
    };
    let mut scene = Scene::working();
    scene.says(ProviderEvent::PromptOpened { prompt: 1, item: 5, asked });
    let answer = |question: &str, options: &[&str], text: Option<&str>| QuestionAnswer {
        question: question.to_owned(),
        options: options.iter().map(|o| (*o).to_owned()).collect(),
        text: text.map(str::to_owned),
    };
    let fits = |one: QuestionAnswer, two: QuestionAnswer| {
        let mut scene = scene.clone();
        let command = with(&scene, Answer::Answers { answers: vec![one, two] });
        scene.input(Input::Command(command)).map_err(|refusal| refusal.code)
    };
    let (one, two) = (answer("one", &["yes"], None), answer("two", &["yes", "no"], Some("and")));
    assert_eq!(fits(one.clone(), two.clone()), Ok(()));
    assert_eq!(fits(two.clone(), one.clone()), Ok(()), "in any order");
    for (odd, why) in [
        (answer("one", &["yes", "no"], None), "one option only"),
        (answer("one", &["maybe"], None), "an option that it has"),
        (answer("one", &["yes"], Some("text")), "no text"),
        (answer("one", &[], None), "something"),
        (answer("two", &["yes"], None), "each question once"),
        (answer("three", &["yes"], None), "a question that it has"),
    ] {
        assert_eq!(fits(odd, two.clone()), Err(Code::InvalidAnswer), "{why}");
    }
    assert_eq!(fits(one, answer("two", &[], Some(" "))), Err(Code::InvalidAnswer));
    let option = Answer::Option { option: "yes".to_owned(), text: None };
    assert_eq!(scene.clone().refused(with(&scene, option)), Code::InvalidAnswer);
}

#[test]
fn a_prompt_beyond_the_bound_is_cancelled_at_the_agent_and_shown() {
    let mut scene = Scene::working();
    for n in 1..=OPEN_PROMPTS_MAX {
        scene.prompt(u32::try_from(n).unwrap(), PromptKind::Approval, "run");
    }
    scene.prompt(1000, PromptKind::Approval, "one more");
    assert_eq!(scene.last(), ["p1.1000 opened", "frame 2: cancel p1.1000", "p1.1000 gone"]);
    assert_eq!(scene.chat.head.prompts.len(), OPEN_PROMPTS_MAX);
    assert!(
        scene
            .rows
            .iter()
            .any(|row| matches!(row, Row::ItemText { text, .. } if text.contains("More than")))
    );
}

#[test]
fn a_prompt_is_bounded_and_told_once() {
    let mut scene = Scene::working();
    let mut asked = asks(PromptKind::Approval, &"x".repeat(5000));
    asked.options = vec![asked.options[0].clone(); 1000];
    scene.says(ProviderEvent::PromptOpened { prompt: 1, item: 5, asked: asked.clone() });
    let kept = &scene.chat.aside.prompts[&scene.prompt_id(1)];
    assert_eq!(kept.label.chars().count(), crate::limits::LABEL_CHARS_MAX);
    assert_eq!(kept.options.len(), PROMPT_OPTIONS_MAX);
    scene.says(ProviderEvent::PromptOpened { prompt: 1, item: 6, asked });
    assert!(scene.last.is_empty());
}

#[test]
fn an_agent_that_reads_nothing_is_answered_only_so_far() {
    let mut scene = asking();
    for n in 0..300 {
        let frame = crate::provider::ProtocolFrame::Reply {
            id: n.to_string(),
            outcome: "\"error\":{}".to_owned(),
        };
        scene.says(ProviderEvent::Wants(frame));
    }
    assert_eq!(scene.outbox().len(), crate::limits::OUTBOX_FRAMES_MAX);
    let answer = scene.answer(1);
    assert_eq!(scene.refused(answer), Code::Overloaded);
    assert_eq!(scene.refused(Command::Interrupt), Code::Overloaded);
}

#[test]
fn another_input_goes_only_to_an_agent_that_takes_one() {
    let changed = |scene: &Scene, option: &str, bytes: usize| Command::Answer {
        prompt: scene.prompt_id(1),
        answer: Answer::Changed { option: option.to_owned(), input: "x".repeat(bytes) },
        by: "person".to_owned(),
        device: None,
    };
    let able = Capabilities { change_input: true, ..ABLE };
    let mut scene = Scene::starting();
    scene.born().ready_as("root", able).written().taken();
    scene.prompt(1, PromptKind::Approval, "rm");
    assert_eq!(scene.refused(changed(&scene, "nosuch", 1)), Code::InvalidAnswer);
    let long = ANSWER_BYTES_MAX + 1;
    assert_eq!(scene.refused(changed(&scene, "yes", long)), Code::FieldTooLong);
    scene.does(changed(&scene, "yes", 1));
    assert!(scene.last()[0].starts_with("p1.1 answered"), "{:?}", scene.last());
    let mut scene = Scene::working();
    scene.prompt(1, PromptKind::Approval, "rm");
    assert_eq!(scene.refused(changed(&scene, "yes", 1)), Code::InvalidAnswer);
}

#[test]
fn what_a_subagent_asks_outlives_the_turn_where_the_agent_tells_of_each_end() {
    for (keeps_prompts, shown) in [(true, Shown::Blocked), (false, Shown::Idle)] {
        let mut scene = Scene::starting();
        scene.born().ready_as("root", Capabilities { keeps_prompts, ..ABLE }).written().taken();
        scene.prompt(1, PromptKind::Approval, "rm").ends(TurnEnd::Completed);
        assert_eq!(scene.shown(), shown);
        scene.says(ProviderEvent::PromptGone { prompt: 1 });
        assert_eq!(scene.shown(), Shown::Idle);
    }
}

#[test]
fn an_option_beside_several_questions_answers_for_all_of_them() {
    let question = |id: &str| Question {
        id: id.to_owned(),
        text: id.to_owned(),
        multi: false,
        free: true,
        options: Vec::new(),
    };
    let mut asked = asks(PromptKind::Question, "a form");
    asked.questions = vec![question("one"), question("two")];
    let mut scene = Scene::working();
    scene.says(ProviderEvent::PromptOpened { prompt: 1, item: 5, asked: asked.clone() });
    let option = |option: &str| Answer::Option { option: option.to_owned(), text: None };
    assert_eq!(scene.clone().refused(with(&scene, option("one"))), Code::InvalidAnswer);
    scene.clone().does(with(&scene, option("no")));
    let written = |question: &str| QuestionAnswer {
        question: question.to_owned(),
        options: Vec::new(),
        text: Some("x".to_owned()),
    };
    let answers = vec![written("one"), written("two")];
    scene.clone().does(with(&scene, Answer::Answers { answers }));
    // Without it nothing but the questions answers them.
    asked.options.clear();
    let mut scene = Scene::working();
    scene.says(ProviderEvent::PromptOpened { prompt: 1, item: 5, asked });
    assert_eq!(scene.refused(with(&scene, option("no"))), Code::InvalidAnswer);
}
