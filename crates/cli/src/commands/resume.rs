//! `holdfast resume`.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::fault::{Exit, Fault};
use crate::out::Out;
use crate::prefix::{self, short};
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, word};
use crate::text::line;

/// What `resume` is told.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["chats", "all"])))]
pub struct Args {
    /// The chats: ids or the beginning of them.
    #[arg(value_name = "CHAT")]
    chats: Vec<String>,
    /// All that are offered, but for those that need a word from you.
    #[arg(long)]
    all: bool,
    /// What became of the message whose fate nobody knows.
    #[arg(long, value_enum, conflicts_with = "all")]
    choice: Option<Choice>,
    /// Start a new session of the agent, which is told what the chat was about.
    #[arg(long, conflicts_with = "all")]
    fresh: bool,
    /// What the new session is told, instead of what the host would say.
    #[arg(long, requires = "fresh", value_name = "TEXT")]
    recap: Option<String>,
    /// Start though something of the last agent may still live.
    #[arg(long, conflicts_with = "all")]
    anyway: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

/// What a person knows of a message in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Choice {
    /// The agent has it.
    Arrived,
    /// The agent has it not, and is to get it.
    SendAgain,
    /// Nobody needs it any more.
    Discard,
}

impl Choice {
    /// The word of the API.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::SendAgain => "send_again",
            Self::Discard => "discard",
        }
    }
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let body =
        if args.all { everything(&client)? } else { json!({ "chats": wanted(args, &client)? }) };
    let answer = client.post("/offers/resume", &body)?;
    report(args.reach.out(), &answer, "Nothing is to be resumed.")
}

fn wanted(args: &Args, client: &Client) -> Result<Vec<Value>, Fault> {
    let one = |written: &String| {
        let mut wanted = Map::new();
        wanted.insert("chat".to_owned(), json!(prefix::chat(client, written)?));
        if let Some(choice) = args.choice {
            wanted.insert("choice".to_owned(), json!(choice.word()));
        }
        if args.fresh {
            wanted.insert("fresh".to_owned(), json!(true));
        }
        if let Some(recap) = &args.recap {
            wanted.insert("recap".to_owned(), json!(recap));
        }
        if args.anyway {
            wanted.insert("anyway".to_owned(), json!(true));
        }
        Ok(Value::Object(wanted))
    };
    args.chats.iter().map(one).collect()
}

/// All offers that there are now; what is offered while the call is under way was not meant.
pub(super) fn everything(client: &Client) -> Result<Value, Fault> {
    let as_of = client.get("/offers")?["as_of"].take();
    Ok(json!({ "chats": "all", "as_of": as_of }))
}

/// Says what became of each chat. The command fails if one of them did.
pub(super) fn report(out: Out, answer: &Value, nothing: &str) -> Result<(), Fault> {
    let results = list(answer, "results");
    if out.is_json() {
        out.json(answer)?;
    } else if results.is_empty() {
        out.note(nothing);
    } else {
        let ids: Vec<&str> = results.iter().map(|one| word(one, "chat")).collect();
        let short = short(&ids);
        let row = |one: &Value| vec![short(word(one, "chat")), told(one)];
        out.table(&["CHAT", "OUTCOME"], results.iter().map(row).collect())?;
    }
    let count = |wanted: &[&str]| {
        results.iter().filter(|one| wanted.contains(&word(one, "outcome"))).count()
    };
    let (failed, refused) = (count(&["failed"]), count(&["refused", "superseded"]));
    let of = results.len();
    match (failed, refused) {
        (0, 0) => Ok(()),
        (0, no) => {
            let text = format!("{no} of {of} could not be done.");
            Err(Fault::new(Exit::Refused, "refused", text))
        }
        (failed, _) => {
            let text = format!("{failed} of {of} failed.");
            Err(Fault::new(Exit::AgentFailed, "failed", text)
                .advice("holdfast offers shows what each of them can do next."))
        }
    }
}

fn told(one: &Value) -> String {
    let failure = &one["failure"];
    let why = match (word(failure, "text"), word(failure, "code")) {
        ("", "") => String::new(),
        (text, code) => format!(": {} ({code})", line(text)),
    };
    let outcome = match word(one, "outcome") {
        "pending" => "accepted; the agent starts",
        "superseded" => "not done: the offer has changed since",
        other => other,
    };
    format!("{}{why}", line(outcome))
}
