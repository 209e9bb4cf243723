use super::*;
use crate::queue::{Held, held};

#[test]
fn a_stop_records_first_and_shows_at_the_proven_death() {
    let mut scene = Scene::working();
    scene.stop(StopWhy::Offered(Cause::Quit));
    assert_eq!(scene.last(), ["offer quit", "stop offered(quit)"]);
    assert!(!scene.has_offer());
    scene.dies();
    assert_eq!(scene.last(), ["t1 lost death", "ended", "doubted m0 asking", "offer shown"]);
    assert!(scene.has_offer());
}

#[test]
fn what_was_not_interrupted_is_not_offered() {
    let mut scene = Scene::idle();
    scene.quit();
    assert!(!scene.has_offer());
    let mut scene = Scene::open();
    scene.does(Command::PauseQueue).send("m1").stop(StopWhy::Offered(Cause::Quit));
    assert!(scene.last.is_empty(), "a queue that was never handed over");
}

#[test]
fn what_the_agent_says_after_the_stop_changes_no_snapshot() {
    let mut scene = Scene::working();
    scene.stop(StopWhy::Offered(Cause::Quit));
    let recorded = scene.snapshot.clone();
    scene.task(1, TaskKind::Agent, "late").prompt(1, PromptKind::Question, "late").dies();
    assert_eq!(scene.snapshot, recorded);
    // Nor does it make an offer of a chat that did nothing.
    let mut scene = Scene::idle();
    scene.stop(StopWhy::Offered(Cause::Quit)).stirred().dies();
    assert!(!scene.has_offer());
    // The same where somebody else told the keeper.
    let mut scene = Scene::idle();
    scene.keeper(KeeperEvent::Signalled { cause: Cause::HostLost }).stirred().lost();
    assert!(!scene.has_offer());
}

#[test]
fn a_signal_of_somebody_else_is_a_stop_too() {
    let mut scene = Scene::working();
    scene.send("m1").keeper(KeeperEvent::Signalled { cause: Cause::HostLost });
    assert_eq!(scene.last(), ["offer hostlost", "stop offered(hostlost)"]);
    scene.ends(TurnEnd::Interrupted);
    assert_eq!(scene.at_agent(), None, "nothing more is handed over");
    scene.lost();
    assert!(scene.has_offer());
    // One that the host ordered itself is no news.
    let mut scene = Scene::working();
    scene.stop(StopWhy::Ordered).keeper(KeeperEvent::Signalled { cause: Cause::Quit });
    assert!(scene.last.is_empty());
}

#[test]
fn an_offer_of_a_turn_that_finished_after_all_is_dropped() {
    let mut scene = Scene::working();
    scene.stop(StopWhy::Offered(Cause::Quit)).ends(TurnEnd::Completed);
    assert_eq!(scene.last(), ["t1 completed agent", "settled m0 agent", "offer ended finished"]);
    scene.dies();
    assert!(!scene.has_offer());
    // Not where it was interrupted or failed, nor where more was going on.
    for how in [TurnEnd::Interrupted, TurnEnd::Failed] {
        let mut scene = Scene::working();
        scene.stop(StopWhy::Offered(Cause::Quit)).ends(how).dies();
        assert!(scene.has_offer(), "{how:?}");
    }
    let mut scene = Scene::working();
    scene.task(1, TaskKind::Command, "c");
    scene.stop(StopWhy::Offered(Cause::Quit)).ends(TurnEnd::Completed).dies();
    assert!(scene.has_offer());
}

/// What a person does ends the offer; nothing else does.
#[test]
fn endings() {
    let mut with_queue = Scene::working();
    with_queue.send("q1").lost();
    assert_eq!(held(&with_queue.chat), Some(Held::Offer));
    let ends: [(&str, Does); 7] = [
        ("offer ended progress", |s| {
            s.send("n");
        }),
        ("offer ended progress", |s| {
            s.sends("n", Author::Channel, Send::Steer);
        }),
        ("offer ended progress", |s| {
            s.does(Command::SendNow { message: id("q1") });
        }),
        ("offer ended progress", |s| {
            s.does(Command::ResumeQueue);
        }),
        ("offer ended dismissed", |s| {
            s.dismiss();
        }),
        ("offer ended closed", |s| {
            s.does(CLOSE);
        }),
        ("offer ended closed", |s| {
            s.does(Command::Delete);
        }),
    ];
    for (how, end) in ends {
        let mut scene = with_queue.clone();
        end(&mut scene);
        assert!(scene.last().contains(&how.to_owned()), "{how}: {:?}", scene.last());
        assert!(!scene.has_offer());
    }
    let keeps: [Does; 9] = [
        |s| {
            s.sends("a", Author::App, Send::Interrupt);
        },
        |s| {
            s.sends("a", Author::Schedule, Send::Queue);
        },
        |s| {
            s.does(Command::PauseQueue);
        },
        |s| {
            s.does(Command::WithdrawQueued { message: id("q1") });
        },
        |s| {
            s.does(Command::Resolve { message: id("m0"), choice: Choice::Arrived });
        },
        |s| {
            s.does(Command::Resolve { message: id("m0"), choice: Choice::Discard });
        },
        |s| {
            s.does(Command::Resolve { message: id("m0"), choice: Choice::SendAgain });
        },
        |s| {
            s.does(Command::Change(ChangeChat { pinned: Some(true), ..ChangeChat::default() }));
        },
        |s| {
            s.does(Command::Reopen);
        },
    ];
    for keep in keeps {
        let mut scene = with_queue.clone();
        keep(&mut scene);
        assert!(scene.has_offer() && !scene.has_agent(), "{:?}", scene.last());
    }
}

#[test]
fn the_answer_to_a_prompt_that_was_asked_again_ends_the_offer() {
    let mut scene = Scene::offered();
    // A resume whose agent asks before it takes the continuation.
    scene.resume().born().replays(1, Some("m0")).ready().written();
    scene.prompt(1, PromptKind::Approval, "again");
    let answer = scene.answer(1);
    scene.does(answer);
    assert_eq!(scene.last()[2], "offer ended answered");
}

#[test]
fn a_session_that_held_nothing_is_begun_anew_and_the_offer_carries_on() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", ABLE).written().lost();
    let message = scene.chat.head.stranded[0].message;
    scene.resume().born().says(ProviderEvent::StoreAnswered { message, held: false });
    scene.ready_as("new", ABLE);
    assert!(scene.has_offer(), "{:?}", scene.last());
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("m0"), "what it did not take follows");
}

#[test]
fn a_session_with_another_root_ends_the_offer_as_rewound() {
    let mut scene = Scene::offered();
    scene.resume().born().ready_as("fork", ABLE);
    assert!(scene.last().contains(&"offer ended rewound".to_owned()), "{:?}", scene.last());
    assert_eq!((scene.at_agent(), scene.has_offer()), (None, false));
}

#[test]
fn a_persons_message_releases_what_the_offer_held_before_itself() {
    let mut scene = Scene::working();
    scene.send("q1").lost().send("n");
    assert_eq!(scene.queue(), ["q1", "n"]);
    scene.born().replays(1, Some("m0")).ready();
    assert_eq!(scene.at_agent().as_deref(), Some("q1"));
    // A pause by Stop stays.
    let mut scene = Scene::working();
    scene.send("q1").does(Command::Interrupt).lost().send("n").born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("n"));
    scene.runs();
    assert_eq!((scene.at_agent(), scene.queue()), (None, vec!["q1".to_owned()]));
}

#[test]
fn dismissing_leaves_what_waits_paused() {
    let mut scene = Scene::working();
    scene.send("q1").lost().dismiss();
    assert_eq!(scene.last(), ["offer ended dismissed", "paused dismiss"]);
    assert_eq!(held(&scene.chat), Some(Held::Dismiss));
    assert!(!scene.has_agent());
    scene.dismiss();
    assert!(scene.last.is_empty());
}

#[test]
fn dismissing_or_pausing_starts_nothing_also_not_what_was_exempt() {
    let mut scene = Scene::working();
    scene.send("q1").does(Command::SendNow { message: id("q1") }).lost();
    assert!(!scene.has_agent(), "the queue is held while there is an offer");
    scene.dismiss();
    assert!(!scene.has_agent());
    // A resume of what was only starting, dismissed before it is ready.
    let mut scene = Scene::working();
    scene.send("q1").does(Command::Interrupt).written().ends(TurnEnd::Interrupted).send("n");
    scene.dead(Death::KeeperLost, Boot::Same).resume().dismiss();
    scene.dies();
    assert!(!scene.has_agent(), "{:?}", scene.last());
}

#[test]
fn another_stop_than_the_one_that_was_seen_is_superseded() {
    let mut scene = Scene::offered();
    let recorded_at = Some(Micros(1));
    scene.does(Command::Dismiss { recorded_at });
    assert!(matches!(&scene.reply, Some(Reply::NotResumed { .. })) && scene.has_offer());
    let anyway = Anyway::No;
    scene.does(Command::Resume { recorded_at, choice: None, session: Session::Recorded, anyway });
    assert!(scene.last.is_empty() && scene.has_offer());
}

#[test]
fn a_newer_stop_replaces_the_offer() {
    let mut scene = Scene::offered();
    scene.resume().born().replays(1, Some("m0")).ready().written().taken();
    assert!(scene.last().contains(&"offer ended resumed".to_owned()));
    let first = scene.all.iter().filter(|f| matches!(f, Fact::OfferRecorded { .. })).count();
    scene.quit();
    assert!(scene.has_offer());
    let both = scene.all.iter().filter(|f| matches!(f, Fact::OfferRecorded { .. })).count();
    assert_eq!((first, both), (1, 2));
}

#[test]
fn two_offers_of_the_same_instant_have_two_continuations() {
    let mut scene = Scene::offered();
    let first = scene.chat.head.offer.clone().unwrap();
    scene.send("n").born().ready().written().taken();
    scene.at = Micros(first.recorded_at.0 - 1000);
    scene.lost();
    let second = scene.chat.head.offer.clone().unwrap();
    assert_eq!(first.recorded_at, second.recorded_at);
    assert_ne!(first.continuation, second.continuation);
}
