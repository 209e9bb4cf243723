//! The socket that a host listens on outlives it: while a host is replaced nobody is refused, and a
//! service manager may hold it.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::proc;
use rustix::process::Signal;
use serde_json::{Value, json};

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn wait_replaced(host: &TestHost<'_>, generation: u64) {
    host.wait("the next generation", || {
        let answer = host.request("GET", "/host", None);
        answer.is_some_and(|answer| answer.body["generation"].as_u64() > Some(generation))
    });
}

/// Asks on a connection of its own; what went wrong, if anything did.
fn ask(address: SocketAddr) -> Result<(), String> {
    let mut stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    let request = format!("GET /livez HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
    let right = answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 503");
    if right { Ok(()) } else { Err(format!("answered {answer:?}")) }
}

#[test]
fn nobody_is_refused_while_a_host_is_replaced() {
    const REPLACED: u64 = 5;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let address: SocketAddr = host.url.trim_start_matches("http://").parse().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let asking = std::thread::spawn({
        let over = Arc::clone(&over);
        move || {
            let mut asked = 0_u32;
            while !over.load(Ordering::Relaxed) {
                ask(address).unwrap_or_else(|error| panic!("call {asked}: {error}"));
                asked += 1;
            }
            asked
        }
    });
    for round in 0..REPLACED {
        let generation = host.get("/host")["generation"].as_u64().unwrap();
        if round % 2 == 0 {
            host.post("/host/restart", &json!({})).ok();
        } else {
            proc::signal(host.pid(), Signal::HUP).unwrap();
        }
        wait_replaced(&host, generation);
    }
    over.store(true, Ordering::Relaxed);
    let asked = asking.join().expect("a call was refused or cut");
    assert!(u64::from(asked) > REPLACED, "{asked} calls");
    // An agent inherits neither the socket nor the words about it.
    let chat = host.open();
    let message = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &message, "settled");
    assert_unheld(&place);
    assert!(host.stop().success());
    TcpListener::bind(address).expect("nobody holds the port after the stop");
}

/// No process of an agent or a keeper holds a listening socket or is told of one.
fn assert_unheld(place: &Place) {
    let processes = place.processes();
    assert!(!processes.is_empty());
    processes.into_iter().for_each(assert_none_held);
}

fn assert_none_held(pid: u32) {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    assert!(!environment.contains("LISTEN_"), "{environment}");
    let listening = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let listening: Vec<&str> = listening
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|columns| columns.get(3) == Some(&"0A"))
        .filter_map(|columns| columns.get(9).copied())
        .collect();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let Ok(held) = std::fs::read_link(entry.unwrap().path()) else { continue };
        let held = held.display().to_string();
        let inode = held.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
        assert!(inode.is_none_or(|inode| !listening.contains(&inode)), "{pid} holds {held}");
    }
}

#[test]
fn a_host_listens_on_the_socket_that_a_service_manager_holds() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = Command::new("systemd-socket-activate");
    command.arg(format!("--listen={free}")).arg(&place.program);
    // The configuration names another address: the socket is where people look for the host.
    command
        .args(["serve", "--listen", "127.0.0.1:1", "--json", "--data-dir"])
        .arg(place.data_dir());
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", place.root.join("home")).env("HOLDFAST_DEMO_DIR", place.root.join("demo"));
    command.env("HOLDFAST_DEMO_LOG", place.evidence().path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    log.read_line(&mut said).unwrap();
    assert!(said.contains("Listening on"), "{said}");
    // Who connects starts it, and is answered.
    let asking = std::thread::spawn(move || ask(free));
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(ready["url"], format!("http://{free}"));
    asking.join().unwrap().unwrap();
    let host = TestHost::attached(&place, child, &ready);
    let pid = host.pid();
    for _ in 0..2 {
        let generation = host.get("/host")["generation"].as_u64().unwrap();
        proc::signal(pid, Signal::HUP).unwrap();
        wait_replaced(&host, generation);
    }
    let chat = host.open();
    let message = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &message, "settled");
    assert_unheld(&place);
    assert!(host.stop().success());
}
