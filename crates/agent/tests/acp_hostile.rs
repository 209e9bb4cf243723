//! Damaged copies of what real agents said: never a panic, never a state that cannot be read back.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod recorded;

use holdfast_agent::fuzz::acp;
use proptest::prelude::*;
use recorded::{lives, read};

const TRANSCRIPTS: [&str; 4] = ["codexacp-more", "gemini-more", "opencode-kill", "zedcodex-first"];

/// Lines of recordings, a few from each end, as a fuzzer's input: among them the host writes
/// messages (`m`, `w`).
fn corpus() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for name in TRANSCRIPTS {
        for life in lives(&read(name)) {
            let lines = life.agent_lines();
            for some in lines.chunks(12).take(8) {
                let mut input = b"m\nw\n".to_vec();
                for line in some {
                    // The codec of a fuzzer's run stands with the session `s`.
                    let line = line.split(r#""sessionId":""#).collect::<Vec<_>>().join(r#""x":""#);
                    input.extend_from_slice(line.as_bytes());
                    input.push(b'\n');
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
        acp(&input);
        // A prime step meets every part of the lines over the corpus.
        for at in (0..input.len()).step_by(997) {
            for bit in [0, 3, 7] {
                let mut damaged = input.clone();
                damaged[at] ^= 1 << bit;
                acp(&damaged);
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
        br#"{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":{}}}}"#,
        br#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":[]}}}"#,
        br#"{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":""}}}"#,
        br#"{"method":"session/update","method":"x"}"#,
        b"{\"method\":\"\\ud800\"}",
        b"\xed\xa0\x80",
        b"\"\\u",
        b"\"\\ud8\xc3\xa9",
    ] {
        acp(line);
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
        acp(&input);
    }

    #[test]
    fn any_bytes_are_no_panic(input in proptest::collection::vec(any::<u8>(), 0..512)) {
        acp(&input);
    }
}
