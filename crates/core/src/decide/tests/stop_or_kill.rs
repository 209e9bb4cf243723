//! A graceful stop and a kill of everything at the same point give the same offer with the same
//! sentence; only the cause differs.

use super::*;
use crate::offer::{details, sentence};

/// A chat in which everything happens that a snapshot tells of.
const SCRIPT: &[Does] = &[
    |s| {
        s.send("m0");
    },
    |s| {
        s.born();
    },
    |s| {
        s.ready();
    },
    |s| {
        s.send("q1");
    },
    |s| {
        s.written();
    },
    |s| {
        s.taken();
    },
    |s| {
        s.task(1, TaskKind::Agent, "look around");
    },
    |s| {
        s.prompt(1, PromptKind::Question, "Can I attach a debugger?");
    },
    |s| {
        s.task(2, TaskKind::Monitor, "ci");
    },
    |s| {
        let answer = s.answer(1);
        s.does(answer);
    },
    |s| {
        s.written();
    },
    |s| {
        s.says(ProviderEvent::AnswerTaken { prompt: 1 });
    },
    |s| {
        s.does(Command::Interrupt);
    },
    |s| {
        s.ends(TurnEnd::Interrupted);
    },
    |s| {
        s.says(ProviderEvent::TaskEnded { task: 1, how: crate::provider::TaskEnd::Failed });
    },
    |s| {
        s.prompt(2, PromptKind::Approval, "rm -r build");
    },
    |s| {
        s.says(ProviderEvent::PromptGone { prompt: 2 });
    },
    |s| {
        s.says(ProviderEvent::TaskEnded { task: 2, how: crate::provider::TaskEnd::Completed });
    },
    |s| {
        s.stirred();
    },
    |s| {
        s.quiet(crate::limits::QUIET_TURN_MICROS, None);
    },
    |s| {
        s.does(Command::ResumeQueue);
    },
    |s| {
        s.runs();
    },
];

/// The snapshot that is offered, and what else a person finds.
fn found(scene: &Scene) -> (Option<Snapshot>, Vec<String>, Vec<String>, Shown) {
    let snapshot = scene.chat.head.shown_offer().and(scene.snapshot.clone());
    (snapshot, scene.queue(), scene.stranded(), scene.shown())
}

#[test]
fn a_stop_and_a_kill_leave_the_same() {
    let mut scene = Scene::open();
    let mut sentences = Vec::new();
    for step in SCRIPT {
        step(&mut scene);
        let (mut stopped, mut killed) = (scene.clone(), scene.clone());
        // What the agent says of its own end is no part of it.
        stopped.stop(StopWhy::Offered(Cause::Quit)).stirred().dies();
        let signalled = KeeperEvent::Signalled { cause: Cause::HostLost };
        killed.keeper(signalled).stirred().lost();
        let mut lost = scene.clone();
        lost.lost();
        assert_eq!(found(&stopped), found(&killed), "after {:?}", scene.last());
        assert_eq!(found(&stopped), found(&lost), "after {:?}", scene.last());
        if let Some(snapshot) = found(&stopped).0 {
            let mut lines = vec![sentence(&snapshot).text];
            lines.extend(details(&snapshot));
            sentences.push(lines.join(" / "));
        }
        // Twice is once.
        let mut twice = stopped.clone();
        twice.stop(StopWhy::Offered(Cause::Quit)).lost();
        assert_eq!(found(&stopped), found(&twice));
    }
    sentences.dedup();
    assert_eq!(
        sentences,
        [
            "Was starting",
            "Was mid-reply",
            "Was mid-reply · Subagent running: look around / look around",
            "Waiting for your answer: Can I attach a debugger? · Subagent running: look around \
             / Can I attach a debugger? / look around",
            "Waiting for your answer: Can I attach a debugger? · Subagent running: look around \
             · Monitoring: ci / Can I attach a debugger? / look around / ci",
            "Was mid-reply · Subagent running: look around / look around / ci",
            "Subagent running: look around · Monitoring: ci / look around / ci",
            "Monitoring: ci / ci",
            "Waiting for your approval: rm -r build · Monitoring: ci / rm -r build / ci",
            "Monitoring: ci / ci",
            "Was mid-reply",
        ]
    );
}
