//! Resumes take turns: a few start at once. One that hangs, or waits for its turn, holds up nothing.

use std::fs;

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::scenario::{has_offer, offers};
use serde_json::{Value, json};

use crate::{CUT, place, resume, resumed, working};

/// Resumes that start at once.
const AT_ONCE: usize = 3;

/// A place with an agent "mute" that is the demo agent until there is a file "hang": from then on it says
/// nothing, and notes each of its starts in "hung".
fn with_mute(dir: &tempfile::TempDir) -> Place {
    let mut place = place(dir);
    let script = "if [ -e hang ]; then echo $$ >>hung; exec sleep 1000; fi; exec \"$0\" agent demo";
    let config = dir.path().join("config.toml");
    let text = format!(
        "[agents.mute]\nkind = \"acp\"\ncommand = [\"sh\", \"-c\", {script:?}, {:?}]\n",
        place.program
    );
    fs::write(&config, text).unwrap();
    place.args = vec!["--config".to_owned(), config.to_str().unwrap().to_owned()];
    place
}

/// How often the mute agent was started since it says nothing.
fn hung(place: &Place) -> usize {
    fs::read_to_string(place.work_dir().join("hung")).unwrap_or_default().lines().count()
}

fn process(host: &TestHost<'_>, chat: &str) -> Value {
    host.chat(chat)["status"]["process"].clone()
}

#[test]
fn agents_that_hang_hold_up_no_other_resume_and_one_that_waits_can_be_closed() {
    let dir = tempfile::tempdir().unwrap();
    let place = with_mute(&dir);
    let host = place.start();
    let mute: Vec<String> = (0..6)
        .map(|_| {
            let chat = host.open_with("mute");
            host.send(&chat, &format!("{CUT} {chat}"));
            host.wait("the half", || host.said(&chat) == "half");
            chat
        })
        .collect();
    let chats: Vec<String> = (0..4).map(|_| working(&host)).collect();
    host.kill_everything();
    fs::write(place.work_dir().join("hang"), "").unwrap();
    let host = place.start();
    host.wait("all offers", || offers(&host).len() == mute.len() + chats.len());
    host.wait("the burials", || place.attempts().is_empty());

    // The mute ones come first, and wait for one another.
    for chat in mute.iter().chain(&chats) {
        assert_eq!(resume(&host, json!([chat]))[0]["outcome"], "pending");
    }
    let (closed, rest) = mute.split_last().unwrap();
    host.post(&format!("/chats/{closed}/close"), &json!({})).ok();
    host.wait("the end of one that waits", || process(&host, closed) == "stopped");
    for chat in &chats {
        resumed(&host, chat);
    }
    host.wait("the start of the mute ones", || hung(&place) == rest.len());
    assert!(rest.len() > AT_ONCE, "some of them had to wait");
    for chat in rest {
        assert!(has_offer(&host, chat));
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    }
    host.wait("the end of everything mute", || {
        mute.iter().all(|chat| process(&host, chat) == "stopped")
    });
    assert_eq!(hung(&place), rest.len(), "the closed one never had an agent");
    host.stop();
}
