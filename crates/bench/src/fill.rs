//! Data directories with many chats, made by what makes them in the product: decided, folded,
//! committed.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use holdfast_core::decide::decide;
use holdfast_core::fact::{Author, Death, Secret};
use holdfast_core::head::Chat;
use holdfast_core::ids::{AttemptId, ChatId, FrameNo, MessageId};
use holdfast_core::input::{Boot, Command, Given, Input, KeeperEvent};
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::provider::{Capabilities, Handle, ProviderEvent, TurnEnd};
use holdfast_core::summary::Summary;
use holdfast_core::time::{Awake, Micros};
use holdfast_store::{Counts, Journal, Options, Sqlite, Store, Unit};
use uuid::Uuid;

/// Items of each chat.
pub(crate) const ITEMS: u32 = 200;
/// Chats of one commit.
const CHATS_AT_ONCE: usize = 50;
/// What each item says.
const TEXT: &str = "The agent says a few lines about what it has found in the code, and what it \
will change: a function here, a test there. Then it runs the tests and looks at what they say.";

/// A data directory with so many chats of [`ITEMS`] items each; made once, then kept.
pub(crate) async fn filled(keep: &Path, chats: usize) -> anyhow::Result<PathBuf> {
    let dir = keep.join(format!("{chats}-chats-of-{ITEMS}-items"));
    let ready = dir.join("filled");
    if !ready.exists() {
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir)?;
        let store = Sqlite::open(&Options::new(&dir))?;
        let mut made = 0;
        while made < chats {
            let upto = chats.min(made + CHATS_AT_ONCE);
            let units = (made..upto).map(chat).collect::<anyhow::Result<Vec<_>>>()?;
            store.commit(units).await?;
            made = upto;
        }
        check(&store, chats).await?;
        store.stop();
        std::fs::write(&ready, "")?;
    }
    Ok(dir)
}

/// It holds what it is to hold, by the count of its rows.
async fn check(store: &Sqlite, chats: usize) -> anyhow::Result<()> {
    let Counts { open, .. } = store.counts().await?;
    ensure!(usize::try_from(open)? == chats, "{open} chats are there, not {chats}");
    if chats == 0 {
        return Ok(());
    }
    let last = ChatId::new(Uuid::from_u128(u128::try_from(chats)?));
    let newest = store.items(last, holdfast_store::PageFrom::Newest, 1).await?;
    let place = newest.first().map(|row| row.place).context("the last chat has no items")?;
    ensure!(place == u64::from(ITEMS), "its last item is the {place}th");
    Ok(())
}

/// A chat with a turn that has been over for long.
fn chat(n: usize) -> anyhow::Result<Unit> {
    let n = u128::try_from(n)? + 1;
    let id = ChatId::new(Uuid::from_u128(n));
    let at = Micros(1_764_000_000_000_000 + i64::try_from(n)? * 1_000_000);
    let attempt = AttemptId::new(Uuid::from_u128(n));
    let given = Given { chat: id, at, awake: Awake(0), attempt, secret: Secret("00".repeat(16)) };
    let (mut chat, mut facts, mut rows) = (Chat::default(), Vec::new(), Vec::new());
    let mut take = |input: Input| -> anyhow::Result<()> {
        let decision =
            decide(&mut chat, input, &given).map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
        facts.extend(decision.facts);
        rows.extend(decision.rows);
        Ok(())
    };
    let message = (MessageId::new(Uuid::from_u128(n)), format!("Look at chat {n}"), Author::Person);
    take(Input::Command(Command::Open {
        agent: "demo".to_owned(),
        cwd: "/".to_owned(),
        project: Some(format!("project {}", n % 20)),
        title: Some(format!("Chat {n}")),
        slot: None,
        model: None,
        effort: None,
        mode: None,
        fork: None,
        adopt: None,
        message: Some(message),
    }))?;
    let says = |event| Input::Provider { attempt, event };
    let keeper = |event| Input::Keeper { attempt, event };
    take(keeper(KeeperEvent::Born { pid: 1 }))?;
    let handle = Handle { root: format!("s{n}"), leaf: format!("s{n}") };
    let capabilities = Capabilities { load: true, ..Capabilities::default() };
    take(says(ProviderEvent::Ready { handle, capabilities, model: None, mode: None }))?;
    take(keeper(KeeperEvent::FrameDone(FrameNo(1))))?;
    take(says(ProviderEvent::MessageTaken { frame: FrameNo(1) }))?;
    for item in 1..ITEMS {
        let (kind, role, body) = (ItemKind::Message, Role::Agent, Body::Text);
        take(says(ProviderEvent::ItemOpened { item, kind, role, body }))?;
        let text = format!("{TEXT} This was item {item}.");
        take(says(ProviderEvent::ItemText { item, field: Field::Text, at: 0, text }))?;
        take(says(ProviderEvent::ItemClosed { item }))?;
    }
    let how = TurnEnd::Completed;
    take(says(ProviderEvent::TurnEnded { how, usage: None, text: None, mark: None }))?;
    take(Input::Command(Command::StopAgent))?;
    let death = Death::Exited { code: Some(0), signal: None };
    let (survivors, stderr) = (Vec::new(), String::new());
    take(keeper(KeeperEvent::Dead { death, boot: Boot::Same, survivors, stderr }))?;
    Ok(Unit {
        chat: id,
        after: holdfast_core::ids::Seq(0),
        at,
        facts,
        rows,
        summary: Summary::of(&chat),
        head: chat.head,
        progress: None,
        operation: None,
        clear_draft: None,
    })
}
