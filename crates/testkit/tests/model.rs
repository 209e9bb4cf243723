//! The scripted model server as a program, spoken to over a socket.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: helpers may fail it, and it starts real processes"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use holdfast_testkit::model::{ModelServer, Purpose, TITLE};
use serde_json::{Value, json};

/// Posts a body; gives the status and the body of the answer.
fn post(port: u16, body: &Value) -> (u16, String) {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let body = body.to_string();
    write!(
        socket,
        "POST /v1/chat/completions HTTP/1.0\r\nhost: x\r\ncontent-type: application/json\r\n\
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
