//! Folders of sessions as a hostile or unlucky person may have them.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::time::{Duration, UNIX_EPOCH};

use super::*;

const CWD: &str = "/tmp";

fn id(n: usize) -> String {
    format!("5a62fd6e-45b1-4008-9dce-{n:012}")
}

fn user(text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"cwd\":{CWD:?},\"message\":{{\"role\":\"user\",\"content\":{text:?}}}}}\n"
    )
}

struct Home {
    dir: tempfile::TempDir,
    place: Place,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::Claude { projects: dir.path().join("projects") };
        fs::create_dir_all(dir.path().join("projects/-tmp")).unwrap();
        Self { dir, place }
    }

    /// Writes a session that changed so many seconds after the beginning of all times.
    fn put(&self, n: usize, text: &str) -> PathBuf {
        let path = self.dir.path().join(format!("projects/-tmp/{}.jsonl", id(n)));
        let mut file = File::create(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let at = UNIX_EPOCH + Duration::from_secs(1000 + u64::try_from(n).unwrap());
        file.set_modified(at).unwrap();
        path
    }

    fn list(&self, query: &SessionQuery) -> SessionPage {
        list(&self.place, query).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        let query = SessionQuery { limit: 100, ..SessionQuery::default() };
        self.list(&query).sessions.into_iter().map(|session| session.id).collect()
    }
}

use std::path::PathBuf;

#[test]
fn pages_are_newest_first_and_have_no_seam() {
    let home = Home::new();
    for n in 0..7 {
        home.put(n, &user(&format!("message {n}")));
    }
    let mut query = SessionQuery { limit: 3, ..SessionQuery::default() };
    let mut seen = Vec::new();
    loop {
        let page = home.list(&query);
        seen.extend(page.sessions.iter().map(|session| session.id.clone()));
        // One that changes meanwhile moves to the front, and hides none of the others.
        home.put(100, &user("new"));
        query.before = page.next;
        if query.before.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..7).rev().map(id).collect::<Vec<_>>());
    for wrong in ["", "7", "x.y", "7.no-id", "../7"] {
        let query = SessionQuery { before: Some(wrong.to_owned()), ..SessionQuery::default() };
        assert_eq!(list(&home.place, &query).unwrap_err().code, Code::InvalidCursor, "{wrong}");
    }
}

#[test]
fn a_list_is_narrowed_by_words_and_by_directory() {
    let home = Home::new();
    home.put(1, &user("Fix the Parser"));
    home.put(
        2,
        &(user("Look") + "{\"type\":\"custom-title\",\"customTitle\":\"The parser again\"}\n"),
    );
    home.put(3, &user("Something else"));
    let found = |cwd: Option<&str>, words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let cwd = cwd.map(str::to_owned);
        let page = home.list(&SessionQuery { cwd, words, limit: 9, before: None });
        page.sessions.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(found(None, &["parser"]), [id(2), id(1)]);
    assert_eq!(found(None, &["parser", "fix"]), [id(1)]);
    assert_eq!(found(Some(CWD), &["else"]), [id(3)]);
    assert!(found(Some("/elsewhere"), &[]).is_empty());
}

#[test]
fn links_pipes_folders_and_other_files_are_no_sessions() {
    let home = Home::new();
    home.put(1, &user("mine"));
    let projects = home.dir.path().join("projects");
    let outside = home.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join(format!("{}.jsonl", id(2))), user("outside")).unwrap();
    // A link to a file, a link to a folder, a pipe nobody writes, a folder with the name of a file.
    symlink(
        outside.join(format!("{}.jsonl", id(2))),
        projects.join(format!("-tmp/{}.jsonl", id(2))),
    )
    .unwrap();
    symlink(&outside, projects.join("-linked")).unwrap();
    let pipe = projects.join(format!("-tmp/{}.jsonl", id(3)));
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    fs::create_dir(projects.join(format!("-tmp/{}.jsonl", id(4)))).unwrap();
    for name in ["agent-a721ad64.jsonl", "notes.jsonl", "5a62fd6e.json", "x"] {
        fs::write(projects.join("-tmp").join(name), user("no session")).unwrap();
    }
    home.put(5, "");
    home.put(6, "{\"type\":\"queue-operation\"}\nrubbish\n\u{0}\u{0}");
    home.put(7, &user("of a subagent").replacen('{', "{\"isSidechain\":true,", 1));
    assert_eq!(home.ids(), [id(1)]);
    for n in 2..8 {
        assert_eq!(read(&home.place, &id(n)).unwrap_err().code, Code::SessionUnknown, "{n}");
    }
}

#[test]
fn a_huge_file_is_looked_at_in_its_beginning_and_its_end_alone() {
    let home = Home::new();
    let path = home.put(1, &user("the beginning"));
    let mut file = File::options().append(true).open(&path).unwrap();
    // Ten gigabytes that nobody has: reading them all would not end.
    file.set_len(10 * 1024 * 1024 * 1024).unwrap();
    file.write_all(b"\n{\"type\":\"custom-title\",\"customTitle\":\"The end\"}\n").unwrap();
    let page = home.list(&SessionQuery { limit: 9, ..SessionQuery::default() });
    let session = &page.sessions[0];
    let seen = (session.first.as_deref(), session.title.as_deref());
    assert_eq!(seen, (Some("the beginning"), Some("The end")));
    assert!(session.bytes > 10 * 1024 * 1024 * 1024);
}

#[test]
fn damage_is_counted_and_a_line_that_is_being_written_is_not_waited_for() {
    let home = Home::new();
    let long = "x".repeat(300 * 1024);
    let text = user("one") + "{\"type\":\"us\n" + &user(&long) + "{\"type\":\"user\",\"mess";
    home.put(1, &text);
    let (cwd, adopted) = read(&home.place, &id(1)).unwrap();
    assert_eq!(cwd, fs::canonicalize(CWD).unwrap().to_str().unwrap());
    assert_eq!((adopted.damaged, adopted.messages, adopted.entries.len()), (2, 2, 2));
    assert_eq!(adopted.title.as_deref(), Some("one"));
    assert!(adopted.entries[1].bytes() < 270 * 1024, "cut, and said to be");
}

#[test]
fn a_session_without_its_directory_is_listed_and_not_adopted() {
    let home = Home::new();
    home.put(1, &user("gone").replace("\"cwd\":\"/tmp\"", "\"cwd\":\"/no/such/place\""));
    home.put(2, &user("nowhere").replace("\"cwd\":\"/tmp\",", ""));
    let page = home.list(&SessionQuery { limit: 9, ..SessionQuery::default() });
    let seen: Vec<_> =
        page.sessions.iter().map(|it| (it.cwd.as_deref(), it.cwd_is_there)).collect();
    assert_eq!(seen, [(None, false), (Some("/no/such/place"), false)]);
    for n in [1, 2] {
        let refused = read(&home.place, &id(n)).unwrap_err();
        assert_eq!(refused.code, Code::DirectoryGone);
    }
}

#[test]
fn threads_are_found_by_days_and_named_by_their_index() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::Codex { home: dir.path().to_owned() };
    let day = dir.path().join("sessions/2026/11/30");
    fs::create_dir_all(&day).unwrap();
    let meta = |id: &str, source: &str| {
        format!(
            "{{\"type\":\"session_meta\",\"payload\":{{\"id\":{id:?},\"cwd\":\"/tmp\",\"source\":{source}}}}}\n\
             {{\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"hello\"}}}}\n"
        )
    };
    let name = |n| format!("rollout-2026-11-30T22-51-38-{}.jsonl", id(n));
    fs::write(day.join(name(1)), meta(&id(1), "\"cli\"")).unwrap();
    fs::write(day.join(name(2)), meta(&id(2), "{\"subagent\":{}}")).unwrap();
    fs::write(day.join("rollout-é.jsonl"), meta(&id(3), "\"cli\"")).unwrap();
    let index = format!(
        "{{\"id\":{:?},\"thread_name\":\"Old\"}}\n{{\"id\":{0:?},\"thread_name\":\"New\"}}\n",
        id(1)
    );
    fs::write(dir.path().join("session_index.jsonl"), index).unwrap();
    let page = list(&place, &SessionQuery { limit: 9, ..SessionQuery::default() }).unwrap();
    let seen: Vec<_> = page.sessions.iter().map(|it| (it.id.clone(), it.title.clone())).collect();
    assert_eq!(seen, [(id(1), Some("New".to_owned()))]);
    let (_, adopted) = read(&place, &id(1)).unwrap();
    assert_eq!((adopted.title.as_deref(), adopted.entries.len()), (Some("New"), 1));
}

#[test]
fn where_nothing_is_nothing_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    for place in [
        Place::Claude { projects: dir.path().join("none") },
        Place::Codex { home: dir.path().join("none") },
    ] {
        let page = list(&place, &SessionQuery { limit: 9, ..SessionQuery::default() }).unwrap();
        assert_eq!(page, SessionPage::default());
    }
}
