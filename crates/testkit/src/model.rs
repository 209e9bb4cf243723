//! A scripted model server: what an agent's model says is decided by the test.
//!
//! One server speaks three APIs on one port of 127.0.0.1: OpenAI's Chat Completions
//! (`POST /v1/chat/completions`) and Responses (`POST /v1/responses`), and Anthropic's Messages
//! (`POST /v1/messages`), each streamed by server-sent events or whole. The last text of the user
//! directs it (`model/script.rs` has all directives), and it keeps what it saw.

mod chat;
mod messages;
mod perform;
mod responses;
mod said;
mod script;
mod seen;
mod server;
mod wire;

pub use said::Said;
pub use seen::{Api, Purpose, Seen};
pub use server::{ModelServer, Options};

/// What the model answers when it is asked for a title.
pub const TITLE: &str = "Scripted title";
/// What the model answers when it is asked to sum a conversation up.
pub const SUMMARY: &str = "Scripted summary";
