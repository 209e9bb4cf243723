//! Damaged copies of what the real CLI said: never a panic, never a state that cannot be read back.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod recorded_claude;

use holdfast_agent::fuzz::claude;
use proptest::prelude::*;
use recorded_claude::{names, talk};

/// Lines of all recordings, a few at a time, as a fuzzer's input: among them the host writes messages
/// (`m`, `w`), answers what is asked (`a`, `w`), and stops what runs (`s`, `w`).
fn corpus() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for name in names() {
        for some in talk(&name).agent_lines().chunks(10) {
            let mut input = b"m\nb\nw\n".to_vec();
            for line in some {
                input.extend_from_slice(line.as_bytes());
                input.extend_from_slice(b"\na\nw\n");
            }
            input.extend_from_slice(b"s\nw\ni\nw\n");
            all.push(input);
        }
    }
    all
}

#[test]
fn a_flipped_bit_is_no_panic() {
    for (n, input) in corpus().into_iter().enumerate() {
        claude(&input);
        // A prime step meets every part of the lines over the corpus.
        for at in (n % 1999..input.len()).step_by(1999) {
            for bit in [0, 3, 7] {
                let mut damaged = input.clone();
                damaged[at] ^= 1 << bit;
                claude(&damaged);
            }
        }
    }
}

#[test]
fn odd_lines_are_no_panic() {
    for line in [
        &b""[..],
        b"m\nw\nm\nw\nm\nm\ni\nw\n",
        br#"{"type":7}"#,
        br#"{"type":"result","num_turns":1e400,"total_cost_usd":1e400,"usage":{"input_tokens":1e99}}"#,
        br#"{"type":"result","modelUsage":{"a":{"costUSD":-1}},"model_usage_since_last_result":{"a":7}}"#,
        br#"{"type":"assistant","message":{"content":{}}}"#,
        br#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#,
        br#"{"type":"user","message":{"content":[{"type":"tool_result"}]}}"#,
        br#"{"type":"control_request"}"#,
        br#"{"type":"control_request","request_id":"","request":{"subtype":"can_use_tool"}}"#,
        br#"{"type":"control_response","response":{"request_id":"holdfast-99999999999999999999"}}"#,
        br#"{"type":"system","subtype":"background_tasks_changed","tasks":[7,{"task_id":7}]}"#,
        br#"{"type":"system","type":"x"}"#,
        b"{\"type\":\"\\ud800\"}",
        b"\xed\xa0\x80",
        b"\"\\u",
    ] {
        claude(line);
    }
}

/// A flood of everything that the state keeps stays within its bound.
#[test]
fn a_flood_is_bounded() {
    let mut input = b"m\nb\nw\n".to_vec();
    for n in 0..2000 {
        let long = "x\\n".repeat(n % 300);
        input.extend_from_slice(
            format!(
                concat!(
                    r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t{0}","name":"Bash","input":{{"command":"{1}"}}}}]}}}}"#,
                    "\n",
                    r#"{{"type":"system","subtype":"task_started","task_id":"k{0}{1}","tool_use_id":"t{0}","is_backgrounded":true,"task_type":"local_bash"}}"#,
                    "\n",
                    r#"{{"type":"control_request","request_id":"r{0}","request":{{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t{0}","input":{{"command":"{1}"}},"permission_suggestions":[{{"type":"addRules","rules":["{1}"]}}],"agent_id":"a"}}}}"#,
                    "\n",
                    r#"{{"type":"surprise","n":"{0}{1}"}}"#,
                    "\n",
                ),
                n, long
            )
            .as_bytes(),
        );
    }
    claude(&input);
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
        claude(&input);
    }

    #[test]
    fn any_bytes_are_no_panic(input in proptest::collection::vec(any::<u8>(), 0..512)) {
        claude(&input);
    }
}
