//! Taking in and letting go, over a store in memory and real files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_core::fact::Author;
use holdfast_core::input::{OperationKey, Send};
use holdfast_keeper::registry::Limits;
use holdfast_store::{Memory, MemoryStore};
use uuid::Uuid;

use super::*;
use crate::agents::Agents;
use crate::clock;
use crate::host::{HostOptions, KeeperProgram};

fn host(dir: &Path, store: &Memory) -> Host {
    let environment = tokio::sync::watch::Sender::default().subscribe();
    let options = HostOptions {
        data_dir: dir.to_owned(),
        keeper: KeeperProgram { program: PathBuf::from("/nowhere"), args: Vec::new() },
        agents: Agents::new(BTreeMap::new(), environment, dir.join("tmp")),
        release_after: None,
        ceiling_after: None,
        limits: Limits::default(),
    };
    Host::new(options, Arc::new(store.clone()))
}

async fn open(host: &Host) -> ChatId {
    let (agent, cwd) = ("demo".to_owned(), "/".to_owned());
    let (project, title, slot, model, mode, message) = (None, None, None, None, None, None);
    let (effort, fork) = (None, None);
    let open = Command::Open {
        agent,
        cwd,
        project,
        title,
        slot,
        model,
        mode,
        effort,
        fork,
        adopt: None,
        message,
    };
    match host.open(open, Caller::default()).await {
        Ok(Reply::Opened { chat, .. }) => chat,
        other => panic!("{other:?}"),
    }
}

fn upload(host: &Host, chat: ChatId, bytes: &[u8]) -> Upload {
    let id = clock::new_attachment();
    let mut incoming = host.blobs().begin(chat, id).unwrap();
    incoming.write(bytes).unwrap();
    let attachment = Attachment {
        id,
        name: "a.png".to_owned(),
        media_type: "image/png".to_owned(),
        bytes: bytes.len() as u64,
        sha256: String::new(),
    };
    Upload { incoming, attachment }
}

fn caller(key: &str, body: u8) -> Caller {
    let operation = Some(OperationKey { key: key.to_owned(), body: [body; 32] });
    Caller { principal: "ada".to_owned(), operation }
}

async fn attach(host: &Host, chat: ChatId, caller: Caller) -> Result<AttachmentId, Code> {
    match host.attach(chat, upload(host, chat, b"bytes"), caller).await {
        Ok(Reply::Attached(attachment)) => Ok(attachment.id),
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => Err(refusal.code),
    }
}

/// The names of all files of attachments, marks among them.
fn files(dir: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(dir.join("attachments")).into_iter().flatten().flatten();
    let files = folders.flat_map(|dir| std::fs::read_dir(dir.path()).unwrap().flatten());
    let mut names: Vec<_> = files.map(|file| file.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_is_refused_or_repeated_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Memory::new(MemoryStore::new(Uuid::from_u128(1)));
    let host = host(dir.path(), &store);
    let chat = open(&host).await;
    let first = attach(&host, chat, caller("k", 1)).await.unwrap();
    assert_eq!(files(dir.path()), [first.to_string()]);
    assert_eq!(attach(&host, chat, caller("k", 1)).await, Ok(first));
    assert_eq!(attach(&host, chat, caller("k", 2)).await, Err(Code::OperationConflict));
    let nowhere = clock::new_chat();
    assert_eq!(attach(&host, nowhere, caller("n", 1)).await, Err(Code::ChatNotFound));
    let closed = Command::Close { leftovers: holdfast_core::input::Leftovers::End };
    host.submit(chat, closed, Caller::default()).await.unwrap();
    assert_eq!(attach(&host, chat, caller("c", 1)).await, Err(Code::ChatClosed));
    host.keep_agents();
    assert_eq!(attach(&host, chat, caller("s", 1)).await, Err(Code::Stopping));
    assert_eq!(files(dir.path()), [first.to_string()]);
}

#[tokio::test]
async fn what_is_let_go_goes_and_what_a_message_names_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = Memory::new(MemoryStore::new(Uuid::from_u128(1)));
    let host = host(dir.path(), &store);
    let chat = open(&host).await;
    let free = attach(&host, chat, Caller::default()).await.unwrap();
    let named = attach(&host, chat, Caller::default()).await.unwrap();
    host.submit(chat, Command::PauseQueue, Caller::default()).await.unwrap();
    let (message, text, by) = (clock::new_message(), "look".to_owned(), Author::Person);
    let send = Command::Send { message, text, by, send: Send::Queue, attachments: vec![named] };
    host.submit(chat, send, Caller::default()).await.unwrap();
    let detach = async |id, caller| host.detach(chat, id, caller).await.map_err(|no| no.code);
    assert_eq!(detach(named, Caller::default()).await, Err(Code::AttachmentInUse));
    for _ in 0..2 {
        assert_eq!(detach(free, caller("k", 1)).await, Ok(Reply::Done));
    }
    assert_eq!(detach(free, Caller::default()).await, Err(Code::AttachmentNotFound));
    assert_eq!(files(dir.path()), [named.to_string()]);
}

/// A host that dies leaves marks; the next one settles each by whether its row is there.
#[tokio::test]
async fn what_an_earlier_host_left_half_done_is_settled() {
    let dir = tempfile::tempdir().unwrap();
    let store = Memory::new(MemoryStore::new(Uuid::from_u128(1)));
    let host = host(dir.path(), &store);
    let chat = open(&host).await;
    let there = attach(&host, chat, Caller::default()).await.unwrap();
    // It was about to be let go; another was kept and not decided about; a third was on its way.
    drop(host.blobs().leave(chat, there).unwrap());
    drop(upload(&host, chat, b"kept").incoming.keep().unwrap());
    std::mem::forget(upload(&host, chat, b"half"));
    assert_eq!(files(dir.path()).len(), 5);
    host.sweep_attachments().await;
    assert_eq!(files(dir.path()), [there.to_string()]);
}
