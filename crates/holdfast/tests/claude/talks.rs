//! Turns, tools and what is asked, as the API shows them.

use std::fs;

use holdfast_testkit::claude::bash;
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scripted::one_by_one;
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, choose, transcript, turns};

#[test]
fn it_talks_runs_what_is_allowed_and_stops_when_told() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let first = host.send(&chat, "[[think hm]] [[say one two three]]");
        host.wait_message(&chat, &first, "settled");
        assert_eq!(
            transcript(&host, &chat),
            ["user: [[think hm]] [[say one two three]]", "thinking: hm", "agent: one two three"]
        );
        assert_eq!(lab.told(), ["user: [[think hm]] [[say one two three]]"]);

        let tool = one_by_one(&[&bash("touch f.txt && echo made"), "[[say well done]]"]);
        let second = host.send(&chat, &tool);
        let prompt = crate::lab::open_prompt(&host, &chat);
        assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
        assert!(!lab.place.work_dir().join("f.txt").exists(), "nothing runs before it is allowed");
        assert_eq!(prompt["label"], "Bash: touch f.txt && echo made");
        choose(&host, &chat, "allow");
        host.wait_message(&chat, &second, "settled");
        assert!(lab.place.work_dir().join("f.txt").exists());
        let shown = transcript(&host, &chat);
        assert_eq!(
            shown[4..],
            [
                "Bash: a test completed: made",
                "approval Bash: touch f.txt && echo made answered allow taken",
                "agent: well done"
            ],
            "{shown:#?}"
        );
        assert_eq!(lab.told().last().unwrap(), "tool: made");

        let endless = host.send(&chat, "[[slow-stream 100000 20]]");
        host.wait("the first chunks", || host.said(&chat).contains("chunk 2"));
        host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
        host.wait_message(&chat, &endless, "settled");
        let last = host.send(&chat, "[[say still here]]");
        host.wait_message(&chat, &last, "settled");
        assert!(host.said(&chat).ends_with("still here"));
        let ended: Vec<String> = turns(&host, &chat)
            .iter()
            .map(|turn| turn.split(' ').next_back().unwrap().to_owned())
            .collect();
        assert_eq!(ended, ["completed", "completed", "interrupted", "completed"]);
        assert!(host.stop().success());
        assert_eq!(lab.place.processes(), [0; 0]);
    }
}

/// A PNG of one pixel.
pub(crate) const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

#[test]
fn what_is_attached_reaches_the_model() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let attach = |name: &str, kind: &str, bytes: &[u8]| {
            let target = format!("/api/v1/chats/{chat}/attachments?name={name}");
            let request = host.raw("POST", &target).header("content-type", kind).body(bytes);
            host.exchange(&request).json()["id"].as_str().unwrap().to_owned()
        };
        let files = [
            attach("dot.png", "image/png", PNG),
            attach("note.md", "text/markdown", b"the word is grassland"),
        ];
        let body = json!({ "text": "[[say seen]] look", "attachments": files });
        let sent = host.post(&format!("/chats/{chat}/messages"), &body).ok();
        host.wait_message(&chat, sent["message"]["id"].as_str().unwrap(), "settled");
        let told = lab.told();
        assert!(told.iter().any(|said| said.starts_with("image: ")), "{told:?}");
        assert!(told.iter().any(|said| said.contains("the word is grassland")), "{told:?}");
        host.stop();
    }
}

#[test]
fn host_agent_and_model_need_and_ask_nothing_but_loopback() {
    // The install may need the network; what runs then may not.
    for version in VERSIONS {
        version.ensure().unwrap_or_else(|error| panic!("{error}"));
    }
    let asked = holdfast_testkit::loopback::assert_nothing_else(&[
        "talks::it_talks_runs_what_is_allowed_and_stops_when_told",
    ]);
    assert!(asked.len() > 5, "the connections were seen: {asked:?}");
}

/// A command of the project's own, as the CLI reads it.
const GREET: &str = "---\ndescription: Greets somebody\nargument-hint: NAME\n---\n[[say greeted]] Greet $ARGUMENTS.\n";

#[test]
fn its_commands_are_listed_also_when_no_agent_runs_and_reach_the_model_as_it_makes_them() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let folder = lab.place.work_dir().join(".claude/commands");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("greet.md"), GREET).unwrap();
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let listed = |host: &TestHost<'_>, chat: &str| {
            host.get(&format!("/chats/{chat}/commands"))["items"].as_array().unwrap().clone()
        };
        assert_eq!(listed(&host, &chat), [Value::Null; 0], "no agent of this place has run");
        let message = host.send(&chat, "/greet Ada");
        host.wait_message(&chat, &message, "settled");
        let told = lab.told();
        assert!(told.iter().any(|said| said.contains("Greet Ada.")), "{told:?}");
        let commands = listed(&host, &chat);
        let named = |name: &str| commands.iter().find(|it| it["name"] == name).cloned();
        let greet = named("greet").unwrap_or_else(|| panic!("{commands:#?}"));
        assert!(greet["description"].as_str().unwrap().starts_with("Greets somebody"), "{greet}");
        assert_eq!(greet["hint"], "NAME");
        assert!(named("compact").is_some(), "{commands:#?}");
        host.kill_everything();

        let host = lab.place.start();
        assert_eq!(listed(&host, &chat), commands);
        let other = host.open_with("claude");
        assert_eq!(listed(&host, &other), commands, "what was told last in this directory");
        host.stop();
    }
}
