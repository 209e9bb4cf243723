//! What fuzzers and the committed corpora run: arbitrary bytes as what reaches a keeper, and as what a
//! disk has kept of its spool.
//!
//! Inputs are programs: a sequence of `operation u8, length u8, body`; a body ends where the input ends.
//! So a fuzzer comes behind checksums and secrets, and each change of a byte is another program.

mod build;
mod damage;
mod disk;
mod host;
mod judge;
mod keeper;
mod messages;

pub use messages::protocol;

use crate::limits::SEGMENT_BYTES;
use crate::record::Record;
use crate::spool::{PowerCutFs, SpoolReader};
use std::io;
use uuid::Uuid;

const ATTEMPT: Uuid = Uuid::from_u128(1);

/// What a reader has been given, and the position behind it.
type Given = (Record, u64);

/// The operations of a program.
#[derive(Clone, Copy)]
struct Program<'a>(&'a [u8]);

impl<'a> Iterator for Program<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&operation, rest) = self.0.split_first()?;
        let (&length, rest) = rest.split_first().unwrap_or((&0, &[]));
        let (body, rest) = rest.split_at_checked(length.into()).unwrap_or((rest, &[]));
        self.0 = rest;
        Some((operation, body))
    }
}

/// The first bytes of a body as a number, little endian; what is not there is 0.
fn number(body: &[u8]) -> u64 {
    body.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Everything that the spool in `files` gives from `position` on; `None` where it cannot be read from
/// there.
fn read(files: &PowerCutFs, position: u64) -> Option<io::Result<Vec<Given>>> {
    Some(SpoolReader::open(files.clone(), ATTEMPT, position).ok()?.collect())
}

/// Whether a reader that was given all this was given `one`. Positions ascend.
fn holds(all: &[Given], one: &Given) -> bool {
    let from = all.partition_point(|(_, next)| *next < one.1);
    all.iter().skip(from).take_while(|(_, next)| *next == one.1).any(|it| it == one)
}

/// How much one program may make a keeper work, so that a fuzzer gets on.
#[derive(Clone, Copy)]
struct Budget(usize);

impl Budget {
    /// Enough for a second segment of the spool.
    const WHOLE: Self = Self(SEGMENT_BYTES as usize + SEGMENT_BYTES as usize / 4);
    /// What a line costs beside its bytes.
    const LINE: usize = 64;

    /// The output `times` over, or as often as there is budget for.
    fn repeat(&mut self, output: &[u8], times: usize) -> Vec<u8> {
        let lines = output.iter().filter(|byte| **byte == b'\n').count();
        let cost = output.len() + lines * Self::LINE;
        let times = times.min(self.0 / cost.max(1));
        self.0 -= cost * times;
        output.repeat(times)
    }
}

/// The input as a spool on disk: its first byte says whether the rest builds the files
/// or writes and then damages them.
///
/// # Panics
///
/// When a promise of the spool is broken. Of any files: reading ends, positions ascend, nothing comes
/// twice. Of damaged files: what is read was written, and is read the same from any position.
pub fn spool(data: &[u8]) {
    let Some((which, program)) = data.split_first() else { return };
    match which % 2 {
        0 => build::run(Program(program)),
        _ => damage::run(Program(program)),
    }
}
