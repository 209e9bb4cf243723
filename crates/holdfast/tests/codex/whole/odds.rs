//! Errors of the model, a full context, pictures, another model and mode.

use holdfast_testkit::codex;
use holdfast_testkit::scripted::one_by_one;
use serde_json::json;

use super::Whole;
use crate::lab::Lab;

fn refused(name: &str, code: u16) {
    let lab = Lab::new();
    let host = lab.place.start();
    let whole = Whole::open(&host, &lab, "auto");
    whole.say(&format!("[[status {code}]]"));
    whole.say("[[say still here]]");
    whole.is(name);
    host.stop();
}

#[test]
fn a_model_that_is_overloaded() {
    refused("error-529", 529);
}

#[test]
fn a_model_that_fails() {
    refused("error-500", 500);
}

#[test]
fn a_model_that_takes_the_request_for_a_bad_one() {
    refused("error-400", 400);
}

/// Its window is full by what the model reports: Codex makes room before it goes on. A person cannot ask
/// for it: Codex tells no commands.
#[test]
fn a_context_that_is_full() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "auto");
    // It adds what it guesses of its own instructions, and these name folders.
    whole.counters.push("total_tokens");
    whole.say("[[usage 250000]] [[say a lot]]");
    whole.say("[[say and on]]");
    assert_eq!(host.get(&whole.path("/commands"))["items"], json!([]));
    whole.is("compaction");
    host.stop();
}

#[test]
fn a_context_that_is_full_in_the_middle_of_a_turn() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "full-access");
    whole.counters.push("total_tokens");
    whole
        .say(&one_by_one(&[&format!("[[usage 250000]] {}", codex::exec("echo one")), "[[say x]]"]));
    whole.is("compaction-in-turn");
    host.stop();
}

/// A PNG of one pixel.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

#[test]
fn a_picture() {
    let lab = Lab::new();
    let host = lab.place.start();
    let whole = Whole::open(&host, &lab, "auto");
    let target = format!("/api/v1{}", whole.path("/attachments?name=dot.png"));
    let request = host.raw("POST", &target).header("content-type", "image/png").body(PNG);
    let file = host.exchange(&request).json()["id"].clone();
    let body = json!({ "text": "[[say seen]] look", "attachments": [file] });
    let sent = host.post(&whole.path("/messages"), &body).ok();
    whole.rests(sent["message"]["id"].as_str().unwrap());
    whole.is("picture");
    host.stop();
}

#[test]
fn another_model_and_mode() {
    let lab = Lab::new();
    let host = lab.place.start();
    let whole = Whole::open(&host, &lab, "auto");
    whole.say("[[say one]]");
    let wanted = json!({ "model": codex::MODEL_OLDER_AGENTS, "mode": "full-access" });
    host.call("PATCH", &whole.path(""), &wanted).ok();
    let run = codex::exec("echo free > ../free.txt; cat ../free.txt");
    whole.say(&one_by_one(&[&run, "[[say two]]"]));
    whole.is("model-and-mode");
    host.stop();
}
