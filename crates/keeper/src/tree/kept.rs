use super::{Found, Net, find, is_alive, listening_ports};
use crate::protocol::Leftover;
use crate::registry::KeeperRecord;
use std::io;

/// What a living keeper keeps beside its agent, as it is found from outside: what descends from the keeper,
/// and what carries its attempt's cookie. Nothing where the record is of another boot.
///
/// # Errors
/// Those of reading `/proc`.
pub fn kept(record: &KeeperRecord) -> io::Result<Vec<Leftover>> {
    if super::boot_id()? != record.boot_id || !is_alive(record.keeper) {
        return Ok(Vec::new());
    }
    let found = find(&[record.keeper.pid], record.attempt, Net::Wide)?;
    let others = found
        .iter()
        .filter(|found| found.process != record.keeper && Some(found.process) != record.agent);
    let describe = |found: &Found| Leftover {
        process: found.describe(),
        ports: listening_ports(found.process.pid),
    };
    Ok(others.map(describe).collect())
}
