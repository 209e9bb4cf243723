//! A keeper that dies at each of its fault points, and what must hold then.

use crate::common::*;
use holdfast_keeper::Record;
use holdfast_keeper::connect::Link;
use holdfast_keeper::registry;
use holdfast_keeper::tree::{self, Survivors};
use std::cell::Cell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A keeper with a fault point armed. `env` sets the variable, which a host would not pass on by itself.
fn spawn_armed(fault: &str) -> Attempt {
    let data = tempfile::tempdir().unwrap();
    let spec = spec();
    let born = registry::create(data.path(), &spec).unwrap();
    let setting = format!("{}={fault}", holdfast_fault::ENV);
    let dir =
        registry::spawn(born, Path::new("/usr/bin/env"), [setting.as_str(), KEEPER]).unwrap().dir;
    Attempt { data, dir, spec }
}

/// A life that passes every point, as far as the keeper lives it. What the agent has heard is in a file;
/// what the host has taken for good, which no test may read again, is in a cell.
async fn live(attempt: &Attempt, heard: &Path, acknowledged: &Cell<u64>) -> Option<()> {
    let script = format!(
        "echo up; read one || exit; echo \"$one\" >>{heard}; echo done; \
         head -c 2500000 /dev/zero | tr '\\0' x | fold -w 999; echo; echo end; exec sleep 1000",
        heard = heard.display()
    );
    let greeting = attempt.greeting(Some(shell(&script)));
    let (link, _) = Link::attach(&attempt.dir, greeting).await.ok()?;
    let mut events = link.read_from(0).await.ok()?;
    link.write_frame(1, frame("frame one\n")).await.ok()?;
    let mut position;
    loop {
        let (record, next) = events.recv().await?;
        position = next;
        if record == line("end") {
            break;
        }
    }
    link.cancel_frame(2).await.ok()?;
    acknowledged.set(position);
    link.acknowledge(position).await.ok()?;
    link.stop(stop_tree(Duration::ZERO)).await.ok()?;
    loop {
        let (record, next) = events.recv().await?;
        if matches!(record, Record::Exited { .. }) {
            position = next;
            break;
        }
    }
    link.acknowledge(position).await.ok()
}

fn check(name: &str, attempt: &Attempt, heard: &Path, acknowledged: u64) {
    let survivors =
        tree::end_survivors(attempt.spec.attempt, attempt.dir.record().unwrap().as_ref(), &[]);
    assert_eq!(survivors.unwrap(), Survivors::None, "{name}");
    let records = attempt.dead_records(acknowledged);
    assert!(!records.contains(&Record::Damaged), "{name}: {records:?}");
    let heard = std::fs::read_to_string(heard).unwrap_or_default();
    assert!(heard.is_empty() || heard == "frame one\n", "{name}: {heard:?}");
    if acknowledged == 0 {
        let begun = records.contains(&Record::FrameBegun(1));
        let done = records.contains(&Record::FrameDone(1));
        assert!(begun || heard.is_empty(), "{name}: heard without a beginning");
        assert!(begun || !done, "{name}");
    }
    let exits = records.iter().filter(|record| matches!(record, Record::Exited { .. })).count();
    assert!(exits <= 1, "{name}");
    assert_eq!(tree::count(attempt.spec.attempt).unwrap(), 0, "{name}");
}

#[tokio::test]
async fn at_every_point_the_spool_says_what_was_done() {
    for name in holdfast_fault::POINTS.iter().filter(|name| name.starts_with("keeper.")) {
        let attempt = spawn_armed(&format!("{name}:1"));
        let heard = attempt.data.path().join("heard");
        let acknowledged = Cell::new(0);
        let lived = tokio::time::timeout(BOUND, live(&attempt, &heard, &acknowledged)).await;
        let lived = lived.unwrap_or_else(|_| panic!("{name}: neither lived nor died"));
        attempt.keeper_is_dead().await;
        // The last point of a life may come when everything was answered.
        let last = ["keeper.ack.before", "keeper.ack.after"];
        assert!(lived.is_none() || last.contains(name), "{name} was not passed");
        check(name, &attempt, &heard, acknowledged.get());
    }
}

#[tokio::test]
async fn a_frame_that_was_torn_is_begun_and_not_done() {
    let attempt = spawn_armed("keeper.frame.mid:1");
    let heard = attempt.data.path().join("heard");
    assert!(live(&attempt, &heard, &Cell::new(0)).await.is_none());
    attempt.keeper_is_dead().await;
    let records = attempt.dead_records(0);
    assert!(records.contains(&Record::FrameBegun(1)));
    assert!(!records.contains(&Record::FrameDone(1)));
    assert!(!heard.exists(), "half a line is no line");
}

#[tokio::test]
async fn a_fault_for_a_keeper_reaches_no_agent() {
    let attempt = spawn_armed("keeper.exit.after:99");
    let (_link, mut events) = attempt.run("env; exit").await;
    for record in all_records(&mut events).await {
        if let Record::Line(line) = record {
            assert!(!line.starts_with(b"HOLDFAST_FAULT"), "{}", String::from_utf8_lossy(&line));
        }
    }
}

const PASSING: &str = "HOLDFAST_TEST_PASSING";

/// Spawns a keeper as the host would, with a fault in this process's own environment, and tells what the
/// keeper has of it.
#[test]
fn a_host_with_a_fault() {
    if std::env::var_os(PASSING).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let attempt = Attempt::spawn();
        let Ok((_link, _)) = Link::attach(&attempt.dir, attempt.greeting(None)).await else {
            println!("the keeper died");
            return;
        };
        let path = format!("/proc/{}/environ", attempt.keeper().pid);
        println!("the keeper has {:?}", std::fs::read_to_string(path).unwrap());
    });
}

#[test]
fn only_a_fault_for_keepers_is_handed_on() {
    let data: TempDir = tempfile::tempdir().unwrap();
    let run = |fault: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["faults::a_host_with_a_fault", "--exact", "--nocapture"])
            .current_dir(data.path())
            .env(PASSING, "1")
            .env(holdfast_fault::ENV, fault)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("host.anything:1").contains("the keeper has \"\""));
    assert!(run("keeper.sock.bound:1").contains("the keeper died"));
}
