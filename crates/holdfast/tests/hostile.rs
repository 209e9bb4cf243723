//! What agents write is hostile: whatever it is, it costs one visible item in one chat.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::cell::Cell;

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::{proc, scenario};
use serde_json::{Value, json};

const MIB: u64 = 1024 * 1024;
/// The longest line of an agent that is kept whole.
const LINE_BYTES_MAX: u64 = 16 * MIB;
/// What is kept of a longer one.
const HEAD_BYTES: u64 = 64 * 1024;
/// The private memory of a keeper, whatever passes through it.
const KEEPER_ANONYMOUS_BYTES_MAX: u64 = 3 * MIB / 2;
/// The memory of a host while the longest lines pass: some copies of one line, and itself.
const HOST_RESIDENT_BYTES_MAX: u64 = 160 * MIB;

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

/// The directive that writes these bytes as a line.
fn raw(line: &[u8]) -> String {
    let text: String = line.iter().map(|byte| char::from(*byte)).collect();
    format!("[[raw {}]]", serde_json::to_string(&text).unwrap().replace(']', "\\u005d"))
}

/// A chunk of the agent's message; `text` stands in it as JSON, as it is.
fn chunk(text: &str) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$SESSION","update":{"sessionUpdate":"agent_message_chunk","messageId":"odd","content":{"type":"text","text":""#;
    format!("{head}{text}\"}}}}}}}}").into_bytes()
}

/// The reasons of what could not be read, in order.
fn reasons(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let items = host.items(chat);
    let odd = items.iter().filter(|item| item["kind"] == "unrecognised");
    odd.map(|item| item["reason"].as_str().unwrap().to_owned()).collect()
}

/// Sends a message and waits until its turn has ended well.
#[track_caller]
fn turn(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

/// A chat that streams beside what a test does, and what it has to have said.
struct Bystander {
    chat: String,
    message: String,
}

impl Bystander {
    const LINES: usize = 150;

    fn start(host: &TestHost<'_>) -> Self {
        let chat = host.open();
        let message = host.send(&chat, &format!("[[stream {} 10]]", Self::LINES));
        host.wait("the bystander's first line", || !host.said(&chat).is_empty());
        Self { chat, message }
    }

    #[track_caller]
    fn is_unharmed(&self, host: &TestHost<'_>) {
        host.wait_message(&self.chat, &self.message, "settled");
        let whole: String = (1..=Self::LINES).map(|number| format!("line {number}\n")).collect();
        assert_eq!(host.said(&self.chat), whole);
        assert_eq!(reasons(host, &self.chat), [""; 0]);
    }
}

#[test]
fn odd_bytes_are_shown_and_kept_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let bystander = Bystander::start(&host);
    let chat = host.open();
    let lines: [&[u8]; 7] = [
        b"\xff\xfe not UTF-8",
        b"npm warn deprecated",
        b"\0",
        b"[]",
        b"{\"jsonrpc\":\"2.0\"",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"no/such\",\"params\":{}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}",
    ];
    let lines: String = lines.iter().map(|line| raw(line)).collect();
    turn(&host, &chat, &format!("{lines}[[say and on]]"));
    assert_eq!(
        reasons(&host, &chat),
        [
            "invalid_utf8",
            "invalid_json",
            "invalid_json",
            "not_json_rpc",
            "invalid_json",
            "unknown_notification",
            "bad_request_id",
        ]
    );
    assert!(host.said(&chat).ends_with("and on"));

    // Half characters are mended; what a terminal would obey is kept and not obeyed.
    let chat = host.open();
    let osc = "\\u001b]52;c;aGk=\\u0007\\u001b[2J\\r\\u0000";
    let odd =
        [chunk("a\\ud83d"), chunk("\\ude00b"), chunk(osc), chunk("\\ud83d\\ude00")].concat_raw();
    turn(&host, &chat, &odd);
    let kept = "a\u{fffd}\u{fffd}b\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\r\0\u{1f600}";
    assert_eq!(host.said(&chat), kept);
    assert_eq!(reasons(&host, &chat), [""; 0]);

    // A long text of nothing but escapes, read in full.
    let chat = host.open();
    let escapes = 100_000;
    turn(&host, &chat, &raw(&chunk(&"\\u001b".repeat(escapes))));
    let items = host.items(&chat);
    let full = items.iter().find(|item| item["role"] == "agent").unwrap()["full"].clone();
    assert_eq!(full["bytes"], escapes);
    let text = host.range(full["href"].as_str().unwrap(), "bytes=0-");
    assert_eq!(text.body, vec![0x1b; escapes]);

    // Very many lines that nobody can read share one line with a reason.
    let chat = host.open();
    turn(&host, &chat, &format!("{}[[say and on]]", raw(b"junk").repeat(1000)));
    let reasons = reasons(&host, &chat);
    assert_eq!(reasons.iter().filter(|reason| *reason == "invalid_json").count(), 99);
    assert_eq!(reasons.last().unwrap(), "flood");
    assert!(host.said(&chat).ends_with("and on"));

    bystander.is_unharmed(&host);
    // All of it is still there for a host that comes later, and agents of all chats still work.
    let before: Vec<Value> = host.items(&chat);
    host.kill();
    let host = place.start();
    assert_eq!(host.items(&chat), before);
    turn(&host, &chat, "[[say still]]");
    host.stop();
}

/// Several raw lines as one message.
trait Raw {
    fn concat_raw(&self) -> String;
}

impl<const N: usize> Raw for [Vec<u8>; N] {
    fn concat_raw(&self) -> String {
        self.iter().map(|line| raw(line)).collect()
    }
}

#[test]
fn a_line_up_to_the_limit_is_kept_whole_and_a_longer_one_is_an_item_with_its_head() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let bystander = Bystander::start(&host);
    let most = Cell::new(0);
    for bytes in [64 * 1024, MIB, LINE_BYTES_MAX, LINE_BYTES_MAX + 1, 200 * 1_000_000] {
        let chat = host.open();
        let message = host.send(&chat, &format!("[[line {bytes}]] [[say and on]]"));
        host.wait(&format!("the end of a line of {bytes} bytes"), || {
            for keeper in place.keepers() {
                most.set(most.get().max(proc::anonymous_bytes(keeper)));
            }
            let items = host.items(&chat);
            let own = items.iter().find(|item| item["delivery"]["message"] == message.as_str());
            own.is_some_and(|own| own["delivery"]["state"] == "settled")
        });
        let items = host.items(&chat);
        if bytes <= LINE_BYTES_MAX {
            let long = items.iter().find(|item| !item["full"].is_null()).unwrap();
            let (kept, full) = (long["full"]["bytes"].as_u64().unwrap(), &long["full"]["href"]);
            assert!(kept < bytes && bytes - kept < 300, "{kept} of {bytes}");
            let last = host.range(full.as_str().unwrap(), "bytes=-1000");
            assert_eq!(last.body, vec![b'x'; 1000]);
            assert_eq!(reasons(&host, &chat), [""; 0]);
        } else {
            assert_eq!(reasons(&host, &chat), ["oversized"]);
            let odd = items.iter().find(|item| item["kind"] == "unrecognised").unwrap();
            assert_eq!(odd["full"]["bytes"], HEAD_BYTES, "{odd}");
        }
        assert!(host.said(&chat).ends_with("and on"), "the chat lives on after {bytes} bytes");
        // Its agent is done with: what is measured next is the next one.
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    }
    assert!(most.get() > 0 && most.get() <= KEEPER_ANONYMOUS_BYTES_MAX, "keeper: {}", most.get());
    let peak = proc::peak_resident_bytes(host.pid());
    assert!(peak > 0 && peak <= HOST_RESIDENT_BYTES_MAX, "host: {peak}");
    bystander.is_unharmed(&host);
    host.stop();
}

#[test]
fn an_endless_line_stops_nobody_and_its_agent_can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[say before]] [[endless]]");
    host.wait("the beginning", || host.said(&chat) == "before");
    let bystander = Bystander::start(&host);
    let keepers = place.keepers();
    bystander.is_unharmed(&host);
    assert_eq!(host.chat(&chat)["status"]["shown"], "working");
    for keeper in keepers {
        let anonymous = proc::anonymous_bytes(keeper);
        assert!(anonymous <= KEEPER_ANONYMOUS_BYTES_MAX, "keeper: {anonymous}");
    }
    let resident = proc::resident_bytes(host.pid());
    assert!(resident <= HOST_RESIDENT_BYTES_MAX, "host: {resident}");

    host.post(&format!("/chats/{chat}/interrupt"), &json!({ "agent": "stop" })).ok();
    host.wait("the agent's end", || host.chat(&chat)["status"]["process"] == "stopped");
    assert_eq!(host.chat(&chat)["offer"], Value::Null, "a person ordered it");
    let turns = host.get(&format!("/chats/{chat}/turns"))["items"].as_array().unwrap().clone();
    assert_eq!(turns.iter().map(|turn| &turn["state"]).collect::<Vec<_>>(), ["lost"]);
    assert_eq!(reasons(&host, &chat), ["oversized"]);
    turn(&host, &chat, "[[say after]]");
    assert!(host.said(&chat).ends_with("after"));
    let items = host.items(&chat);
    let own = items.iter().find(|item| item["delivery"]["message"] == message.as_str()).unwrap();
    // The agent's own store has the message: no doubt is left.
    assert_eq!(own["delivery"]["state"], "settled", "{own}");
    host.stop();
}

#[test]
fn repeated_ids_unknown_calls_and_answers_out_of_order_end_in_one_turn_each() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let asks = br#"{"jsonrpc":"2.0","id":"same","method":"session/request_permission","params":{"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"rm"},"options":[{"optionId":"o","name":"O","kind":"allow_once"}]}}"#;
    let lines = [
        // Answers to what nobody asked, and to what was answered before.
        raw(br#"{"jsonrpc":"2.0","id":999,"result":{}}"#),
        raw(br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":9}}"#),
        raw(br#"{"jsonrpc":"2.0","id":"abc","error":{"code":1,"message":"m"}}"#),
        // A call of a method that no client has.
        raw(br#"{"jsonrpc":"2.0","id":77,"method":"fs/write_text_file","params":{}}"#),
        raw(br#"{"jsonrpc":"2.0","id":78,"method":"nope/nope","params":{}}"#),
        // The same id twice, for two questions.
        raw(asks),
        raw(asks),
        // An update of a call that was never told, and one of a session that is not there.
        raw(br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$SESSION","update":{"sessionUpdate":"tool_call_update","toolCallId":"ghost","status":"completed"}}}"#),
        raw(br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"not here"}}}}"#),
    ];
    turn(&host, &chat, &format!("{}[[say and on]]", lines.concat()));
    assert_eq!(host.said(&chat), "and on", "another session's words are not this chat's");
    for id in [json!(77), json!(78), json!("same")] {
        let mut answer = Value::Null;
        host.wait(&format!("the answer to {id}"), || {
            let answers = place.evidence().answers();
            let told = answers.into_iter().find(|answer| answer["request"] == id);
            answer = told.unwrap_or_default();
            !answer.is_null()
        });
        let code = if id == "same" { -32600 } else { -32601 };
        assert_eq!(answer["answer"]["code"], code, "{answer}");
    }
    let items = host.items(&chat);
    assert!(items.iter().all(|item| item["prompt"]["state"] != "open"), "no question stays");
    let turns = host.get(&format!("/chats/{chat}/turns"))["items"].clone();
    assert_eq!(turns.as_array().unwrap().len(), 1, "{turns}");
    assert_eq!(turns[0]["state"], "completed");

    // The answer that ends the turn comes twice, and too early: what follows is the agent's own.
    let early = raw(br#"{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}"#);
    let message = host.send(&chat, &format!("[[say one]]{early}{early}[[say two]]"));
    host.wait_message(&chat, &message, "settled");
    host.wait("all of its words", || host.said(&chat).ends_with("two"));
    turn(&host, &chat, "[[say three]]");
    assert_eq!(host.said(&chat), "and ononetwothree");
    assert_eq!(place.evidence().prompts().len(), 3, "each was written once");
    assert_eq!(place.evidence().pids().len(), 1);
    host.stop();
}

#[test]
fn an_agent_that_ends_well_in_the_middle_of_a_turn_is_lost_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let bystander = Bystander::start(&host);
    let chat = host.open();
    host.send(&chat, "[[say half]] [[die 0]]");
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    let offer = &scenario::offers(&host)[0];
    assert_eq!(
        (&offer["cause"], &offer["summary"]["text"]),
        (&json!("agent_died"), &json!("Was mid-reply"))
    );
    let turns = host.get(&format!("/chats/{chat}/turns"))["items"].clone();
    assert_eq!(turns.as_array().unwrap().len(), 1);
    assert_eq!((&turns[0]["state"], &turns[0]["evidence"]), (&json!("lost"), &json!("death")));
    assert_eq!(host.said(&chat), "half");
    assert_eq!(host.get("/host")["counts"]["to_resume"], 1);
    bystander.is_unharmed(&host);
    host.stop();
}

#[test]
fn more_of_anything_than_anybody_needs_is_counted_and_cut() {
    const TASKS: usize = 300;
    const TOLD_APART: usize = 256;
    const PROMPTS: usize = 80;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let bystander = Bystander::start(&host);
    // A letter that is several characters stands where a label is cut.
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}";
    let label = format!("{}{family}{}", "n".repeat(197), "n".repeat(5000));
    let tasks =
        format!("[[task 600 {label}]]").repeat(TASKS / 2) + &"[[monitor 600 m]]".repeat(TASKS / 2);
    let commands: Vec<String> = (0..PROMPTS).map(|number| format!("{number} {label}")).collect();
    let chat = host.open();
    host.send(&chat, &format!("[[title {label}]]{tasks}"));
    host.wait("all tasks", || {
        let row = host.chat(&chat);
        let more = row["activity"]["more_tasks"].as_u64().unwrap();
        more == (TASKS - TOLD_APART) as u64 && row["status"]["lead"] == "done"
    });
    host.send(&chat, &format!("[[approvals {}]]", commands.join("|")));
    host.wait_shown(&chat, "blocked");
    host.wait("all prompts", || {
        let items = host.items(&chat);
        items.iter().filter(|item| item["kind"] == "prompt").count() == PROMPTS
    });
    let row = host.chat(&chat);
    let (tasks, prompts) = (&row["activity"]["tasks"], &row["activity"]["prompts"]);
    assert_eq!(tasks.as_array().unwrap().len(), TOLD_APART, "so many are told apart");
    assert_eq!(row["activity"]["more_tasks"], TASKS - TOLD_APART, "further ones are counted");
    assert_eq!(prompts.as_array().unwrap().len(), 64, "further ones are refused");
    for label in [&tasks[0]["label"], &prompts[0]["label"], &row["title"]] {
        let label = label.as_str().unwrap();
        assert!(label.chars().count() <= 200, "{label}");
        assert!(
            label.ends_with('\u{2026}') && !label.contains('\u{200d}'),
            "no half letter: {label}"
        );
    }
    bystander.is_unharmed(&host);
    host.kill_everything();

    let host = place.start();
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    let offers = scenario::offers(&host);
    let offer = offers.iter().find(|offer| offer["chat"] == chat.as_str()).unwrap();
    let snapshot = &offer["snapshot"];
    assert_eq!(snapshot["prompts"].as_array().unwrap().len(), 4);
    assert_eq!(snapshot["tasks"].as_array().unwrap().len(), 16);
    assert_eq!(
        (&snapshot["more_prompts"], &snapshot["more_tasks"]),
        (&json!(60), &json!(TASKS - 16))
    );
    assert_eq!(snapshot["task_counts"]["agent"], TASKS / 2);
    assert_eq!(snapshot["task_counts"]["monitor"], TASKS / 2);
    let text = offer["summary"]["text"].as_str().unwrap();
    assert!(text.starts_with("Waiting for your approval: 0 nnn"), "{text}");
    assert!(text.contains(&format!("{} subagents running", TASKS / 2)), "{text}");
    host.stop();
}

#[test]
fn five_megabytes_of_a_tools_output_are_there_in_ranges() {
    const BYTES: usize = 5_000_000;
    const PART: usize = 700_000;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    turn(&host, &chat, &format!("[[output {BYTES}]]"));
    let items = host.items(&chat);
    let call = items.iter().find(|item| item["kind"] == "tool_call").unwrap();
    let output = &call["call"]["output"];
    assert_eq!(output["full"]["bytes"], BYTES);
    let head = output["text"].as_str().unwrap();
    assert!(!head.is_empty() && head.len() <= 16 * 1024);
    let href = output["full"]["href"].as_str().unwrap();
    let whole: Vec<u8> = b"0123456789abcde\n".iter().copied().cycle().take(BYTES).collect();
    let mut fetched = Vec::new();
    while fetched.len() < BYTES {
        let from = fetched.len();
        let part = host.range(href, &format!("bytes={from}-{}", from + PART - 1));
        assert_eq!(part.status, 206);
        let last = (from + PART).min(BYTES) - 1;
        let told = part.header("content-range").unwrap();
        assert_eq!(told, format!("bytes {from}-{last}/{BYTES}"));
        fetched.extend_from_slice(&part.body);
    }
    assert!(fetched == whole, "the parts are the whole");
    assert!(whole.starts_with(head.as_bytes()));
    let all = host.exchange(&host.raw("GET", href));
    assert_eq!(all.status, 200);
    assert!(all.body == whole);
    assert_eq!(host.range(href, &format!("bytes={BYTES}-")).status, 416);
    host.stop();
}
