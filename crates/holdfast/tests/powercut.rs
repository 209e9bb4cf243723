//! Power cuts: whatever was not synced is lost, of the journal, of the spool, of the agent's own
//! store; the next start is another boot. What was acknowledged is there all the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::path::Path;

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::powercut::{Lost, PowerCut};
use serde_json::{Value, json};

const ROUNDS: u64 = 8;

/// A message that was acknowledged, and its text, which no other has.
struct Acknowledged {
    chat: String,
    message: String,
    text: String,
}

/// A small generator: the rounds of one seed are always the same.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }
}

#[test]
fn what_was_acknowledged_survives_power_cuts() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("place");
    let program = Path::new(env!("CARGO_BIN_EXE_holdfast"));
    let tools = dir.path().join("power");
    std::fs::create_dir(&tools).unwrap();
    let roots = [root.join("data"), root.join("demo")];
    let mut power = PowerCut::prepare(program, &tools, &roots);
    let place = Place::new(&power.program, &root);
    let mut seeded = Seeded(20_261_130);
    let mut all: Vec<Acknowledged> = Vec::new();
    let mut lost = Lost::default();
    let mut chats = Vec::new();
    for round in 0..ROUNDS {
        let host = place.start();
        check(&host, &all);
        settle(&host, &chats);
        if round % 3 == 0 {
            chats.push(host.open());
        }
        for n in 0..4 {
            let chat = chats[usize::try_from(seeded.below(chats.len() as u64)).unwrap()].clone();
            let text = format!("round {round} message {n} [[stream 15 3]]");
            // The chat may be behind an offer that could not be settled: then it says so.
            let message = host.send(&chat, &text);
            all.push(Acknowledged { chat, message, text });
        }
        // Somewhere in the middle of it: after some of the agents' words.
        let words = 1 + usize::try_from(seeded.below(25)).unwrap();
        let before = place.evidence().events().len();
        host.wait("the agents to be at it", || place.evidence().events().len() >= before + words);
        host.kill_everything();
        let whole = seeded.below(2) == 0;
        let cut =
            power.cut(|n| if whole { 0 } else { usize::try_from(seeded.below(n as u64)).unwrap() });
        lost.files += cut.files;
        lost.writes += cut.writes;
    }
    assert!(lost.writes > 0, "a power cut that loses nothing proves nothing");
    let host = place.start();
    check(&host, &all);
    settle(&host, &chats);
    host.wait("everything to be settled", || all.iter().all(|one| state(&host, one) == "settled"));
    for one in &all {
        assert!(place.evidence().seen(&one.text) >= 1, "{} was never seen", one.text);
    }
    host.stop();
}

/// Every message that was acknowledged is there, in its chat, with its text and a state.
fn check(host: &TestHost<'_>, all: &[Acknowledged]) {
    for one in all {
        let state = state(host, one);
        let known = ["queued", "handed", "taken", "settled", "refused", "unknown"];
        assert!(known.contains(&state.as_str()), "{} is {state:?}", one.text);
    }
}

fn state(host: &TestHost<'_>, one: &Acknowledged) -> String {
    let queue = host.get(&format!("/chats/{}/queue", one.chat));
    let queued = queue["items"].as_array().unwrap().iter().find(|m| m["message"] == one.message);
    if let Some(queued) = queued {
        assert_eq!(queued["text"], one.text.as_str());
        return "queued".to_owned();
    }
    let items = host.items(&one.chat);
    let item = items.iter().find(|item| item["delivery"]["message"] == one.message);
    let item = item.unwrap_or_else(|| panic!("{} is lost", one.text));
    assert_eq!(item["text"], one.text.as_str());
    item["delivery"]["state"].as_str().unwrap().to_owned()
}

/// What a person does after a power cut: carries on with every offer, and has sent again whatever
/// nobody can say the fate of.
fn settle(host: &TestHost<'_>, chats: &[String]) {
    for chat in chats {
        host.wait("the chat to be adopted", || host.chat(chat)["status"]["process"] != "stopping");
        host.wait("every offer and doubt to be settled", || {
            let offers = host.get("/offers");
            let offer = offers["offers"].as_array().unwrap().iter().find(|o| o["chat"] == **chat);
            if let Some(offer) = offer {
                let choice = if offer["needs_choice"] == true { "send_again" } else { "" };
                let mut one = json!({ "chat": chat, "recorded_at": offer["recorded_at"] });
                if !choice.is_empty() {
                    one["choice"] = Value::from(choice);
                }
                host.post("/offers/resume", &json!({ "chats": [one] })).ok();
                return false;
            }
            let items = host.items(chat);
            let doubt = items.iter().find(|item| {
                matches!(item["delivery"]["state"].as_str(), Some("unknown" | "refused"))
            });
            if let Some(item) = doubt {
                let message = item["delivery"]["message"].as_str().unwrap();
                let path = format!("/chats/{chat}/messages/{message}/resolve");
                host.post(&path, &json!({ "choice": "send_again" }));
                return false;
            }
            true
        });
    }
}
