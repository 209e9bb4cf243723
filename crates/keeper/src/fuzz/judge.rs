//! What a keeper's record has to be, whatever happened to it.

use super::disk::Disk;
use super::{Given, Program, holds, read};
use crate::record::Record;
use crate::spool::SpoolFs;

/// Holds what is on `disk` from the record `first` on against what the agent wrote and what was
/// pushed; then cuts the power, of which `choices` say what is kept.
pub(super) fn judge(
    disk: &Disk,
    first: u64,
    output: &[u8],
    pushed: &[Given],
    choices: Program<'_>,
) {
    let given = disk.read(first);
    frames(&given, first);
    if first == 0 {
        lines(&given, output);
    }
    for one in pushed.iter().filter(|(_, next)| *next > first) {
        assert!(holds(&given, one), "was pushed and is not on disk: {one:?}");
    }
    let mut files = disk.files();
    let mut choices = choices.0.iter();
    files.power_cut(|bytes| bytes * usize::from(choices.next().copied().unwrap_or(0)) / 255);
    let kept = files.segments().unwrap_or_default().first().copied().unwrap_or(0);
    if let Some(Ok(kept)) = read(&files, kept) {
        for one in kept.iter().filter(|(_, next)| *next > first) {
            let true_word = one.0 == Record::Damaged || holds(&given, one);
            assert!(true_word, "a power cut brings forth {one:?}");
        }
    }
}

/// Frames begin in order, one at a time; nothing is damaged; the end comes last and once.
fn frames(given: &[Given], first: u64) {
    let mut begun = None;
    let mut done = None;
    if first == 0 {
        (begun, done) = (Some(0), Some(0));
    }
    for (index, (record, next)) in given.iter().enumerate() {
        match record {
            Record::FrameBegun(number) => {
                let in_turn = begun.is_none_or(|begun| *number > begun && done == Some(begun));
                assert!(in_turn, "frame {number} begins behind {begun:?} and {done:?}");
                begun = Some(*number);
            }
            Record::FrameDone(number) => {
                assert!(begun.is_none_or(|begun| begun == *number), "frame {number} is done");
                (begun, done) = (Some(*number), Some(*number));
            }
            Record::FrameCancelled(number) => {
                assert!(begun.is_none_or(|begun| *number > begun), "frame {number} had begun");
            }
            Record::Exited { .. } | Record::SpawnFailed { .. } => {
                assert_eq!(index + 1, given.len(), "the end at {next} is not the last");
            }
            Record::Damaged | Record::Unknown { .. } => {
                unreachable!("an unharmed spool is read as {record:?} at {next}")
            }
            Record::Started(_)
            | Record::Line(_)
            | Record::Oversized { .. }
            | Record::OversizedEnd { .. }
            | Record::Torn(_)
            | Record::Signalled { .. }
            | Record::StdoutClosed { .. }
            | Record::CutOff(_) => {}
        }
    }
}

/// The lines are what the agent wrote, from its first byte on.
fn lines(given: &[Given], output: &[u8]) {
    let mut rest = output;
    for (record, next) in given {
        let (bytes, end): (&[u8], &[u8]) = match record {
            Record::Line(bytes) => (bytes, b"\n"),
            Record::Torn(bytes) => (bytes, b""),
            _ => continue,
        };
        let behind = rest.strip_prefix(bytes).and_then(|rest| rest.strip_prefix(end));
        let Some(behind) = behind else { unreachable!("the line at {next} was never written") };
        rest = behind;
    }
    let closed = given.iter().any(|(record, _)| matches!(record, Record::StdoutClosed { .. }));
    assert!(closed || !rest.contains(&b'\n'), "a whole line was taken and is not on disk");
}
