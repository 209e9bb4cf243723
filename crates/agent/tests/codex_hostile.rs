//! Damaged copies of what the real app-server of Codex said: never a panic, never a state that cannot be
//! read back.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod talks;

use holdfast_agent::fuzz::codex;
use proptest::prelude::*;
use talks::{lives, read};

const SOME: [&str; 6] = ["approve", "ask", "bg", "errors", "patch", "spawn"];

/// Lines of recordings, a few from each, as a fuzzer's input: among them the host writes messages
/// (`m`, `w`), stops a task (`s`) and answers (`a`).
fn corpus() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for name in SOME {
        for life in lives(&read(name)) {
            let lines = life.agent_lines();
            for some in lines.chunks(14).take(10) {
                let mut input = b"m\nw\n".to_vec();
                for line in some {
                    // The codec of a fuzzer's run stands with a thread of its own: what names none
                    // belongs to it.
                    let line = line.split(r#""threadId":""#).collect::<Vec<_>>().join(r#""x":""#);
                    input.extend_from_slice(line.as_bytes());
                    input.extend_from_slice(b"\na\nw\ns\n");
                }
                all.push(input);
            }
        }
    }
    all
}

#[test]
fn a_flipped_bit_is_no_panic() {
    for input in corpus() {
        codex(&input);
        // A prime step meets every part of the lines over the corpus.
        for at in (0..input.len()).step_by(1999) {
            for bit in [0, 3, 7] {
                let mut damaged = input.clone();
                damaged[at] ^= 1 << bit;
                codex(&damaged);
            }
        }
    }
}

#[test]
fn odd_lines_are_no_panic() {
    for line in [
        &b""[..],
        b"m\nw\nm\nw\nm\nm\ni\nw\n",
        br#"{"id":18446744073709551615,"result":{}}"#,
        br#"{"id":1e400,"error":{"code":1e400,"message":{}}}"#,
        br#"{"method":"turn/plan/updated","params":{"plan":{}}}"#,
        br#"{"method":"item/completed","params":{"item":{"type":"fileChange","id":"","changes":[7]}}}"#,
        br#"{"method":"item/agentMessage/delta","params":{"delta":[]}}"#,
        br#"{"method":"turn/completed","method":"x"}"#,
        b"{\"method\":\"\\ud800\"}",
        b"\xed\xa0\x80",
        b"\"\\u",
    ] {
        codex(line);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_damage_is_no_panic(
        which in 0..1000_usize,
        damage in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..8),
        cut in any::<usize>(),
    ) {
        let corpus = corpus();
        let mut input = corpus[which % corpus.len()].clone();
        for (at, byte) in damage {
            let len = input.len();
            input[at % len] = byte;
        }
        input.truncate(cut % (input.len() + 1));
        codex(&input);
    }

    #[test]
    fn any_bytes_are_no_panic(input in proptest::collection::vec(any::<u8>(), 0..512)) {
        codex(&input);
    }
}
