//! `holdfast status`.

use serde_json::{Value, json};

use crate::clock::now;
use crate::commands::left::processes;
use crate::fault::Fault;
use crate::prefix::short;
use crate::reach::{Reach, Surroundings, Target, endpoint};
use crate::rows::{NEEDS_YOU, list, number, shown, what, word};
use crate::text::{ago, count, line};

/// What `status` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub(crate) reach: Reach,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let out = args.reach.out();
    let host = client.get("/host")?;
    let (url, here) = match client.target() {
        Target::Here { data_dir, .. } => {
            let endpoint = endpoint(data_dir)?;
            (endpoint.url, Some((data_dir.clone(), endpoint.pid)))
        }
        Target::There { url, .. } => (url.clone(), None),
    };
    let mut left = client.get("/host/left")?;
    let counts = &host["counts"];
    let live = number(counts, "running") + number(counts, "to_check") + number(counts, "to_resume");
    let rows = if live > 0 { client.all("/chats?state=open&limit=500")? } else { Vec::new() };
    let rows: Vec<&Value> = rows.iter().filter(|row| shown(row) != "idle").collect();
    if out.is_json() {
        let mut told = host;
        told["url"] = json!(url);
        told["pid"] = json!(here.as_ref().map(|(_, pid)| pid));
        told["data_dir"] = json!(here.as_ref().map(|(dir, _)| dir));
        told["chats"] = json!(rows);
        told["left"] = left["items"].take();
        return out.json(&told);
    }
    let process = here.as_ref().map(|(_, pid)| format!(", pid {pid}")).unwrap_or_default();
    let mut facts = vec![
        ["host".to_owned(), format!("{url}{process}")],
        ["version".to_owned(), line(word(&host, "version"))],
    ];
    if let Some((dir, _)) = &here {
        facts.push(["data".to_owned(), dir.display().to_string()]);
    }
    let needed = rows.iter().filter(|row| shown(row) == NEEDS_YOU).count() as u64;
    let counted = [
        // Who waits for a person does not work meanwhile.
        (number(counts, "running").saturating_sub(needed), "working"),
        (needed, if needed == 1 { NEEDS_YOU } else { "need you" }),
        (number(counts, "to_resume"), "to resume"),
        (number(counts, "to_check"), "to check"),
    ];
    let counted = counted.map(|(count, words)| format!("{count} {words}"));
    facts.push([
        "chats".to_owned(),
        format!("{} open: {}", number(counts, "open"), counted.join(", ")),
    ]);
    if number(counts, "queued") > 0 {
        let queued = count(number(counts, "queued"), "message");
        facts.push(["waiting".to_owned(), format!("{queued} in queues")]);
    }
    let running = list(&left, "items").iter().map(|one| list(one, "processes").len() as u64);
    let running: u64 = running.sum();
    if running > 0 {
        let running = processes(running);
        facts.push(["left".to_owned(), format!("{running} of closed chats: holdfast left")]);
    }
    if let Some(wrong) = host["configuration"].as_str() {
        facts.push(["config".to_owned(), line(wrong)]);
    }
    for damage in list(&host, "damage") {
        facts.push(["damage".to_owned(), line(damage.as_str().unwrap_or_default())]);
    }
    out.table(&[], facts.into_iter().map(Vec::from).collect())?;
    if rows.is_empty() {
        return Ok(());
    }
    out.line("")?;
    let ids: Vec<&str> = rows.iter().map(|row| word(row, "id")).collect();
    let short = short(&ids);
    let now = now();
    let one = |row: &Value| {
        vec![short(word(row, "id")), shown(row), ago(word(&row["status"], "since"), now), what(row)]
    };
    out.table(&["CHAT", "STATE", "SINCE", "WHAT"], rows.iter().map(|row| one(row)).collect())?;
    if number(counts, "to_resume") > 0 {
        out.hint("\nholdfast offers shows what was stopped; holdfast resume --all carries on.");
    }
    Ok(())
}
