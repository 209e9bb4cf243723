//! `holdfast stop`.

use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::client::Client;
use crate::clock::Deadline;
use crate::fault::{Exit, Fault};
use crate::out::Out;
use crate::prefix::short;
use crate::reach::{Reach, Surroundings, Target, endpoint, lives};
use crate::rows::{list, number, what, word};
use crate::text::{count, cut, line};

/// How long a host may take to end: it has 15 seconds for its agents.
const END_PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks whether it has.
const LOOK: Duration = Duration::from_millis(50);

/// Columns of what a chat is doing.
const WHAT_COLUMNS_MAX: usize = 64;

/// What `stop` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What becomes of the agents: stopped, with an offer to resume what they were doing, or kept
    /// running for the next host.
    #[arg(long, value_enum)]
    agents: Option<Agents>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

/// What becomes of the agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Agents {
    /// They are stopped; what they were doing is offered at the next start.
    Stop,
    /// They go on under their keepers, and the next host goes on with them.
    Keep,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let out = args.reach.out();
    let host = client.get("/host")?;
    let Some(agents) =
        args.agents.map_or_else(|| ask(&client, out, &host), |some| Ok(Some(some)))?
    else {
        return Err(Fault::new(Exit::Refused, "cancelled", "Nothing was stopped."));
    };
    let process = match client.target() {
        Target::Here { data_dir, .. } => Some(endpoint(data_dir)?.pid),
        Target::There { .. } => None,
    };
    let word = match agents {
        Agents::Stop => "stop",
        Agents::Keep => "keep",
    };
    let answer = client.post("/host/stop", &json!({ "agents": word }))?;
    wait_end(&client, process)?;
    if out.is_json() {
        return out.json(&answer);
    }
    say(out, agents, list(&answer, "working"))
}

/// Asks what is to become of work; none where it is not to be stopped after all.
fn ask(client: &Client, out: Out, host: &Value) -> Result<Option<Agents>, Fault> {
    if !out.can_ask() {
        let text = "Say what becomes of the agents: --agents=stop or --agents=keep.";
        return Err(Fault::usage(text).advice(
            "stop: they are stopped, and what they were doing is offered at the next start. \
             keep: they go on, and the next host goes on with them.",
        ));
    }
    if number(&host["counts"], "running") == 0 {
        return Ok(Some(Agents::Stop));
    }
    let rows = client.all("/chats?state=open&limit=500")?;
    let works = |row: &&Value| {
        matches!(word(&row["status"], "shown"), "working" | "blocked" | "monitoring")
    };
    let rows: Vec<&Value> = rows.iter().filter(works).collect();
    let ids: Vec<&str> = rows.iter().map(|row| word(row, "id")).collect();
    let short = short(&ids);
    out.note(&format!("{} at work:", count(rows.len() as u64, "chat")));
    for row in &rows {
        out.note(&format!("  {}  {}", short(word(row, "id")), cut(&what(row), WHAT_COLUMNS_MAX)));
    }
    out.note("s  stop their agents too; what they were doing is offered at the next start");
    out.note("k  keep their agents running; the next host goes on with them");
    out.note("c  cancel; nothing is stopped");
    loop {
        match out.ask("stop, keep or cancel? [s/k/c] ").as_deref() {
            Some("s" | "stop") => return Ok(Some(Agents::Stop)),
            Some("k" | "keep") => return Ok(Some(Agents::Keep)),
            Some("c" | "cancel" | "") | None => return Ok(None),
            Some(_) => {}
        }
    }
}

/// Waits until the host has ended: here its process, elsewhere until it answers no more.
fn wait_end(client: &Client, process: Option<u32>) -> Result<(), Fault> {
    let patience = client.timeout().unwrap_or(END_PATIENCE);
    let deadline = Deadline::after(Some(patience));
    loop {
        let ended = match process {
            Some(pid) => !lives(pid),
            None => client.get("/host").is_err_and(|fault| fault.exit == Exit::Unreachable),
        };
        if ended {
            return Ok(());
        }
        let Some(pause) = deadline.left(LOOK) else { break };
        client.pause(pause);
    }
    let text = format!("The host has not ended within {} seconds.", patience.as_secs_f64());
    Err(Fault::new(Exit::TimedOut, "timed_out", text)
        .advice("It was told to stop; look at its log."))
}

fn say(out: Out, agents: Agents, working: &[Value]) -> Result<(), Fault> {
    let ids: Vec<&str> = working.iter().map(|row| word(row, "chat")).collect();
    let short = short(&ids);
    let chats = count(ids.len() as u64, "chat");
    out.note(&match (agents, ids.len()) {
        (_, 0) => "Stopped; nobody was at work.".to_owned(),
        (Agents::Stop, _) => format!("Stopped; {chats} at work, offered at the next start:"),
        (Agents::Keep, _) => format!("Stopped; the agents of {chats} go on:"),
    });
    let row = |row: &Value| vec![short(word(row, "chat")), line(word(row, "text"))];
    out.table(&["CHAT", "WAS DOING"], working.iter().map(row).collect())
}
