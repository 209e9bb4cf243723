//! Durable posts of messages, beside what bounds them.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::commits::{self, MESSAGE_BYTES, MESSAGES_A_CHAT};
use crate::host::Running;

pub(crate) fn run(runtime: &Runtime, program: &Path, seconds: u64) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let lasts = Duration::from_secs(seconds);
    let syncs = commits::syncs(dir.path(), lasts)?;
    println!("durable posts of {MESSAGE_BYTES} bytes; this disk syncs {syncs:.0} times a second");
    println!(
        "{:>12}  {:>12}  {:>14}  {:>8}  {:>10}",
        "connections", "posts/s", "commits/s here", "share", "of syncs"
    );
    for connections in [1, 16, 64] {
        let ceiling = runtime.block_on(commits::commits(dir.path(), connections, lasts))?;
        let data = dir.path().join(format!("host-{connections}"));
        let host = Running::start(program, &data)?;
        let rate = runtime.block_on(posts(&host, connections, lasts));
        host.stop()?;
        let rate = rate?;
        println!(
            "{connections:>12}  {rate:>12.0}  {ceiling:>14.0}  {:>7.0}%  {:>9.2}x",
            100.0 * rate / ceiling,
            rate / syncs,
        );
    }
    Ok(())
}

async fn posts(host: &Running, connections: usize, lasts: Duration) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let clients = (0..connections).map(|_| {
        let client = reqwest::Client::new();
        let (api, token) = (host.api(""), host.token.clone());
        tokio::spawn(async move {
            let post = async |path: String, body: Value| -> anyhow::Result<Value> {
                let sent =
                    client.post(format!("{api}{path}")).bearer_auth(&token).json(&body).send();
                let answer = sent.await?;
                ensure!(answer.status().is_success(), "{path}: {}", answer.status());
                Ok(answer.json().await?)
            };
            let text = "x".repeat(MESSAGE_BYTES);
            let (mut chat, mut here, mut done) = (String::new(), MESSAGES_A_CHAT, 0_u32);
            while begun.elapsed() < lasts {
                if here == MESSAGES_A_CHAT {
                    let row = post("/chats".to_owned(), json!({"agent": "demo"})).await?;
                    chat = row["id"].as_str().unwrap_or_default().to_owned();
                    // No agent is to start: what is measured is what is kept.
                    post(format!("/chats/{chat}/queue/pause"), json!({})).await?;
                    here = 0;
                }
                post(format!("/chats/{chat}/messages"), json!({"text": text})).await?;
                here += 1;
                done += 1;
            }
            anyhow::Ok(done)
        })
    });
    let mut done = 0;
    for client in clients.collect::<Vec<_>>() {
        done += client.await??;
    }
    let rate = f64::from(done) / begun.elapsed().as_secs_f64();
    let client = reqwest::Client::new();
    let asked = client.get(host.api("/host")).bearer_auth(&host.token).send().await?;
    let state: Value = asked.json().await?;
    ensure!(state["counts"]["queued"] == done, "{done} were answered: {state}");
    Ok(rate)
}
