//! What is added to the way of a chunk: from the agent's word to the client's ear.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::host::Running;

/// Chunks that the agent says, and the milliseconds between two of them.
const CHUNKS: usize = 500;
const GAP_MS: u64 = 4;

pub(crate) fn run(runtime: &Runtime, program: &Path) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let host = Running::start(program, dir.path())?;
    let delays = runtime.block_on(delays(&host));
    host.stop()?;
    let mut delays = delays?;
    delays.sort_unstable();
    let at = |share: usize| delays[(delays.len() - 1) * share / 100];
    println!("delay of a chunk, {CHUNKS} of them with {GAP_MS} ms between (microseconds)");
    println!("{:>8}  {:>8}  {:>8}  {:>8}", "median", "90 %", "99 %", "most");
    println!("{:>8}  {:>8}  {:>8}  {:>8}", at(50), at(90), at(99), at(100));
    Ok(())
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros())
}

/// Listens to the event stream while the agent says what time it is, and takes the difference when a
/// line is there for the first time, as a delta or with a commit.
async fn delays(host: &Running) -> anyhow::Result<Vec<u128>> {
    let client = reqwest::Client::new();
    let opened = client.post(host.api("/chats")).bearer_auth(&host.token);
    let row: Value = opened.json(&json!({"agent": "demo"})).send().await?.json().await?;
    let chat = row["id"].as_str().context("the chat has no id")?.to_owned();
    let stream = client.get(host.api(&format!("/events?chat={chat}"))).bearer_auth(&host.token);
    let stream = stream.header("accept", "text/event-stream").send().await?;
    let mut stream = stream.bytes_stream();
    let text = format!("[[clock {CHUNKS} {GAP_MS}]]");
    let sent = client.post(host.api(&format!("/chats/{chat}/messages"))).bearer_auth(&host.token);
    ensure!(sent.json(&json!({"text": text})).send().await?.status().is_success());
    let mut unread = Vec::new();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut delays = Vec::new();
    while delays.len() < CHUNKS {
        unread.extend(stream.next().await.context("the stream ended")??);
        while let Some(end) = unread.windows(2).position(|pair| pair == b"\n\n") {
            let frame: Vec<u8> = unread.drain(..end + 2).collect();
            let heard = now();
            let frame = String::from_utf8_lossy(&frame).into_owned();
            let Some(data) = frame.lines().find_map(|line| line.strip_prefix("data:")) else {
                continue;
            };
            let frame: Value = serde_json::from_str(data.trim())?;
            for (item, text) in told(&frame) {
                let have = texts.entry(item).or_default();
                let fresh = match text {
                    Told::All(text) if text.len() > have.len() => text[have.len()..].to_owned(),
                    Told::More(at, text) if at == have.len() => text,
                    Told::All(_) | Told::More(..) => continue,
                };
                have.push_str(&fresh);
                for line in fresh.lines() {
                    if let Ok(said) = line.parse::<u128>() {
                        delays.push(heard.saturating_sub(said));
                    }
                }
            }
        }
    }
    Ok(delays)
}

enum Told {
    All(String),
    More(usize, String),
}

/// What a frame tells of the agent's texts.
fn told(frame: &Value) -> Vec<(String, Told)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if frame["type"] == "delta" {
        let at = usize::try_from(frame["at"].as_u64().unwrap_or_default()).unwrap_or_default();
        return vec![(text(&frame["item"]), Told::More(at, text(&frame["text"])))];
    }
    let changes = frame["changes"].as_array().cloned().unwrap_or_default();
    let items = changes.iter().filter(|change| change["what"] == "item");
    let items = items.map(|change| &change["value"]).filter(|item| item["role"] == "agent");
    items.map(|item| (text(&item["id"]), Told::All(text(&item["text"])))).collect()
}
