//! Hosts coding-agent chats and keeps what it has acknowledged.
fn main() {}
