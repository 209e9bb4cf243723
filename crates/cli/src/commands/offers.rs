//! `holdfast offers`.

use std::collections::HashMap;

use serde_json::Value;

use crate::clock::now;
use crate::fault::Fault;
use crate::out::Out;
use crate::prefix::short;
use crate::reach::{Reach, Surroundings};
use crate::rows::{called, cause, list, word};
use crate::text::{ago, line};

/// What `offers` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also show each thing that was going on.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let out = args.reach.out();
    let answer = client.get("/offers")?;
    if out.is_json() {
        return out.json(&answer);
    }
    let offers = list(&answer, "offers");
    let failures = list(&answer, "failures");
    let rows = client.all("/chats?state=open&limit=500")?;
    let listed = |id: &str| offers.iter().chain(failures).any(|one| word(one, "chat") == id);
    let doubtful: Vec<&Value> = rows
        .iter()
        .filter(|row| row["status"]["shown"] == "to_check" && !listed(word(row, "id")))
        .collect();
    if offers.is_empty() && failures.is_empty() && doubtful.is_empty() {
        out.note("Nothing is to be resumed.");
        return Ok(());
    }
    let called: HashMap<&str, String> =
        rows.iter().map(|row| (word(row, "id"), called(row))).collect();
    let name = |chat: &str| called.get(chat).cloned().unwrap_or_default();
    let ids = offers.iter().chain(failures).map(|offer| word(offer, "chat"));
    let ids: Vec<&str> = ids.chain(doubtful.iter().map(|row| word(row, "id"))).collect();
    let short = short(&ids);
    let now = now();
    for offer in offers {
        let id = word(offer, "chat");
        let since = ago(word(offer, "recorded_at"), now);
        out.line(&format!("{}  {}", short(id), name(id)))?;
        out.line(&format!("  {}, {since}", cause(word(offer, "cause"))))?;
        out.line(&format!("  {}", was(offer)))?;
        if args.verbose {
            for detail in list(offer, "details") {
                out.line(&format!("    {}", line(detail.as_str().unwrap_or_default())))?;
            }
        }
        if offer["needs_choice"] == true {
            out.line(
                "  a message is in doubt: resume with --choice arrived, send-again or discard",
            )?;
        }
        if offer["resuming"] == true {
            out.line("  is being resumed")?;
        }
    }
    failed(out, failures, &short, &name)?;
    for row in doubtful {
        let id = word(row, "id");
        out.line(&format!("{}  {}", short(id), name(id)))?;
        out.line(&format!("  to check: holdfast chat show {} says what is in doubt", short(id)))?;
    }
    if !offers.is_empty() {
        out.hint(
            "\nholdfast resume CHAT carries on, --all with every one; holdfast dismiss lets go.",
        );
    }
    Ok(())
}

/// What a chat was doing.
fn was(offer: &Value) -> String {
    match word(&offer["summary"], "text") {
        "" => "what it was doing cannot be read".to_owned(),
        text => line(text),
    }
}

fn failed(
    out: Out,
    failures: &[Value],
    short: &impl Fn(&str) -> String,
    name: &impl Fn(&str) -> String,
) -> Result<(), Fault> {
    for failure in failures {
        let id = word(failure, "chat");
        out.line(&format!("{}  {}", short(id), name(id)))?;
        let (code, text) = (word(failure, "code"), line(word(failure, "text")));
        out.line(&format!("  failed, {}: {text} ({code})", ago(word(failure, "at"), now())))?;
        for action in list(failure, "actions").iter().filter_map(Value::as_str) {
            let what = match action {
                "retry" => "holdfast resume CHAT tries again",
                "start_fresh_with_recap" => {
                    "holdfast resume CHAT --fresh starts anew and tells the agent what was"
                }
                "start_anyway" => "holdfast resume CHAT --anyway starts beside what may still live",
                "open_chat" => "holdfast chat show CHAT shows more",
                _ => continue,
            };
            out.line(&format!("  {}", what.replace("CHAT", &short(id))))?;
        }
    }
    Ok(())
}
