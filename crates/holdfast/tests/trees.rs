//! Process trees, counted in `/proc` by the cookie: nothing of an agent outlives what a person ended,
//! and never two agents work for one chat.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::os::unix::fs::PermissionsExt;

use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::scenario::agent_pid;
use holdfast_testkit::{proc, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Stops and resumes in a row.
const ROUNDS: usize = 10;
/// Idleness after which an agent is released in these tests, in minutes: 0.6 seconds.
const RELEASE_MINUTES: &str = "0.01";

/// After an agent's last word the host looks twice at most at what it left; by then it has.
const QUIET: std::time::Duration = std::time::Duration::from_secs(5);
/// A stop of the host is over by then (delivery.md).
const STOP_MAX: std::time::Duration = std::time::Duration::from_secs(15);

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

/// Has the agent of a chat leave a process in a session of its own that ignores SIGTERM, and answers
/// that process's pid.
fn fork(host: &TestHost<'_>, chat: &str) -> u32 {
    let message = host.send(chat, "[[fork]]");
    host.wait_message(chat, &message, "settled");
    let said = host.said(chat);
    let pid = said.split("forked ").nth(1).unwrap_or_else(|| panic!("{said}"));
    let digits: String = pid.chars().take_while(char::is_ascii_digit).collect();
    let pid = digits.parse().unwrap();
    assert!(proc::is_alive(pid));
    pid
}

fn wait_nothing_lives(place: &Place) {
    wait_until(PATIENCE, "the end of every process", || {
        place.processes().is_empty() && place.keepers().is_empty()
    });
}

fn wait_traces_cleared(host: &TestHost<'_>) {
    host.wait("the attempts to be cleared from the disk", || host.place.attempts().is_empty());
}

#[test]
fn after_a_close_nothing_lives_of_an_agent_that_left_a_stubborn_process() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, other) = (host.open(), host.open());
    let grandchild = fork(&host, &chat);
    let agent = agent_pid(&place);
    let message = host.send(&other, "unharmed");
    host.wait_message(&other, &message, "settled");
    let (mine, all) = (proc::of_attempt(&cookie(agent)), place.processes());
    assert!(mine.contains(&agent) && mine.contains(&grandchild), "{mine:?}");

    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    wait_until(PATIENCE, "the death of the tree", || {
        !proc::is_alive(agent) && !proc::is_alive(grandchild)
    });
    let rest: Vec<u32> = all.into_iter().filter(|pid| !mine.contains(pid)).collect();
    assert_eq!(place.processes(), rest, "the other chat's agent is unharmed");
    host.wait("the traces to be cleared", || place.attempts().len() == 1);
    assert_eq!(host.chat(&chat)["state"], "closed");
    assert_eq!(host.get("/offers")["offers"], json!([]));
}

/// The attempt that a process belongs to.
fn cookie(pid: u32) -> String {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let text = String::from_utf8_lossy(&environment).into_owned();
    let found = text.split('\0').find_map(|entry| entry.strip_prefix("HOLDFAST_ATTEMPT="));
    found.unwrap().to_owned()
}

/// The host dies right after it acknowledged the close: the next one brings it to its end.
#[test]
fn a_close_is_finished_by_the_next_host() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir).env("HOLDFAST_FAULT", "host.stop.before:1");
    let host = place.start();
    let chat = host.open();
    let grandchild = fork(&host, &chat);
    // It dies at what the close has it do, which may be before its answer is on its way.
    let _ = host.request("POST", &format!("/chats/{chat}/close"), Some(&json!({})));
    let status = host.wait_end();
    assert!(!status.success());
    assert!(proc::is_alive(grandchild));

    place.env.clear();
    let host = place.start();
    assert_eq!(host.chat(&chat)["state"], "closed");
    wait_nothing_lives(&place);
    assert!(!proc::is_alive(grandchild));
    wait_traces_cleared(&host);
}

#[test]
fn a_deleted_chat_leaves_no_process_and_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    fork(&host, &chat);
    host.send(&chat, "[[say on]] [[slow 600]]");
    host.wait("the turn", || host.chat(&chat)["status"]["lead"] == "working");
    host.call("DELETE", &format!("/chats/{chat}"), &json!({})).ok();
    let gone = host.request("GET", &format!("/chats/{chat}"), None).unwrap();
    assert_eq!((gone.status, &gone.body["code"]), (404, &json!("chat_not_found")));
    wait_nothing_lives(&place);
    wait_traces_cleared(&host);
    assert_eq!(host.get("/offers")["offers"], json!([]));
    host.kill();
    let host = place.start();
    assert_eq!(host.get("/chats?state=all")["items"], json!([]), "it does not come back");
}

#[test]
fn ten_rounds_of_stop_and_resume_leave_one_agent() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut host = place.start();
    let chat = host.open();
    host.send(&chat, "[[task 600 Read]] [[say begun]]");
    host.wait("the task", || host.chat(&chat)["activity"]["tasks"] != json!([]));
    for round in 1..=ROUNDS {
        if round % 2 == 0 {
            host.kill_everything();
        } else {
            assert!(host.stop().success());
        }
        assert!(place.processes().is_empty());
        host = place.start();
        host.wait_offer(&chat);
        // Two people click at once.
        let clients = [host.beside(), host.beside()];
        std::thread::scope(|scope| {
            for client in &clients {
                let body = json!({ "chats": [&chat] });
                scope.spawn(move || {
                    client.request_with("POST", "/offers/resume", Some(&body), &[]).unwrap().ok()
                });
            }
        });
        // Once, though two clicked: the agent starts its task again.
        host.wait("the task", || {
            let row = host.chat(&chat);
            row["status"]["lead"] == "done" && row["activity"]["tasks"] != json!([])
        });
        assert_eq!(host.chat(&chat)["activity"]["tasks"].as_array().unwrap().len(), 1);
        assert_eq!(place.processes().len(), 1, "round {round}");
        assert_eq!(place.keepers().len(), 1, "round {round}");
        assert_eq!(place.attempts().len(), 1, "round {round}");
    }
    assert_eq!(place.evidence().pids().len(), ROUNDS + 1, "one agent for each life");
}

#[test]
fn a_keeper_that_is_killed_takes_its_agent_with_it_and_is_offered() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let grandchild = fork(&host, &chat);
    let message = host.send(&chat, "[[say Working]] [[slow 600]]");
    host.wait_message(&chat, &message, "taken");
    let agent = agent_pid(&place);
    let keepers = place.keepers();
    assert_eq!(keepers.len(), 1);
    proc::kill_9(keepers[0]).unwrap();
    let offer = host.wait_offer(&chat);
    assert_eq!(offer["cause"], "keeper_lost");
    assert_eq!(offer["summary"]["text"], "Was mid-reply");
    // Offered only once the death of all is proven.
    assert!(!proc::is_alive(agent) && !proc::is_alive(grandchild));
    assert!(place.processes().is_empty());
    assert_eq!(host.resume(&chat)["outcome"], "pending");
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "idle");
    assert_eq!(place.processes().len(), 1);
    assert_eq!(place.evidence().seen("[[say Working]] [[slow 600]]"), 1);
}

/// The keeper is killed while no host lives: the next host ends what it left.
#[test]
fn what_a_keeper_left_is_ended_by_the_next_host() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let grandchild = fork(&host, &chat);
    let message = host.send(&chat, "[[say on]] [[slow 600]]");
    host.wait_message(&chat, &message, "taken");
    let keepers = place.keepers();
    host.kill();
    proc::kill_9(keepers[0]).unwrap();
    assert!(proc::is_alive(grandchild), "it has a session of its own and ignores SIGTERM");
    let host = place.start();
    assert_eq!(host.wait_offer(&chat)["cause"], "host_lost");
    assert!(!proc::is_alive(grandchild));
    assert!(place.processes().is_empty());
}

#[test]
fn an_agent_that_dies_in_its_turn_is_offered_and_the_turn_is_lost_once() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[say Working]] [[tool build 600]]");
    host.wait_message(&chat, &message, "taken");
    host.wait("the call", || host.items(&chat).iter().any(|item| item["kind"] == "tool_call"));
    proc::kill_9(agent_pid(&place)).unwrap();
    let offer = host.wait_offer(&chat);
    assert_eq!(offer["cause"], "agent_died");
    assert_eq!(offer["summary"]["text"], "Was mid-reply");
    let judge = |host: &TestHost<'_>| {
        let turns = host.get(&format!("/chats/{chat}/turns"));
        let states: Vec<&Value> =
            turns["items"].as_array().unwrap().iter().map(|turn| &turn["state"]).collect();
        assert_eq!(states, ["lost"]);
        let items = host.items(&chat);
        let call = items.iter().find(|item| item["kind"] == "tool_call").unwrap();
        assert_eq!(call["call"]["state"], "unknown", "nobody knows what it did");
        let stopped = items.iter().filter(|item| item["notice"]["kind"] == "stopped").count();
        assert_eq!(stopped, 1);
        assert_eq!(host.chat(&chat)["status"]["process"], "stopped");
    };
    judge(&host);
    host.kill();
    let host = place.start();
    assert_eq!(host.wait_offer(&chat)["recorded_at"], offer["recorded_at"]);
    judge(&host);
}

#[test]
fn an_idle_agent_is_released_and_a_message_starts_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    let config = dir.path().join("config.toml");
    std::fs::write(&config, format!("[idle]\nrelease-minutes = {RELEASE_MINUTES}\n")).unwrap();
    place.args = vec!["--config".to_owned(), config.to_str().unwrap().to_owned()];
    let host = place.start();
    // What shows work is not released, however quiet it is.
    let (watching, asking) = (host.open(), host.open());
    host.send(&watching, "[[monitor 600 Watch]]");
    host.send(&asking, "[[approve ls]]");
    host.wait_shown(&watching, "monitoring");
    host.wait_shown(&asking, "blocked");
    let idle = host.open();
    let message = host.send(&idle, "[[count]]");
    host.wait_message(&idle, &message, "settled");
    assert_eq!(place.processes().len(), 3);

    host.wait("the release", || host.chat(&idle)["status"]["process"] == "stopped");
    assert_eq!(place.processes().len(), 2, "those that work are not released");
    let row = host.chat(&idle);
    assert_eq!((&row["state"], &row["status"]["shown"]), (&json!("open"), &json!("idle")));
    assert_eq!(host.get("/offers")["offers"], json!([]), "nothing was interrupted");

    let message = host.send(&idle, "[[count]]");
    host.wait_message(&idle, &message, "settled");
    assert_eq!(host.said(&idle), "12", "the same session goes on");
    host.wait("the next release", || host.chat(&idle)["status"]["process"] == "stopped");
    assert_eq!(host.chat(&watching)["status"]["shown"], "monitoring");
    assert_eq!(host.chat(&asking)["status"]["shown"], "blocked");
    assert_eq!(place.evidence().pids().len(), 4, "two lives of the idle chat's agent");
}

/// A chat with a turn and a stubborn process, its keeper stopped by a signal; answers the cookie.
fn freeze(host: &TestHost<'_>) -> (String, String) {
    let chat = host.open();
    fork(host, &chat);
    let message = host.send(&chat, "[[say on]] [[slow 600]]");
    host.wait_message(&chat, &message, "taken");
    let cookie = cookie(agent_pid(host.place));
    let keepers = host.place.keepers();
    assert_eq!(keepers.len(), 1);
    proc::signal(keepers[0], Signal::STOP).unwrap();
    (chat, cookie)
}

fn wait_stalled(host: &TestHost<'_>, chat: &str) {
    host.wait("the row to show it", || host.chat(chat)["status"]["process"] == "stalled");
}

#[test]
fn what_a_keeper_that_does_not_answer_keeps_is_ended_by_a_close() {
    for shown_first in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let host = place.start();
        let (chat, cookie) = freeze(&host);
        if shown_first {
            wait_stalled(&host, &chat);
            assert!(proc::of_attempt(&cookie).len() >= 2, "that alone ends nothing");
        }
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
        host.wait("the end of the tree", || proc::of_attempt(&cookie).is_empty());
        assert!(place.keepers().is_empty());
        wait_traces_cleared(&host);
        host.wait("the row", || host.chat(&chat)["status"]["process"] == "stopped");
        assert_eq!(host.chat(&chat)["state"], "closed");
        assert_eq!(host.get("/offers")["offers"], json!([]));
    }
}

/// Its pid is in no record: only the host that started it knows it.
#[test]
fn a_keeper_that_was_stopped_before_it_wrote_its_record_is_ended_by_a_close() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    let program = dir.path().join("holdfast");
    std::fs::copy(&place.program, &program).unwrap();
    place.program = program.clone();
    let host = place.start();
    let first = host.open();
    let message = host.send(&first, "[[say on]]");
    host.wait_message(&first, &message, "settled");
    host.post(&format!("/chats/{first}/close"), &json!({})).ok();
    host.wait("the end of the first", || place.attempts().is_empty());

    // From here on a keeper is stopped by its own first act.
    let stopped = dir.path().join("stopped");
    let note = dir.path().join("pid");
    std::fs::write(&stopped, format!("#!/bin/sh\necho $$ >{note:?}\nkill -STOP $$\n")).unwrap();
    std::fs::set_permissions(&stopped, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&stopped, &program).unwrap();
    let chat = host.open();
    host.send(&chat, "one");
    let pid = || std::fs::read_to_string(&note).ok()?.trim().parse::<u32>().ok();
    host.wait("the keeper", || pid().is_some());
    let keeper = pid().unwrap();
    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    host.wait("its end", || !proc::is_alive(keeper));
    host.wait("the row", || host.chat(&chat)["status"]["process"] == "stopped");
    wait_traces_cleared(&host);
    assert!(place.log().contains("its keeper did not answer, and was killed"), "{}", place.log());
}

#[test]
fn a_host_that_finds_a_keeper_that_does_not_answer_can_end_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, cookie) = freeze(&host);
    host.kill();
    let host = place.start();
    wait_stalled(&host, &chat);
    assert!(proc::of_attempt(&cookie).len() >= 2, "it is not taken for dead");
    host.call("DELETE", &format!("/chats/{chat}"), &json!({})).ok();
    host.wait("the end of the tree", || proc::of_attempt(&cookie).is_empty());
    wait_traces_cleared(&host);
}

#[test]
fn a_stop_of_the_host_waits_for_no_keeper_that_does_not_answer() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, cookie) = freeze(&host);
    let asked = std::time::Instant::now();
    assert!(host.stop().success(), "{}", place.log());
    assert!(asked.elapsed() < STOP_MAX, "{:?}", asked.elapsed());
    assert_eq!(proc::of_attempt(&cookie), [0; 0]);
    let host = place.start();
    assert_eq!(host.wait_offer(&chat)["cause"], "quit");
}

#[test]
fn a_keeper_that_goes_on_has_only_been_slow() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[count]]");
    host.wait_message(&chat, &message, "settled");
    let keeper = place.keepers()[0];
    // Before anybody could tell.
    proc::signal(keeper, Signal::STOP).unwrap();
    let message = host.send(&chat, "[[count]]");
    proc::signal(keeper, Signal::CONT).unwrap();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(host.chat(&chat)["status"]["process"], "running");
    assert!(!place.log().contains("does not answer"), "{}", place.log());
    // And after it was shown, which it is although nobody has asked it for anything.
    let settled = std::time::Instant::now();
    host.wait("the agent to be quiet", || settled.elapsed() > QUIET);
    proc::signal(keeper, Signal::STOP).unwrap();
    wait_stalled(&host, &chat);
    let message = host.send(&chat, "[[count]]");
    proc::signal(keeper, Signal::CONT).unwrap();
    host.wait_message(&chat, &message, "settled");
    host.wait("the row", || host.chat(&chat)["status"]["process"] == "running");
    assert_eq!(host.said(&chat), "123", "each message once");
    assert_eq!(place.evidence().pids().len(), 1, "the same agent all along");
    assert_eq!(host.chat(&chat)["offer"], Value::Null);
}

/// A dev server that cleaned its environment carries no cookie: what the keeper has seen of it counts.
#[test]
fn a_leftover_without_the_cookie_does_not_outlive_its_keeper() {
    for host_too in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let mut place = place(&dir);
        let server = "( env -i setsid sleep 120 </dev/null >/dev/null 2>&1 & echo $! > server )";
        let script = format!("{server}; exec \"$0\" agent demo");
        let config = dir.path().join("config.toml");
        let program = &place.program;
        let text = format!(
            "[agents.server]\nkind = \"acp\"\ncommand = [\"sh\", \"-c\", {script:?}, {program:?}]\n"
        );
        std::fs::write(&config, text).unwrap();
        place.args = vec!["--config".to_owned(), config.to_str().unwrap().to_owned()];
        let host = place.start();
        let chat = host.open_with("server");
        let message = host.send(&chat, "[[say on]]");
        host.wait_message(&chat, &message, "settled");
        let leftovers = || host.chat(&chat)["activity"]["leftovers"].clone();
        host.wait("the leftover", || leftovers().as_array().unwrap().len() == 1);
        let server = std::fs::read_to_string(place.work_dir().join("server")).unwrap();
        let server: u32 = server.trim().parse().unwrap();
        assert!(leftovers()[0]["id"].as_str().unwrap().starts_with(&format!("{server}.")));
        assert!(!place.processes().contains(&server), "it has no cookie");

        let keeper = place.keepers()[0];
        if host_too {
            host.kill();
            proc::kill_9(keeper).unwrap();
            let host = place.start();
            host.wait("its end", || !proc::is_alive(server));
            host.wait("the row", || host.chat(&chat)["status"]["process"] == "stopped");
        } else {
            proc::kill_9(keeper).unwrap();
            host.wait("its end", || !proc::is_alive(server));
            host.wait("the row", || host.chat(&chat)["status"]["process"] == "stopped");
        }
    }
}

#[test]
fn what_a_close_leaves_lives_on_until_the_host_is_stopped_with_its_agents() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, other) = (host.open(), host.open());
    let left = fork(&host, &chat);
    let agent = agent_pid(&place);
    let leftovers = || host.chat(&chat)["activity"]["leftovers"].clone();
    host.wait("the leftover", || leftovers().as_array().unwrap().len() == 1);
    let closed = host.post(&format!("/chats/{chat}/close"), &json!({ "leftovers": "leave" })).ok();
    assert!(closed["leftovers"][0]["id"].as_str().unwrap().starts_with(&format!("{left}.")));
    wait_until(PATIENCE, "the agent's end", || !proc::is_alive(agent));
    host.wait("the row", || host.chat(&chat)["status"]["process"] == "stopped");
    assert!(proc::is_alive(left) && place.keepers().len() == 1, "its keeper holds it");

    // A host that comes later knows what it is.
    host.kill();
    let host = place.start();
    let message = host.send(&other, "[[say on]]");
    host.wait_message(&other, &message, "settled");
    assert_eq!(host.get("/host")["damage"], json!([]));
    assert!(proc::is_alive(left));
    assert_eq!(left_pids(&host), [left], "and says so");
    let asked = std::time::Instant::now();
    assert!(host.stop().success());
    assert!(asked.elapsed() < STOP_MAX, "{:?}", asked.elapsed());
    assert!(!proc::is_alive(left), "it had ignored SIGTERM");
    assert!(place.keepers().is_empty() && place.processes().is_empty());
    let host = place.start();
    assert_eq!(place.attempts(), [""; 0], "nor is there a trace");
    assert_eq!(host.get("/offers")["offers"], json!([]));
}

#[test]
fn what_a_person_leaves_is_not_ended_because_its_keeper_does_not_answer() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let left = fork(&host, &chat);
    let agent = agent_pid(&place);
    let leftovers = || host.chat(&chat)["activity"]["leftovers"].clone();
    host.wait("the leftover", || leftovers().as_array().unwrap().len() == 1);
    let keeper = place.keepers()[0];
    proc::signal(keeper, Signal::STOP).unwrap();
    host.post(&format!("/chats/{chat}/close"), &json!({ "leftovers": "leave" })).ok();
    wait_stalled(&host, &chat);
    assert!(proc::is_alive(keeper) && proc::is_alive(agent) && proc::is_alive(left));
    proc::signal(keeper, Signal::CONT).unwrap();
    wait_until(PATIENCE, "the agent's end", || !proc::is_alive(agent));
    host.wait("the row", || host.chat(&chat)["status"]["process"] == "stopped");
    assert!(proc::is_alive(keeper) && proc::is_alive(left));
}

/// The pids of what the host says that closed chats left running.
fn left_pids(host: &TestHost<'_>) -> Vec<u32> {
    let left = host.get("/host/left")["items"].as_array().unwrap().clone();
    let processes = left.iter().flat_map(|one| one["processes"].as_array().unwrap());
    processes.map(|one| u32::try_from(one["pid"].as_u64().unwrap()).unwrap()).collect()
}

#[test]
fn what_closes_leave_is_listed_and_ended_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (first, second, open) = (host.open(), host.open(), host.open());
    let mut pids = Vec::new();
    for chat in [&first, &second, &open] {
        pids.push(fork(&host, chat));
        host.wait("the leftover", || {
            host.chat(chat)["activity"]["leftovers"].as_array().unwrap().len() == 1
        });
    }
    assert_eq!(left_pids(&host), [0; 0], "what an open chat has is not left");
    for chat in [&first, &second] {
        host.post(&format!("/chats/{chat}/close"), &json!({ "leftovers": "leave" })).ok();
        host.wait("the row", || host.chat(chat)["status"]["process"] == "stopped");
    }
    let mut left = left_pids(&host);
    left.sort_unstable();
    let mut wanted = pids[..2].to_vec();
    wanted.sort_unstable();
    assert_eq!(left, wanted);

    let of = |pid: u32| {
        let left = host.get("/host/left")["items"].as_array().unwrap().clone();
        let has = |one: &&Value| one["processes"][0]["pid"] == pid;
        left.iter().find(has).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let id = of(pids[0]);
    let ended = host.post("/host/left/end", &json!({ "id": id })).ok();
    assert_eq!(ended["ended"], json!([id]));
    assert!(!proc::is_alive(pids[0]), "it had ignored SIGTERM");
    assert!(proc::is_alive(pids[1]) && proc::is_alive(pids[2]));
    let again = host.post("/host/left/end", &json!({ "id": id })).ok();
    assert_eq!(again["ended"], json!([]), "what is not there has ended");
    let id = of(pids[1]);
    assert_eq!(host.post("/host/left/end", &json!({})).ok()["ended"], json!([id]));
    assert!(!proc::is_alive(pids[1]));
    assert!(proc::is_alive(pids[2]), "an open chat keeps its own");
    assert_eq!(left_pids(&host), [0; 0]);
    host.wait("the traces to be cleared", || place.attempts().len() == 1);
    assert_eq!(host.chat(&open)["status"]["process"], "running");
}
