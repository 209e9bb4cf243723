//! Stop, restart, doctor, and what is told where no host is.

use holdfast_testkit::proc;

use crate::scene::{place, redact, run};

#[test]
fn a_stop_takes_or_keeps_the_agents_as_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "[[say half]] [[slow 600]]");
    host.wait("the half", || host.said(&chat) == "half");
    let kept = run(&place, &["stop", "--agents=keep", "--json"]).json();
    assert_eq!(kept["working"][0]["chat"], chat.as_str());
    // It has ended when the command has: the port and the directory are free.
    assert!(host.wait_end().success());
    let agent = place.processes();
    assert_eq!(agent.len(), 1);
    let host = place.start();
    let stopped = run(&place, &["stop", "--agents=stop"]);
    assert_eq!(stopped.code, 0, "{stopped:?}");
    assert!(!proc::is_alive(agent[0]));
    assert!(host.wait_end().success());

    let host = place.start();
    host.wait_offer(&chat);
    let resumed = run(&place, &["resume", &chat]);
    assert!(resumed.out.contains("the agent starts"), "{resumed:?}");
    host.wait("the offer's end", || {
        run(&place, &["offers", "--json"]).json()["offers"] == serde_json::json!([])
    });
    host.stop();
}

#[test]
fn a_restart_answers_when_the_new_host_does() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "[[stream 200 20]]");
    host.wait("the stream", || host.said(&chat).lines().count() > 3);
    let answer = run(&place, &["restart", "--json"]).json();
    assert_eq!(answer["generation"], host.generation + 1);
    assert_eq!(answer["working"][0]["chat"], chat.as_str());
    let status = run(&place, &["status", "--json"]).json();
    assert_eq!(status["generation"], host.generation + 1);
    // The test's own client has a connection to the host that was.
    let row = || run(&place, &["chat", "show", &chat, "--json"]).json();
    host.wait("the end of the stream", || row()["status"]["shown"] == "idle");
    let last = run(&place, &["chat", "tail", "--json", "-n", "1", &chat]).json();
    assert_eq!(last["text"], place.evidence().text_written(), "the agent went on");
    let words = run(&place, &["restart"]);
    assert_eq!((words.code, words.out.as_str()), (0, ""));
    assert!(words.err.starts_with("A new host answers"), "{words:?}");
    host.stop();
}

#[test]
fn a_doctor_looks_with_and_without_a_host() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    // What depends on the machine: free space, containers, the kind of its disk.
    let told = || {
        let said = run(&place, &["doctor"]);
        let kept = |line: &&str| {
            !["space", "sessions", "disk"].iter().any(|check| line.contains(&format!(" {check} ")))
                && !line.contains("What they were doing")
                && !line.contains("enable-linger")
        };
        let lines: Vec<&str> = said.out.lines().filter(kept).collect();
        redact(&place, &format!("{}\n{}[{}]", lines.join("\n"), said.err, said.code))
    };
    insta::assert_snapshot!("doctor-before", told());
    let host = place.start();
    insta::assert_snapshot!("doctor-serving", told());
    std::fs::write(place.data_dir().join("config.toml"), "[idle]\nrelease-minuts = 3\n").unwrap();
    proc::signal(host.pid(), rustix::process::Signal::HUP).unwrap();
    host.wait("the host's word", || !host.get("/host")["configuration"].is_null());
    insta::assert_snapshot!("doctor-serving-a-typo", told());
    host.stop();
    insta::assert_snapshot!("doctor-broken", told());
}

#[test]
fn a_doctor_tells_a_host_that_does_not_answer_from_none() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    place.start().stop();
    let told = || run(&place, &["doctor", "--json", "--timeout", "0.5"]);
    let host = |said: &str| {
        let told: serde_json::Value = serde_json::from_str(said).unwrap();
        let checks = told["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["check"] == "host").unwrap()["level"].clone()
    };
    assert_eq!(host(&told().ok()), "ok", "there is none");
    let serving = place.start();
    let pid = serving.pid();
    proc::signal(pid, rustix::process::Signal::STOP).unwrap();
    let silent = told();
    assert_eq!((silent.code, host(&silent.out)), (1, "fail".into()));
    proc::signal(pid, rustix::process::Signal::CONT).unwrap();
    // One that has the data and is not where it said.
    let endpoint = place.data_dir().join("endpoint.json");
    let text = std::fs::read_to_string(&endpoint).unwrap();
    let port = serving.url.rsplit(':').next().unwrap();
    std::fs::write(&endpoint, text.replace(port, "1")).unwrap();
    let astray = told();
    assert_eq!((astray.code, host(&astray.out)), (1, "fail".into()));
    serving.stop();
}

#[test]
fn where_no_host_is_it_is_said_how_one_starts() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut told = String::new();
    for args in [&["status"] as &[&str], &["chat", "ls"], &["stop", "--agents=stop"], &["token"]] {
        let said = run(&place, args);
        assert_eq!((said.code, said.out.as_str()), (6, ""), "{said:?}");
        told.push_str(&redact(&place, &format!("$ holdfast {}\n{}\n", args.join(" "), said.err)));
    }
    let host = place.start();
    host.kill();
    let said = run(&place, &["status"]);
    assert_eq!(said.code, 6);
    told.push_str(&redact(&place, &format!("(killed) $ holdfast status\n{}\n", said.err)));
    let said = run(&place, &["token"]);
    assert_eq!(said.code, 0, "a token stays valid");
    told.push_str(&redact(
        &place,
        &format!("(killed) $ holdfast token\n{}{}\n", said.out, said.err),
    ));
    insta::assert_snapshot!("no-host", told);
}

#[test]
fn what_an_agent_runs_in_is_shown_with_its_origins() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let names = |args: &[&str]| {
        let shown = run(&place, args).json();
        shown["items"].as_array().unwrap().clone()
    };
    let masked = names(&["agent", "env", "demo", "--json"]);
    let path = masked.iter().find(|variable| variable["name"] == "PATH").unwrap();
    assert!(path["value"].is_null() && path["origin"].is_string(), "{path}");
    let shown = names(&["agent", "env", "demo", "--values", "--json"]);
    let path = shown.iter().find(|variable| variable["name"] == "PATH").unwrap();
    let path = path["value"].as_str().unwrap();
    let table = run(&place, &["agent", "env", "demo"]);
    assert!(table.out.contains("PATH") && !table.out.contains(path), "{table:?}");
    let table = run(&place, &["agent", "env", "demo", "--values", "--refresh"]);
    assert!(table.out.contains(path), "{table:?}");
    assert!(table.err.starts_with("From the login shell") || table.err.starts_with("The host's"));
    let refreshed = run(&place, &["agent", "env", "--refresh"]);
    assert_eq!((refreshed.code, refreshed.err.as_str()), (0, ""), "{refreshed:?}");
    let bare = run(&place, &["agent", "env"]);
    assert_eq!((bare.code, &bare.out), (0, &refreshed.out), "{bare:?}");
    assert!(bare.out.starts_with("From the login shell") || bare.out.starts_with("The host's"));
    assert!(run(&place, &["agent", "env", "--json"]).json()["source"].is_string());
    assert_eq!(run(&place, &["agent", "env", "nobody"]).code, 3);
    assert_eq!(run(&place, &["agent", "env", "--values"]).code, 2);
    host.stop();
}
