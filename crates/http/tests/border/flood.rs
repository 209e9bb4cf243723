//! Clients that come at any moment of a flood see all of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use holdfast_core::ids::ChatId;
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::provider::ProviderEvent;
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::client::{BOUND, Border, connect, frame};
use crate::shapes::takes;

const CLIENTS: u64 = 50;
const ITEMS: u32 = 600;

/// What one client has put together: its items, by id.
#[derive(Default)]
struct Shown {
    items: BTreeMap<String, Value>,
}

impl Shown {
    fn take(&mut self, item: &Value) {
        self.items.insert(item["id"].as_str().unwrap().to_owned(), item.clone());
    }

    fn put(&mut self, frame: &Value) {
        match frame["type"].as_str().unwrap() {
            "snapshot" => {
                frame["items"].as_array().unwrap().iter().for_each(|item| self.take(item))
            }
            "changes" => {
                let changes = frame["changes"].as_array().unwrap().iter();
                changes
                    .filter(|change| change["what"] == "item")
                    .for_each(|change| self.take(&change["value"]));
            }
            _ => {}
        }
    }

    /// The texts in order of place; the newest page is where a client that came late begins.
    fn log(&self) -> Vec<(u64, String)> {
        let mut log: Vec<(u64, String)> = self
            .items
            .values()
            .map(|item| {
                let text = item["text"].as_str().unwrap_or_default().to_owned();
                (item["seq"].as_u64().unwrap(), text)
            })
            .collect();
        log.sort();
        log
    }
}

async fn follow(address: SocketAddr, chat: ChatId) -> Vec<(u64, String)> {
    let mut socket = connect(address, &format!("?chat={chat}")).await;
    let mut shown = Shown::default();
    let last = format!("line {ITEMS}");
    loop {
        shown.put(&frame(&mut socket).await);
        if shown.log().last().is_some_and(|(_, text)| *text == last) {
            return shown.log();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_and_what_follows_have_no_seam() {
    let border = Border::new();
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let chat: ChatId = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, chat).await;
    let address = border.serve().await;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            tokio::spawn(async move {
                // Spread over the flood, at times that are not those of the commits.
                let mut due = interval(Duration::from_micros(1 + n * 7919));
                due.tick().await;
                due.tick().await;
                follow(address, chat).await
            })
        })
        .collect();
    let mut each = interval(Duration::from_millis(1));
    each.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for n in 1..=ITEMS {
        let (kind, role) = (ItemKind::Message, Role::Agent);
        let opened = ProviderEvent::ItemOpened { item: n, kind, role, body: Body::Text };
        border.host.says(chat, opened).await;
        let text = format!("line {n}");
        let said = ProviderEvent::ItemText { item: n, field: Field::Text, at: 0, text };
        border.host.says(chat, said).await;
        each.tick().await;
    }
    let mut whole = Vec::new();
    let mut before = String::new();
    loop {
        let page = border.get(&format!("/api/v1/chats/{chat}/items?limit=200{before}")).await;
        let mut shown = Shown::default();
        page["items"].as_array().unwrap().iter().for_each(|item| shown.take(item));
        whole.splice(0..0, shown.log());
        match page["next"].as_u64() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    assert_eq!(whole.len(), ITEMS as usize + 1);
    for client in clients {
        let log = timeout(BOUND, client).await.unwrap().unwrap();
        let from = whole.len() - log.len();
        assert_eq!(log, whole[from..], "a seam after {from}");
    }
}
