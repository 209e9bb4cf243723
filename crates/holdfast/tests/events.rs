//! What happens is told to whoever listens, wherever the line is cut: a client that comes back with
//! its last cursor has everything, once.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::time::{Duration, Instant};

use holdfast_testkit::events::{Listen, Mirror, Socket, Sse};
use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

/// What carries the frames to a client.
#[derive(Clone, Copy, Debug)]
enum Carrier {
    Sse,
    Socket,
}

impl Carrier {
    const BOTH: [Self; 2] = [Self::Sse, Self::Socket];

    fn open(self, host: &TestHost<'_>, after: Option<&str>, chat: &str) -> Box<dyn Listen> {
        match self {
            Self::Sse => Box::new(Sse::open(host, after, &[chat])),
            Self::Socket => Box::new(Socket::open(host, after, &[chat])),
        }
    }
}

/// Listens until the chat is idle after its turn, or until so many frames came. What is known is at
/// each moment the beginning of `whole`. Says whether the turn is over.
fn listen(
    stream: &mut dyn Listen,
    mirror: &mut Mirror,
    chat: &str,
    whole: &str,
    frames: usize,
) -> bool {
    let deadline = Instant::now() + PATIENCE;
    let over = |mirror: &Mirror| {
        !mirror.ended.is_empty()
            && mirror.row["status"]["shown"] == "idle"
            && !mirror.told().is_empty()
    };
    for _ in 0..frames {
        if over(mirror) {
            break;
        }
        assert!(Instant::now() < deadline, "no end of the turn was told: {:?}", mirror.row);
        let told = stream.next().expect("the stream goes on");
        mirror.take(chat, &told);
        let known = mirror.told();
        assert!(whole.starts_with(&known), "{:?} after {}", known.lines().last(), told.frame);
    }
    over(mirror)
}

#[test]
fn a_line_cut_after_any_frame_costs_nothing() {
    const LINES: usize = 60;
    const CUTS: usize = 40;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let whole = lines(LINES);
    std::thread::scope(|scope| {
        let mut clients = Vec::new();
        for carrier in Carrier::BOTH {
            for cut in 1..=CUTS {
                let mut mirror = Mirror::default();
                // Who is cut after the first frame, which is only the greeting, has no cursor yet.
                let mut stream = carrier.open(&host, None, &chat);
                let (host, chat, whole) = (&host, &chat, &whole);
                clients.push(scope.spawn(move || {
                    listen(&mut *stream, &mut mirror, chat, whole, cut);
                    drop(stream);
                    let mut stream = carrier.open(host, mirror.cursor.as_deref(), chat);
                    let over = listen(&mut *stream, &mut mirror, chat, whole, usize::MAX);
                    assert!(over);
                    assert_eq!(mirror.told(), *whole, "{carrier:?} cut after {cut} frames");
                    assert_eq!(mirror.ended.len(), 1, "one turn ended: {:?}", mirror.ended);
                    assert_eq!(mirror.verdicts, ["ok", "ok"]);
                    mirror.applied
                }));
            }
        }
        let message = host.send(&chat, &format!("[[stream {LINES} 20]]"));
        host.wait_message(&chat, &message, "settled");
        let live: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
        assert!(live > 0, "some of it was told live");
    });
    assert_eq!(place.evidence().text_written(), whole);
    host.stop();
}

#[test]
fn who_is_cut_again_and_again_has_everything_in_the_end() {
    const LINES: usize = 80;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let whole = lines(LINES);
    for carrier in Carrier::BOTH {
        let chat = host.open();
        host.send(&chat, &format!("[[stream {LINES} 10]]"));
        let mut mirror = Mirror::default();
        let mut cuts = 0;
        loop {
            let mut stream = carrier.open(&host, mirror.cursor.as_deref(), &chat);
            cuts += 1;
            // The greeting and two frames more, so that it gets anywhere.
            if listen(&mut *stream, &mut mirror, &chat, &whole, 3) {
                break;
            }
        }
        assert_eq!(mirror.told(), whole);
        assert!(cuts > 5, "{carrier:?} was cut {cuts} times");
        assert_eq!(mirror.ended.len(), 1);
    }
    host.stop();
}

#[test]
fn a_cursor_outlives_the_host_that_gave_it() {
    const LINES: usize = 120;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let whole = lines(LINES);
    let mut clients: Vec<_> = Carrier::BOTH.map(|carrier| (carrier, Mirror::default())).into();
    let mut streams: Vec<_> =
        clients.iter().map(|(carrier, _)| carrier.open(&host, None, &chat)).collect();
    host.send(&chat, &format!("[[stream {LINES} 20]]"));
    for ((_, mirror), stream) in clients.iter_mut().zip(&mut streams) {
        while mirror.told().lines().count() < LINES / 4 {
            listen(&mut **stream, mirror, &chat, &whole, 1);
        }
    }
    host.kill();

    let host = place.start();
    for (carrier, mirror) in &mut clients {
        let mut stream = carrier.open(&host, mirror.cursor.as_deref(), &chat);
        assert!(listen(&mut *stream, mirror, &chat, &whole, usize::MAX));
        assert_eq!(mirror.told(), whole, "{carrier:?}");
        assert_eq!(mirror.verdicts, ["ok", "ok"], "the cursor of the killed host is good");
        assert_eq!(mirror.ended.len(), 1);
    }
    let cursor = clients[0].1.cursor.clone();
    assert!(host.stop().success());

    // Across a stop in order as well: nothing is told that was told before.
    let host = place.start();
    let mut stream = Sse::open(&host, cursor.as_deref(), &[&chat]);
    let mut mirror = Mirror::default();
    mirror.take(&chat, &stream.next().unwrap());
    assert_eq!(mirror.verdicts, ["ok"]);
    host.post(&format!("/chats/{chat}/messages"), &json!({ "text": "[[say more]]" })).ok();
    while !mirror.told().contains("more") {
        mirror.take(&chat, &stream.next().unwrap());
    }
    assert_eq!(mirror.told(), "more", "items that did not change are not told again");
    host.stop();
}

#[test]
fn a_cursor_that_is_not_of_this_past_has_a_gap_and_a_snapshot() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (place, other) = (place(&dir), place(&other));
    let foreign = {
        let host = other.start();
        host.open();
        let as_of = host.get("/offers")["as_of"].as_str().unwrap().to_owned();
        host.stop();
        as_of
    };
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[say hello]]");
    host.wait_message(&chat, &message, "settled");
    let good = host.get("/offers")["as_of"].as_str().unwrap().to_owned();
    let (incarnation, number) = good.split_once('-').unwrap();
    let future = format!("{incarnation}-{}", number.parse::<u64>().unwrap() + 1);
    let odd = [
        foreign.as_str(),
        &future,
        &format!("{incarnation}-{}", u64::MAX),
        &format!("{incarnation}-"),
        &format!("-{number}"),
        "0",
        "nope",
        "%00",
        "%F0%9F%92%A9",
        &"9".repeat(4000),
    ];
    for carrier in Carrier::BOTH {
        for cursor in odd {
            let mut stream = carrier.open(&host, Some(cursor), &chat);
            let mut mirror = Mirror::default();
            for _ in 0..2 {
                mirror.take(&chat, &stream.next().unwrap());
            }
            assert_eq!(mirror.verdicts, ["gap"], "{cursor:.80}");
            assert_eq!(mirror.told(), "hello", "the snapshot has the newest items");
            assert_eq!(mirror.row["id"], chat.as_str());
            assert_eq!(mirror.counts["open"], 1);
        }
        // One of this past, the newest even, has none.
        let mut stream = carrier.open(&host, Some(&good), &chat);
        let hello = stream.next().unwrap().frame;
        assert_eq!((&hello["verdict"], &hello["cursor"]), (&json!("ok"), &json!(good)));
    }
    host.stop();
}

#[test]
fn whoever_joins_while_the_agent_streams_has_all_of_it() {
    const LINES: usize = 3000;
    const CLIENTS: usize = 50;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let whole = lines(LINES);
    let mut first = Sse::open(&host, None, &[&chat]);
    let mut leader = Mirror::default();
    let message = host.send(&chat, &format!("[[stream {LINES} 1]]"));
    std::thread::scope(|scope| {
        let mut joined = Vec::new();
        let mut heard = 0;
        while leader.ended.is_empty() || leader.row["status"]["shown"] != "idle" {
            let told = first.next().expect("the stream goes on");
            leader.take(&chat, &told);
            heard += usize::from(told.frame["type"] == "delta");
            if heard * CLIENTS / LINES > joined.len() && joined.len() < CLIENTS {
                let carrier = Carrier::BOTH[joined.len() % 2];
                let (host, chat, whole) = (&host, &chat, &whole);
                joined.push(scope.spawn(move || {
                    let mut stream = carrier.open(host, None, chat);
                    let mut mirror = Mirror::default();
                    // Seen to its end: a snapshot may hold the end already.
                    while mirror.row["status"]["shown"] != "idle" {
                        let told = stream.next().expect("the stream goes on");
                        mirror.take(chat, &told);
                        assert!(whole.starts_with(&mirror.told()));
                    }
                    assert_eq!(mirror.said(host).len(), whole.len(), "{carrier:?}");
                    assert!(mirror.said(host) == *whole);
                }));
            }
        }
        assert!(joined.len() > CLIENTS / 2, "{} joined while it streamed", joined.len());
        for client in joined {
            client.join().unwrap();
        }
    });
    host.wait_message(&chat, &message, "settled");
    assert!(leader.said(&host) == whole);
    assert!(leader.applied > 0);
    host.stop();
}

/// How long the host waits for a reader that does not read, for a frame of the largest size.
const READER_PATIENCE: Duration = Duration::from_secs(15);
/// The memory of a host beside readers that do not read.
const HOST_RESIDENT_BYTES_MAX: u64 = 160 * 1024 * 1024;

#[test]
fn who_does_not_read_is_cut_and_comes_back_and_costs_the_others_nothing() {
    const SLOW: usize = 500;
    /// Of them these read in the end.
    const BACK: usize = 4;
    const BYTES: usize = 20_000_000;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let mut slow: Vec<Socket> =
        (0..SLOW).map(|_| Socket::open_narrow(&host, None, &[&chat])).collect();
    let mut quick = Socket::open(&host, None, &[&chat]);
    let begun = Instant::now();
    let message = host.send(&chat, &format!("[[flood {BYTES}]]"));
    let mut told_all = Mirror::default();
    while told_all.ended.is_empty() || told_all.row["status"]["shown"] != "idle" {
        told_all.take(&chat, &quick.next().expect("who reads is told"));
    }
    host.wait_message(&chat, &message, "settled");
    assert_eq!(told_all.said(&host).len(), BYTES);
    let peak = proc::peak_resident_bytes(host.pid());
    assert!(peak > 0 && peak <= HOST_RESIDENT_BYTES_MAX, "host: {peak}");

    let over = begun + (begun.elapsed() + READER_PATIENCE);
    wait_until(2 * READER_PATIENCE, "the host's patience to be over", || Instant::now() > over);
    for mut socket in slow.drain(..BACK) {
        let mut mirror = Mirror::default();
        while let Some(told) = socket.next() {
            mirror.take(&chat, &told);
        }
        assert_eq!(socket.closed, Some(4408));
        let mut back = Socket::open(&host, mirror.cursor.as_deref(), &[&chat]);
        while mirror.ended.is_empty() || mirror.row["status"]["shown"] != "idle" {
            mirror.take(&chat, &back.next().expect("it is told the rest"));
        }
        assert_eq!(mirror.verdicts, ["ok", "ok"]);
        assert_eq!(mirror.said(&host).len(), BYTES);
    }
    host.stop();
}

/// Each message that waits is told once with its queue, and the queue's beginning is all that is
/// told: what a client reads grows with the messages, not with their square.
#[test]
fn a_long_queue_of_long_messages_is_told_in_few_bytes() {
    const MESSAGES: usize = 120;
    const BYTES_A_CHANGE: usize = 16 * 1024;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.post(&format!("/chats/{chat}/queue/pause"), &json!({})).ok();
    let mut stream = Sse::open(&host, None, &[&chat]);
    let long = "x".repeat(20_000);
    let (mut bytes, mut last) = (0, Value::Null);
    for n in 1..=MESSAGES {
        host.send(&chat, &long);
        let mut length = 0;
        while length < n {
            let frame = stream.next().unwrap().frame;
            for change in frame["changes"].as_array().into_iter().flatten() {
                bytes += change.to_string().len();
                if change["what"] == "queue" {
                    last = change["value"].clone();
                }
                if change["what"] == "chat" {
                    length = change["value"]["queue_length"].as_u64().unwrap() as usize;
                }
            }
        }
    }
    assert!(bytes < MESSAGES * BYTES_A_CHANGE, "{bytes} bytes");
    // Where the rest is, it says.
    let mut whole = last["items"].as_array().unwrap().clone();
    let mut next = last["next"].clone();
    assert!(next.is_string(), "{last}");
    while let Some(from) = next.as_str() {
        let page = host.get(&format!("/chats/{chat}/queue?from={from}"));
        whole.extend(page["items"].as_array().unwrap().iter().cloned());
        next = page["next"].clone();
    }
    assert_eq!(whole.len(), MESSAGES);
    assert!(whole.iter().all(|item| item["full"]["bytes"] == long.len()));
    host.stop();
}

#[test]
fn a_chat_that_goes_and_one_that_comes_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let mut stream = Socket::open(&host, None, &[]);
    let chat = host.open();
    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    host.request("DELETE", &format!("/chats/{chat}"), None).unwrap().ok();
    let mut states = Vec::new();
    while !states.contains(&"removed".to_owned()) {
        let frame = stream.next().unwrap().frame;
        for change in frame["changes"].as_array().into_iter().flatten() {
            if change["chat"] == chat.as_str() && change["what"] == "removed" {
                assert_eq!(change["value"], Value::Null);
                states.push("removed".to_owned());
            }
        }
    }
    let mut late = Sse::open(&host, None, &[]);
    late.next().unwrap();
    assert_eq!(late.next().unwrap().frame["chats"], json!([]));
    host.stop();
}
