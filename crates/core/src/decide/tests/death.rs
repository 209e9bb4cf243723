use super::*;

#[test]
fn a_death_closes_everything_in_one_commit() {
    let mut scene = Scene::working();
    scene.prompt(1, PromptKind::Approval, "run").task(1, TaskKind::Agent, "look").dies();
    assert_eq!(
        scene.last(),
        [
            "offer agentdied",
            "t1 lost death",
            "p1.1 gone",
            "k1.1 lost",
            "ended",
            "doubted m0 asking",
            "offer shown"
        ]
    );
    assert!(scene.all.iter().any(|fact| matches!(fact, Fact::CallsAbandoned { origin: 1 })));
    scene.dies();
    assert!(scene.last.is_empty(), "nobody dies twice");
}

/// Which cause an offer of a working chat has, by what stopped it and what was found.
#[test]
fn the_cause_is_what_stopped_it() {
    let exited = Death::Exited { code: Some(1), signal: None };
    for (stop, death, cause) in [
        (None, exited, Some(Cause::AgentDied)),
        (None, Death::KeeperLost, Some(Cause::KeeperLost)),
        (None, Death::HostLost, Some(Cause::HostLost)),
        (Some(StopWhy::Offered(Cause::Quit)), exited, Some(Cause::Quit)),
        (Some(StopWhy::Offered(Cause::Quit)), Death::HostLost, Some(Cause::Quit)),
        (Some(StopWhy::Offered(Cause::Update)), exited, Some(Cause::Update)),
        (Some(StopWhy::Offered(Cause::IdleStop)), exited, Some(Cause::IdleStop)),
        (Some(StopWhy::Ordered), exited, None),
        (Some(StopWhy::Close), exited, None),
        (Some(StopWhy::Delete), exited, None),
        (Some(StopWhy::StartFailed), exited, None),
        (Some(StopWhy::Idle), exited, None),
        (Some(StopWhy::Idle), Death::HostLost, Some(Cause::HostLost)),
        (Some(StopWhy::Idle), Death::KeeperLost, Some(Cause::KeeperLost)),
    ] {
        let mut scene = Scene::working();
        if let Some(why) = stop {
            scene.stop(why);
        }
        scene.dead(death, Boot::Same);
        let found = scene.chat.head.shown_offer().map(|offer| offer.cause);
        assert_eq!(found, cause, "{stop:?} {death:?}");
    }
}

#[test]
fn an_agent_that_did_nothing_leaves_no_offer() {
    for death in [Death::Exited { code: None, signal: Some(9) }, Death::KeeperLost, Death::HostLost]
    {
        let mut scene = Scene::idle();
        scene.dead(death, Boot::Same);
        assert_eq!((scene.has_offer(), scene.failure()), (false, None));
        assert_eq!(scene.last(), ["ended"]);
        scene.send("m1");
        assert!(scene.has_agent(), "a new process is spawned");
    }
}

/// What becomes of the message at the agent: (marks in the spool, death, boot) → state. A keeper that
/// was killed may have written the whole line and not lived to say so.
#[test]
fn a_line_that_was_provably_not_written_whole_was_not_taken_within_the_same_boot() {
    let written = |scene: &mut Scene, marks: usize| {
        let frame = scene.frame();
        let marks = &[KeeperEvent::FrameBegun(frame), KeeperEvent::FrameDone(frame)][..marks];
        for mark in marks {
            scene.keeper(mark.clone());
        }
    };
    let exited = Death::Exited { code: Some(1), signal: None };
    for (marks, death, boot, state) in [
        (0, Death::HostLost, Boot::Same, "m0 refused"),
        (1, Death::HostLost, Boot::Same, "m0 asking"),
        (2, Death::HostLost, Boot::Same, "m0 asking"),
        (0, Death::KeeperLost, Boot::Same, "m0 refused"),
        (1, Death::KeeperLost, Boot::Same, "m0 asking"),
        (2, Death::KeeperLost, Boot::Same, "m0 asking"),
        (0, exited, Boot::Same, "m0 refused"),
        (1, exited, Boot::Same, "m0 refused"),
        (2, exited, Boot::Same, "m0 asking"),
        (0, Death::HostLost, Boot::Other, "m0 asking"),
        (1, Death::HostLost, Boot::Other, "m0 asking"),
        (2, Death::HostLost, Boot::Other, "m0 asking"),
    ] {
        let mut scene = Scene::starting();
        scene.born().ready();
        written(&mut scene, marks);
        scene.dead(death, boot);
        assert_eq!(scene.stranded(), [state], "{marks} {death:?} {boot:?}");
    }
    // What the agent said it has was written, whatever the marks say.
    let mut scene = Scene::starting();
    scene.born().ready().taken().lost();
    assert_eq!(scene.stranded(), ["m0 asking"]);
}

#[test]
fn only_a_store_that_can_be_asked_is_asked() {
    let mut scene = Scene::starting();
    scene.born().ready_as("root", Capabilities { load: false, ..ABLE }).written().taken().lost();
    assert_eq!(scene.stranded(), ["m0 unknown"]);
}

#[test]
fn a_first_start_that_is_stopped_from_outside_is_offered_and_one_that_dies_is_not() {
    let mut scene = Scene::starting();
    scene.quit();
    assert!(scene.has_offer() && scene.snapshot.as_ref().unwrap().starting);
    assert_eq!(scene.queue(), ["m0"]);
    let mut scene = Scene::starting();
    scene.dies();
    assert!(!scene.has_offer());
    assert_eq!(scene.last(), ["ended", "failure agent_died"]);
}

#[test]
fn stderr_is_quoted_within_bounds() {
    let mut scene = Scene::starting();
    let (death, boot) = (Death::Exited { code: Some(1), signal: None }, Boot::Same);
    let stderr = "e".repeat(100_000);
    scene.keeper(KeeperEvent::Dead { death, boot, survivors: Vec::new(), stderr });
    let filed = scene.last.iter().find_map(|fact| match fact {
        Fact::FailureFiled(failure) => Some(failure.text.len()),
        _ => None,
    });
    assert!(filed.is_some_and(|bytes| (500..1000).contains(&bytes)), "{filed:?}");
}

/// A power cut may take an attempt's whole folder: what it says of nothing having been written is
/// no proof then.
#[test]
fn what_was_born_and_left_nothing_was_lost_and_proves_nothing() {
    let mut scene = Scene::idle();
    scene.send("m1");
    scene.dead(Death::NeverBorn, Boot::Same);
    assert!(scene.last().iter().any(|said| said.starts_with("doubted m1")), "{:?}", scene.last());
    assert!(scene.has_offer());
}

#[test]
fn what_was_born_and_left_nothing_on_disk_was_taken_by_a_power_cut() {
    let mut scene = Scene::starting();
    scene.born().ready().dead(Death::NeverBorn, Boot::Same);
    assert_eq!(scene.chat.head.shown_offer().map(|offer| offer.cause), Some(Cause::HostLost));
    assert_eq!(scene.stranded(), ["m0 asking"], "what is missing proves nothing");
}

#[test]
fn an_agent_that_is_cut_off_is_ended_as_one_that_died_by_itself() {
    let mut scene = Scene::working();
    scene.send("m1").keeper(KeeperEvent::CutOff);
    assert_eq!(scene.last(), ["offer agentdied", "stop offered(agentdied)"]);
    assert!(!scene.has_offer(), "its death is not proven");
    scene.keeper(KeeperEvent::CutOff);
    assert!(scene.last.is_empty());
    scene.dies();
    assert_eq!(scene.last(), ["t1 lost death", "ended", "doubted m0 asking", "offer shown"]);
    assert_eq!(scene.queue(), ["m1"], "what waits is held by the offer");

    // A message that it was never told is at nobody.
    let mut scene = Scene::idle();
    scene.send("m1");
    let frame = scene.frame();
    scene.keeper(KeeperEvent::FrameBegun(frame)).keeper(KeeperEvent::CutOff).dies();
    assert!(scene.has_offer());
    assert_eq!((scene.at_agent(), scene.stranded()), (None, vec!["m1 refused".to_owned()]));

    // A chat at rest loses its agent and nothing else, also one that was about to be released: the
    // keeper refuses that release, because it has told of this meanwhile.
    for releases in [false, true] {
        let mut scene = Scene::idle();
        if releases {
            scene.quiet(u64::MAX / 4, Some(1));
            assert_eq!(scene.last(), ["stop idle"]);
        }
        scene.keeper(KeeperEvent::CutOff).keeper(KeeperEvent::StopRefused);
        assert_eq!(
            crate::effect::owed(&scene.chat).unwrap().stop,
            Some(StopWhy::Offered(Cause::AgentDied))
        );
        scene.dies();
        assert!(!scene.has_offer() && scene.failure().is_none());
        scene.send("m1");
        assert!(scene.has_agent(), "the next message starts another");
    }

    // What a person ordered stays what it is.
    let mut scene = Scene::working();
    scene.stop(StopWhy::Ordered).keeper(KeeperEvent::CutOff);
    assert!(scene.last.is_empty());
}

#[test]
fn an_agent_that_is_cut_off_before_it_is_ready_has_failed_to_start() {
    for lost in [false, true] {
        let mut scene = Scene::starting();
        scene.born().keeper(KeeperEvent::CutOff);
        assert_eq!(scene.last(), ["stop offered(agentdied)"]);
        if lost {
            scene.lost()
        } else {
            scene.dies()
        };
        assert!(!scene.has_offer() && !scene.has_agent(), "it is not started again and again");
        assert_eq!(scene.failure(), Some("agent_died"));
        assert_eq!(scene.queue(), ["m0"]);
    }
    // A resume that took nothing leaves the offer that is there.
    let mut scene = Scene::working();
    scene.quit().does(resume_command(Some(Choice::Discard)));
    scene.born().ready().keeper(KeeperEvent::CutOff).dies();
    assert!(scene.has_offer());
    assert_eq!(scene.failure(), Some("agent_died"));
}
