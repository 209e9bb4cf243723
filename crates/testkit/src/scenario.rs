//! The main job, played with real processes: what `cargo xtask demo` shows and the tests assert.
//! Every judgement is made from the agent's own log and from `/proc`.

use serde_json::{Value, json};

use crate::host::{Place, TestHost};

/// Says what is going on, to whoever watches.
pub type Say<'a> = &'a dyn Fn(&str);

/// A chat streams, the host is killed with -9 in the middle, a new host goes on: the same agent, no
/// line lost, none doubled, the prompt seen once.
pub fn kill_the_host(place: &Place, say: Say<'_>) {
    const LINES: usize = 120;
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, &format!("[[stream {LINES} 20]]"));
    say("A chat streams.");
    host.wait("the middle of the stream", || host.said(&chat).lines().count() > LINES / 4);
    let agent = agent_pid(place);
    let before = host.said(&chat).lines().count();
    host.kill();
    say(&format!(
        "kill -9 of the host after {before} of {LINES} lines; the agent, pid {agent}, lives."
    ));
    assert!(crate::proc::is_alive(agent), "the agent outlives the host");

    let host = place.start();
    host.wait_message(&chat, &message, "settled");
    let evidence = place.evidence();
    assert_eq!(evidence.pids(), [u64::from(agent)], "one agent wrote everything");
    assert_eq!(evidence.seen(&format!("[[stream {LINES} 20]]")), 1, "it saw the prompt once");
    let written = evidence.text_written();
    assert_eq!(written.lines().count(), LINES);
    assert_eq!(host.said(&chat), written, "no line lost, none doubled");
    let row = host.chat(&chat);
    assert_eq!(row["status"]["shown"], "idle");
    assert_eq!(row["offer"], Value::Null, "no agent was stopped: nothing to resume");
    say(&format!(
        "A new host (generation {}): the same pid, {LINES} lines, none lost, none doubled.",
        host.generation
    ));
    host.stop();
}

/// What stops everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// SIGTERM to the host: agents are stopped in order.
    Graceful,
    /// kill -9 of host, keepers and agents.
    KillEverything,
}

/// Offers, as far as both ways of stopping have to agree on them: by chat, the sentence.
pub type Sentences = Vec<(String, String)>;

/// Four chats work in four ways and one is idle; everything is stopped; after the start exactly
/// the four are offered, each with its sentence; resume carries on with one continuation.
pub fn stop_everything(place: &Place, stop: Stop, say: Say<'_>) -> Sentences {
    let host = place.start();
    let chats = [
        ("mid-reply", "[[say Working]] [[slow 600]]"),
        ("subagent", "[[task 600 Read the manual]] [[say Started it]]"),
        ("monitor", "[[monitor 600 Watch the build]] [[say Watching]]"),
        ("question", "[[ask Which colour?|Red|Blue]]"),
        ("idle", "[[say Done]]"),
    ]
    .map(|(name, text)| (name, host.open(), text));
    for (_, chat, text) in &chats {
        host.send(chat, text);
    }
    for (name, chat, _) in &chats {
        let shown = match *name {
            "mid-reply" | "subagent" => "working",
            "monitor" => "monitoring",
            "question" => "blocked",
            _ => "idle",
        };
        host.wait(&format!("{name} to be under way"), || {
            let row = host.chat(chat);
            // A turn that runs is not yet the state that is meant for background work.
            let lead = if *name == "mid-reply" { "working" } else { "done" };
            let lead_fits = *name == "question" || row["status"]["lead"] == lead;
            row["status"]["shown"] == shown
                && lead_fits
                && row["user_messages"] == 1
                && (*name != "mid-reply" || host.said(chat).contains("Working"))
        });
    }
    say("A subagent, a monitor, a question and a reply are live; a fifth chat is idle.");
    match stop {
        Stop::Graceful => {
            let status = host.stop();
            assert!(status.success(), "a graceful stop ends well: {status}");
            assert!(place.processes().is_empty(), "and leaves no process");
            say("The host was told to stop.");
        }
        Stop::KillEverything => {
            host.kill_everything();
            say("kill -9 of everything.");
        }
    }

    let host = place.start();
    host.wait("four offers", || offers(&host).len() == 4);
    let offers = offers(&host);
    let mut sentences = Sentences::new();
    for (name, chat, _) in &chats {
        let offer = offers.iter().find(|offer| offer["chat"] == chat.as_str());
        let text = offer.map(|offer| offer["summary"]["text"].as_str().unwrap().to_owned());
        if let Some(text) = &text {
            say(&format!("  offered: {name:<10} {text}"));
            sentences.push(((*name).to_owned(), text.clone()));
        }
        assert_eq!(text.is_none(), *name == "idle", "{name}");
    }
    for (_, chat, text) in &chats {
        assert_eq!(place.evidence().seen(text), 1, "nothing ran twice by itself in {chat}");
    }

    let (_, subagent, _) = &chats[1];
    let answer = host.post("/offers/resume", &json!({ "chats": [subagent] })).ok();
    let outcome = answer["results"][0]["outcome"].as_str().unwrap();
    assert!(matches!(outcome, "resumed" | "pending"), "{answer}");
    let again = host.post("/offers/resume", &json!({ "chats": [subagent] })).ok();
    host.wait("the offer's end", || !has_offer(&host, subagent));
    host.wait("the subagent to be started again", || {
        let row = host.chat(subagent);
        row["status"]["lead"] == "done" && row["activity"]["tasks"][0]["label"] == "Read the manual"
    });
    let continuations = place.evidence().prompts();
    let continuations = continuations.iter().filter(|p| p.contains("was stopped from outside"));
    assert_eq!(continuations.count(), 1, "one continuation after two clicks: {again}");
    say(
        "Resume carried on with one continuation, though it was clicked twice: its subagent runs again.",
    );
    host.stop();
    sentences
}

/// The offers of a host.
pub fn offers(host: &TestHost<'_>) -> Vec<Value> {
    host.get("/offers")["offers"].as_array().unwrap().clone()
}

/// Whether a chat is offered.
pub fn has_offer(host: &TestHost<'_>, chat: &str) -> bool {
    offers(host).iter().any(|offer| offer["chat"] == chat)
}

/// The pid of the one agent that wrote so far.
pub fn agent_pid(place: &Place) -> u32 {
    let pids = place.evidence().pids();
    assert_eq!(pids.len(), 1, "one agent: {pids:?}");
    u32::try_from(pids[0]).unwrap()
}
