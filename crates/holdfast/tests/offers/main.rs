//! Offers over the API: every cause, every ending, and never two continuations. What agents were
//! told is read from their own log.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod cut_short;
mod fresh;
mod turns;

use std::fs;

use holdfast_testkit::events::{Listen, Mirror, Sse};
use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::proc;
use holdfast_testkit::scenario::{has_offer, offers};
use serde_json::{Value, json};

const CONTINUES: &str = "Your work in this chat was stopped from outside";
/// A turn that does not end by itself, and what it says first.
const CUT: &str = "[[say half]] [[slow 600]]";

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

/// Opens a chat in the middle of a turn. Its id is in its first message, by which its agent's session
/// is told from others.
fn working(host: &TestHost<'_>) -> String {
    let chat = host.open();
    host.send(&chat, &format!("{CUT} {chat}"));
    host.wait("the half", || host.said(&chat) == "half");
    chat
}

/// What the agent of a chat was told, in order, by the session in which it was told.
fn told(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let mut events = host.place.evidence().events();
    events.retain(|event| event["prompt"].is_string());
    let text = |event: &Value| event["prompt"].as_str().unwrap().to_owned();
    let first = events.iter().find(|event| text(event).ends_with(chat));
    let session = first.map(|event| event["session"].clone()).unwrap_or_default();
    events.iter().filter(|event| event["session"] == session).map(text).collect()
}

fn continuations(place: &Place) -> usize {
    place.evidence().prompts().iter().filter(|text| text.starts_with(CONTINUES)).count()
}

fn offer_of(host: &TestHost<'_>, chat: &str) -> Value {
    offers(host).into_iter().find(|offer| offer["chat"] == chat).unwrap_or_default()
}

fn failure_of(host: &TestHost<'_>, chat: &str) -> Value {
    let failures = host.get("/offers")["failures"].as_array().unwrap().clone();
    failures.into_iter().find(|failure| failure["chat"] == chat).unwrap_or_default()
}

fn to_resume(host: &TestHost<'_>) -> Value {
    host.get("/host")["counts"]["to_resume"].clone()
}

#[track_caller]
fn resume(host: &TestHost<'_>, chats: Value) -> Vec<Value> {
    let answer = host.post("/offers/resume", &json!({ "chats": chats })).ok();
    answer["results"].as_array().unwrap().clone()
}

#[track_caller]
fn resumed(host: &TestHost<'_>, chat: &str) {
    host.wait("the offer's end", || !has_offer(host, chat));
    host.wait_shown(chat, "idle");
}

/// Waits until the stream has told that a chat's offer is there, or is gone.
fn told_offer(stream: &mut Sse, mirror: &mut Mirror, chat: &str, there: bool) {
    while mirror.offers.contains_key(chat) != there {
        mirror.take(chat, &stream.next().expect("the stream goes on"));
    }
}

#[test]
fn every_cause_is_told_with_the_same_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut seen = Vec::new();
    for cause in ["agent_died", "keeper_lost", "host_lost", "quit"] {
        let mut host = place.start();
        let mut stream = Sse::open(&host, None, &[]);
        let mut mirror = Mirror::default();
        let chat = working(&host);
        let keeper = *place.keepers().last().unwrap();
        match cause {
            "agent_died" => {
                let agents: Vec<u32> =
                    place.keepers().into_iter().flat_map(proc::children).collect();
                assert_eq!(agents.len(), 1);
                proc::kill_9(agents[0]).unwrap();
            }
            "keeper_lost" => proc::kill_9(keeper).unwrap(),
            "host_lost" => {
                host.kill_everything();
                host = place.start();
                stream = Sse::open(&host, None, &[]);
            }
            _ => {
                assert!(host.stop().success());
                host = place.start();
                stream = Sse::open(&host, None, &[]);
            }
        }
        told_offer(&mut stream, &mut mirror, &chat, true);
        host.wait("the offer", || has_offer(&host, &chat));
        let offer = offer_of(&host, &chat);
        assert_eq!(mirror.offers[&chat], offer, "the stream tells what the list tells");
        assert_eq!(offer["cause"], cause);
        assert_eq!(offer["summary"]["text"], "Was mid-reply");
        assert_eq!(offer["snapshot"]["lead"], "working");
        assert_eq!((&offer["readable"], &offer["resuming"]), (&json!(true), &json!(false)));
        assert_eq!(to_resume(&host), 1);
        let row = host.chat(&chat);
        assert_eq!(row["offer"]["cause"], cause);
        // What it was given last is asked about by the resume: nothing is to be checked.
        assert_eq!(
            (&row["status"]["shown"], &row["status"]["process"]),
            (&json!("idle"), &json!("stopped"))
        );
        assert_eq!(host.get("/host")["counts"]["to_check"], 0);
        let items = host.items(&chat);
        let notice = items.iter().rfind(|item| item["kind"] == "notice").unwrap();
        assert_eq!(
            (&notice["notice"]["kind"], &notice["notice"]["cause"]),
            (&json!("stopped"), &json!(cause))
        );
        let turns = host.get(&format!("/chats/{chat}/turns"))["items"].clone();
        assert_eq!(turns.as_array().unwrap().len(), 1);
        assert_eq!(turns[0]["state"], "lost");
        host.wait("the death of everything", || place.processes().is_empty());

        let results = resume(&host, json!([chat]));
        assert_eq!(results[0]["outcome"], "pending", "{results:?}");
        told_offer(&mut stream, &mut mirror, &chat, false);
        resumed(&host, &chat);
        assert_eq!(to_resume(&host), 0);
        let own = told(&host, &chat);
        assert_eq!(own.len(), 2, "{own:?}");
        assert!(own[0].starts_with(CUT) && own[1].starts_with(CONTINUES));
        let receipt = results[0]["receipt"].as_str().unwrap();
        assert_eq!(host.get(&format!("/receipts/{receipt}"))["state"], "settled");
        let items = host.items(&chat);
        let resumed = items.iter().filter(|item| item["notice"]["kind"] == "resumed").count();
        assert_eq!(resumed, 1, "the transcript says that it goes on");
        seen.push(offer["summary"].clone());
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
        host.stop();
    }
    assert!(seen.iter().all(|summary| *summary == seen[0]), "{seen:?}");
}

/// What a person does about an offer with two messages waiting beside it, and what comes of it.
struct Ending {
    act: fn(&TestHost<'_>, &str, &[String]),
    /// What the agent is told after what was cut, where it is told anything.
    told: &'static [&'static str],
    /// What is still waiting, and what holds it.
    waits: &'static [&'static str],
    held: Value,
}

fn endings() -> Vec<(&'static str, Ending)> {
    vec![
        (
            "dismissed",
            Ending {
                act: |host, chat, _| {
                    let answer = host.post("/offers/dismiss", &json!({ "chats": [chat] })).ok();
                    assert_eq!(answer["results"][0]["outcome"], "dismissed");
                },
                told: &[],
                waits: &["one", "two"],
                held: json!("dismiss"),
            },
        ),
        (
            "own message",
            Ending {
                act: |host, chat, _| {
                    host.send(chat, "own");
                },
                told: &["one", "two", "own"],
                waits: &[],
                held: Value::Null,
            },
        ),
        (
            "queue resumed",
            Ending {
                act: |host, chat, _| {
                    host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
                },
                told: &["one", "two"],
                waits: &[],
                held: Value::Null,
            },
        ),
        (
            "sent now",
            Ending {
                act: |host, chat, waiting| {
                    let path = format!("/chats/{chat}/queue/{}/send-now", waiting[1]);
                    host.post(&path, &json!({})).ok();
                },
                told: &["two", "one"],
                waits: &[],
                held: Value::Null,
            },
        ),
        (
            "resumed",
            Ending {
                act: |host, chat, _| {
                    assert_eq!(resume(host, json!([chat]))[0]["outcome"], "pending");
                },
                told: &[CONTINUES, "one", "two"],
                waits: &[],
                held: Value::Null,
            },
        ),
        (
            "closed",
            Ending {
                act: |host, chat, _| {
                    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
                },
                told: &[],
                waits: &["one", "two"],
                held: json!("close"),
            },
        ),
        (
            "deleted",
            Ending {
                act: |host, chat, _| {
                    host.request("DELETE", &format!("/chats/{chat}"), None).unwrap().ok();
                },
                told: &[],
                waits: &[],
                held: Value::Null,
            },
        ),
    ]
}

#[test]
fn every_ending_is_an_act_and_deletes() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let mut chats = Vec::new();
    for (name, ending) in endings() {
        let chat = working(&host);
        let waiting = vec![host.send(&chat, "one"), host.send(&chat, "two")];
        chats.push((name, ending, chat, waiting));
    }
    host.kill_everything();

    // Looking at them, and starting again and again, ends none.
    for _ in 0..3 {
        let host = place.start();
        host.wait("all offers", || offers(&host).len() == chats.len());
        for (_, _, chat, _) in &chats {
            host.items(chat);
            host.get(&format!("/chats/{chat}/turns"));
            let queue = host.get(&format!("/chats/{chat}/queue"));
            assert_eq!((&queue["paused"], &queue["reason"]), (&json!(true), &json!("offer")));
            assert_eq!(host.chat(chat)["queue_length"], 2);
        }
        assert_eq!(to_resume(&host), chats.len());
        host.kill();
    }
    let host = place.start();
    assert_eq!(offers(&host).len(), chats.len());
    assert_eq!(place.evidence().prompts().len(), chats.len(), "nothing was sent by itself");

    let mut stream = Sse::open(&host, None, &[]);
    let mut mirror = Mirror::default();
    for (done, (name, ending, chat, waiting)) in chats.iter().enumerate() {
        told_offer(&mut stream, &mut mirror, chat, true);
        (ending.act)(&host, chat, waiting);
        told_offer(&mut stream, &mut mirror, chat, false);
        host.wait("the offer's end", || !has_offer(&host, chat));
        assert_eq!(to_resume(&host), chats.len() - done - 1, "{name}");
        if *name == "deleted" {
            assert_eq!(host.request("GET", &format!("/chats/{chat}"), None).unwrap().status, 404);
            continue;
        }
        host.wait(&format!("{name}: what is told, and no more"), || {
            let lead = &host.chat(chat)["status"]["lead"];
            told(&host, chat).len() == 1 + ending.told.len() && lead == "done"
        });
        let told = told(&host, chat);
        assert!(told[0].starts_with(CUT), "{name}: {told:?}");
        for (told, wanted) in told[1..].iter().zip(ending.told) {
            assert!(told.starts_with(wanted), "{name}: {told}");
        }
        let queue = host.get(&format!("/chats/{chat}/queue"));
        let waits: Vec<_> = queue["items"].as_array().unwrap().iter().map(|i| &i["text"]).collect();
        assert_eq!(waits, ending.waits, "{name}");
        assert_eq!(queue["reason"], ending.held, "{name}");
    }

    // All of that holds across a kill. What a dismissal held goes on when a person lets it.
    host.kill_everything();
    let host = place.start();
    assert_eq!(offers(&host), [Value::Null; 0]);
    assert_eq!(continuations(&place), 1);
    let (_, _, dismissed, _) = &chats[0];
    host.post(&format!("/chats/{dismissed}/queue/resume"), &json!({})).ok();
    host.wait("the rest", || told(&host, dismissed).len() == 3);
    assert_eq!(told(&host, dismissed)[1..], ["one", "two"]);
    host.stop();
}

#[test]
fn two_clients_at_once_resume_once() {
    const CHATS: usize = 4;
    const CLIENTS: usize = 4;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chats: Vec<String> = (0..CHATS).map(|_| working(&host)).collect();
    host.kill_everything();
    let host = place.start();
    host.wait("all offers", || offers(&host).len() == CHATS);
    for chat in &chats {
        let barrier = std::sync::Barrier::new(CLIENTS);
        let answers: Vec<Value> = std::thread::scope(|scope| {
            let client = || {
                let request = host.raw("POST", "/api/v1/offers/resume");
                let request = request.body(json!({ "chats": [chat] }).to_string());
                barrier.wait();
                host.exchange(&request).json()["results"][0].clone()
            };
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let pending: Vec<_> = answers.iter().filter(|a| a["outcome"] == "pending").collect();
        assert!(!pending.is_empty(), "{answers:?}");
        for answer in &answers {
            match answer["outcome"].as_str() {
                Some("pending") => assert_eq!(answer["receipt"], pending[0]["receipt"]),
                // Whoever came when it was over already.
                Some("refused") => assert_eq!(answer["failure"]["code"], "no_offer"),
                _ => panic!("{answer}"),
            }
        }
        resumed(&host, chat);
        assert_eq!(told(&host, chat).len(), 2);
    }
    assert_eq!(continuations(&place), CHATS);
    assert_eq!(place.keepers().len(), CHATS, "one agent a chat");
    host.stop();
}

#[test]
fn only_the_offer_that_was_seen_is_acted_on() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (first, second, third) = (working(&host), working(&host), working(&host));
    host.kill_everything();
    let host = place.start();
    host.wait("all offers", || offers(&host).len() == 3);
    let old = offer_of(&host, &third)["recorded_at"].clone();
    // The third goes on, and is stopped again: another offer.
    resume(&host, json!([third]));
    resumed(&host, &third);
    let as_of = host.get("/offers")["as_of"].clone();
    host.send(&third, CUT);
    host.wait("the half", || host.said(&third).matches("half").count() == 2);
    let keepers = place.keepers();
    assert_eq!(keepers.len(), 1);
    proc::kill_9(proc::children(keepers[0])[0]).unwrap();
    host.wait("the new offer", || has_offer(&host, &third));
    let new = offer_of(&host, &third)["recorded_at"].clone();
    assert_ne!(old, new);

    for call in ["resume", "dismiss"] {
        let body = json!({ "chats": [{ "chat": third, "recorded_at": old }] });
        let answer = host.post(&format!("/offers/{call}"), &body).ok();
        assert_eq!(answer["results"][0]["outcome"], "superseded", "{answer}");
    }
    assert_eq!(offer_of(&host, &third)["recorded_at"], new);
    // All that the client had seen: not what came since.
    let answer = host.post("/offers/resume", &json!({ "chats": "all", "as_of": as_of })).ok();
    let outcome = |chat: &str| {
        let results = answer["results"].as_array().unwrap().clone();
        results.into_iter().find(|result| result["chat"] == chat).unwrap()["outcome"].clone()
    };
    assert_eq!(outcome(&first), "pending");
    assert_eq!(outcome(&second), "pending");
    assert_eq!(outcome(&third), "superseded");
    resumed(&host, &first);
    resumed(&host, &second);
    assert!(has_offer(&host, &third));
    let body = json!({ "chats": [{ "chat": third, "recorded_at": new }] });
    host.post("/offers/resume", &body).ok();
    resumed(&host, &third);
    assert_eq!(continuations(&place), 4);
    host.stop();
}

#[test]
fn a_failure_stands_beside_the_offer_and_can_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    let host = place.start();
    let (chat, healthy) = (working(&host), working(&host));
    let waiting = host.send(&chat, "it waits");
    host.kill_everything();
    place.env.insert("HOLDFAST_DEMO_REFUSE_LOAD".into(), "1".into());
    {
        let host = place.start();
        host.wait("both offers", || offers(&host).len() == 2);
        for round in 0..2 {
            assert_eq!(resume(&host, json!([chat]))[0]["outcome"], "pending");
            host.wait("the failure", || {
                failure_of(&host, &chat) != Value::Null
                    && offer_of(&host, &chat)["resuming"] == false
            });
            let failure = failure_of(&host, &chat);
            assert_eq!(failure["code"], "session_not_found", "{failure}");
            let actions = failure["actions"].as_array().unwrap();
            assert!(actions.contains(&json!("retry")), "{failure}");
            assert!(has_offer(&host, &chat), "round {round}");
            assert_eq!(host.chat(&chat)["failure"], "session_not_found");
            host.wait("the agent's end", || place.processes().is_empty());
            host.wait_shown(&chat, "to_check");
        }
        // One has a failure, the other a message about which its resume will ask.
        let counts = host.get("/host")["counts"].clone();
        assert_eq!((&counts["to_resume"], &counts["to_check"]), (&json!(2), &json!(1)));
        // All is not asked to try failures again.
        let results = resume(&host, json!("all"));
        let of = |chat: &str| results.iter().find(|result| result["chat"] == chat).unwrap();
        assert_eq!(
            (&of(&chat)["outcome"], &of(&healthy)["outcome"]),
            (&json!("refused"), &json!("pending"))
        );
        host.wait("the other failure", || failure_of(&host, &healthy) != Value::Null);
        host.kill();
    }
    place.env.remove("HOLDFAST_DEMO_REFUSE_LOAD");
    let host = place.start();
    assert_eq!(offers(&host).len(), 2, "neither offer nor failure ends by a start");
    assert_eq!(failure_of(&host, &chat)["code"], "session_not_found");
    assert_eq!(continuations(&place), 0, "no agent was given anything");
    resume(&host, json!([chat, healthy]));
    resumed(&host, &chat);
    resumed(&host, &healthy);
    host.wait_message(&chat, &waiting, "settled");
    assert_eq!(host.get("/offers")["failures"], json!([]));
    assert_eq!(host.get("/host")["counts"]["to_check"], 0);
    assert_eq!(continuations(&place), 2);
    assert_eq!(told(&host, &chat).len(), 3);
    host.stop();
}

/// Takes the last message out of what the agents of this place have written down, so that their
/// own history is too short to say anything of it.
fn forget_everything(place: &Place) {
    let mut dirs = vec![place.root.join("demo")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("{}\n", text.lines().next().unwrap())).unwrap();
        }
    }
}

#[test]
fn where_nobody_knows_a_person_chooses() {
    const FIRST: &str = "[[say first]]";
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let choices = ["arrived", "send_again", "discard"];
    let chats = choices.map(|_| {
        let chat = host.open();
        let first = host.send(&chat, FIRST);
        host.wait_message(&chat, &first, "settled");
        let cut = host.send(&chat, CUT);
        host.wait("the half", || host.said(&chat).ends_with("half"));
        (chat, cut)
    });
    host.kill_everything();
    forget_everything(&place);

    let host = place.start();
    host.wait("all offers", || offers(&host).len() == 3);
    for (chat, cut) in &chats {
        // It is asked first; what it says decides nothing, so the person is asked.
        assert_eq!(resume(&host, json!([chat]))[0]["outcome"], "pending");
        host.wait("the question", || {
            let offer = offer_of(&host, chat);
            offer["needs_choice"] == true && offer["resuming"] == false
        });
        host.wait_message(chat, cut, "unknown");
        let result = &resume(&host, json!([chat]))[0];
        assert_eq!(
            (&result["outcome"], &result["failure"]["code"]),
            (&json!("refused"), &json!("needs_choice"))
        );
    }
    for result in resume(&host, json!("all")) {
        assert_eq!(
            (&result["outcome"], &result["failure"]["code"]),
            (&json!("refused"), &json!("needs_choice"))
        );
    }
    assert_eq!(continuations(&place), 0);

    for ((chat, cut), choice) in chats.iter().zip(choices) {
        let result = resume(&host, json!([{ "chat": chat, "choice": choice }]));
        assert_eq!(result[0]["outcome"], "pending", "{result:?}");
        host.wait("the offer's end", || !has_offer(&host, chat));
        if choice == "send_again" {
            // It is sent right after the continuation, and runs on: a turn that ends by a person's word.
            host.wait("the second half", || host.said(chat).matches("half").count() == 2);
            assert_eq!(place.evidence().seen(CUT), 4);
            host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
            host.wait_message(chat, cut, "settled");
        }
        host.wait_shown(chat, "idle");
        let items = host.items(chat);
        let own = items.iter().find(|item| item["delivery"]["message"] == cut.as_str()).unwrap();
        let state = if choice == "discard" { "withdrawn" } else { "settled" };
        assert_eq!(own["delivery"]["state"], state, "{choice}");
    }
    assert_eq!(place.evidence().seen(CUT), 4, "one of three was sent again");
    assert_eq!(continuations(&place), 3);
    host.stop();
}
