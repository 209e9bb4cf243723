use super::process::{self, Stat};
use crate::record::{FoundBy, ProcessId, Survivor};
use std::collections::BTreeSet;
use std::io;
use uuid::Uuid;

/// The variable that every process of an attempt carries, with the attempt's id as its value.
pub const COOKIE_NAME: &str = "HOLDFAST_ATTEMPT";

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Net {
    /// Descendants; only where there are none also by the cookie. For looking again and again.
    Descent,
    /// Descendants and, everywhere else, the cookie.
    Wide,
}

/// A live process of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) process: ProcessId,
    pub(crate) state: char,
    pub(crate) by: FoundBy,
}

impl Found {
    /// With what people want to know of it.
    pub(crate) fn describe(&self) -> Survivor {
        Survivor {
            process: self.process,
            uid: process::uid(self.process.pid),
            state: self.state,
            command: process::command(self.process.pid),
            found_by: self.by,
        }
    }
}

/// Finds the live processes of `attempt`: what descends from the processes `roots` (these themselves not
/// counted), and what carries the cookie. This process is never among them.
pub(crate) fn find(roots: &[u32], attempt: Uuid, net: Net) -> io::Result<Vec<Found>> {
    let all: Vec<Stat> = process::pids()?.filter_map(process::stat).collect();
    let descendants = descendants(&all, roots);
    let this = std::process::id();
    let alive = |stat: &&Stat| !stat.is_dead() && stat.process.pid != this;
    let found = |stat: &Stat, by| Found { process: stat.process, state: stat.state, by };
    let mut result: Vec<Found> = all
        .iter()
        .filter(alive)
        .filter(|stat| descendants.contains(&stat.process.pid))
        .map(|stat| found(stat, FoundBy::Descent))
        .collect();
    if net == Net::Wide || result.is_empty() {
        let cookie = cookie(attempt);
        let others = all.iter().filter(alive).filter(|stat| {
            let pid = stat.process.pid;
            !descendants.contains(&pid) && process::environment_holds(pid, cookie.as_bytes())
        });
        result.extend(others.map(|stat| found(stat, FoundBy::Cookie)));
    }
    Ok(result)
}

/// How many live processes carry the attempt's cookie.
///
/// # Errors
/// Those of reading `/proc`.
pub fn count(attempt: Uuid) -> io::Result<usize> {
    find(&[], attempt, Net::Wide).map(|found| found.len())
}

fn cookie(attempt: Uuid) -> String {
    format!("{COOKIE_NAME}={}", attempt.hyphenated())
}

/// The ids of all that descends from `roots`. Through zombies too: their children are not theirs any more,
/// but a process may have become one since its child was read.
fn descendants(all: &[Stat], roots: &[u32]) -> BTreeSet<u32> {
    let mut parents: BTreeSet<u32> = roots.iter().copied().collect();
    let mut descendants = BTreeSet::new();
    loop {
        let before = descendants.len();
        for stat in all {
            if parents.contains(&stat.parent) && descendants.insert(stat.process.pid) {
                parents.insert(stat.process.pid);
            }
        }
        if descendants.len() == before {
            break;
        }
    }
    for root in roots {
        descendants.remove(root);
    }
    descendants
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: u32, parent: u32) -> Stat {
        Stat::parse(
            pid,
            format!("{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 1").as_bytes(),
        )
        .unwrap()
    }

    #[test]
    fn descent_is_followed_in_any_order_of_ids() {
        let all = [stat(2, 9), stat(3, 2), stat(9, 5), stat(5, 1), stat(4, 1), stat(7, 7)];
        assert_eq!(descendants(&all, &[5]), BTreeSet::from([2, 3, 9]));
        assert_eq!(descendants(&all, &[]), BTreeSet::new());
        assert_eq!(descendants(&all, &[7]), BTreeSet::new());
    }
}
