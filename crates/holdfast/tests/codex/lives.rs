//! What kills and restarts leave.

use holdfast_testkit::five::{Agent, Stage};
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use holdfast_testkit::{codex, proc, scenario};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::lab::{Lab, agent, answer, calls, open, open_prompt, running, tasks, turns};

const CONTINUES: &str = "was stopped from outside";

fn resume(host: &TestHost<'_>, chat: &str) {
    host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    host.wait("the offer's end", || !scenario::has_offer(host, chat));
}

#[test]
fn a_killed_host_finds_it_again_and_misses_nothing() {
    const STREAM: &str = "[[slow-stream 120 25]]";
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    let message = host.send(&chat, STREAM);
    host.wait("the middle of the stream", || host.said(&chat).contains("chunk 30 "));
    let pid = agent(&lab.place);
    host.kill();
    assert!(proc::is_alive(pid));

    let host = lab.place.start();
    host.wait_message(&chat, &message, "settled");
    let whole: String = (1..=120).map(|number| format!("chunk {number} ")).collect();
    assert_eq!(host.said(&chat), whole, "nothing lost, nothing doubled");
    assert_eq!(agent(&lab.place), pid, "the same process");
    assert_eq!(lab.asked(STREAM), 1, "the model was asked once");
    assert_eq!(host.chat(&chat)["offer"], Value::Null);
    // And it is driven on by the new host, also what it asks across a kill.
    let run = codex::exec_escalated("echo hi", "for the test");
    let next = host.send(&chat, &one_by_one(&[&run, "[[say and on]]"]));
    let prompt = open_prompt(&host, &chat);
    host.kill();
    let host = lab.place.start();
    assert_eq!(open_prompt(&host, &chat)["id"], prompt["id"]);
    answer(&host, &chat, &prompt, &json!({ "option": "accept" }));
    host.wait_message(&chat, &next, "settled");
    assert_eq!(calls(&host, &chat), ["echo hi completed"]);
    assert!(host.said(&chat).ends_with("and on"));
    host.stop();
}

#[test]
fn killed_with_everything_it_carries_on_with_its_own_thread() {
    const FIRST: &str = "remember this [[say I remember]]";
    const CUT: &str = "cut short [[say half]] [[hang 600]]";
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let first = host.send(&chat, FIRST);
    host.wait_message(&chat, &first, "settled");
    let cut = host.send(&chat, CUT);
    host.wait("the half", || host.said(&chat).ends_with("half"));
    host.kill_everything();

    let host = lab.place.start();
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    let offer = &scenario::offers(&host)[0];
    assert_eq!(offer["summary"]["text"], "Was mid-reply");
    assert_eq!(offer["cause"], "host_lost");
    assert_eq!(offer["needs_choice"], false, "its own store can be asked: {offer}");
    assert_eq!(lab.model.turns().len(), 2, "nothing was sent by itself");

    host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    host.wait("the offer's end", || !scenario::has_offer(&host, &chat));
    host.wait_shown(&chat, "idle");
    // Codex's own thread named the message: it is settled, its turn lost, and it is not sent again.
    host.wait_message(&chat, &cut, "settled");
    assert_eq!(turns(&host, &chat), ["completed", "lost", "completed"]);
    let told = lab.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[..2], [FIRST, CUT], "the earlier conversation, the cut message once");
    assert!(told[2].contains(CONTINUES), "{told:?}");
    let items = host.items(&chat);
    assert_eq!(items.iter().filter(|item| item["text"] == CUT).count(), 1, "shown once");
    assert!(host.said(&chat).starts_with("I rememberhalf"), "{}", host.said(&chat));
    assert_eq!(host.chat(&chat)["mode"], "full-access", "the mode is as before");
    let sessions = lab.model.turns().into_iter().map(|seen| seen.session);
    let sessions: std::collections::BTreeSet<_> = sessions.collect();
    assert_eq!(sessions.len(), 1, "one thread: {sessions:?}");
    host.stop();
}

#[test]
fn a_message_that_its_thread_lacks_is_sent_again_after_the_continuation() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    let first = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &first, "settled");
    // Codex does not read: the message is written to it, and dies with it.
    proc::signal(agent(&lab.place), Signal::STOP).unwrap();
    let lost = host.send(&chat, "[[say two]]");
    host.wait_message(&chat, &lost, "handed");
    host.wait("the frame in the pipe", || unread(&lab) > 0);
    host.kill_everything();

    let host = lab.place.start();
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    assert_eq!(lab.asked("[[say two]]"), 0);
    resume(&host, &chat);
    host.wait_message(&chat, &lost, "settled");
    host.wait_shown(&chat, "idle");
    assert_eq!(lab.asked("[[say two]]"), 1, "it was sent once");
    let told = lab.told();
    assert_eq!((told.len(), told[0].as_str()), (3, "[[say one]]"), "{told:?}");
    assert!(told[1].contains(CONTINUES), "{told:?}");
    assert_eq!(told[2], "[[say two]]");
    host.stop();
}

/// Codex writes a thread down with its first turn: what died before has none to bring back, and has
/// lost nothing by that.
#[test]
fn a_thread_that_was_never_written_down_is_begun_again() {
    for reads in [true, false] {
        let mut lab = Lab::new();
        // The thread stands, and its first message is not written to the agent.
        let fault = "HOLDFAST_FAULT".to_owned();
        lab.place.env.insert(fault.clone(), "host.frame.write.before:5".to_owned());
        let host = lab.place.start();
        let chat = open(&host, &lab, "auto");
        let lost = host.send(&chat, "[[say one]]");
        host.wait_end();
        lab.place.env.remove(&fault);
        if !reads {
            // It is written, and nobody reads it.
            proc::signal(agent(&lab.place), Signal::STOP).unwrap();
            let host = lab.place.start();
            host.wait_message(&chat, &lost, "handed");
            host.wait("the frame in the pipe", || unread(&lab) > 0);
            host.kill();
        }
        lab.place.kill_agents();

        let host = lab.place.start();
        host.wait("the offer", || scenario::has_offer(&host, &chat));
        assert_eq!(lab.model.turns().len(), 0);
        resume(&host, &chat);
        host.wait_message(&chat, &lost, "settled");
        host.wait_shown(&chat, "idle");
        assert_eq!(lab.asked("[[say one]]"), 1);
        assert_eq!(host.said(&chat).matches("one").count(), 1, "{}", host.said(&chat));
        host.stop();
    }
}

/// Bytes that were written to the agent and that it has not read.
pub(crate) fn unread(lab: &Lab) -> u64 {
    let stdin = std::fs::File::open(format!("/proc/{}/fd/0", agent(&lab.place))).unwrap();
    rustix::io::ioctl_fionread(stdin).unwrap()
}

#[test]
fn what_runs_in_the_background_outlives_the_host_and_is_offered_after_everything() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let run = codex::exec_in_background("sleep 4712");
    let message = host.send(&chat, &one_by_one(&[&run, "[[say left it]]"]));
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "monitoring");
    host.kill();
    let host = lab.place.start();
    assert_eq!(host.chat(&chat)["status"]["shown"], "monitoring");
    assert_eq!(tasks(&host, &chat), ["command sleep 4712"]);
    assert!(running(&lab.place, "sleep 4712") > 0);
    host.kill_everything();

    let host = lab.place.start();
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    assert_eq!(scenario::offers(&host)[0]["summary"]["text"], "Monitoring: sleep 4712");
    assert_eq!(running(&lab.place, "sleep 4712"), 0);
    resume(&host, &chat);
    host.wait_shown(&chat, "idle");
    assert!(lab.told()[1].contains(CONTINUES), "{:?}", lab.told());
    host.stop();
    assert_eq!(lab.place.processes(), [0; 0]);
}

#[test]
fn a_fork_knows_what_came_before_and_goes_its_own_way() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    let first = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &first, "settled");
    host.wait_shown(&chat, "idle");
    let last = host.items(&chat).last().unwrap()["seq"].clone();
    let forked = host.post(&format!("/chats/{chat}/fork"), &json!({ "at": last })).ok();
    let fork = forked["id"].as_str().unwrap().to_owned();
    let second = host.send(&fork, "[[say two]]");
    host.wait_message(&fork, &second, "settled");
    assert_eq!(lab.told(), ["[[say one]]", "[[say two]]"]);
    let third = host.send(&chat, "[[say three]]");
    host.wait_message(&chat, &third, "settled");
    assert_eq!(lab.told(), ["[[say one]]", "[[say three]]"], "nothing of the fork");
    let sessions = lab.model.turns().into_iter().map(|seen| seen.session);
    assert_eq!(sessions.collect::<std::collections::BTreeSet<_>>().len(), 2);
    host.stop();
}

/// As `cargo xtask real --agent codex` shows it.
#[test]
fn five_chats_are_killed_with_everything_and_each_that_worked_is_carried_on_once() {
    let dir = tempfile::tempdir().unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_holdfast"));
    Stage::new(program, dir.path(), Agent::Codex).play(&|_| ());
}

/// A command goes on while no host lives: the agent notices nothing.
#[test]
fn a_killed_host_finds_a_command_as_it_is_by_then() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let run = codex::exec(&format!("touch runs; {UNTIL_GO}; echo over"));
    let message = host.send(&chat, &one_by_one(&[&run, "[[say done]]"]));
    host.wait("the command", || lab.place.work_dir().join("runs").exists());
    let pid = agent(&lab.place);
    host.kill();
    std::fs::write(lab.place.work_dir().join("go"), "").unwrap();
    holdfast_testkit::wait_until(holdfast_testkit::host::PATIENCE, "the next reply", || {
        lab.model.turns().len() == 2
    });

    let host = lab.place.start();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(agent(&lab.place), pid, "the same process");
    assert_eq!(lab.model.turns().len(), 2, "nothing twice");
    let results = lab.model.turns().last().unwrap().texts("tool");
    assert!(results.len() == 1 && results[0].contains("over"), "{results:?}");
    assert_eq!(turns(&host, &chat), ["completed"]);
    assert_eq!(host.said(&chat), "done");
    assert_eq!(host.chat(&chat)["offer"], Value::Null);
    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    host.wait("no process", || lab.place.processes().is_empty());
    host.stop();
}

/// Whatever a chat is at, after its close nothing of its tree lives.
#[test]
fn a_close_leaves_no_process_in_a_reply_in_a_command_and_at_a_question() {
    let command = one_by_one(&[&codex::exec("touch runs; sleep 600"), "[[hang 600]]"]);
    for (mode, script, shown) in [
        ("auto", "[[say half]] [[hang 600]]".to_owned(), "working"),
        ("full-access", command, "working"),
        ("read-only", codex::exec_escalated("echo hi", "for the test"), "blocked"),
    ] {
        let lab = Lab::new();
        let host = lab.place.start();
        let chat = open(&host, &lab, mode);
        host.send(&chat, &script);
        host.wait("the point of the close", || {
            let there = mode != "full-access" || lab.place.work_dir().join("runs").exists();
            host.chat(&chat)["status"]["shown"] == shown && there && !lab.model.turns().is_empty()
        });
        assert!(!lab.place.processes().is_empty());
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
        host.wait("the end of its tree", || lab.place.processes().is_empty());
        host.wait("the end of its keeper", || lab.place.keepers().is_empty());
        assert_eq!(host.get("/offers")["offers"], json!([]), "a close offers nothing");
        host.stop();
    }
}
