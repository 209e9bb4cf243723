//! A resume under a host that dies on the way.

use holdfast_testkit::host::TestHost;
use holdfast_testkit::scenario::has_offer;
use serde_json::json;

use crate::{CONTINUES, CUT, offer_of, place, resume};

/// What becomes of a resume that a kill cuts short.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Killed {
    Host,
    Everything,
}

#[test]
fn a_resume_that_is_cut_short_anywhere_never_continues_twice() {
    let points: Vec<&str> =
        holdfast_fault::POINTS.iter().copied().filter(|point| point.starts_with("host.")).collect();
    let mut reached = 0;
    for killed in [Killed::Host, Killed::Everything] {
        for point in &points {
            for nth in 1..=2 {
                reached += usize::from(cut_short(point, nth, killed));
            }
        }
    }
    // Not every point is on the way of a resume, or is passed twice on it.
    assert!(reached > points.len(), "{reached} kills on {} points", points.len());
}

/// Resumes under a host that dies at a point, then under one that does not. Says whether it died.
fn cut_short(point: &str, nth: usize, killed: Killed) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "[[say half]] [[slow 600]]");
    host.wait("the half", || host.said(&chat) == "half");
    let waiting = host.send(&chat, "[[say after]]");
    host.kill_everything();
    // The burial is not what is to be cut short here.
    let host = place.start();
    host.wait("the offer", || has_offer(&host, &chat));
    host.wait("the burial", || place.attempts().is_empty());
    host.kill();
    place.env.insert(holdfast_fault::ENV.into(), format!("{point}:{nth}"));
    let died;
    if let Ok(mut host) = place.try_start() {
        let body = json!({ "chats": [chat] });
        let answered = host.request("POST", "/offers/resume", Some(&body));
        let settled = |host: &TestHost<'_>| {
            let items = host.request("GET", &format!("/chats/{chat}/items"), None);
            items.is_none_or(|items| {
                let items = items.body["items"].as_array().unwrap().clone();
                let own =
                    items.into_iter().find(|item| item["delivery"]["message"] == waiting.as_str());
                own.is_some_and(|own| own["delivery"]["state"] == "settled")
            })
        };
        host.wait(&format!("the end of a resume, or of the host at {point}:{nth}"), || {
            settled(&host)
        });
        died = !host.is_running() || answered.is_none();
        if killed == Killed::Everything {
            host.kill_everything();
        } else {
            host.kill();
        }
    } else {
        died = true;
    }
    place.env.clear();

    let host = place.start();
    let context = format!("{point}:{nth} {killed:?}");
    // A person clicks until it goes on; more often than twice never needs to be.
    for _ in 0..3 {
        host.wait(&format!("{context}: something to do, or the end"), || {
            let row = host.chat(&chat);
            let offer = offer_of(&host, &chat);
            offer.is_null() || offer["resuming"] == false && row["status"]["lead"] == "done"
        });
        if !has_offer(&host, &chat) {
            break;
        }
        resume(&host, json!([chat]));
        host.wait(&context, || offer_of(&host, &chat)["resuming"] != true);
    }
    assert!(!has_offer(&host, &chat), "{context}: {}", offer_of(&host, &chat));
    host.wait_message(&chat, &waiting, "settled");
    host.wait_shown(&chat, "idle");
    let prompts = place.evidence().prompts();
    assert_eq!(prompts[0], CUT, "{context}");
    let again = prompts.iter().filter(|text| text.starts_with(CONTINUES)).count();
    assert_eq!(again, 1, "{context}: {prompts:?}");
    assert_eq!(place.evidence().seen(CUT), 1, "{context}: {prompts:?}");
    assert_eq!(place.evidence().seen("[[say after]]"), 1, "{context}: {prompts:?}");
    let items = host.items(&chat);
    let own = items.iter().filter(|item| item["role"] == "user");
    let own =
        own.filter(|item| item["text"].as_str().is_some_and(|text| text.starts_with(CONTINUES)));
    assert_eq!(own.count(), 1, "{context}: one line in the transcript");
    host.stop();
    died
}
