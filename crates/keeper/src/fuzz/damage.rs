//! A spool that a keeper has written, and a disk that does not keep it.

use super::{ATTEMPT, Budget, Given, Program, holds, number, read};
use crate::record::{Mark, Record};
use crate::spool::{FileName, PowerCutFs, Room, Spool, SpoolFs};

/// Secret from the agent: nothing that it writes can pass for a record.
const SALT: u64 = 0x9e37_79b9_7f4a_7c15;
/// How often an output is repeated that is to be long: a few of them fill a segment.
const REPEATS: usize = 1024;
/// Records that are read anew from the position behind them.
const AGAIN_MAX: usize = 4;

/// Writes a spool, damages its files, and compares what is read with what was written.
pub(super) fn run(program: Program<'_>) {
    let Ok(mut spool) = Spool::create(PowerCutFs::new(), ATTEMPT, SALT) else { return };
    let mut damages = Vec::new();
    let mut positions = Vec::new();
    let mut budget = Budget::WHOLE;
    for (operation, body) in program {
        match operation % 8 {
            0 | 1 => drop(spool.append_output(&budget.repeat(body, 1), Room::Lines)),
            2 => drop(spool.append_output(&budget.repeat(body, REPEATS), Room::Lines)),
            3 => drop(spool.append(&Mark::FrameBegun(number(body)))),
            4 => drop(spool.sync()),
            5 => spool.acknowledge(number(body).min(spool.end())),
            6 => damages.push(body),
            _ => positions.push(number(body).min(spool.end())),
        }
    }
    let (first, end) = (spool.first(), spool.end());
    // Only so that copies of the files are small: nothing here cuts the power.
    drop(spool.sync());
    let mut files = spool.into_fs();
    let Some(Ok(written)) = read(&files, first) else {
        unreachable!("an unharmed spool cannot be read")
    };
    let harmed = written.iter().any(|(record, _)| *record == Record::Damaged);
    assert!(!harmed, "an unharmed spool is read as damaged");
    for damage in &damages {
        harm(&mut files, damage);
    }
    let Some(Ok(left)) = read(&files, first) else { return };
    for given in &left {
        let true_word = given.0 == Record::Damaged || holds(&written, given);
        assert!(true_word, "was never written: {given:?}");
        assert!(given.1 <= end, "{given:?} is beyond the end");
    }
    if damages.is_empty() {
        assert_eq!(left, written);
    }
    positions.extend(left.iter().take(AGAIN_MAX).map(|(_, next)| *next));
    for position in positions {
        if let Some(Ok(again)) = read(&files, position) {
            assert!(again.iter().all(|(_, next)| *next > position), "given twice: {position}");
            assert_eq!(said(&again, position), said(&left, position), "read again at {position}");
        }
    }
}

/// What is given from `position` on. That something is missing may be said in other places when it is
/// read again.
fn said(given: &[Given], position: u64) -> Vec<&Given> {
    let whole = |record: &Record| *record != Record::Damaged;
    given.iter().filter(|(record, next)| *next > position && whole(record)).collect()
}

/// One harm: `what u8, segment u8, offset u32`. A flipped bit, a zeroed stretch, or a lost tail.
fn harm(files: &mut PowerCutFs, body: &[u8]) {
    let [what, segment] = [0, 1].map(|at| body.get(at).copied().unwrap_or_default());
    let at = usize::try_from(number(body.get(2..6).unwrap_or_default())).unwrap_or(0);
    let segments = files.segments().unwrap_or_default();
    let Some(first) = segments.get(usize::from(segment) % segments.len().max(1)) else { return };
    let name = FileName::Segment(*first);
    let length = usize::try_from(files.length(name).unwrap_or(0)).unwrap_or(0);
    let at = at % length.max(1);
    match what % 4 {
        0 | 1 => files.damage(name, at, |byte| *byte ^= 1 << (what >> 5)),
        2 => (at..at + usize::from(what)).for_each(|at| files.damage(name, at, |byte| *byte = 0)),
        _ => drop(files.truncate(name, at as u64)),
    }
}
