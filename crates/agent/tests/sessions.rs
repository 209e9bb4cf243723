//! Files of sessions that the real programs wrote, shortened: what a person is shown of them, and that no
//! damage to them is more than a line that is missing.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use holdfast_agent::history::{Glance, History};
use holdfast_agent::{claude, codex};
use holdfast_core::adopt::Entry;
use holdfast_core::item::{Body, Field, Notice};
use proptest::prelude::*;

const CLAUDE: &str = include_str!("fixtures/sessions/claude-2.1.332.jsonl");
const CLAUDE_OLDEST: &str = include_str!("fixtures/sessions/claude-2.1.197.jsonl");
const CODEX: &str = include_str!("fixtures/sessions/codex-0.171.0.jsonl");
const CODEX_SUBAGENT: &str = include_str!("fixtures/sessions/codex-0.171.0-subagent.jsonl");

fn of_claude(file: &[u8]) -> History {
    let mut links = claude::history::Links::default();
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        links.line(line);
    }
    let mut reader = links.reader();
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        reader.line(line);
    }
    reader.history()
}

fn of_codex(file: &[u8]) -> History {
    let mut reader = codex::history::Reader::default();
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        reader.line(line);
    }
    reader.history()
}

fn shown(history: History) -> Vec<String> {
    history.entries().iter().map(word).collect()
}

fn word(entry: &Entry) -> String {
    let text = |field| {
        let text = entry.texts.iter().find(|(of, _)| *of == field);
        let text = text.map_or("", |(_, text)| text.lines().next().unwrap_or_default());
        text.split(" [[").next().unwrap_or_default().chars().take(60).collect::<String>()
    };
    match &entry.body {
        Body::Call(call) => {
            let (name, kind) = (&call.name, &call.tool_kind);
            let name = name.split(" [[").next().unwrap_or_default();
            format!("{kind} {name} {:?}: {}", call.state, text(Field::Output))
        }
        Body::Notice(Notice::AgentSays) => format!("says: {}", text(Field::Text)),
        Body::Notice(other) => format!("{other:?}: {}", text(Field::Text)),
        _ => format!("{:?} {:?}: {}", entry.role, entry.kind, text(Field::Text)),
    }
}

#[test]
fn what_claude_wrote_is_shown_as_it_was_said() {
    let newest = (
        "[Subagent hand-back] The text below is the final report of a",
        "The conversation was shortened from 110 to 2500 tokens.",
    );
    let oldest = ("sub", "The conversation was shortened from 110 to 576 tokens.");
    for (file, (report, compaction)) in [(CLAUDE, newest), (CLAUDE_OLDEST, oldest)] {
        let history = of_claude(file.as_bytes());
        assert_eq!((history.damaged, history.unknown, history.older), (0, 0, 0));
        assert_eq!(history.messages, 4, "with the command");
        assert!(history.first.as_ref().unwrap().starts_with("Fix the parser"));
        assert!(history.since.is_some_and(|at| at.0 > 1_796_000_000_000_000));
        let mut shown = shown(history);
        let denied = shown.remove(shown.len() - 2);
        assert!(denied.starts_with("execute Bash: a test Failed: touch in "), "{denied}");
        assert_eq!(
            shown,
            [
                "User Message: Fix the parser",
                "Agent Thinking: hmm",
                "Agent Message: I will",
                "execute Bash: a test Completed: hi",
                "Agent Message: done it",
                "User Message: Second",
                &format!("agent Agent: a test Completed: {report}"),
                "Agent Message: whole",
                &format!("Agent Compaction: {compaction}"),
                "User Message: /compact",
                "says: Compacted (ctrl+o to see full summary)",
                "User Message: [[tool Bash {\"command\":\"touch x\",\"description\":\"a test\"}]]",
                "Agent Message: after",
            ]
        );
    }
}

#[test]
fn what_codex_wrote_is_shown_as_it_was_said() {
    let history = of_codex(CODEX.as_bytes());
    assert_eq!((history.damaged, history.unknown, history.older), (0, 0, 0));
    assert_eq!(history.messages, 2);
    assert_eq!(
        shown(history),
        [
            "User Message: Fix the lexer",
            "Agent Thinking: hmm",
            "Agent Message: I will",
            "execute echo hi Completed: hi",
            "edit Edit a.txt Completed: --- /home/user/proj/a.txt",
            "Agent Message: done it",
            "User Message: Second",
            "agent Subagent t Completed: ",
            "agent Wait for subagents Completed: ",
            "Agent Message: whole",
            "Agent Compaction: The conversation was shortened.",
        ]
    );
}

#[test]
fn older_rollouts_of_codex_are_read_from_what_the_model_said() {
    let lines = [
        r#"{"timestamp":"2025-09-01T10:00:00.000Z","type":"session_meta","payload":{"id":"t","cwd":"/w","source":"cli"}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}"#,
        r#"{"type":"event_msg","payload":{"type":"user_message","message":"Look"}}"#,
        r#"{"type":"event_msg","payload":{"type":"agent_reasoning","text":"hmm"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"a\"}"}}"#,
        r#"{"type":"event_msg","payload":{"type":"agent_message","message":"Seen"}}"#,
        r#"{"type":"compacted","payload":{"message":"short"}}"#,
    ];
    assert_eq!(
        shown(of_codex(lines.join("\n").as_bytes())),
        [
            "User Message: Look",
            "Agent Thinking: hmm",
            "other shell Completed: {\"output\":\"a\"}",
            "Agent Message: Seen",
            "Agent Compaction: The conversation was shortened.",
        ]
    );
}

#[test]
fn a_glance_says_what_a_list_shows() {
    for file in [CLAUDE, CLAUDE_OLDEST] {
        let glance = claude::history::glance(file.as_bytes(), None, "-home-user-proj");
        let Glance { id, title, first, cwd, is_session } = glance;
        assert_eq!(
            (id, title, cwd.as_deref(), is_session),
            (None, None, Some("/home/user/proj"), true)
        );
        assert!(first.unwrap().starts_with("Fix the parser"));
    }
    let glance = codex::history::glance(CODEX.as_bytes(), None);
    assert_eq!(glance.id.as_deref(), Some("01a22ea8-1c14-7943-b8c7-4720456778fd"));
    assert_eq!((glance.cwd.as_deref(), glance.is_session), (Some("/home/user/proj"), true));
    assert!(glance.first.unwrap().starts_with("Fix the lexer"));
    let glance = codex::history::glance(CODEX_SUBAGENT.as_bytes(), None);
    assert!(!glance.is_session, "a thread of a subagent");
    let names = "{\"id\":\"a\",\"thread_name\":\"One\"}\nnonsense\n{\"id\":\"a\",\"thread_name\":\"Two\"}\n{\"id\":1}";
    let names: Vec<_> = codex::history::names(names.as_bytes()).collect();
    assert_eq!(names.last().unwrap(), &("a".to_owned(), "Two".to_owned()));
}

fn line(kind: &str, id: u32, parent: u32, text: &str) -> String {
    let uuid = |n: u32| format!("00000000-0000-0000-0000-{n:012}");
    let parent = if parent == 0 { "null".to_owned() } else { format!("\"{}\"", uuid(parent)) };
    let content = match text.strip_prefix("call ") {
        Some(call) => {
            format!(r#"[{{"type":"tool_use","id":"{call}","name":"Read","input":{{}}}}]"#)
        }
        None => match text.strip_prefix("gave ") {
            Some(call) => {
                format!(
                    r#"[{{"type":"tool_result","tool_use_id":"{call}","content":"of {call}"}}]"#
                )
            }
            None => format!(r#"[{{"type":"text","text":"{text}"}}]"#),
        },
    };
    format!(
        r#"{{"type":"{kind}","uuid":"{}","parentUuid":{parent},"message":{{"role":"{kind}","content":{content}}}}}"#,
        uuid(id)
    )
}

#[test]
fn what_was_taken_back_is_not_shown_and_what_hangs_on_it_is_not_either() {
    let file = [
        line("user", 1, 0, "one"),
        line("assistant", 2, 1, "first"),
        line("user", 3, 2, "wrong"),
        line("assistant", 4, 3, "gone"),
        // The person went back to before "wrong".
        line("user", 5, 2, "right"),
        // Parallel calls: their results hang beside each other.
        line("assistant", 6, 5, "call a"),
        line("assistant", 7, 6, "call b"),
        line("user", 8, 6, "gave a"),
        line("user", 9, 7, "gave b"),
        line("assistant", 10, 9, "last"),
    ];
    let words = |lines: &[String]| shown(of_claude(lines.join("\n").as_bytes()));
    let whole = [
        "User Message: one",
        "Agent Message: first",
        "User Message: right",
        "read Read Completed: of a",
        "read Read Completed: of b",
        "Agent Message: last",
    ];
    assert_eq!(words(&file), whole);
    // Back to the very beginning.
    let mut anew = file.to_vec();
    anew.push(line("user", 11, 0, "anew"));
    assert_eq!(words(&anew), ["User Message: anew"]);
    // A line is damaged: what stands before it is all shown rather than none of it.
    let mut damaged = file.to_vec();
    damaged[1] = "{\"type\":\"assist".to_owned();
    let damaged = words(&damaged);
    assert!(damaged.starts_with(&["User Message: one".to_owned()]), "{damaged:?}");
    assert!(damaged.ends_with(&["Agent Message: last".to_owned()]), "{damaged:?}");
    // A side chain is a subagent's.
    let side =
        file[9].replace("\"type\":\"assistant\",", "\"type\":\"assistant\",\"isSidechain\":true,");
    assert!(!words(&[file[0].clone(), side]).iter().any(|word| word.contains("last")));
}

#[test]
fn titles_go_before_first_words_and_a_persons_title_before_the_agents() {
    let user = line("user", 1, 0, "one");
    let (ai, own) = (
        r#"{"type":"ai-title","aiTitle":"Of the agent"}"#,
        r#"{"type":"custom-title","customTitle":"Mine"}"#,
    );
    for (lines, title) in [
        (vec![user.as_str()], None),
        (vec![user.as_str(), ai], Some("Of the agent")),
        (vec![user.as_str(), own, ai], Some("Mine")),
    ] {
        let file = lines.join("\n");
        assert_eq!(of_claude(file.as_bytes()).title.as_deref(), title);
        assert_eq!(claude::history::glance(file.as_bytes(), None, "").title.as_deref(), title);
    }
    // In the end of a file that is too long to be read whole; its first line is not whole.
    let end = format!("ut\"}}\n{own}\n");
    let glance = claude::history::glance(user.as_bytes(), Some(end.as_bytes()), "");
    assert_eq!((glance.title.as_deref(), glance.is_session), (Some("Mine"), true));
    assert!(!claude::history::glance(own.as_bytes(), None, "").is_session, "no message at all");
}

#[test]
fn the_directory_is_that_of_the_folder_where_lines_name_several() {
    let at = |cwd: &str| line("user", 1, 0, "x").replacen('{', &format!("{{\"cwd\":\"{cwd}\","), 1);
    let file = [at("/home/user/proj/sub"), at("/home/user/proj")].join("\n");
    let of = |folder| claude::history::glance(file.as_bytes(), None, folder).cwd.unwrap();
    assert_eq!(of("-home-user-proj"), "/home/user/proj");
    assert_eq!(of("-elsewhere"), "/home/user/proj/sub", "the first");
    for odd in ["relative", "", "/nul\\u0000"] {
        assert_eq!(claude::history::glance(at(odd).as_bytes(), None, "").cwd, None, "{odd}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_is_more_than_what_it_hits(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        end in any::<prop::sample::Index>(),
    ) {
        for file in [CLAUDE, CLAUDE_OLDEST, CODEX] {
            let mut bytes = file.as_bytes().to_vec();
            for (place, byte) in &flips {
                *place.get_mut(&mut bytes) = *byte;
            }
            bytes.truncate(end.index(bytes.len() + 1));
            let _ = shown(of_claude(&bytes));
            let _ = shown(of_codex(&bytes));
            let _ = claude::history::glance(&bytes, Some(&bytes), "-home-user-proj");
            let _ = codex::history::glance(&bytes, Some(&bytes));
            let _ = codex::history::names(&bytes).count();
        }
    }

    #[test]
    fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = shown(of_claude(&bytes));
        let _ = shown(of_codex(&bytes));
        let _ = claude::history::glance(&bytes, Some(&bytes), "");
        let _ = codex::history::glance(&bytes, None);
    }
}
