use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::fact::Fact;
use holdfast_core::item::{Field, Row};
use proptest::prelude::*;
use rusqlite::OptionalExtension;

use super::*;
use crate::contract::pen::Pen;
use crate::{Memory, Options, Sqlite, Store};

/// How long it may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn terms(line: &str) -> Terms {
    Terms::of(line).unwrap()
}

/// The texts of the hits, the newest first; what was found in brackets.
async fn found(search: &Search, line: &str) -> Vec<String> {
    let page = search.find(terms(line), None, None, 100).await.unwrap();
    page.hits.iter().map(|hit| shown(&hit.snippet)).collect()
}

fn shown(parts: &[Part]) -> String {
    let part = |part: &Part| match part.found {
        true => format!("[{}]", part.text),
        false => part.text.clone(),
    };
    parts.iter().map(part).collect()
}

/// Waits until the index has taken in all that is stored.
async fn caught_up(search: &Search, store: &Arc<dyn Store>) {
    let newest = store.change_bounds().await.unwrap().newest;
    let there = async {
        while search.writer.ask(|db| index::cursor(db)).await.unwrap().is_none_or(|n| n < newest) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, there).await.expect("the index catches up");
}

struct Scene {
    dir: tempfile::TempDir,
    store: Arc<dyn Store>,
    search: Search,
    following: tokio::task::JoinHandle<()>,
}

impl Scene {
    fn new() -> Self {
        let store: Arc<dyn Store> =
            Arc::new(Memory::new(crate::MemoryStore::new(uuid::Uuid::from_u128(7))));
        Self::over(tempfile::tempdir().unwrap(), store)
    }

    fn over(dir: tempfile::TempDir, store: Arc<dyn Store>) -> Self {
        let search = Search::open(dir.path(), store.incarnation()).unwrap();
        let following = tokio::spawn(follow(search.clone(), Arc::clone(&store)));
        Self { dir, store, search, following }
    }

    /// Another process on the same file, whatever the one before was doing.
    async fn again(self) -> Self {
        self.following.abort();
        let _ = self.following.await;
        let Self { dir, store, search, .. } = self;
        drop(search);
        Self::over(dir, store)
    }

    async fn caught_up(&self) {
        caught_up(&self.search, &self.store).await;
    }
}

#[tokio::test]
async fn what_is_said_is_found_a_moment_later_in_any_case_and_within_words() {
    let scene = Scene::new();
    let mut pen = Pen::open(Arc::clone(&scene.store), 1).await;
    pen.say(1, "The quick_brown fox").await;
    pen.say(2, "jumps über den Zaun").await;
    pen.say(3, "搜索所有的聊天记录").await;
    scene.caught_up().await;
    for (line, hits) in [
        ("quick", vec!["The [quick]_brown fox"]),
        ("BROWN fox", vec!["The quick_[brown] [fox]"]),
        ("k_b", vec!["The quic[k_b]rown fox"]),
        ("kxb", vec![]),
        ("\"brown fox\"", vec!["The quick_[brown fox]"]),
        ("\"fox brown\"", vec![]),
        ("ÜBER", vec!["jumps [über] den Zaun"]),
        ("uber", vec!["jumps über den Zaun"]),
        ("聊天", vec!["搜索所有的[聊天]记录"]),
        ("所有的聊", vec!["搜索[所有的聊]天记录"]),
        ("fo", vec!["The quick_brown [fo]x"]),
        ("de den", vec!["jumps über [den] Zaun"]),
        ("%", vec![]),
        ("fox NOT quick", vec![]),
        ("fox\" OR \"Zaun", vec![]),
        ("*", vec![]),
        ("quick\0fox", vec!["The [quick]_brown [fox]"]),
        ("\"quick\0", vec!["The [quick]_brown fox"]),
    ] {
        assert_eq!(found(&scene.search, line).await, hits, "{line}");
    }
}

#[tokio::test]
async fn a_text_that_grows_is_found_once_and_as_it_is() {
    let scene = Scene::new();
    let mut pen = Pen::open(Arc::clone(&scene.store), 1).await;
    let item = pen.say(1, "one").await;
    scene.caught_up().await;
    let text = " and another".to_owned();
    pen.write([], [Row::ItemText { item, field: Field::Text, at: 3, text }]).await;
    scene.caught_up().await;
    assert_eq!(found(&scene.search, "one").await, ["[one] and another"]);
    assert_eq!(found(&scene.search, "another").await, ["one and [another]"]);
}

#[tokio::test]
async fn of_a_deleted_chat_nothing_is_found() {
    let scene = Scene::new();
    let mut one = Pen::open(Arc::clone(&scene.store), 1).await;
    let mut two = Pen::open(Arc::clone(&scene.store), 2).await;
    one.say(1, "secret one").await;
    two.say(1, "secret two").await;
    scene.caught_up().await;
    assert_eq!(scene.search.chats(terms("secret")).await.unwrap(), [two.id, one.id]);
    one.put([Fact::ChatDeleted]).await;
    scene.caught_up().await;
    assert_eq!(found(&scene.search, "secret").await, ["[secret] two"]);
}

#[tokio::test]
async fn pages_are_the_newest_first_and_whole() {
    let scene = Scene::new();
    let mut pen = Pen::open(Arc::clone(&scene.store), 1).await;
    for n in 1..=25 {
        pen.say(n, &format!("match number {n}")).await;
    }
    scene.caught_up().await;
    let (mut places, mut before) = (Vec::new(), None);
    loop {
        let page = scene.search.find(terms("match"), Some(pen.id), before, 10).await.unwrap();
        assert!(page.complete && page.hits.len() <= 10);
        places.extend(page.hits.iter().map(|hit| hit.place));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(places, (1..=25).rev().collect::<Vec<u64>>());
    let other = crate::contract::pen::chat_id(9);
    let none = scene.search.find(terms("match"), Some(other), None, 10).await.unwrap();
    assert_eq!(none.hits, []);
    for bad in ["0", "-1", "x", ""] {
        let bad = scene.search.find(terms("match"), None, Some(bad.to_owned()), 10).await;
        assert_eq!(bad, Err(QueryError::InvalidPage));
    }
}

#[tokio::test]
async fn what_was_missed_is_caught_up_and_a_lost_or_damaged_index_is_made_anew() {
    let mut scene = Scene::new();
    let mut pen = Pen::open(Arc::clone(&scene.store), 1).await;
    pen.say(1, "early word").await;
    scene.caught_up().await;
    scene.following.abort();
    pen.say(2, "later word").await;
    scene = scene.again().await;
    scene.caught_up().await;
    assert_eq!(found(&scene.search, "word").await, ["later [word]", "early [word]"]);
    for damage in ["gone", "rubbish", "zeroed"] {
        let file = scene.dir.path().join(SEARCH_FILE);
        scene.following.abort();
        let Scene { dir, store, search, following } = scene;
        let _ = following.await;
        drop(search);
        match damage {
            "gone" => std::fs::remove_file(&file).unwrap(),
            "rubbish" => std::fs::write(&file, vec![7; 50_000]).unwrap(),
            _ => {
                // Its first page can be read, the others cannot.
                let mut bytes = std::fs::read(&file).unwrap();
                bytes[4096..].fill(0x5a);
                std::fs::write(&file, bytes).unwrap();
            }
        }
        scene = Scene::over(dir, store);
        pen.say(
            match damage {
                "gone" => 3,
                "rubbish" => 4,
                _ => 5,
            },
            damage,
        )
        .await;
        scene.caught_up().await;
        assert_eq!(found(&scene.search, "early").await, ["[early] word"], "{damage}");
        assert_eq!(found(&scene.search, damage).await, [format!("[{damage}]")]);
    }
}

#[tokio::test]
async fn a_chat_that_changes_between_two_pages_of_a_walk_is_walked_too() {
    let scene = Scene::new();
    scene.following.abort();
    let mut pens = Vec::new();
    for n in 1..=4 {
        let mut pen = Pen::open(Arc::clone(&scene.store), n).await;
        pen.say(1, &format!("early word {n}")).await;
        pens.push(pen);
    }
    let newest = scene.store.change_bounds().await.unwrap().newest;
    let follower = follow::Follower { search: scene.search.clone(), store: scene.store.clone() };
    // The first chat would be on the last page; before the second it becomes the last changed one.
    let mut first = Some(pens.remove(0));
    let store = Arc::clone(&scene.store);
    let walked = follower.walk_pages(newest, move |before| {
        let touched = first.take_if(|_| before.is_some());
        let store = Arc::clone(&store);
        Box::pin(async move {
            if let Some(mut pen) = touched {
                pen.say(2, "later word").await;
            }
            store.chats(crate::ChatFilter::All, before, 1).await
        })
    });
    walked.await.unwrap();
    let mut early = found(&scene.search, "early").await;
    early.sort();
    assert_eq!(early, (1..=4).map(|n| format!("[early] word {n}")).collect::<Vec<_>>());
    let page = scene.search.find(terms("early"), None, None, 100).await.unwrap();
    assert!(page.complete);
}

/// Writes rubbish over the first page of a table, or over one text within its page, beneath whoever
/// has the index open.
async fn damage(scene: &Scene, what: &'static str) {
    let page = scene.search.writer.ask(move |db| {
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
        let page: Option<u64> = db.query_row(sql, [what], |row| row.get(0)).optional()?;
        Ok((page, db.pragma_query_value(None, "page_size", |row| row.get::<_, u64>(0))?))
    });
    let (page, size) = page.await.unwrap();
    let file = scene.dir.path().join(SEARCH_FILE);
    let (at, rubbish) = match page {
        Some(page) => ((page - 1) * size, vec![0x5a; usize::try_from(size).unwrap()]),
        None => {
            let bytes = std::fs::read(&file).unwrap();
            let at = bytes.windows(what.len()).position(|piece| piece == what.as_bytes()).unwrap();
            (u64::try_from(at).unwrap(), vec![0xff; what.len()])
        }
    };
    OpenOptions::new().write(true).open(file).unwrap().write_all_at(&rubbish, at).unwrap();
    // What a connection has read before, it does not read again.
    scene.search.finder.ask(|db| db.release_memory()).await.unwrap();
}

#[tokio::test]
async fn an_index_that_a_search_finds_damaged_is_made_anew() {
    let scene = Scene::new();
    let mut pen = Pen::open(Arc::clone(&scene.store), 1).await;
    for n in 1..=50 {
        pen.say(n, &format!("word number {n}")).await;
    }
    scene.caught_up().await;
    let found = || scene.search.find(terms("word"), None, None, 100);
    let chats = || scene.search.chats(terms("word"));
    for (what, of_chats) in [
        ("docs", false),
        ("docs", true),
        ("texts_data", false),
        ("texts_data", true),
        ("word number 50", false),
    ] {
        damage(&scene, what).await;
        let failed = if of_chats { chats().await.map(drop) } else { found().await.map(drop) };
        assert!(matches!(failed, Err(QueryError::Unreadable(_))), "{what}: {failed:?}");
        let renewed = async {
            loop {
                if let Some(page) = found().await.ok().filter(|page| page.complete) {
                    return page.hits.len();
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let hits = tokio::time::timeout(PATIENCE, renewed).await.expect("it is made anew");
        assert_eq!(hits, 50, "{what}");
    }
}

#[tokio::test]
async fn nothing_is_told_of_an_index_that_waits_to_be_made_anew() {
    let scene = Scene::new();
    scene.following.abort();
    let found = || scene.search.find(terms("word"), None, None, 100);
    assert!(found().await.is_ok());
    scene.search.damaged.send_replace(true);
    assert!(matches!(found().await, Err(QueryError::Unreadable(_))));
}

#[tokio::test]
async fn an_index_of_another_store_is_not_believed() {
    let scene = Scene::new();
    let mut pen = Pen::open(Arc::clone(&scene.store), 1).await;
    pen.say(1, "of the first").await;
    scene.caught_up().await;
    scene.following.abort();
    let Scene { dir, search, .. } = scene;
    drop(search);
    let place = tempfile::tempdir().unwrap();
    let other: Arc<dyn Store> = Arc::new(Sqlite::open(&Options::new(place.path())).unwrap());
    let scene = Scene::over(dir, other);
    let mut pen = Pen::open(Arc::clone(&scene.store), 2).await;
    pen.say(1, "of the second").await;
    scene.caught_up().await;
    assert_eq!(found(&scene.search, "of the").await, ["[of] [the] second"]);
}

#[test]
fn a_snippet_is_around_the_first_place() {
    let long = format!("{} needle {}", "a".repeat(500), "b".repeat(500));
    let text = shown(&snippet::of(&long, &terms("needle")));
    assert!(text.contains(" [needle] ") && text.starts_with('…') && text.ends_with('…'), "{text}");
    assert!(text.chars().count() <= 210);
    assert_eq!(shown(&snippet::of("a\nb\u{1b}[0m", &terms("b"))), "a [b] [0m");
}

#[test]
fn a_snippet_shows_where_most_terms_stand_together() {
    let apart = "x".repeat(300);
    let text = format!("red {apart} red fox and red hen {apart} red fox {apart} hen");
    let snippet = shown(&snippet::of(&text, &terms("fox red hen")));
    assert!(snippet.contains("[red] [fox] and [red] [hen]"), "{snippet}");
    let snippet = shown(&snippet::of(&text, &terms("red fox")));
    assert!(snippet.contains("[red] [fox] and [red] hen"), "the first of equals: {snippet}");
}

proptest! {
    #[test]
    fn a_snippet_is_made_of_any_text(text in "\\PC{0,300}", line in "\\PC{1,20}") {
        if let Some(terms) = Terms::of(&line) {
            let parts = snippet::of(&text, &terms);
            let all: usize = parts.iter().map(|part| part.text.chars().count()).sum();
            prop_assert!(all <= 220);
        }
    }
}
