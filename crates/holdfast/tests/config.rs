//! The configuration of a whole host: refused with a place, read anew when the host is replaced,
//! and left alone where a replaced host would not start.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::path::PathBuf;
use std::process::{Command, Output};

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::{proc, scenario};
use rustix::process::Signal;
use serde_json::{Value, json};

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn file(place: &Place) -> PathBuf {
    place.data_dir().join("config.toml")
}

fn write(place: &Place, text: &str) {
    std::fs::create_dir_all(place.data_dir()).unwrap();
    std::fs::write(file(place), text).unwrap();
}

/// The demo agent under another id, with this variable.
fn agent(word: &str) -> String {
    format!(
        "[agents.mine]\nkind = \"acp\"\ncommand = [{:?}, \"agent\", \"demo\"]\n\
         env = {{ WORD = {word:?} }}\n",
        env!("CARGO_BIN_EXE_holdfast")
    )
}

fn run(place: &Place, args: &[&str]) -> Output {
    let mut command = Command::new(&place.program);
    command.args(args).env_clear().env("HOME", place.root.join("home"));
    command.env("HOLDFAST_DATA_DIR", place.data_dir()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn turn(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

fn replace(host: &TestHost<'_>) {
    let generation = host.get("/host")["generation"].as_u64();
    proc::signal(host.pid(), Signal::HUP).unwrap();
    wait_replaced(host, generation);
}

fn wait_replaced(host: &TestHost<'_>, generation: Option<u64>) {
    host.wait("the next generation", || {
        let answer = host.request("GET", "/host", None);
        answer.is_some_and(|answer| answer.body["generation"].as_u64() > generation)
    });
}

/// What a process has under this name in its environment.
fn variable(pid: u32, name: &str) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    bytes
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(text))
}

/// The agents of this place, by their evidence.
fn agents(place: &Place) -> Vec<u32> {
    place.evidence().pids().iter().map(|pid| u32::try_from(*pid).unwrap()).collect()
}

#[test]
fn a_kind_that_cannot_be_driven_and_a_misspelt_key_stop_the_start() {
    for (wrong, says) in [
        ("[agents.c]\nkind = \"gemini\"\ncommand = [\"g\"]\n", ":2: unknown variant `gemini`"),
        ("\n[idle]\nrelase-minutes = 1\n", ":3: unknown key \"idle.relase-minutes\": did you mean"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        write(&place, wrong);
        let output = place.command().stderr(std::process::Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let wanted = format!("{}{says}", file(&place).display());
        assert!(text(&output.stderr).contains(&wanted), "{}", text(&output.stderr));
        assert_eq!(std::fs::read_dir(place.data_dir()).unwrap().count(), 1, "nothing was touched");
        let checked = run(&place, &["config", "check"]);
        assert_eq!(checked.status.code(), Some(2));
        assert!(text(&checked.stderr).contains(&wanted), "{}", text(&checked.stderr));
        let checked = run(&place, &["config", "check", file(&place).to_str().unwrap()]);
        assert_eq!(checked.status.code(), Some(2));
    }
}

#[test]
fn what_holds_is_listed_and_secrets_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let checked = run(&place, &["config", "check"]);
    assert!(checked.status.success(), "no file is right");
    write(&place, &agent("s3cret"));
    let checked = run(&place, &["config", "check"]);
    assert!(checked.status.success() && text(&checked.stdout).contains("is right"));
    let listed = run(&place, &["config", "list"]);
    let lines = text(&listed.stdout);
    let wanted = format!("{}:4", file(&place).display());
    assert!(
        lines.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words == ["agents.mine.env.WORD", "\"(set)\"", &wanted]
        }),
        "{lines}"
    );
    let json = run(&place, &["config", "list", "--json"]);
    let list: Value = serde_json::from_slice(&json.stdout).unwrap();
    let of = |key: &str| {
        list["items"].as_array().unwrap().iter().find(|line| line["key"] == key).unwrap().clone()
    };
    assert_eq!(of("data-dir")["origin"]["name"], "HOLDFAST_DATA_DIR");
    assert_eq!(of("idle.release-minutes")["origin"]["from"], "default");
    assert_eq!(of("agents.mine.env.WORD")["origin"]["line"], 4);
    assert!(!lines.contains("s3cret") && !text(&json.stdout).contains("s3cret"));
}

#[test]
fn a_replaced_host_has_the_new_values_and_the_agents_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    write(&place, &agent("old"));
    let host = place.start();
    let first = host.open_with("mine");
    turn(&host, &first, "[[say one]]");
    let old = agents(&place);
    assert_eq!(
        old.iter().map(|pid| variable(*pid, "WORD")).collect::<Vec<_>>(),
        [Some("old".into())]
    );

    write(&place, &agent("new"));
    replace(&host);
    assert_eq!(agents(&place), old, "the agent goes on");
    turn(&host, &first, "[[say two]]");
    let second = host.open_with("mine");
    turn(&host, &second, "[[say one]]");
    let new: Vec<u32> = agents(&place).into_iter().filter(|pid| !old.contains(pid)).collect();
    assert_eq!(
        new.iter().map(|pid| variable(*pid, "WORD")).collect::<Vec<_>>(),
        [Some("new".into())]
    );
    assert!(old.iter().all(|pid| proc::is_alive(*pid)));

    // With the default nobody would be released for half an hour.
    write(&place, &format!("{}[idle]\nrelease-minutes = 0.01\n", agent("new")));
    replace(&host);
    host.wait("the release of both", || place.processes().is_empty());
    assert_eq!(host.get("/host")["counts"]["to_resume"], 0);
    host.stop();
}

#[test]
fn a_ceiling_stops_what_shows_work_and_offers_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    write(&place, "[idle]\nceiling-minutes = 0.02\n");
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "[[task 600 Read the manual]]");
    host.wait("the offer", || scenario::offers(&host).len() == 1);
    let offer = scenario::offers(&host).remove(0);
    assert_eq!(offer["cause"], "idle_stop");
    assert!(offer["summary"]["text"].as_str().unwrap().contains("Subagent running"), "{offer}");
    host.wait("the end of the agent", || place.processes().is_empty());
    host.stop();
}

#[test]
fn a_broken_file_leaves_the_host_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    write(&place, &agent("old"));
    let mut host = place.start();
    let chat = host.open_with("mine");
    turn(&host, &chat, "[[say one]]");
    let (living, generation) = (agents(&place), host.generation);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = format!("listen = {:?}\n", taken.local_addr().unwrap().to_string());
    // The address of the command line is before that of the file.
    for (broken, says) in [("[idle\n", ":1:"), ("[idle]\nrelease-minuts = 1\n", ":2: unknown key")]
    {
        write(&place, broken);
        proc::signal(host.pid(), Signal::HUP).unwrap();
        let damage = || host.get("/host")["damage"].to_string();
        host.wait("the word", || damage().contains(says));
        assert!(damage().contains("config.toml"), "{}", damage());
        assert!(place.log().contains("the host goes on and was not replaced"), "{}", place.log());
        let refused = host.post("/host/restart", &json!({}));
        assert_eq!((refused.status, &refused.body["code"]), (409, &json!("configuration_wrong")));
        assert!(refused.body["detail"].as_str().unwrap().contains(says), "{}", refused.body);
        assert_eq!(host.get("/host")["generation"].as_u64(), Some(generation));
        turn(&host, &chat, "[[say on]]");
    }
    assert!(host.is_running());
    assert_eq!(agents(&place), living);

    write(&place, &format!("{elsewhere}{}", agent("new")));
    let before = host.get("/host")["generation"].as_u64();
    host.post("/host/restart", &json!({})).ok();
    wait_replaced(&host, before);
    assert_eq!(host.get("/host")["damage"], json!([]));
    assert_eq!(agents(&place), living);
    host.stop();
}

#[test]
fn where_no_successor_could_listen_or_find_the_data_the_host_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    let config = dir.path().join("named.toml");
    place.args = vec!["--config".into(), config.display().to_string()];
    let data = place.data_dir().display().to_string();
    std::fs::write(&config, "listen = \"127.0.0.1:0\"\n").unwrap();
    // Neither address nor directory on the command line.
    let mut command = Command::new(&place.program);
    command.args(["serve", "--json", "--config"]).arg(&config).env_clear();
    command.env("HOME", dir.path().join("home")).stdout(std::process::Stdio::piped());
    command.env("HOLDFAST_DEMO_DIR", dir.path().join("demo"));
    command.env("HOLDFAST_DEMO_LOG", place.evidence().path());
    std::fs::write(&config, format!("listen = \"127.0.0.1:0\"\ndata-dir = {data:?}\n")).unwrap();
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    let host = TestHost::attached(&place, child, &serde_json::from_str(&line).unwrap());
    assert!(place.data_dir().join("host.lock").exists());

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    for (broken, says) in [
        (format!("listen = \"{address}\"\ndata-dir = {data:?}\n"), "cannot listen on"),
        ("listen = \"127.0.0.1:0\"\ndata-dir = \"/nowhere\"\n".to_owned(), "data-dir changed"),
    ] {
        std::fs::write(&config, broken).unwrap();
        proc::signal(host.pid(), Signal::HUP).unwrap();
        host.wait("the word", || host.get("/host")["damage"].to_string().contains(says));
    }
    // A port that was picked is kept, so that no client loses the host.
    std::fs::write(&config, format!("listen = \"127.0.0.1:0\"\ndata-dir = {data:?}\n")).unwrap();
    replace(&host);
    drop(taken);
    assert!(host.stop().success());
}

/// Bytes of the spool of the one attempt of this place.
fn spooled(place: &Place) -> u64 {
    let attempts = place.attempts();
    let spool = place.data_dir().join("attempts").join(&attempts[0]).join("spool");
    let entries = std::fs::read_dir(spool).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

#[test]
fn a_spool_has_the_bound_that_was_set() {
    const MIB: u64 = 1024 * 1024;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    write(&place, "[keeper]\nspool-mib = 64\n");
    let host = place.start();
    let chat = host.open();
    turn(&host, &chat, "[[say one]]");
    // A host that takes nothing in, and an agent that says more than the bound.
    let message = host.send(&chat, "[[slow 1]] [[flood 150000000]]");
    host.wait_message(&chat, &message, "taken");
    proc::signal(host.pid(), Signal::STOP).unwrap();
    let mut before = 0;
    let mut alike = 0;
    holdfast_testkit::wait_until(holdfast_testkit::host::PATIENCE, "the bound", || {
        let now = spooled(&place);
        alike = if now == before { alike + 1 } else { 0 };
        before = now;
        now > 60 * MIB && alike > 40
    });
    proc::signal(host.pid(), Signal::CONT).unwrap();
    assert!(before < 68 * MIB, "{before}");
    host.wait_message(&chat, &message, "settled");
    host.stop();
}

#[test]
fn an_agent_without_a_host_ends_after_the_days_that_were_set() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    // A second or two.
    write(&place, "[keeper]\nhost-gone-days = 0.00002\n");
    let host = place.start();
    let chat = host.open();
    turn(&host, &chat, "[[say one]]");
    assert!(!place.processes().is_empty());
    host.kill();
    holdfast_testkit::wait_until(holdfast_testkit::host::PATIENCE, "the agent's end", || {
        place.processes().is_empty() && place.keepers().is_empty()
    });
    let host = place.start();
    assert_eq!(host.said(&chat), "one");
    host.stop();
}
