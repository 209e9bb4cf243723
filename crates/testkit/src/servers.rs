//! Servers that a tool call leaves behind in a session of their own: what is shown of them, and who ends
//! them.

use std::net::TcpStream;

use serde_json::{Value, json};

use crate::host::{PATIENCE, TestHost};
use crate::{proc, wait_until};

/// A shell command that leaves such a server behind, on a port that is free.
pub const LEAVES_A_SERVER: &str =
    "setsid -f python3 -m http.server 0 --bind 127.0.0.1 </dev/null >/dev/null 2>&1";
/// The same, with an environment that says nothing of where it came from.
pub const LEAVES_A_STRANGER: &str =
    "setsid -f env -i python3 -m http.server 0 --bind 127.0.0.1 </dev/null >/dev/null 2>&1";

/// A server as the chat shows it.
#[derive(Debug)]
struct Server {
    pid: u32,
    port: u16,
}

impl Server {
    fn of(leftover: &Value) -> Self {
        let command = leftover["command"].as_str().unwrap();
        assert!(command.contains("http.server"), "{leftover}");
        let pid = leftover["id"].as_str().unwrap().split_once('.').unwrap().0.parse().unwrap();
        let port = leftover["ports"][0].as_u64().unwrap();
        Self { pid, port: u16::try_from(port).unwrap() }
    }

    fn serves(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    fn is_gone(&self) -> bool {
        !self.serves() && !proc::is_alive(self.pid)
    }
}

/// Three chats whose agents were told to leave servers behind: each shows its own, one ends them with
/// its close, one leaves them, and what is left is listed, by the next host too, until it is ended. `open`
/// opens a chat in which nothing is asked; `run` is the directive that runs a command.
///
/// # Panics
/// When anything is not as it is to be.
pub fn are_shown_and_ended(
    host: TestHost<'_>,
    open: impl Fn(&TestHost<'_>) -> String,
    run: impl Fn(&str) -> String,
) {
    let place = host.place;
    let chats: Vec<String> = (0..2).map(|_| open(&host)).collect();
    for chat in &chats {
        let script = [&*run(LEAVES_A_SERVER), &run(LEAVES_A_STRANGER), "[[say left them]]"];
        let message = host.send(chat, &crate::scripted::one_by_one(&script));
        host.wait_message(chat, &message, "settled");
    }
    let shown = |chat: &String| -> Vec<Value> {
        host.chat(chat)["activity"]["leftovers"].as_array().unwrap().clone()
    };
    let listening = |left: &Value| left["ports"].as_array().is_some_and(|ports| ports.len() == 1);
    host.wait("the servers of each chat", || {
        chats.iter().all(|chat| shown(chat).len() == 2 && shown(chat).iter().all(listening))
    });
    let of = |chat: &String| shown(chat).iter().map(Server::of).collect::<Vec<_>>();
    let (ended, left) = (of(&chats[0]), of(&chats[1]));
    assert!(ended.iter().chain(&left).all(Server::serves), "{ended:?} {left:?}");
    assert_eq!(host.get("/host/left")["items"], json!([]), "open chats have them");

    let said = host.post(&format!("/chats/{}/close", chats[0]), &json!({})).ok();
    assert_eq!(said["leftovers"].as_array().unwrap().len(), 2, "the close says what it ends");
    wait_until(PATIENCE, "the end of the first", || ended.iter().all(Server::is_gone));
    assert!(left.iter().all(Server::serves), "the other chat's are unharmed");

    let path = format!("/chats/{}/close", chats[1]);
    host.post(&path, &json!({ "leftovers": "leave" })).ok();
    host.wait("the row", || host.chat(&chats[1])["status"]["process"] == "stopped");
    let alone = |pid: &u32| left.iter().any(|server| server.pid == *pid);
    let rest = place.processes();
    assert!(rest.iter().all(alone), "of the agents nothing lives: {rest:?}");
    host.kill();

    let host = place.start();
    let items = host.get("/host/left")["items"].as_array().unwrap().clone();
    assert_eq!(items.len(), 1, "{items:?}");
    let mut listed: Vec<(u64, u64)> = items[0]["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["pid"].as_u64().unwrap(), one["ports"][0].as_u64().unwrap()))
        .collect();
    listed.sort_unstable();
    let mut wanted: Vec<(u64, u64)> =
        left.iter().map(|server| (u64::from(server.pid), u64::from(server.port))).collect();
    wanted.sort_unstable();
    assert_eq!(listed, wanted);
    assert!(left.iter().all(Server::serves));
    host.post("/host/left/end", &json!({ "id": items[0]["id"] })).ok();
    assert!(left.iter().all(Server::is_gone), "it is ended when it is answered");
    assert_eq!(host.get("/host/left")["items"], json!([]));
    assert!(host.stop().success());
    assert!(place.processes().is_empty() && place.keepers().is_empty());
}
