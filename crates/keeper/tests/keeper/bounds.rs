//! Long lines, full spools, full disks, and how much memory they take.

use crate::common::*;
use holdfast_keeper::Record;
use holdfast_keeper::limits::{LINE_BYTES_MAX, OVERSIZED_HEAD_BYTES};
use holdfast_keeper::protocol::Stall;
use holdfast_keeper::record::TreeEnd;
use holdfast_keeper::tree;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Private memory that a keeper may have.
const ANONYMOUS_KIB_MAX: u64 = 1536;

/// `Anonymous:` of the keeper, in KiB.
fn anonymous_kib(attempt: &Attempt) -> u64 {
    let path = format!("/proc/{}/smaps_rollup", attempt.keeper().pid);
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A watch over the keeper's memory while something happens.
struct Memory {
    highest: u64,
}

impl Memory {
    fn look(&mut self, attempt: &Attempt) {
        self.highest = self.highest.max(anonymous_kib(attempt));
    }

    fn judge(&self, what: &str) {
        println!("keeper, {what}: at most {} KiB of private memory", self.highest);
        assert!(self.highest <= ANONYMOUS_KIB_MAX, "{what}: {} KiB", self.highest);
    }
}

async fn watched_until(
    attempt: &Attempt,
    events: &mut holdfast_keeper::connect::Events,
    memory: &mut Memory,
    last: impl Fn(&Record) -> bool,
) -> Vec<Record> {
    let mut records = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    loop {
        tokio::select! {
            _ = ticks.tick() => memory.look(attempt),
            (record, _) = next(events) => {
                let is_last = last(&record);
                records.push(record);
                if is_last {
                    return records;
                }
            }
        }
    }
}

fn is_end(record: &Record) -> bool {
    *record == line("end")
}

#[tokio::test]
async fn a_line_of_sixteen_mebibytes_passes_whole_in_bounded_memory() {
    let attempt = Attempt::spawn();
    let script =
        format!("head -c {LINE_BYTES_MAX} /dev/zero | tr '\\0' x; echo; echo end; sleep 1000");
    let (_link, mut events) = attempt.run(&script).await;
    let mut memory = Memory { highest: 0 };
    memory.look(&attempt);
    println!("keeper, at the start: {} KiB", memory.highest);
    let records = watched_until(&attempt, &mut events, &mut memory, is_end).await;
    let Record::Line(long) = &records[1] else { panic!("no line") };
    assert_eq!(long.len() as u64, LINE_BYTES_MAX);
    assert!(long.iter().all(|&byte| byte == b'x'));
    memory.judge("a line of 16 MiB");
}

#[tokio::test]
async fn a_longer_line_is_oversized_and_the_next_one_is_whole() {
    let bytes = 200_000_000u64;
    let attempt = Attempt::spawn();
    let script = format!("head -c {bytes} /dev/zero | tr '\\0' x; echo; echo end; sleep 1000");
    let (_link, mut events) = attempt.run(&script).await;
    let mut memory = Memory { highest: 0 };
    let records = watched_until(&attempt, &mut events, &mut memory, is_end).await;
    let head = vec![b'x'; OVERSIZED_HEAD_BYTES];
    let expected = [Record::Oversized { head }, Record::OversizedEnd { bytes }, line("end")];
    assert!(records[1..] == expected, "{} records", records.len());
    memory.judge("a line of 200 MB");
}

#[tokio::test]
async fn an_endless_line_is_said_to_be_oversized_while_it_goes_on() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("exec tr '\\0' x </dev/zero").await;
    let mut memory = Memory { highest: 0 };
    let oversized = |record: &Record| matches!(record, Record::Oversized { .. });
    watched_until(&attempt, &mut events, &mut memory, oversized).await;
    link.stop(stop_tree(Duration::ZERO)).await.unwrap();
    let ended = |record: &Record| matches!(record, Record::Exited { .. });
    let records = watched_until(&attempt, &mut events, &mut memory, |record| {
        matches!(record, Record::StdoutClosed { .. })
    })
    .await;
    assert!(
        records.iter().any(
            |record| matches!(record, Record::OversizedEnd { bytes } if *bytes > LINE_BYTES_MAX)
        ),
        "{records:?}"
    );
    let last = next(&mut events).await.0;
    assert!(ended(&last), "{last:?}");
    memory.judge("an endless line");
}

#[tokio::test]
async fn a_flood_of_everything_at_once_takes_bounded_memory() {
    let attempt = Attempt::spawn();
    // Empty lines, long stderr, an agent that does not read, and 64 frames that wait for it.
    let script = "(head -c 200000 /dev/zero | tr '\\0' '\\n'); \
                  (head -c 3000000 /dev/zero | tr '\\0' e >&2); echo end; sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    let mut memory = Memory { highest: 0 };
    link.write_frame(1, vec![b'x'; 5_000_000].into()).await.unwrap();
    for number in 2..=60 {
        link.write_frame(number, vec![b'x'; 4000].into()).await.unwrap();
        memory.look(&attempt);
    }
    watched_until(&attempt, &mut events, &mut memory, is_end).await;
    let status = link.status().await.unwrap();
    assert_eq!(status.stderr_bytes, 3_000_000);
    let kept: u64 = ["stderr", "stderr.old"]
        .map(|file| std::fs::metadata(attempt.dir.path().join(file)).unwrap().len())
        .iter()
        .sum();
    assert!(kept < 256 * 1024, "{kept}");
    memory.look(&attempt);
    memory.judge("a flood");
}

#[tokio::test]
async fn at_its_bound_a_spool_makes_the_agent_wait_and_goes_on_when_it_is_read() {
    let attempt = Attempt::spawn_with(|limits| limits.spool_bytes_max = 3_000_000);
    let script =
        "head -c 20000000 /dev/zero | tr '\\0' x | fold -w 999; echo; echo end; sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    let mut stalls = 0;
    let mut position = 0;
    let mut lines = 0;
    loop {
        let status = link.status().await.unwrap();
        assert!(status.spool_bytes < 3_000_000 + 1_100_000, "{}", status.spool_bytes);
        if status.stalled == Some(Stall::SpoolBound) {
            stalls += 1;
            // Even now what is done to the agent is recorded.
            link.cancel_frame(stalls).await.unwrap();
        } else if stalls < 3 {
            continue;
        }
        while position < status.end {
            let (record, next) = next(&mut events).await;
            position = next;
            match record {
                Record::Line(bytes) if bytes.len() == 999 => lines += 1,
                record if is_end(&record) => {
                    assert!(stalls >= 3, "{stalls}");
                    assert_eq!(lines, 20_000_000 / 999);
                    return;
                }
                _ => {}
            }
        }
        link.acknowledge(position).await.unwrap();
    }
}

/// A small file system of its own.
struct Tmpfs(tempfile::TempDir);

impl Tmpfs {
    fn mount(mebibytes: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let size = format!("size={mebibytes}m,mode=700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(dir.path());
        assert!(mount.status().unwrap().success(), "a file system can be mounted");
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn on_a_full_disk_lines_wait_and_marks_and_the_end_are_still_recorded() {
    let name = "bounds::on_a_full_disk_lines_wait_and_marks_and_the_end_are_still_recorded";
    as_superuser(name, &["--mount"], fill_the_disk_of_an_attempt());
}

async fn fill_the_disk_of_an_attempt() {
    let disk = Tmpfs::mount(6);
    let attempt = Attempt::spawn_at(tempfile::tempdir().unwrap(), disk.path(), |_| {});
    let script = "read go; head -c 20000000 /dev/zero | tr '\\0' x | fold -w 999; sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    next(&mut events).await;
    link.write_frame(1, frame("\n")).await.unwrap();
    until_stalled(&link).await;
    fill(&disk.path().join("filler"));
    // Frames go through, and are recorded.
    link.write_frame(2, frame("on a full disk\n")).await.unwrap();
    while link.status().await.unwrap().frames.done < 2 {}
    // Space comes back: the agent goes on.
    let end = link.status().await.unwrap().end;
    std::fs::remove_file(disk.path().join("filler")).unwrap();
    let mut position = 0;
    while link.status().await.unwrap().end < end + 3000 {
        while position < end {
            position = next(&mut events).await.1;
        }
        link.acknowledge(position).await.unwrap();
    }
    // Full again, and the end comes.
    until_stalled(&link).await;
    fill(&disk.path().join("filler"));
    link.stop(stop_tree(Duration::ZERO)).await.unwrap();
    let records = all_records(&mut events).await;
    assert!(records.contains(&Record::StdoutClosed { lost_bytes: 0 }), "nothing was lost");
    assert!(matches!(records.last(), Some(Record::Exited { tree: TreeEnd::Clear, .. })));
    for record in &records {
        assert!(!matches!(record, Record::Damaged), "a torn record is cut");
    }
    drop(link);
    attempt.kill_keeper().await;
    let end = attempt.dir.record().unwrap().unwrap();
    assert!(!tree::is_alive(end.keeper));
}

async fn until_stalled(link: &holdfast_keeper::connect::Link) {
    while link.status().await.unwrap().stalled != Some(Stall::Disk) {}
}

/// Takes all the space there is.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
}
