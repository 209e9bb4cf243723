//! `holdfast dismiss`.

use serde_json::json;

use crate::commands::resume::{everything, report};
use crate::fault::Fault;
use crate::prefix;
use crate::reach::{Reach, Surroundings};

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
    report(args.reach.out(), &answer, "Nothing is offered.")
}
