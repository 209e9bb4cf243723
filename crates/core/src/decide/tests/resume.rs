use super::*;
use crate::head::Strand;
use crate::input::NotResumed;

fn why(scene: &Scene) -> Option<NotResumed> {
    match &scene.reply {
        Some(Reply::NotResumed { why }) => Some(why.clone()),
        _ => None,
    }
}

/// Everything was killed in the turn of `m0`, with `q1` waiting; the store cannot be asked.
fn doubtful() -> Scene {
    let mut scene = Scene::starting();
    scene.send("q1").born().ready_as("root", Capabilities { load: false, ..ABLE });
    scene.written().taken().lost();
    assert_eq!(scene.stranded(), ["m0 unknown"]);
    scene
}

#[test]
fn a_resume_asks_the_store_then_sends_one_continuation_then_the_queue() {
    let mut scene = Scene::working();
    scene.send("q1").lost().resume();
    assert_eq!(scene.last(), ["resume", "accepted continuation at head", "starting 2 to resume"]);
    scene.born().replays(1, Some("m0"));
    assert_eq!(scene.last(), ["taken m0 agentstore", "settled m0 agentstore"]);
    scene.ready();
    assert_eq!(
        scene.last(),
        ["ready", "exempted continuation", "handed continuation", "frame 1: continuation"]
    );
    scene.written().taken();
    assert_eq!(
        scene.last(),
        ["taken continuation agent", "t2 opened by continuation", "offer ended resumed"]
    );
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("q1"));
    assert_eq!(scene.handed("m0"), 1);
}

#[test]
fn what_provably_did_not_arrive_is_sent_right_after_the_continuation() {
    let mut scene = Scene::working();
    scene.send("q1").lost().resume().born().replays(1, Some("other"));
    assert_eq!(scene.last(), ["refused m0 not in store"]);
    scene.ready();
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("m0"));
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("q1"));
    // The same for a line that was not wholly written.
    let mut scene = Scene::starting();
    scene.born().ready().lost().resume().born().ready().runs();
    assert_eq!((scene.at_agent().as_deref(), scene.handed("m0")), (Some("m0"), 2));
}

#[test]
fn what_stays_in_doubt_takes_the_resume_back_until_a_person_chooses() {
    let mut scene = Scene::offered();
    scene.resume().born().ready();
    assert_eq!(scene.last(), ["ready", "doubted m0", "resume stopped"]);
    assert_eq!(scene.at_agent(), None);
    scene.resume();
    assert_eq!(why(&scene), Some(NotResumed::NeedsChoice));
    scene.resume_with(Choice::Arrived);
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    scene.runs();
    assert!(!scene.has_offer());
    let accepted = |f: &&Fact| matches!(f, Fact::MessageAccepted { by: Author::Host, .. });
    assert_eq!(scene.all.iter().filter(accepted).count(), 1, "one continuation");
}

#[test]
fn the_choice_settles_the_message_in_doubt() {
    for (choice, told, next) in [
        (Choice::Arrived, "settled m0 person", Some("q1")),
        (Choice::Discard, "withdrawn m0 discarded", Some("q1")),
        (Choice::SendAgain, "requeued m0 at head", Some("m0")),
    ] {
        let mut scene = doubtful();
        scene.resume();
        assert_eq!(why(&scene), Some(NotResumed::NeedsChoice));
        assert!(scene.last.is_empty());
        scene.resume_with(choice);
        assert!(scene.last().contains(&told.to_owned()), "{:?}", scene.last());
        scene.born().ready().runs();
        assert_eq!(scene.at_agent().as_deref(), next);
    }
}

#[test]
fn two_clicks_two_clients_and_a_retry_give_one_message() {
    let mut scene = Scene::offered();
    scene.resume();
    let first = scene.reply.clone();
    scene.resume();
    assert!(scene.last.is_empty());
    assert_eq!(scene.reply, first);
    scene.born().replays(1, Some("m0")).ready().resume();
    assert_eq!(scene.reply, first);
    scene.runs().resume();
    assert_eq!(why(&scene), Some(NotResumed::NoOffer));
    assert_eq!(scene.handed("continuation"), 1);
}

#[test]
fn a_persons_message_wins_over_a_resume_that_is_on_its_way() {
    let mut scene = Scene::offered();
    scene.resume().send("n");
    assert_eq!(
        scene.last(),
        ["accepted n at tail", "offer ended progress", "withdrawn continuation offerended"]
    );
    scene.born().replays(1, Some("m0")).ready();
    assert_eq!((scene.at_agent().as_deref(), scene.handed("continuation")), (Some("n"), 0));
    // Also where the queue is paused.
    let mut scene = Scene::working();
    scene.send("q1").does(Command::Interrupt).lost().resume().send("n").born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("n"));
}

#[test]
fn a_resume_runs_in_spite_of_a_pause_which_stays() {
    let mut scene = Scene::working();
    scene.send("q1").does(Command::Interrupt).lost().resume().does(Command::PauseQueue);
    scene.born().replays(1, Some("m0")).ready();
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    scene.runs();
    assert_eq!((scene.at_agent(), scene.queue()), (None, vec!["q1".to_owned()]));
}

#[test]
fn a_resume_that_takes_nothing_is_a_failure_beside_the_offer() {
    let fails: [(&str, Does); 5] = [
        ("agent_died", |s| {
            s.born().dies();
        }),
        ("agent_died", |s| {
            s.born().lost();
        }),
        ("agent_died", |s| {
            s.born().quit();
        }),
        ("session_not_found", |s| {
            s.born().start_fails(StartFault::SessionNotFound);
        }),
        ("agent_died", |s| {
            s.born().replays(1, Some("m0")).ready().dies();
        }),
    ];
    for (code, fail) in fails {
        let mut scene = Scene::offered();
        let offer = scene.chat.head.offer.clone().unwrap();
        scene.resume();
        fail(&mut scene);
        assert_eq!(scene.failure(), Some(code));
        let kept = scene.chat.head.shown_offer().unwrap();
        assert_eq!((kept.recorded_at, kept.resuming), (offer.recorded_at, false));
        assert!(!scene.has_agent(), "nothing is tried again by itself");
        scene.resume();
        assert!(scene.has_agent());
        assert_eq!(scene.failure(), None);
        scene.born().replays(1, Some("m0")).ready();
        assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
        let accepted = |f: &&Fact| matches!(f, Fact::MessageAccepted { by: Author::Host, .. });
        assert_eq!(scene.all.iter().filter(accepted).count(), 1, "the same message");
    }
}

#[test]
fn a_refused_continuation_is_handed_over_anew_as_the_same_message() {
    let mut scene = Scene::offered();
    scene.resume().born().replays(1, Some("m0")).ready();
    let frame = scene.frame();
    let (proof, text) = (crate::provider::Proof::NotTaken, "no".to_owned());
    scene.says(ProviderEvent::MessageFailed { frame, proof, text });
    assert_eq!(
        scene.last(),
        ["refused continuation rejected", "resume stopped", "failure agent_refused"]
    );
    scene.resume();
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
    assert_eq!(scene.handed("continuation"), 2);
}

/// A continuation that was handed over, and whose attempt died before it said a word.
fn doubtful_continuation() -> Scene {
    let mut scene = Scene::offered();
    scene.resume().born().replays(1, Some("m0")).ready().written().lost();
    assert_eq!(scene.stranded(), ["continuation asking"]);
    scene
}

#[test]
fn a_continuation_in_doubt_is_asked_for_before_it_is_sent_again() {
    // Its session held m0 before it.
    for (messages, last, handed, offer) in [(1, Some("m0"), 2, true), (2, None, 2, true)] {
        let mut scene = doubtful_continuation();
        scene.resume();
        assert!(scene.has_agent(), "it is started to be asked");
        assert_eq!(scene.queue(), Vec::<String>::new());
        scene.born().replays(messages, last).ready();
        assert_eq!((scene.handed("continuation"), scene.has_offer()), (handed, offer));
    }
    let mut scene = doubtful_continuation();
    scene.resume().born();
    let last = Some(crate::digest(crate::continuation::TEXT));
    scene.says(ProviderEvent::ReplayEnded { messages: 2, last }).ready();
    assert_eq!(scene.handed("continuation"), 1);
    assert!(!scene.has_offer(), "it had arrived");
}

#[test]
fn a_choice_about_the_continuation_itself_is_obeyed() {
    for (choice, handed, ended) in [
        (Choice::Arrived, 1, "offer ended resumed"),
        (Choice::Discard, 1, "offer ended dismissed"),
        (Choice::SendAgain, 2, ""),
    ] {
        let mut scene = doubtful_continuation();
        scene.resume().born().ready();
        assert_eq!(scene.stranded(), ["continuation unknown"]);
        scene.resume();
        assert_eq!(why(&scene), Some(NotResumed::NeedsChoice));
        scene.resume_with(choice);
        assert_eq!(scene.handed("continuation"), handed, "{choice:?}");
        assert_eq!(scene.last().contains(&ended.to_owned()), !ended.is_empty());
    }
}

#[test]
fn a_continuation_is_not_settled_past_its_offer() {
    let mut scene = doubtful_continuation();
    let message = scene.chat.head.stranded[0].message;
    for choice in [Choice::Arrived, Choice::SendAgain, Choice::Discard] {
        assert_eq!(scene.refused(Command::Resolve { message, choice }), Code::NotInDoubt);
    }
    scene.dismiss().does(Command::Resolve { message, choice: Choice::Discard });
    assert!(scene.stranded().is_empty());
}

#[test]
fn what_was_only_starting_is_resumed_by_its_own_message() {
    let mut scene = Scene::starting();
    scene.send("q1").quit().resume();
    assert_eq!(scene.last(), ["resume", "exempted m0", "starting 2 to resume"]);
    scene.born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("m0"));
    scene.written().taken();
    assert!(!scene.has_offer());
    scene.ends(TurnEnd::Completed);
    assert_eq!(scene.at_agent().as_deref(), Some("q1"));
    assert_eq!(scene.handed("continuation"), 0);
}

#[test]
fn the_message_of_a_start_that_is_in_doubt_after_the_resume_is_asked_for() {
    let mut scene = Scene::starting();
    scene.send("q1").quit().resume().born().ready().written().lost();
    assert_eq!((scene.stranded(), scene.has_offer()), (vec!["m0 asking".to_owned()], true));
    let mut absent = scene.clone();
    absent.resume().born().replays(1, Some("other")).ready();
    assert_eq!(absent.at_agent().as_deref(), Some("m0"));
    let mut named = scene.clone();
    named.resume().born().replays(1, Some("m0")).ready();
    assert_eq!(named.handed("continuation"), 0);
    scene.resume().born().ready();
    assert_eq!(scene.at_agent(), None, "nothing is sent past a doubt");
}

#[test]
fn a_start_whose_message_was_taken_back_has_nothing_to_resume() {
    let mut scene = Scene::starting();
    scene.quit().resume().does(Command::WithdrawQueued { message: id("m0") });
    assert_eq!(scene.last(), ["withdrawn m0 person", "resume stopped"]);
    assert!(!scene.chat.head.offer.as_ref().unwrap().resuming);
}

#[test]
fn what_an_older_offer_left_is_not_sent_by_a_newer_one() {
    let mut scene = Scene::starting();
    scene.born().ready().lost();
    assert_eq!(scene.stranded(), ["m0 refused"]);
    scene.send("n").born().ready().written().taken().lost();
    assert_eq!(scene.stranded(), ["m0 refused", "n asking"]);
    scene.resume().born().replays(1, Some("n")).ready().runs();
    assert_eq!(scene.at_agent(), None);
    assert_eq!((scene.handed("m0"), scene.stranded()), (1, vec!["m0 refused".to_owned()]));
}

#[test]
fn what_an_agent_rejected_while_it_lived_is_not_sent_by_a_resume() {
    let mut scene = Scene::idle();
    scene.send("m1").written();
    let frame = scene.frame();
    let (proof, text) = (crate::provider::Proof::NotTaken, "no".to_owned());
    scene.says(ProviderEvent::MessageFailed { frame, proof, text });
    scene.task(1, TaskKind::Agent, "a").lost().resume().born().ready().runs();
    assert_eq!((scene.handed("m1"), scene.handed("continuation")), (1, 1));
    assert_eq!(scene.chat.head.stranded[0].why, Strand::Refused);
}

#[test]
fn a_closed_chat_and_one_without_an_offer_resume_nothing() {
    let mut scene = Scene::idle();
    scene.resume();
    assert_eq!(why(&scene), Some(NotResumed::NoOffer));
    let mut scene = Scene::offered();
    scene.does(CLOSE).resume();
    assert_eq!(why(&scene), Some(NotResumed::NoOffer));
    let mut scene = Scene::working();
    scene.stop(StopWhy::Offered(Cause::Quit)).resume();
    assert_eq!(why(&scene), Some(NotResumed::NoOffer), "not before the death is proven");
}

#[test]
fn a_resume_with_nothing_left_to_hand_over_is_over() {
    let mut scene = Scene::starting();
    scene.quit().resume().ready().dead(Death::NeverBorn, Boot::Same);
    assert_eq!(scene.stranded(), ["m0 refused"]);
    assert_eq!(scene.last().last().map(String::as_str), Some("resume stopped"));
    scene.resume().born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("m0"));
}

#[test]
fn a_resume_that_was_never_born_is_started_again() {
    let mut scene = Scene::offered();
    scene.resume().dead(Death::NeverBorn, Boot::Same);
    assert_eq!(scene.last(), ["ended", "starting 3 to resume"]);
}

#[test]
fn a_resume_while_the_last_one_is_being_stopped_sends_nothing_twice() {
    let mut scene = Scene::offered();
    scene.resume().born().replays(1, Some("m0")).ready().does(Command::StopAgent).resume();
    assert_eq!(scene.last(), ["resume"]);
    assert!(scene.has_offer());
    scene.dies();
    assert_eq!(scene.stranded(), ["continuation refused"]);
    scene.resume().born().ready();
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
}

#[test]
fn a_resume_whose_frame_was_cancelled_hands_its_message_over_anew() {
    let mut scene = Scene::offered();
    scene.resume().born().replays(1, Some("m0")).ready();
    let frame = scene.frame();
    scene.keeper(KeeperEvent::FrameCancelled(frame));
    assert_eq!(scene.at_agent().as_deref(), Some("continuation"));
}
