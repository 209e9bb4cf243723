//! How soon a host with many chats answers, and what memory it takes.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::fill::{self, ITEMS};
use crate::host::Running;

/// Starts of each size; the median is told.
const ROUNDS: usize = 7;
/// Chats of the page that is asked for.
const PAGE: usize = 100;

pub(crate) fn run(runtime: &Runtime, program: &Path, keep: &Path) -> anyhow::Result<()> {
    println!("start-up (median of {ROUNDS}), chats of {ITEMS} items");
    println!(
        "{:>8}  {:>12}  {:>12}  {:>10}  {:>10}",
        "chats", "serves", "GET /chats", "resident", "anonymous"
    );
    for chats in [0, 1_000, 10_000] {
        let dir = runtime.block_on(fill::filled(keep, chats))?;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(runtime.block_on(round(program, &dir, chats))?);
        }
        let median = |of: fn(&Round) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        println!(
            "{chats:>8}  {:>9.1} ms  {:>9.1} ms  {:>6.1} MiB  {:>6.1} MiB",
            median(|round| round.serves_ms),
            median(|round| round.answers_ms),
            median(|round| round.resident_mib),
            median(|round| round.anonymous_mib),
        );
    }
    Ok(())
}

struct Round {
    serves_ms: f64,
    answers_ms: f64,
    resident_mib: f64,
    anonymous_mib: f64,
}

async fn round(program: &Path, dir: &Path, chats: usize) -> anyhow::Result<Round> {
    let host = Running::start(program, dir)?;
    let serves_ms = milliseconds(host.begun.elapsed());
    let client = reqwest::Client::new();
    let get = |path: &str| client.get(host.api(path)).bearer_auth(&host.token).send();
    let page: Value = get(&format!("/chats?limit={PAGE}")).await?.json().await?;
    let answers_ms = milliseconds(host.begun.elapsed());
    let rows = page["items"].as_array().map_or(0, Vec::len);
    ensure!(rows == chats.min(PAGE), "{rows} rows of {chats} chats");
    let state: Value = get("/host").await?.json().await?;
    ensure!(state["counts"]["open"] == chats, "{state}");
    let (resident, anonymous) = host.memory_kib()?;
    host.stop()?;
    let mib = |kib: u64| f64::from(u32::try_from(kib).unwrap_or(u32::MAX)) / 1024.0;
    let (resident_mib, anonymous_mib) = (mib(resident), mib(anonymous));
    Ok(Round { serves_ms, answers_ms, resident_mib, anonymous_mib })
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
