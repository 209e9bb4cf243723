//! `holdfast search`.

use serde_json::Value;

use crate::client::query;
use crate::clock::now;
use crate::fault::Fault;
use crate::prefix::{self, short};
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, number, word};
use crate::text::{ago, line};

/// What `search` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The words; an item is found that has all of them.
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,
    /// Only in this chat.
    #[arg(long, value_name = "CHAT")]
    chat: Option<String>,
    /// At most so many, the newest ones.
    #[arg(short = 'n', long, default_value_t = 20, value_name = "COUNT")]
    limit: usize,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let out = args.reach.out();
    let mut path = format!("/search?q={}&limit={}", query(&args.words.join(" ")), args.limit);
    if let Some(chat) = &args.chat {
        path.push_str(&format!("&chat={}", prefix::chat(&client, chat)?));
    }
    let found = client.get(&path)?;
    if out.is_json() {
        return out.json(&found);
    }
    if found["complete"] == false {
        out.note("The index is being made: older chats are not searched yet.");
    }
    let items = list(&found, "items");
    if items.is_empty() {
        out.note("Nothing was found.");
    }
    let ids: Vec<&str> = items.iter().map(|item| word(item, "chat")).collect();
    let short = short(&ids);
    let now = now();
    let row = |item: &Value| {
        let parts = list(item, "snippet").iter().map(|part| word(part, "text"));
        vec![
            short(word(item, "chat")),
            number(item, "seq").to_string(),
            ago(word(item, "at"), now),
            line(word(item, "role")),
            line(&parts.collect::<String>()),
        ]
    };
    out.table(&["CHAT", "ITEM", "WRITTEN", "BY", "TEXT"], items.iter().map(row).collect())
}
