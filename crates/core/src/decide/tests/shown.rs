use super::*;
use crate::activity::Lead;
use crate::summary::Summary;

/// The shown state, first that fits, and whether it is work.
#[test]
fn the_shown_state_is_the_first_that_fits() {
    let doubt: Does = |s| {
        s.send("m1").written();
        let frame = s.frame();
        let (proof, text) = (crate::provider::Proof::Nothing, String::new());
        s.says(ProviderEvent::MessageFailed { frame, proof, text });
    };
    let prompt: Does = |s| {
        s.prompt(1, PromptKind::Question, "q");
    };
    let turn: Does = |s| {
        s.stirred();
    };
    let agent: Does = |s| {
        s.task(1, TaskKind::Agent, "a");
    };
    let workflow: Does = |s| {
        s.task(2, TaskKind::Workflow, "w");
    };
    let unknown: Does = |s| {
        s.task(3, TaskKind::Unknown, "u");
    };
    let command: Does = |s| {
        s.task(4, TaskKind::Command, "c");
    };
    let monitor: Does = |s| {
        s.task(5, TaskKind::Monitor, "m");
    };
    for (does, shown, lead, work) in [
        (&[][..], Shown::Idle, Lead::Done, false),
        (&[doubt][..], Shown::ToCheck, Lead::Done, false),
        (&[doubt, command][..], Shown::Monitoring, Lead::Done, true),
        (&[monitor][..], Shown::Monitoring, Lead::Done, true),
        (&[command, unknown][..], Shown::Working, Lead::Done, true),
        (&[monitor, agent][..], Shown::Working, Lead::Done, true),
        (&[workflow][..], Shown::Working, Lead::Done, true),
        (&[doubt, turn][..], Shown::Working, Lead::Working, true),
        (&[turn, agent, prompt][..], Shown::Blocked, Lead::Blocked, true),
        (&[prompt][..], Shown::Blocked, Lead::Blocked, true),
    ] {
        let mut scene = Scene::idle();
        for step in does {
            step(&mut scene);
        }
        let activity = Activity::of(&scene.chat);
        assert_eq!(scene.shown(), shown, "{:?}", activity);
        assert_eq!((activity.lead, activity.shows_work()), (lead, work), "{activity:?}");
        assert_eq!(scene.chat.head.shown, shown, "the head keeps it");
    }
}

#[test]
fn a_message_handed_over_and_an_agent_that_starts_for_one_are_work() {
    let mut scene = Scene::starting();
    let activity = Activity::of(&scene.chat);
    assert_eq!((activity.lead, activity.starting), (Lead::Working, true));
    scene.born().ready();
    let activity = Activity::of(&scene.chat);
    assert_eq!((activity.lead, activity.starting), (Lead::Working, false));
    // A queue that nobody starts for is none.
    let mut scene = Scene::open();
    scene.does(Command::PauseQueue).send("m1");
    assert!(!Activity::of(&scene.chat).shows_work());
}

#[test]
fn a_state_says_since_when_and_by_what() {
    let mut scene = Scene::working();
    let since = scene.chat.head.shown_since;
    assert_eq!(scene.chat.head.shown_by, "message_handed");
    scene.task(1, TaskKind::Agent, "a");
    assert_eq!(scene.chat.head.shown_since, since, "nothing else is shown");
    scene.prompt(1, PromptKind::Approval, "run");
    assert_eq!(scene.chat.head.shown_by, "prompt_opened");
    assert_eq!(scene.chat.head.shown_since, scene.at);
}

#[test]
fn an_unknown_delivery_and_a_failure_are_to_check_a_refusal_alone_is_not() {
    let mut scene = Scene::starting();
    scene.born().ready().dies().dismiss();
    assert_eq!((scene.stranded(), scene.shown()), (vec!["m0 refused".to_owned()], Shown::Idle));
    let mut scene = Scene::working();
    scene.dies();
    // The offer covers it: a resume asks.
    assert_eq!((scene.stranded(), scene.shown()), (vec!["m0 asking".to_owned()], Shown::Idle));
    assert_eq!(Summary::of(&scene.chat).unknown, 0);
    scene.dismiss();
    assert_eq!((scene.stranded(), scene.shown()), (vec!["m0 asking".to_owned()], Shown::ToCheck));
    assert_eq!(Summary::of(&scene.chat).unknown, 1);
    // One that cannot be asked about is a person's matter at once.
    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { load: false, ..ABLE }).written().taken().lost();
    assert!(scene.has_offer());
    assert_eq!((scene.stranded(), scene.shown()), (vec!["m0 unknown".to_owned()], Shown::ToCheck));
    let mut scene = Scene::starting();
    scene.start_fails(StartFault::DirectoryGone);
    assert_eq!(scene.shown(), Shown::ToCheck);
}
