//! What went wrong for users of other hosts, row by row, where no other file has it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::time::{Duration, Instant};

use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::scenario::agent_pid;
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

/// How long a host that was started may show a chat as working whose agent is dead.
const GHOST_MAX: Duration = Duration::from_secs(1);

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn turn_states(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let turns = host.get(&format!("/chats/{chat}/turns"));
    let turns = turns["items"].as_array().unwrap().iter();
    turns.map(|turn| turn["state"].as_str().unwrap().to_owned()).collect()
}

/// The agent has written its last line; what it wrote is wherever it is: pipe, spool, host, store.
fn write_all(host: &TestHost<'_>, chat: &str, lines: usize) -> String {
    let message = host.send(chat, &format!("[[stream {lines} 0]]"));
    wait_until(PATIENCE, "the agent's last line", || {
        host.place.evidence().text_written().lines().count() == lines
    });
    message
}

#[test]
fn a_backlog_is_not_lost_with_the_host_that_had_it_in_memory() {
    const LINES: usize = 5_000;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = write_all(&host, &chat, LINES);
    host.kill();

    let host = place.start();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(whole_text(&host, &chat), place.evidence().text_written());
    assert_eq!(turn_states(&host, &chat), ["completed"]);
}

/// The whole of the one text that the agent said, also where the item shows only its head.
fn whole_text(host: &TestHost<'_>, chat: &str) -> String {
    let items = host.items(chat);
    let said: Vec<&Value> =
        items.iter().filter(|i| i["kind"] == "message" && i["role"] == "agent").collect();
    assert_eq!(said.len(), 1);
    match said[0]["full"]["href"].as_str() {
        None => said[0]["text"].as_str().unwrap().to_owned(),
        Some(href) => {
            let bytes = said[0]["full"]["bytes"].as_u64().unwrap();
            let range = host.range(href, &format!("bytes=0-{}", bytes - 1));
            String::from_utf8(range.body).unwrap()
        }
    }
}

#[test]
fn after_the_death_of_everything_what_is_shown_is_a_beginning_and_says_so() {
    const LINES: usize = 2_000;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, &format!("[[stream {LINES} 1]]"));
    host.wait("the middle", || host.said(&chat).lines().count() > LINES / 10);
    host.kill_everything();

    let host = place.start();
    host.wait_offer(&chat);
    let shown = whole_text(&host, &chat);
    let written = place.evidence().text_written();
    assert!(written.starts_with(&shown), "a beginning of what was written");
    assert!(shown.ends_with('\n'), "up to the last whole line of the agent");
    assert_eq!(turn_states(&host, &chat), ["lost"]);
}

#[test]
fn a_chat_whose_agent_is_dead_is_no_ghost_that_works() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let first = host.send(&chat, "[[say on]] [[slow 600]]");
    host.wait_message(&chat, &first, "taken");
    host.kill_everything();

    let host = place.start();
    let started = Instant::now();
    host.wait("the ghost to go", || host.chat(&chat)["status"]["lead"] == "done");
    assert!(started.elapsed() < GHOST_MAX, "{:?}", started.elapsed());
    assert_eq!(turn_states(&host, &chat), ["lost"]);
    // The person just goes on: that is progress, and ends the offer.
    let next = host.send(&chat, "[[count]]");
    assert_eq!(host.get("/offers")["offers"], json!([]));
    host.wait_message(&chat, &next, "settled");
    host.wait_message(&chat, &first, "settled");
    assert!(host.said(&chat).ends_with('2'), "the agent has the interrupted message too");
    assert_eq!(place.evidence().prompts(), ["[[say on]] [[slow 600]]", "[[count]]"]);
}

#[test]
fn a_stop_leaves_idle_chats_open_and_offers_none_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chats: Vec<String> = (0..5).map(|_| host.open()).collect();
    for chat in &chats[1..] {
        let message = host.send(chat, "hello");
        host.wait_message(chat, &message, "settled");
    }
    assert!(host.stop().success());
    let host = place.start();
    for chat in &chats {
        let row = host.chat(chat);
        assert_eq!((&row["state"], &row["status"]["shown"]), (&json!("open"), &json!("idle")));
    }
    let counts = host.get("/host")["counts"].clone();
    let expected = json!({ "open": 5, "queued": 0, "running": 0, "to_check": 0, "to_resume": 0 });
    assert_eq!(counts, expected);
    assert!(place.processes().is_empty(), "looking at them starts nothing");
}

#[test]
fn a_turn_has_one_end_however_it_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[say on]] [[slow 600]]");
    host.wait_message(&chat, &message, "taken");
    assert!(host.stop().success());
    let host = place.start();
    host.wait_offer(&chat);
    assert_eq!(turn_states(&host, &chat), ["lost"]);
    host.kill();
    let host = place.start();
    assert_eq!(turn_states(&host, &chat), ["lost"]);
    assert_eq!(host.resume(&chat)["outcome"], "pending");
    host.wait_shown(&chat, "idle");
    let mut states = turn_states(&host, &chat);
    states.sort();
    assert_eq!(states, ["completed", "lost"]);
}

#[test]
fn a_dead_agent_is_nobody_elses_connection() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let broken = host.open();
    host.send(&broken, "[[die 1]]");
    host.wait_offer(&broken);
    let fresh = host.open();
    let message = host.send(&fresh, "hello");
    host.wait_message(&fresh, &message, "settled");
    assert_eq!(place.evidence().pids().len(), 2);
    assert_eq!(place.processes().len(), 1);
}

/// The agent exits before its first word of the session, so that there is nothing to resume but the
/// message that was kept.
#[test]
fn a_chat_that_never_had_a_session_is_not_dead() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir).env("HOLDFAST_DEMO_START_DELAY_MS", "600000");
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "kept");
    // Of a start of which nobody has written down that it came about nothing is left: it is made again.
    host.wait("the agent, on record", || {
        place.attempts().iter().any(|attempt| {
            let record = place.data_dir().join("attempts").join(attempt).join("record");
            std::fs::read_to_string(record).is_ok_and(|record| record.contains("\"agent\":{"))
        })
    });
    host.kill_everything();

    place.env.clear();
    let host = place.start();
    let offer = host.wait_offer(&chat);
    assert_eq!(offer["summary"]["text"], "Was starting");
    assert_eq!(host.queue(&chat), ["kept"]);
    assert_eq!(host.resume(&chat)["outcome"], "pending");
    host.wait_message(&chat, &message, "settled");
    assert_eq!(
        place.evidence().prompts(),
        ["kept"],
        "no continuation: there is nothing to continue"
    );
}

/// The agent's child ended while its turn ran, and the host died: the agent has its result.
#[test]
fn a_host_that_dies_takes_no_agents_work_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[task 0.2 Read]] [[say on]] [[slow 1]]");
    host.wait("the task", || host.chat(&chat)["activity"]["tasks"] != json!([]));
    let agent = u32::try_from(place.evidence().pids()[0]).unwrap();
    host.kill();
    assert!(proc::is_alive(agent));
    let host = place.start();
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "idle");
    assert_eq!(host.chat(&chat)["activity"]["tasks"], json!([]));
    assert_eq!(host.said(&chat), place.evidence().text_written());
}

/// Agents that live on with one pipe closed, as shell scripts: what they do when `session/new` has
/// come, what they are heard to say, and what becomes of the message.
const CUT_OFF: [(&str, &str, &str); 2] = [
    // It takes the message, says half a word, and can say no more.
    (
        r#"printf '{"id":2,"result":{"sessionId":"s"}}\n'; read prompt
        printf '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"half"}}}}\n'
        exec sleep 600 >&-"#,
        "half",
        "unknown",
    ),
    // It can be told nothing.
    (r#"exec <&-; printf '{"id":2,"result":{"sessionId":"s"}}\n'; exec sleep 600"#, "", "refused"),
];

#[test]
fn an_agent_that_closed_a_pipe_and_lives_is_no_chat_that_works_for_ever() {
    for (script, said, state) in CUT_OFF {
        let dir = tempfile::tempdir().unwrap();
        let mut place = place(&dir);
        let (config, pid) = (dir.path().join("config.toml"), dir.path().join("agent.pid"));
        let begin = r#"read initialize; printf '{"id":1,"result":{}}\n'; read new"#;
        let script = json!(format!("echo $$ > {pid:?}; {begin}; {script}"));
        let agent =
            format!("[agents.mute]\nkind = \"acp\"\ncommand = [\"sh\", \"-c\", {script}]\n");
        std::fs::write(&config, agent).unwrap();
        place.args = vec!["--config".to_owned(), config.to_str().unwrap().to_owned()];
        let host = place.start();
        let chat = host.open_with("mute");
        let message = host.send(&chat, "go on");
        let offer = host.wait_offer(&chat);
        assert_eq!(offer["cause"], "agent_died", "{offer}");
        host.wait_message(&chat, &message, state);
        assert_eq!(host.said(&chat), said);
        assert_eq!(host.chat(&chat)["status"]["lead"], "done");
        let pid = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        assert!(!proc::is_alive(pid), "the agent is ended, and that is proven");
        host.wait("the keeper's end", || place.keepers().is_empty());
        assert!(host.stop().success());
    }
}

/// A chat of a newer version in the middle of a turn: the older host can neither serve nor bury its
/// agent, and so keeps all that is there of it.
#[test]
fn a_chat_that_cannot_be_read_loses_nothing_of_its_agent() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, other) = (host.open(), host.open());
    let message = host.send(&chat, "[[stream 400 5]]");
    host.wait("the agent to speak", || host.said(&chat).lines().count() > 5);
    let agent = agent_pid(&place);
    host.kill();
    let journal = || rusqlite::Connection::open(place.data_dir().join("journal.db")).unwrap();
    let newer = "INSERT INTO facts (chat, seq, at, kind, body)
        SELECT chat, seq + 1, 5, 'chat_translated', '{\"fact\":\"chat_translated\"}' FROM chats
        WHERE chat IN (SELECT chat FROM facts WHERE kind = 'attempt_born')";
    assert_eq!(journal().execute(newer, []).unwrap(), 1);
    let ahead = "UPDATE chats SET seq = seq + 1
        WHERE chat IN (SELECT chat FROM facts WHERE kind = 'chat_translated')";
    journal().execute(ahead, []).unwrap();

    let host = place.start();
    let said = host.get("/host")["damage"].to_string();
    assert!(said.contains("chat_translated") && said.contains("is kept"), "{said}");
    let post = host.post(&format!("/chats/{chat}/messages"), &json!({ "text": "hello" }));
    assert_eq!((post.status, &post.body["code"]), (409, &json!("chat_read_only")));
    let well = host.send(&other, "[[say well]]");
    host.wait_message(&other, &well, "settled");
    assert!(proc::is_alive(agent), "its agent goes on");
    assert_eq!(place.attempts().len(), 2, "its folder is kept");
    wait_until(PATIENCE, "the agent's last line", || {
        place.evidence().text_written().lines().count() >= 400
    });
    host.kill();

    // The version that knows it comes back.
    journal().execute("DELETE FROM facts WHERE kind = 'chat_translated'", []).unwrap();
    let back = "UPDATE chats SET seq = seq - 1 WHERE seq > (SELECT MAX(seq) FROM facts WHERE facts.chat = chats.chat)";
    assert_eq!(journal().execute(back, []).unwrap(), 1);
    let host = place.start();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(whole_text(&host, &chat).lines().count(), 400);
    assert!(proc::is_alive(agent));
    host.stop();
}
