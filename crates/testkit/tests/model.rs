//! The scripted model server as a program, spoken to over a socket.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: helpers may fail it, and it starts real processes"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use holdfast_testkit::model::{ModelServer, Purpose, TITLE};
use holdfast_testkit::wait_until;
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(30);

/// Posts a body to Chat Completions; gives the status and the body of the answer.
fn post(port: u16, body: &Value) -> (u16, String) {
    post_to("/v1/chat/completions", port, body)
}

fn post_to(path: &str, port: u16, body: &Value) -> (u16, String) {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let body = body.to_string();
    write!(
        socket,
        "POST {path} HTTP/1.0\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn ask(text: &str) -> Value {
    json!({
        "model": "m",
        "stream": true,
        "messages": [
            { "role": "system", "content": "you are helpful" },
            { "role": "user", "content": text },
        ],
        "tools": [{ "type": "function" }],
    })
}

/// The data of a stream of events; the last must be `[DONE]`.
fn chunks(stream: &str) -> Vec<Value> {
    let mut data: Vec<_> = stream.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.pop(), Some("[DONE]"));
    data.iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn text(chunks: &[Value]) -> String {
    let texts = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    texts.collect()
}

#[test]
fn a_reply_is_streamed_with_usage_and_an_end() {
    let server = ModelServer::start();
    let (status, stream) = post(server.port, &ask("[[say one two]] [[slow-stream 2 1]]"));
    assert_eq!(status, 200);
    let chunks = chunks(&stream);
    assert_eq!(text(&chunks), "one twochunk 1 chunk 2 ");
    let [.., end, usage] = &chunks[..] else { panic!("too few chunks: {chunks:?}") };
    assert_eq!(end["choices"][0]["finish_reason"], "stop");
    assert_eq!(usage["usage"]["total_tokens"], 110);
}

#[test]
fn a_tool_is_called_and_its_result_told() {
    let server = ModelServer::start();
    let mut body = ask("[[tool bash {\"command\": \"ls\"}]]");
    let (_, stream) = post(server.port, &body);
    let chunks = chunks(&stream);
    let call = &chunks[1]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "bash");
    assert_eq!(call["function"]["arguments"], "{\"command\":\"ls\"}");
    assert_eq!(chunks[2]["choices"][0]["finish_reason"], "tool_calls");

    let result = json!({ "role": "tool", "tool_call_id": call["id"], "content": "f.txt\n" });
    body["messages"].as_array_mut().unwrap().push(result);
    body["stream"] = json!(false);
    let (_, whole) = post(server.port, &body);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["choices"][0]["message"]["content"], "tool done: f.txt");
    assert_eq!(whole["usage"]["total_tokens"], 110);
}

#[test]
fn a_title_is_told_apart_and_all_bodies_are_kept() {
    let server = ModelServer::start();
    let title = json!({
        "model": "m",
        "stream": true,
        "messages": [
            { "role": "system", "content": "You are a title generator." },
            { "role": "user", "content": "[[status 500]]" },
        ],
    });
    let (_, stream) = post(server.port, &title);
    assert_eq!(text(&chunks(&stream)), TITLE);
    post(server.port, &ask("hello"));
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].purpose, Purpose::Title);
    let turns = server.turns();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].last_user_text(), "hello");
    assert_eq!(turns[0].texts("system"), ["you are helpful"]);
    assert_eq!(turns[0].body["model"], "m");
}

#[test]
fn failures_are_answered_as_told() {
    let server = ModelServer::start();
    assert_eq!(post(server.port, &ask("[[status 503]]")).0, 503);
    assert_eq!(post(server.port, &json!("no messages")).0, 200);
}

#[test]
fn a_dropped_server_cuts_what_hangs() {
    let server = ModelServer::start();
    let mut socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let body = ask("[[hang 600]]").to_string();
    write!(
        socket,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut first = [0];
    socket.read_exact(&mut first).unwrap();
    drop(server);
    // Whether by an end or by a reset: it does not hang.
    drop(socket.read_to_end(&mut Vec::new()));
}

/// The names and the data of a stream of named events.
fn events(stream: &str) -> Vec<(String, Value)> {
    let blocks = stream.split("\n\n").filter(|block| !block.trim().is_empty());
    let event = |block: &str| {
        let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let data: Value = serde_json::from_str(line("data: ").unwrap()).unwrap();
        assert_eq!(line("event: "), data["type"].as_str());
        (data["type"].as_str().unwrap().to_owned(), data)
    };
    blocks.map(event).collect()
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn messages_are_blocks_in_a_message() {
    let server = ModelServer::start();
    let script = "[[think hm]] [[say one two]] [[tool Bash {\"command\": \"ls\"}]] [[usage 77]]";
    let mut body = ask(script);
    let (status, stream) = post_to("/v1/messages?beta=true", server.port, &body);
    assert_eq!(status, 200);
    let streamed = events(&stream);
    let expected = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(names(&streamed), expected);
    assert_eq!(streamed[0].1["message"]["usage"]["input_tokens"], 77);
    assert_eq!(streamed[3].1["delta"]["type"], "signature_delta");
    let indexes: Vec<_> = streamed[1..12].iter().map(|(_, data)| &data["index"]).collect();
    assert_eq!(indexes, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]);
    assert_eq!(streamed[9].1["content_block"]["name"], "Bash");
    assert_eq!(streamed[10].1["delta"]["partial_json"], "{\"command\":\"ls\"}");
    assert_eq!(streamed[12].1["delta"]["stop_reason"], "tool_use");

    body["stream"] = json!(false);
    let (_, whole) = post_to("/v1/messages", server.port, &body);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["content"][0], json!({ "type": "text", "text": "one two" }));
    assert_eq!(whole["content"][1]["input"], json!({ "command": "ls" }));

    let (status, refused) = post_to("/v1/messages", server.port, &ask("[[status 529]]"));
    assert_eq!(status, 529);
    let refused: Value = serde_json::from_str(&refused).unwrap();
    assert_eq!(refused["error"]["type"], "overloaded_error");
    let (_, stream) = post_to("/v1/messages", server.port, &ask("[[fail api_error]]"));
    assert_eq!(names(&events(&stream)), ["message_start", "error"]);
    let (_, count) = post_to("/v1/messages/count_tokens", server.port, &ask("x"));
    assert!(count.contains("input_tokens"), "{count}");
}

#[test]
fn responses_are_items_in_a_response() {
    let server = ModelServer::start();
    let script = "[[think hm]] [[say one two]] [[tool bash {\"command\": \"ls\"}]] [[usage 77]]";
    let mut body = ask("x");
    body["input"] = json!([
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": script }] },
    ]);
    let (status, stream) = post_to("/v1/responses", server.port, &body);
    assert_eq!(status, 200);
    let streamed = events(&stream);
    let expected = [
        "response.created",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.output_item.done",
        "response.output_item.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_item.done",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names(&streamed), expected);
    let numbers: Vec<_> = streamed.iter().filter_map(|e| e.1["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    let response = &streamed[11].1["response"];
    assert_eq!(response["usage"]["input_tokens"], 77);
    assert_eq!(response["output"].as_array().unwrap().len(), 3);
    assert_eq!(response["output"][1]["content"][0]["text"], "one two");
    assert_eq!(response["output"][2]["arguments"], "{\"command\":\"ls\"}");

    body["stream"] = json!(false);
    let (_, whole) = post_to("/v1/responses", server.port, &body);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["output"].as_array().unwrap().len(), 3);
    body["stream"] = json!(true);
    body["input"] = json!("[[say a]] [[fail rate_limit_exceeded]]");
    let (_, stream) = post_to("/v1/responses", server.port, &body);
    let last = events(&stream).pop().unwrap();
    assert_eq!(last.1["response"]["error"]["code"], "rate_limit_exceeded");
}

#[test]
fn a_gate_holds_the_stream_until_it_is_opened() {
    let server = ModelServer::start();
    let port = server.port;
    let held = std::thread::spawn(move || post(port, &ask("[[gate a]] [[say through]]")));
    wait_until(BOUND, "the request", || server.turns().len() == 1);
    server.open("b");
    assert!(!held.is_finished());
    server.open("a");
    let (_, stream) = held.join().unwrap();
    assert_eq!(text(&chunks(&stream)), "through");
    // One that is open holds nobody.
    assert_eq!(text(&chunks(&post(port, &ask("[[gate a]] [[say on]]")).1)), "on");
}

#[test]
fn what_is_counted_is_done_that_often_in_one_place() {
    let server = ModelServer::start();
    let statuses = |body: &Value| [0; 4].map(|_| post(server.port, body).0);
    let text = "[[status 503 1]] [[status 500 2]] [[say fine]]";
    assert_eq!(statuses(&ask(text)), [503, 500, 500, 200]);
    let mut later = ask("before");
    later["messages"].as_array_mut().unwrap().push(json!({ "role": "user", "content": text }));
    assert_eq!(statuses(&later), [503, 500, 500, 200]);
}

#[test]
fn the_program_says_its_port_and_logs_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut child = Command::new(env!("CARGO_BIN_EXE_scripted-model"))
        .arg("--log")
        .arg(&log)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let ready: Value = serde_json::from_str(&ready).unwrap();
    let port = u16::try_from(ready["port"].as_u64().unwrap()).unwrap();
    post(port, &ask("hello"));
    child.kill().unwrap();
    child.wait().unwrap();
    let logged = std::fs::read_to_string(&log).unwrap();
    let logged: Value = serde_json::from_str(logged.trim_end()).unwrap();
    assert_eq!(logged["is_title"], false);
    assert_eq!(logged["body"], ask("hello"));
}
