use super::*;
use crate::provider::Proof;

/// A chat with `earlier` settled messages, whose last message is in doubt; an agent that was
/// started for another one is about to tell its history.
fn asked(earlier: u64) -> Scene {
    let mut scene = Scene::starting();
    scene.born().ready();
    for n in 1..=earlier {
        scene.runs().send(&format!("m{n}"));
    }
    scene.written().taken().lost();
    scene.send("next").born();
    scene
}

/// (messages before, messages in the history, whether the last is ours) → what is known.
#[test]
fn a_history_names_the_message_or_lacks_it_or_proves_nothing() {
    for (earlier, messages, ours, found) in [
        (0, 1, true, &["taken m0 agentstore", "settled m0 agentstore"][..]),
        (0, 1, false, &["refused m0 not in store"]),
        // An agent that replays nothing at all may know more than it tells.
        (0, 0, false, &["doubted m0"]),
        (2, 3, true, &["taken m2 agentstore", "settled m2 agentstore"]),
        (2, 4, true, &["taken m2 agentstore", "settled m2 agentstore"]),
        (2, 2, false, &["refused m2 not in store"]),
        (2, 3, false, &["refused m2 not in store"]),
        // An earlier message with the same words, or ours, behind less than there was before.
        (2, 2, true, &["doubted m2"]),
        // A history that the agent shortened proves nothing by its count, nor by its last message:
        // that may be the agent's own summary.
        (2, 1, true, &["doubted m2"]),
        (2, 1, false, &["doubted m2"]),
    ] {
        let mut scene = asked(earlier);
        let last = if ours { format!("m{earlier}") } else { "other".to_owned() };
        scene.replays(messages, (messages > 0).then_some(last.as_str()));
        assert_eq!(scene.last(), found, "{earlier} {messages} {ours}");
    }
}

/// (whether it is asked for, whether the store holds it) → what is known.
#[test]
fn a_store_that_knows_messages_by_their_ids_is_believed() {
    for (held, found) in [
        (true, &["taken m1 agentstore", "settled m1 agentstore"][..]),
        (false, &["refused m1 not in store"]),
    ] {
        let mut scene = asked(1);
        let message = scene.chat.head.stranded[0].message;
        scene.says(ProviderEvent::StoreAnswered { message, held });
        assert_eq!(scene.last(), found, "{held}");
        scene.says(ProviderEvent::StoreAnswered { message, held: !held });
        assert!(scene.last.is_empty(), "what is known is not asked again");
    }
}

#[test]
fn a_store_that_lacks_what_was_settled_before_the_machine_went_disproves_it() {
    for (boot, held, found) in [
        (Boot::Other, false, true),
        (Boot::Other, true, false),
        // The machine did not go: nothing of it is in doubt.
        (Boot::Same, false, false),
    ] {
        let mut scene = Scene::idle();
        let message = scene.chat.head.settled.as_ref().unwrap().message;
        scene.dead(Death::HostLost, boot);
        scene.send("next").born().says(ProviderEvent::StoreAnswered { message, held });
        let disproved = scene.last.iter().any(|fact| matches!(fact, Fact::MessageDisproved { .. }));
        assert_eq!(disproved, found, "{boot:?} {held}");
    }
}

#[test]
fn nobody_is_asked_and_nothing_is_learnt_where_nothing_is_in_doubt() {
    let mut scene = Scene::idle();
    scene.stop(StopWhy::Idle).dies().send("m1").born().replays(0, None);
    assert!(scene.last.is_empty());
}

#[test]
fn what_is_not_told_before_the_session_stands_will_not_be() {
    let mut scene = asked(0);
    scene.ready();
    assert_eq!(scene.last()[..2], ["ready", "doubted m0"]);
    assert_eq!(scene.stranded(), ["m0 unknown"]);
    assert_eq!(scene.at_agent().as_deref(), Some("next"));
}

#[test]
fn what_a_person_says_arrived_is_counted_as_held_by_the_session() {
    // Otherwise a later message with the same words is found where it is not.
    let mut scene = asked(0);
    scene.ready().does(Command::Resolve { message: id("m0"), choice: Choice::Arrived });
    assert_eq!(scene.chat.head.session_messages, 1);
    scene.runs();
    assert_eq!(scene.chat.head.session_messages, 2);
}

#[test]
fn a_persons_word_comes_before_the_answer_of_the_store() {
    let mut scene = asked(0);
    scene.does(Command::Resolve { message: id("m0"), choice: Choice::Discard });
    scene.replays(1, Some("m0"));
    assert!(scene.last.is_empty());
}

#[test]
fn a_message_that_failed_in_doubt_is_not_taken_for_a_later_one_with_the_same_words() {
    let mut scene = Scene::idle();
    scene.send("again").written();
    let frame = scene.chat.head.outstanding.as_ref().unwrap().frame;
    let (proof, text) = (Proof::Nothing, "x".to_owned());
    scene.says(ProviderEvent::MessageFailed { frame, proof, text });
    scene.does(Command::Resolve { message: id("again"), choice: Choice::Discard });
    // The agent's store has m0 and the first; the second, with its words, never came to it.
    scene.send("second").written().taken().lost();
    assert_eq!(scene.chat.head.stranded[0].before, 2, "m0 and the one that failed");
    scene.send("next").born().replays(2, Some("second"));
    assert_eq!(scene.last(), ["doubted second"]);
}

/// (messages in the history, its last, whether the machine went) → what is known of the settled `m1`.
#[test]
fn what_was_settled_is_disproved_by_a_history_that_ends_right_before_it() {
    for (messages, last, boot, lost) in [
        (1, "m0", Boot::Other, true),
        (1, "other", Boot::Other, true),
        (2, "m1", Boot::Other, false),
        (2, "other", Boot::Other, false),
        (1, "m1", Boot::Other, false),
        (0, "", Boot::Other, false),
        (1, "m0", Boot::Same, false),
    ] {
        let mut scene = Scene::idle();
        scene.send("m1").runs();
        scene.dead(Death::HostLost, boot);
        assert!(!scene.has_offer());
        assert_eq!(scene.shown(), Shown::Idle, "nobody is bothered before it is known");
        scene.send("m2").born().replays(messages, (messages > 0).then_some(last));
        let told: &[&str] = if lost { &["disproved m1"] } else { &[] };
        assert_eq!(scene.last(), told, "{messages} {last} {boot:?}");
        let stranded: &[&str] = if lost { &["m1 refused"] } else { &[] };
        assert_eq!(scene.stranded(), stranded);
        // It is for a person to say; what waits goes on.
        scene.ready().runs();
        assert_eq!((scene.handed("m1"), scene.handed("m2")), (1, 1));
        if lost {
            let choice = Choice::SendAgain;
            scene.does(Command::Resolve { message: id("m1"), choice }).runs();
            assert_eq!(scene.handed("m1"), 2);
        }
    }
}

/// Everything was lost in the turn of `m2`, which came after the settled `m1`: a history that ends with
/// another message may end with that one, and one that is too short says nothing of `m1` alone.
#[test]
fn what_was_settled_is_not_disproved_while_a_later_message_is_in_doubt() {
    let mut scene = Scene::idle();
    scene.send("m1").runs().send("m2").written().taken();
    scene.dead(Death::HostLost, Boot::Other);
    assert_eq!(scene.stranded(), ["m2 asking"]);
    scene.resume().born().replays(1, Some("m0"));
    assert!(!scene.last().contains(&"disproved m1".to_owned()), "{:?}", scene.last());
}
