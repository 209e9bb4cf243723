//! Forks from an earlier turn, and ways back to one: what the model is told afterwards.

use holdfast_pinned::{CLAUDE, Pinned};
use holdfast_testkit::claude::bash;
use holdfast_testkit::host::TestHost;
use holdfast_testkit::person::Person;
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, transcript};

const SAID: [&str; 3] = ["first [[say one]]", "second [[say two]]", "third [[say three]]"];

/// A chat with these turns behind it.
fn talked(host: &TestHost<'_>) -> String {
    let chat = host.open_with("claude");
    for text in SAID {
        say(host, &chat, text);
    }
    chat
}

#[track_caller]
fn say(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

/// The places to which the chat can go back, oldest first.
fn ends(host: &TestHost<'_>, chat: &str) -> Vec<u64> {
    let items = host.items(chat);
    let ends = items.iter().filter(|item| item["turn_end"] == true);
    ends.map(|item| item["seq"].as_u64().unwrap()).collect()
}

/// The messages of people that the model was told, in order.
fn sent(lab: &Lab) -> Vec<String> {
    let told = lab.told();
    told.iter().filter_map(|said| said.strip_prefix("user: ").map(str::to_owned)).collect()
}

fn rewind(host: &TestHost<'_>, chat: &str, body: &Value) -> Value {
    host.post(&format!("/chats/{chat}/rewind"), body).ok()
}

fn settled(host: &TestHost<'_>, chat: &str, text: &str) {
    host.wait("the message's turn", || {
        let items = host.items(chat);
        let said = |item: &&Value| item["role"] == "user" && item["text"] == text;
        items.iter().rfind(said).is_some_and(|item| item["delivery"]["state"] == "settled")
    });
}

fn goes_back(version: &Pinned) {
    let lab = Lab::new(version);
    let host = lab.place.start();
    let chat = talked(&host);
    let ends = ends(&host, &chat);
    assert_eq!(ends.len(), 3, "{:#?}", host.items(&chat));

    let fork = fork(&host, &chat, ends[0]);
    say(&host, &fork, "elsewhere [[say f]]");
    assert_eq!(sent(&lab), [SAID[0], "elsewhere [[say f]]"]);
    say(&host, &chat, "and on [[say on]]");
    assert_eq!(sent(&lab), [SAID[0], SAID[1], SAID[2], "and on [[say on]]"], "untouched");

    let went = rewind(&host, &chat, &json!({ "at": ends[0], "text": "instead [[say instead]]" }));
    assert!(went["note"].as_str().unwrap().contains("Files were not changed"), "{went}");
    settled(&host, &chat, "instead [[say instead]]");
    assert_eq!(sent(&lab), [SAID[0], "instead [[say instead]]"]);
    say(&host, &chat, "further [[say further]]");
    // The CLI writes late.
    lab.wait_written("further [[say further]]");
    host.kill_everything();

    let host = lab.place.start();
    say(&host, &chat, "after [[say after]]");
    let all =
        [SAID[0], "instead [[say instead]]", "further [[say further]]", "after [[say after]]"];
    assert_eq!(sent(&lab), all);
    say(&host, &fork, "again [[say again]]");
    assert_eq!(sent(&lab), [SAID[0], "elsewhere [[say f]]", "again [[say again]]"]);

    // What was left behind is there to be read, under a line that says so, and is no place any more.
    let items = host.items(&chat);
    let shown = |text: &str| items.iter().any(|item| item["text"] == text);
    assert!(shown(SAID[2]) && shown("three"), "{items:#?}");
    let notice = items.iter().find(|item| item["notice"]["kind"] == "went_back").unwrap();
    assert_eq!(notice["notice"]["to"], ends[0]);
    assert!(notice["text"].as_str().unwrap().contains("Files were not changed"));
    let left = host.post(&format!("/chats/{chat}/rewind"), &json!({ "at": ends[2] }));
    assert_eq!((left.status, &left.body["code"]), (409, &json!("not_supported")), "{}", left.body);
    host.stop();
}

#[test]
fn a_chat_goes_back_to_an_earlier_turn_and_stays_there() {
    for version in VERSIONS {
        goes_back(version);
    }
}

/// The CLI writes the copy down only with its first message: a kill before that leaves it to be made.
#[test]
fn going_back_without_a_word_outlives_a_kill_of_everything() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = talked(&host);
    let ends = ends(&host, &chat);
    rewind(&host, &chat, &json!({ "at": ends[1] }));
    host.wait("the copy's agent", || host.chat(&chat)["status"]["process"] == "running");
    host.kill_everything();

    let host = lab.place.start();
    // Back once more, from where nothing was said yet.
    rewind(&host, &chat, &json!({ "at": ends[0] }));
    say(&host, &chat, "now [[say now]]");
    assert_eq!(sent(&lab), [SAID[0], "now [[say now]]"]);
    host.stop();
}

/// Where host or keeper die between what was acknowledged and what the agent does about it.
const DEATHS: [&str; 8] = [
    "host.reply.before:1",
    "host.commit.after:1",
    "host.death.before:1",
    "host.attempt.spawned:1",
    "host.frame.write.before:2",
    "keeper.started.after:1",
    "keeper.frame.begin.before:1",
    "keeper.line.after:1",
];

#[test]
fn a_death_on_the_way_back_is_made_good_and_nothing_is_told_twice() {
    for fault in DEATHS {
        let mut lab = Lab::new(&CLAUDE);
        let host = lab.place.start();
        let chat = talked(&host);
        let to = ends(&host, &chat)[0];
        host.kill();
        let mark = lab.place.root.join("mark");
        lab.place.env.insert(holdfast_fault::ENV.to_owned(), fault.to_owned());
        let file = mark.to_str().unwrap().to_owned();
        lab.place.env.insert(holdfast_fault::MARK.to_owned(), file);

        let mut person = Person::at(&lab.place);
        let body = json!({ "at": to, "text": "instead [[say instead]]" });
        person.write("POST", &format!("/chats/{chat}/rewind"), &body).ok();
        person.settle(&chat);
        person.send(&chat, "after [[say after]]");
        person.settle(&chat);
        assert!(mark.exists(), "{fault}: nobody passed this point");
        // What was cut off may have been carried on with.
        let told = sent(&lab).into_iter().filter(|text| !text.contains("was stopped from outside"));
        let told: Vec<String> = told.collect();
        assert_eq!(told, [SAID[0], "instead [[say instead]]", "after [[say after]]"], "{fault}");
        let asked = |text: &str| {
            let turns = lab.model.turns();
            turns.iter().filter(|seen| seen.last_user_text() == text).count()
        };
        assert_eq!(asked("instead [[say instead]]"), 1, "{fault}");
        person.stop();
    }
}

fn fork(host: &TestHost<'_>, chat: &str, at: u64) -> String {
    let fork = host.post(&format!("/chats/{chat}/fork"), &json!({ "at": at })).ok();
    fork["id"].as_str().unwrap().to_owned()
}

/// A turn that was stopped and one that the model's server failed end at places as well; what came before
/// the memory was shortened, or before the conversation was cleared, is none.
#[test]
fn turns_that_end_badly_are_places_and_what_is_forgotten_is_none() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        say(&host, &chat, "first [[say one]]");
        let stopped = host.send(&chat, "stopped [[say half]] [[hang 600]]");
        host.wait("the half", || host.said(&chat).ends_with("half"));
        host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
        host.wait_message(&chat, &stopped, "settled");
        say(&host, &chat, &format!("tool {}", bash("echo hi")));
        say(&host, &chat, "last [[say last]]");
        let all = ends(&host, &chat);
        assert_eq!(all.len(), 4, "{:#?}", transcript(&host, &chat));
        let texts = ["first", "stopped", "tool"];
        for (n, end) in all.iter().take(3).enumerate() {
            let other = fork(&host, &chat, *end);
            say(&host, &other, "elsewhere [[say f]]");
            let told = sent(&lab);
            let told: Vec<&str> = told.iter().map(|text| text.split(' ').next().unwrap()).collect();
            assert_eq!(told, [&texts[..=n], &["elsewhere"]].concat(), "{}", version.version);
        }
        let bad = fork(&host, &chat, all[3]);
        say(&host, &bad, "failed [[status 529]]");
        let end = *ends(&host, &bad).last().unwrap();
        assert!(end > all[3] + 1, "the turn that failed ended there");
        let other = fork(&host, &bad, end);
        host.wait("the copy's agent", || host.chat(&other)["status"]["process"] == "running");
        assert_eq!(host.chat(&other)["failure"], Value::Null);

        // The oldest version ends no turn for the second.
        let forgets = ["/compact", "/clear"];
        let newest = version.version == CLAUDE.version;
        for command in &forgets[..if newest { 2 } else { 1 }] {
            say(&host, &chat, command);
            say(&host, &chat, "next [[say next]]");
            for end in &all {
                let refused = host.post(&format!("/chats/{chat}/rewind"), &json!({ "at": end }));
                let code = (refused.status, &refused.body["code"]);
                assert_eq!(code, (409, &json!("not_supported")), "{command} {}", refused.body);
            }
        }
        host.stop();
    }
}
