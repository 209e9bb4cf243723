//! What a dead agent has written down of its session itself settles what was at it.

use super::*;
use crate::ids::FrameNo;

const OWN: Capabilities = Capabilities { load: false, resume: true, ..ABLE };

fn at_agent(taken: bool) -> Scene {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", OWN).written();
    if taken {
        scene.taken();
    }
    scene
}

#[test]
fn a_store_that_was_read_settles_the_message_at_the_agent() {
    for (taken, named, boot, said) in [
        (true, true, Boot::Same, "settled m0 agentstore"),
        (false, true, Boot::Same, "settled m0 agentstore"),
        (true, false, Boot::Same, "refused m0 not in store"),
        (false, false, Boot::Same, "refused m0 not in store"),
        (true, true, Boot::Other, "settled m0 agentstore"),
        (false, false, Boot::Other, "refused m0 not in store"),
    ] {
        let mut scene = at_agent(taken);
        let frame = scene.frame();
        let frames = if named { vec![FrameNo(99), frame] } else { vec![FrameNo(99)] };
        scene.keeper(KeeperEvent::StoreRead { frames }).dead(Death::HostLost, boot);
        assert!(scene.last().contains(&said.to_owned()), "{taken} {named}: {:?}", scene.last());
        let took = scene.last().contains(&"taken m0 agentstore".to_owned());
        assert_eq!(took, named && !taken, "{:?}", scene.last());
        assert!(scene.has_offer());
        assert!(!scene.chat.head.needs_choice());
    }
    // What nobody read settles nothing.
    let mut scene = at_agent(true);
    scene.lost();
    assert_eq!(scene.stranded(), ["m0 unknown"]);
}

#[test]
fn a_message_that_the_store_has_lost_is_sent_right_after_the_continuation() {
    let mut scene = at_agent(true);
    scene.keeper(KeeperEvent::StoreRead { frames: Vec::new() }).lost();
    assert_eq!(scene.chat.head.session_messages, 0, "the session holds nothing");
    scene.does(resume_command(None)).born().ready_as("root", OWN);
    let continuation = scene.at_agent();
    assert_ne!(continuation.as_deref(), Some("m0"));
    scene.runs();
    assert_eq!(scene.at_agent().as_deref(), Some("m0"));
}

#[test]
fn what_was_settled_before_the_machine_went_is_looked_for() {
    for (boot, named, disproved) in
        [(Boot::Other, false, true), (Boot::Other, true, false), (Boot::Same, false, false)]
    {
        let mut scene = at_agent(true);
        let frame = scene.frame();
        scene.ends(TurnEnd::Completed);
        let frames = if named { vec![frame] } else { Vec::new() };
        scene.keeper(KeeperEvent::StoreRead { frames }).dead(Death::HostLost, boot);
        let said = scene.last();
        assert_eq!(said.contains(&"disproved m0".to_owned()), disproved, "{said:?}");
        assert!(!said.iter().any(|fact| fact.starts_with("suspected")), "{said:?}");
    }
}

#[test]
fn of_the_frames_the_last_are_kept() {
    let mut scene = at_agent(true);
    let frames = (0..1000).map(FrameNo).collect();
    scene.keeper(KeeperEvent::StoreRead { frames });
    let store = scene.chat.head.attempt.as_ref().unwrap().store.clone().unwrap();
    assert_eq!((store.len(), store.last()), (crate::limits::STORE_FRAMES_MAX, Some(&FrameNo(999))));
}
