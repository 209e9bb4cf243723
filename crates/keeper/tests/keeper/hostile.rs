//! Peers that must not be let in, and bytes that must not be believed.

use crate::common::*;
use holdfast_keeper::connect::{AttachError, CallError, Link};
use holdfast_keeper::limits::{UNGREETED_CONNECTIONS_MAX, UNGREETED_MAX};
use holdfast_keeper::protocol::{Call, Message, Refusal, Reply, write_message};
use holdfast_keeper::registry::Secret;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Instant;
use tokio::io::AsyncWriteExt;
use uuid::Uuid;

#[tokio::test]
async fn a_wrong_secret_another_attempt_and_another_incarnation_are_refused() {
    let attempt = Attempt::spawn();
    let good = attempt.greeting(None);
    let mut denied = good.clone();
    denied.secret = Secret::random().unwrap();
    let refused = Link::attach(&attempt.dir, denied.clone()).await;
    let is = |refused: &Result<_, AttachError>, expected: Refusal| matches!(refused, Err(AttachError::Refused { refusal, .. }) if *refusal == expected);
    assert!(is(&refused.map(drop), Refusal::Denied));
    let mut foreign = good.clone();
    foreign.incarnation = Uuid::new_v4();
    assert!(is(&Link::attach(&attempt.dir, foreign).await.map(drop), Refusal::Foreign));
    // A wrong secret learns nothing about the incarnation.
    denied.incarnation = Uuid::new_v4();
    assert!(is(&Link::attach(&attempt.dir, denied).await.map(drop), Refusal::Denied));
    let mut raw = Raw::connect(&attempt).await;
    let Call::Hello(mut hello) = Raw::hello(&attempt, None) else { unreachable!() };
    hello.attempt = Uuid::new_v4();
    raw.send(&Call::Hello(hello)).await;
    assert_eq!(raw.refusal().await, Refusal::Denied);
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn a_refused_greeting_takes_nothing_over() {
    let attempt = Attempt::spawn();
    let (link, _events) = attempt.run("sleep 1000").await;
    let mut denied = attempt.greeting(Some(shell("echo stolen")));
    denied.secret = Secret::random().unwrap();
    assert!(Link::attach(&attempt.dir, denied).await.is_err());
    link.status().await.unwrap();
}

#[tokio::test]
async fn a_call_before_the_greeting_closes_the_connection() {
    let attempt = Attempt::spawn();
    for call in [Call::Status, Call::Acknowledge { position: 0 }, Call::CancelFrame { number: 1 }] {
        let mut raw = Raw::connect(&attempt).await;
        raw.send(&call).await;
        assert_eq!(raw.refusal().await, Refusal::NotGreeted);
        assert!(raw.is_closed().await);
    }
}

#[tokio::test]
async fn a_call_of_a_newer_host_is_unsupported_and_harmless() {
    let attempt = Attempt::spawn();
    let mut raw = Raw::greeted(&attempt).await;
    for (kind, expected) in
        [(8, Refusal::Unsupported), (0x1234, Refusal::Unsupported), (3, Refusal::Malformed)]
    {
        let mut out = Vec::new();
        write_message(&mut out, kind, 77, |fields| {
            fields.u64(99, 1);
        });
        raw.stream.write_all(&out).await.unwrap();
        assert_eq!(raw.refusal().await, expected);
    }
    raw.send(&Call::Status).await;
    let (kind, body) = raw.reply().await;
    assert!(matches!(Reply::decode(&Message { kind, id: 0, body: &body }), Ok(Reply::Status(_))));
}

#[test]
fn a_peer_of_another_user_is_refused_even_where_it_can_connect() {
    let name = "hostile::a_peer_of_another_user_is_refused_even_where_it_can_connect";
    as_superuser(name, &["--map-auto"], refuse_a_peer_of_another_user());
}

async fn refuse_a_peer_of_another_user() {
    let attempt = Attempt::spawn();
    attempt.attach().await;
    // Everything on the way is opened up, so that only the look at the peer is left.
    let mut path = attempt.dir.path().join("sock");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    while path.pop() && path != std::env::temp_dir() && path.parent().is_some() {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let script = "use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die \"no: $!\"; \
                  my $n = sysread($s, my $said, 1000); my $more = sysread($s, $_, 1000); \
                  print unpack('H*', $said), ' ', $more // 'reset'";
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "perl", "-e", script])
        .arg(attempt.dir.path().join("sock"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let mut expected = Vec::new();
    Reply::Refused(Refusal::Denied).encode(0, &mut expected);
    let hex: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(said, format!("{hex} 0"), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_socket_that_vanishes_is_made_again() {
    let attempt = Attempt::spawn();
    let (link, events) = attempt.run("sleep 1000").await;
    drop((link, events));
    let path = attempt.dir.path().join("sock");
    std::fs::remove_file(&path).unwrap();
    attempt.attach().await;
    // Also when something else has taken its name.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "not a socket").unwrap();
    attempt.attach().await;
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[tokio::test]
async fn connections_that_do_not_greet_are_bounded() {
    let attempt = Attempt::spawn();
    let (link, _events) = attempt.run("sleep 1000").await;
    let began = Instant::now();
    let mut idle = Vec::new();
    for _ in 0..=UNGREETED_CONNECTIONS_MAX {
        idle.push(Raw::connect(&attempt).await);
    }
    assert!(idle[0].is_closed().await);
    assert!(began.elapsed() < UNGREETED_MAX, "for their number, not for their age");
    link.status().await.unwrap();
    drop(link);
    attempt.attach().await;
}

#[tokio::test]
async fn a_connection_that_does_not_greet_is_closed_after_a_while() {
    let attempt = Attempt::spawn();
    let mut silent = Raw::connect(&attempt).await;
    assert!(silent.is_closed().await);
}

#[tokio::test]
async fn a_message_without_end_closes_the_connection() {
    let attempt = Attempt::spawn();
    let mut raw = Raw::greeted(&attempt).await;
    raw.stream.write_all(&u32::MAX.to_le_bytes()).await.unwrap();
    assert!(raw.is_closed().await);
    attempt.attach().await;
}

#[tokio::test]
async fn a_peer_that_takes_no_answers_is_not_asked_for_more() {
    let attempt = Attempt::spawn();
    let mut raw = Raw::greeted(&attempt).await;
    let mut out = Vec::new();
    for id in 0..1000 {
        Call::Status.encode(id, &mut out);
    }
    // Far more answers than a socket holds; the keeper must stop reading, not grow.
    let written = async {
        for _ in 0..2000 {
            raw.stream.write_all(&out).await.unwrap();
        }
    };
    let stuck = tokio::time::timeout(std::time::Duration::from_secs(1), written).await;
    assert!(stuck.is_err(), "the keeper went on reading");
    let pid = attempt.keeper().pid;
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let anonymous = rollup.lines().find(|line| line.starts_with("Anonymous:")).unwrap();
    let kib: u64 = anonymous.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 1536, "{anonymous}");
    attempt.attach().await;
}

/// Byte strings that have a chance to get deep: garbage, and messages of every kind with garbage inside.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let garbage = proptest::collection::vec(any::<u8>(), 0..200);
    // A stop (6) that is well-formed by chance would be heeded, and the keeper would end, rightly.
    let kind = prop_oneof![0u16..6, 7u16..10];
    let message = (kind, any::<u32>(), proptest::collection::vec((1u8..25, any::<u64>()), 0..6))
        .prop_map(|(kind, id, fields)| {
            let mut out = Vec::new();
            write_message(&mut out, kind, id, |writer| {
                for (tag, value) in fields {
                    // Small numbers are the interesting ones.
                    writer.u64(tag, if value % 3 == 0 { value } else { value % 5 });
                }
            });
            out
        });
    let one = prop_oneof![1 => garbage, 4 => message];
    proptest::collection::vec(one, 0..12).prop_map(|all| all.concat())
}

#[test]
fn no_bytes_at_the_socket_harm_a_keeper() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let attempt = runtime.block_on(async {
        let attempt = Attempt::spawn();
        drop(attempt.run("exec sleep 1000").await);
        attempt
    });
    let config =
        ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(bytes in messages(), greeted: bool)| {
        runtime.block_on(async {
            let mut raw = if greeted {
                Raw::greeted(&attempt).await
            } else {
                Raw::connect(&attempt).await
            };
            // The keeper may close in the middle of it.
            let _ = raw.stream.write_all(&bytes).await;
            let _ = raw.stream.shutdown().await;
            while raw.try_reply().await.is_some() {}
        });
        prop_assert!(attempt.dir.is_alive().unwrap());
    });
    let log = std::fs::read_to_string(attempt.dir.path().join("keeper.log")).unwrap();
    assert_eq!(log, "");
    runtime.block_on(async {
        attempt.attach().await;
    });
}

#[tokio::test]
async fn calls_on_a_link_whose_keeper_dies_end() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("sleep 1000").await;
    next(&mut events).await;
    attempt.kill_keeper().await;
    assert_eq!(events.recv().await, None);
    assert_eq!(link.status().await.err(), Some(CallError::Disconnected));
    assert_eq!(link.cancel_frame(1).await.err(), Some(CallError::Disconnected));
}
