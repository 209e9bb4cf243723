//! The head stays small, whatever an agent does.

use super::*;
use crate::limits::{HEAD_BYTES_MAX, LIVE_TASKS_MAX, OPEN_PROMPTS_MAX, STRANDED_MESSAGES_MAX};
use crate::provider::Proof;

#[test]
fn a_head_with_all_that_it_may_hold_fits() {
    let mut scene = Scene::open();
    scene.at = Micros(1_764_508_430_000_000);
    // Many attempts, so that every id is long.
    for n in 0..STRANDED_MESSAGES_MAX - 1 {
        scene.send(&format!("m{n}"));
        if n == 0 {
            scene.born().ready_as("01234567-89ab-cdef-0123-456789abcdef", ABLE);
        }
        scene.written();
        let frame = scene.frame();
        let (proof, text) = (Proof::Nothing, String::new());
        scene.says(ProviderEvent::MessageFailed { frame, proof, text });
    }
    scene.send("running").written().taken();
    for n in 0..LIVE_TASKS_MAX {
        scene.task(1000 + u32::try_from(n).unwrap(), TaskKind::Command, "c");
    }
    for n in 0..OPEN_PROMPTS_MAX {
        scene.prompt(1000 + u32::try_from(n).unwrap(), PromptKind::Approval, "a");
    }
    let bytes = serde_json::to_vec(&scene.chat.head).unwrap().len();
    assert!(bytes <= HEAD_BYTES_MAX, "{bytes}");
}
