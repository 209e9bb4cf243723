//! `holdfast chat …`, one file for each.

mod answer;
mod attach;
mod close;
mod fork;
mod grants;
mod interrupt;
mod ls;
mod new;
mod queue;
mod rm;
mod send;
mod set;
mod show;
mod tail;
mod transcript;
mod wait;

use std::io::Read;

use clap::Subcommand;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fault::Fault;
use crate::out::Out;
use crate::prefix;
use crate::reach::{Reach, Surroundings};

/// Bytes that are read from stdin: no host takes a longer message.
const STDIN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What `chat` is told.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "CHAT is a chat's id, the beginning of it as far as it is unique, or its slot."
)]
pub struct Args {
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(subcommand)]
    command: Command,
}

/// What can be done with chats. CHAT is an id, the beginning of one, or a slot.
#[derive(Debug, Subcommand)]
enum Command {
    /// Open a chat, and tell its agent something.
    New(Box<new::Args>),
    /// List chats, the last changed first.
    Ls(ls::Args),
    /// Show one chat: its state, what is asked, what runs, what waits.
    Show(show::Args),
    /// Send a message to the agent.
    Send(Box<send::Args>),
    /// Show the end of the transcript, and with -f what follows.
    Tail(tail::Args),
    /// Show the messages that wait, and change them.
    Queue(queue::Args),
    /// Show what the agent asks, and answer it.
    Answer(answer::Args),
    /// Show what is allowed for good in a chat, and take it back.
    Grants(grants::Args),
    /// Change what a chat is called, where it is filed, how it is addressed.
    Set(set::Args),
    /// Say what became of a message whose fate nobody knows.
    Resolve(queue::Resolve),
    /// End the running turn, or the agent itself.
    Interrupt(interrupt::Args),
    /// Close a chat: its agent ends, the transcript stays.
    Close(close::Close),
    /// Open a closed chat again.
    Reopen(close::Reopen),
    /// Open a new chat that goes on from a place in this one.
    Fork(fork::Fork),
    /// Go back to a place in this chat.
    Rewind(fork::Rewind),
    /// Delete a chat and all that was said in it.
    Rm(rm::Args),
}

/// What every command about chats has at hand.
struct Scene<'a> {
    client: Client,
    out: Out,
    around: &'a Surroundings,
    /// Whether the host is the one on this machine.
    here: bool,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let scene = Scene {
        client: args.reach.client(around)?,
        out: args.reach.out(),
        around,
        here: args.reach.host(around).is_none(),
    };
    match &args.command {
        Command::New(args) => args.run(&scene),
        Command::Ls(args) => args.run(&scene),
        Command::Show(args) => args.run(&scene),
        Command::Send(args) => args.run(&scene),
        Command::Tail(args) => args.run(&scene),
        Command::Queue(args) => args.run(&scene),
        Command::Answer(args) => args.run(&scene),
        Command::Grants(args) => args.run(&scene),
        Command::Set(args) => args.run(&scene),
        Command::Resolve(args) => args.run(&scene),
        Command::Interrupt(args) => args.run(&scene),
        Command::Close(args) => args.run(&scene),
        Command::Reopen(args) => args.run(&scene),
        Command::Fork(args) => args.run(&scene),
        Command::Rewind(args) => args.run(&scene),
        Command::Rm(args) => args.run(&scene),
    }
}

impl Scene<'_> {
    /// A person has read what the chat says now, if it was shown on a terminal: it is not unread any
    /// more. A host that refuses that, or is gone, is no fault of what was shown.
    fn seen(&self, chat: &str) {
        if self.out.is_read() {
            let path = format!("/chats/{chat}");
            let _ = self.client.write(Method::PATCH, &path, &json!({ "unread": false }), None);
        }
    }

    /// The chat that is meant.
    fn chat(&self, written: &str) -> Result<String, Fault> {
        prefix::chat(&self.client, written)
    }

    /// Shows the answer to a program, or tells a person that it is done.
    fn done(&self, answer: &Value, words: &str) -> Result<(), Fault> {
        if self.out.is_json() {
            return self.out.json(answer);
        }
        self.out.note(words);
        Ok(())
    }
}

/// The text of a message: the words as they stand, or all of stdin where they are `-` alone.
fn text(words: &[String]) -> Result<String, Fault> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::usage(format!("stdin cannot be read: {error}.")))?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        return Err(Fault::usage(format!("stdin has more than {STDIN_BYTES_MAX} bytes.")));
    }
    let text = String::from_utf8(bytes);
    text.map_err(|_| Fault::usage("stdin is not UTF-8: a message is text. Nothing was sent."))
}
