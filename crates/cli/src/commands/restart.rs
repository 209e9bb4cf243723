//! `holdfast restart`.

use std::time::Duration;

use serde_json::json;

use crate::clock::Deadline;
use crate::fault::{Exit, Fault};
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, number, word};
use crate::text::{count, line};

/// How long a new host may take to answer.
const START_PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks whether it does.
const LOOK: Duration = Duration::from_millis(50);

/// What `restart` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub(crate) reach: Reach,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let out = args.reach.out();
    let before = number(&client.get("/host")?, "generation");
    let mut answer = client.post("/host/restart", &json!({}))?;
    let patience = client.timeout().unwrap_or(START_PATIENCE);
    let deadline = Deadline::after(Some(patience));
    loop {
        // Between the two nobody listens.
        let host = match client.get("/host") {
            Err(fault) if fault.exit == Exit::Unreachable => None,
            other => Some(other?),
        };
        if let Some(host) = host.filter(|host| number(host, "generation") > before) {
            if out.is_json() {
                answer["generation"] = host["generation"].clone();
                answer["version"] = host["version"].clone();
                return out.json(&answer);
            }
            let working = count(list(&answer, "working").len() as u64, "chat");
            let version = line(word(&host, "version"));
            out.note(&format!("A new host answers, version {version}. {working} at work went on."));
            return Ok(());
        }
        let Some(pause) = deadline.left(LOOK) else { break };
        client.pause(pause);
    }
    let text = format!("No new host answered within {} seconds.", patience.as_secs_f64());
    Err(Fault::new(Exit::TimedOut, "timed_out", text)
        .advice("The agents go on under their keepers. Look at the host's log, or start it again."))
}
