//! What a person allowed for good is asked of nobody again, as long as it is the very same thing.

use super::*;
use crate::frame::{Answer, Outgoing};
use crate::ids::GrantId;
use crate::limits::GRANTS_MAX;

fn options() -> Vec<PromptOption> {
    ["allow_once", "allow_always", "reject_once"]
        .map(|kind| PromptOption {
            id: kind.to_owned(),
            label: kind.to_owned(),
            kind: kind.to_owned(),
        })
        .to_vec()
}

fn wants(deed: Option<&str>) -> Asked {
    let deed = deed.map(str::to_owned);
    let (kind, label) = (PromptKind::Approval, "make".to_owned());
    Asked { kind, label, options: options(), questions: Vec::new(), deed }
}

fn asks_for(scene: &mut Scene, n: u32, asked: Asked) {
    scene.says(ProviderEvent::PromptOpened { prompt: n, item: 100 + n, asked });
}

fn chooses(scene: &mut Scene, n: u32, option: &str) {
    let answer = Answer::Option { option: option.to_owned(), text: None };
    let prompt = scene.prompt_id(n);
    let by = "ada".to_owned();
    scene.does(Command::Answer { prompt, answer, by, device: None });
}

/// A chat whose person allowed `deed` for good, in a turn that still runs.
fn granted() -> Scene {
    let mut scene = Scene::working();
    asks_for(&mut scene, 1, wants(Some("deed")));
    chooses(&mut scene, 1, "allow_always");
    scene
}

/// The option that the agent was given in the last input, and by whom.
fn given(scene: &Scene) -> Option<(String, String)> {
    let by = scene.last.iter().find_map(|fact| match fact {
        Fact::PromptAnswered { by, .. } => Some(by.clone()),
        _ => None,
    })?;
    let option = scene.last.iter().find_map(|fact| match fact {
        Fact::FrameIssued {
            out: Outgoing::Answer { answer: Answer::Option { option, .. }, .. },
            ..
        } => Some(option.clone()),
        _ => None,
    })?;
    Some((option, by))
}

#[test]
fn always_is_kept_for_the_chat_and_given_to_its_next_agent() {
    let mut scene = granted();
    assert!(scene.last().contains(&"g1 given".to_owned()), "{:?}", scene.last());
    scene.written().ends(TurnEnd::Completed).stop(StopWhy::Idle).dies();
    scene.send("m1").born().ready().written().taken();
    asks_for(&mut scene, 1, wants(Some("deed")));
    assert_eq!(given(&scene), Some(("allow_always".to_owned(), "grant g1".to_owned())));
    assert_eq!(scene.shown(), Shown::Working, "nobody is asked");
    // A third one, which is no second grant.
    asks_for(&mut scene, 2, wants(Some("deed")));
    assert!(given(&scene).is_some());
    assert_eq!(scene.chat.aside.grants.len(), 1);
}

#[test]
fn another_thing_is_asked() {
    for (name, asked) in [
        ("another deed", wants(Some("other"))),
        ("a deed that is not told", wants(None)),
        ("a question", Asked { kind: PromptKind::Question, ..wants(Some("deed")) }),
        ("nothing to allow", {
            let mut asked = wants(Some("deed"));
            asked.options.retain(|option| option.kind == "reject_once");
            asked
        }),
    ] {
        let mut scene = granted();
        asks_for(&mut scene, 2, asked);
        assert_eq!(given(&scene), None, "{name}");
        assert_eq!(scene.shown(), Shown::Blocked, "{name}");
    }
    // The option that was chosen is given, and no wider one: it is asked where that is not offered.
    let another = |id: &str, label: &str| PromptOption {
        id: id.to_owned(),
        label: label.to_owned(),
        kind: "allow_always".to_owned(),
    };
    let mut scene = granted();
    let mut asked = wants(Some("deed"));
    asked.options.insert(0, another("everything", "Allow everything"));
    asks_for(&mut scene, 2, asked.clone());
    assert_eq!(given(&scene).map(|(option, _)| option), Some("allow_always".to_owned()));
    asked.options.retain(|option| option.id != "allow_always");
    asks_for(&mut scene, 3, asked.clone());
    assert_eq!(given(&scene), None, "only a wider one is offered");
    asked.options.push(another("allow_always", "Allow something else"));
    asks_for(&mut scene, 0, asked);
    assert_eq!(given(&scene), None, "the id means something else now");
}

#[test]
fn only_always_is_for_good() {
    for (option, asked) in [
        ("allow_once", wants(Some("deed"))),
        ("reject_once", wants(Some("deed"))),
        ("allow_always", wants(None)),
        ("allow_always", Asked { kind: PromptKind::Question, ..wants(Some("deed")) }),
    ] {
        let mut scene = Scene::working();
        asks_for(&mut scene, 1, asked);
        chooses(&mut scene, 1, option);
        assert!(scene.chat.aside.grants.is_empty(), "{option}");
    }
}

#[test]
fn an_id_that_means_two_options_grants_nothing() {
    let mut asked = wants(Some("deed"));
    for option in &mut asked.options {
        option.id = "x".to_owned();
    }
    let mut scene = Scene::working();
    asks_for(&mut scene, 1, asked.clone());
    chooses(&mut scene, 1, "x");
    assert!(scene.chat.aside.grants.is_empty());
    // Nor is one answered by a grant.
    let mut scene = granted();
    let mut asked = wants(Some("deed"));
    asked.options.push(asked.options[1].clone());
    asks_for(&mut scene, 2, asked);
    assert_eq!(given(&scene), None);
}

#[test]
fn what_is_taken_back_is_asked_again() {
    let mut scene = granted();
    let grant = GrantId(1);
    scene.does(Command::EndGrant { grant });
    assert_eq!(scene.last(), ["g1 ended"]);
    asks_for(&mut scene, 2, wants(Some("deed")));
    assert_eq!(given(&scene), None);
    assert_eq!(scene.refused(Command::EndGrant { grant }), Code::GrantNotFound);
    // Allowed once more it is another grant.
    chooses(&mut scene, 2, "allow_always");
    assert!(scene.chat.aside.grants.contains_key(&GrantId(2)));
}

#[test]
fn a_chat_has_so_many_and_no_more() {
    let mut scene = Scene::working();
    for n in 1..=u32::try_from(GRANTS_MAX).unwrap() + 1 {
        asks_for(&mut scene, n, wants(Some(&n.to_string())));
        chooses(&mut scene, n, "allow_always");
        assert!(scene.chat.head.grants <= u32::try_from(GRANTS_MAX).unwrap());
        scene.written().says(ProviderEvent::AnswerTaken { prompt: n });
    }
    assert_eq!(scene.chat.aside.grants.len(), GRANTS_MAX);
}

#[test]
fn an_agent_that_is_being_stopped_is_given_nothing() {
    let mut scene = granted();
    scene.written().stop(StopWhy::Offered(Cause::Quit));
    asks_for(&mut scene, 2, wants(Some("deed")));
    assert_eq!(given(&scene), None);
}
