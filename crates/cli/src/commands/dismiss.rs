//! `holdfast dismiss`.

use serde_json::json;

use crate::client::Client;
use crate::commands::resume::{everything, report};
use crate::fault::Fault;
use crate::out::Out;
use crate::prefix;
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, number, word};
use crate::text::count;

/// What `dismiss` is told.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["chats", "all"])))]
pub struct Args {
    /// The chats: ids or the beginning of them.
    #[arg(value_name = "CHAT")]
    chats: Vec<String>,
    /// All that are offered.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let body = if args.all {
        everything(&client)?
    } else {
        let chats = args.chats.iter().map(|written| prefix::chat(&client, written));
        json!({ "chats": chats.collect::<Result<Vec<_>, _>>()? })
    };
    let answer = client.post("/offers/dismiss", &body)?;
    let reported = report(args.reach.out(), &answer, "Nothing is offered.");
    for one in list(&answer, "results") {
        if word(one, "outcome") == "dismissed" {
            held(args.reach.out(), &client, word(one, "chat"))?;
        }
    }
    reported
}

/// What waited behind an offer does not run by itself once the offer is gone.
fn held(out: Out, client: &Client, chat: &str) -> Result<(), Fault> {
    let row = client.get(&format!("/chats/{chat}"))?;
    let waits = number(&row, "queue_length");
    if waits > 0 && row["queue_paused"] == true {
        let stay = if waits == 1 { "stays" } else { "stay" };
        let id = prefix::short(&[chat])(chat);
        let waits = count(waits, "message");
        out.note(&format!("{waits} {stay} held: holdfast chat queue {id} resume"));
    }
    Ok(())
}
