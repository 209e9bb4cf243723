//! The commands, one file each.

pub mod agents;
mod chat;
mod dismiss;
pub mod environment;
mod left;
mod offers;
mod restart;
mod resume;
mod search;
pub mod sessions;
mod status;
mod stop;
mod token;

use clap::Subcommand;

use crate::fault::Fault;
use crate::out::Out;
use crate::reach::Surroundings;

/// What can be asked of a host.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the host and what is going on in it.
    Status(status::Args),
    /// Open chats, talk to their agents, look and listen.
    Chat(chat::Args),
    /// Find what was said, in all chats.
    Search(search::Args),
    /// Show the chats that were stopped at work, and what they were doing.
    Offers(offers::Args),
    /// Carry on with chats that were stopped at work.
    Resume(resume::Args),
    /// Let offers go: the chats stay, their work is not carried on.
    Dismiss(dismiss::Args),
    /// Show what closed chats left running, or end it.
    Left(left::Args),
    /// Stop the host, with or without its agents.
    Stop(stop::Args),
    /// Replace the host by a new one; the agents go on.
    Restart(restart::Args),
    /// Show the host's token.
    Token(token::Args),
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    /// Why it was not done.
    pub fn run(&self, around: &Surroundings) -> Result<(), Fault> {
        match self {
            Self::Status(args) => status::run(args, around),
            Self::Chat(args) => chat::run(args, around),
            Self::Search(args) => search::run(args, around),
            Self::Offers(args) => offers::run(args, around),
            Self::Resume(args) => resume::run(args, around),
            Self::Dismiss(args) => dismiss::run(args, around),
            Self::Left(args) => left::run(args, around),
            Self::Stop(args) => stop::run(args, around),
            Self::Restart(args) => restart::run(args, around),
            Self::Token(args) => token::run(args, around),
        }
    }

    /// Where its words go.
    #[must_use]
    pub fn out(&self) -> Out {
        let reach = match self {
            Self::Status(args) => &args.reach,
            Self::Chat(args) => &args.reach,
            Self::Search(args) => &args.reach,
            Self::Offers(args) => &args.reach,
            Self::Resume(args) => &args.reach,
            Self::Dismiss(args) => &args.reach,
            Self::Left(args) => &args.reach,
            Self::Stop(args) => &args.reach,
            Self::Restart(args) => &args.reach,
            Self::Token(args) => &args.reach,
        };
        reach.out()
    }
}
