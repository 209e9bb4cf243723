use super::process;
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
    // Only who is whose child is kept of all: a machine may have very many processes.
    let links: Vec<Link> = process::pids()?
        .filter_map(|pid| process::stat(pid).map(|stat| Link { pid, parent: stat.parent }))
        .collect();
    let descendants = descendants(&links, roots);
    let this = std::process::id();
    let found = |pid: u32, by| {
        process::stat(pid).filter(|stat| !stat.is_dead() && pid != this).map(|stat| Found {
            process: stat.process,
            state: stat.state,
            by,
        })
    };
    let mut result: Vec<Found> =
        descendants.iter().filter_map(|&pid| found(pid, FoundBy::Descent)).collect();
    if net == Net::Wide || result.is_empty() {
        let cookie = cookie(attempt);
        let carriers = links
            .iter()
            .map(|link| link.pid)
            .filter(|pid| !descendants.contains(pid))
            .filter(|&pid| process::environment_holds(pid, cookie.as_bytes()))
            .filter_map(|pid| found(pid, FoundBy::Cookie));
        result.extend(carriers);
    }
    Ok(result)
}

/// The live descendants of this process, as the kernel lists them: at the cost of what descends, not of
/// what the machine runs. The list may lack what is born or dies meanwhile, so it shows and proves nothing.
/// Where the kernel has no such lists everything is looked through.
pub(crate) fn list_descendants(attempt: Uuid) -> io::Result<Vec<Found>> {
    let this = std::process::id();
    let mut known = BTreeSet::new();
    let mut parents = vec![this];
    while let Some(parent) = parents.pop() {
        let Some(children) = process::children(parent) else {
            if parent == this {
                return find(&[this], attempt, Net::Descent);
            }
            continue;
        };
        parents.extend(children.into_iter().filter(|&child| known.insert(child)));
    }
    let found = known.into_iter().filter_map(|pid| {
        process::stat(pid).filter(|stat| !stat.is_dead()).map(|stat| Found {
            process: stat.process,
            state: stat.state,
            by: FoundBy::Descent,
        })
    });
    Ok(found.collect())
}

/// Whose child a process is.
#[derive(Debug, Clone, Copy)]
struct Link {
    pid: u32,
    parent: u32,
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
fn descendants(all: &[Link], roots: &[u32]) -> BTreeSet<u32> {
    let mut parents: BTreeSet<u32> = roots.iter().copied().collect();
    let mut descendants = BTreeSet::new();
    loop {
        let before = descendants.len();
        for link in all {
            if parents.contains(&link.parent) && descendants.insert(link.pid) {
                parents.insert(link.pid);
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

    fn link(pid: u32, parent: u32) -> Link {
        Link { pid, parent }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test needs descendants")]
    fn descendants_are_listed_through_all_generations() {
        use std::io::BufRead;
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sh -c 'sleep 62 & echo $!; wait' & wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        io::BufReader::new(out).read_line(&mut line).unwrap();
        let grandchild: u32 = line.trim().parse().unwrap();
        let listed = list_descendants(Uuid::nil()).unwrap();
        let pids: Vec<u32> = listed.iter().map(|found| found.process.pid).collect();
        assert!(pids.contains(&child.id()) && pids.contains(&grandchild), "{pids:?}");
        for found in listed.iter().filter(|found| process::descends(found.process.pid, child.id()))
        {
            super::super::send(found.process, rustix::process::Signal::KILL);
        }
        let _ = child.kill();
        child.wait().unwrap();
    }

    #[test]
    fn descent_is_followed_in_any_order_of_ids() {
        let all = [link(2, 9), link(3, 2), link(9, 5), link(5, 1), link(4, 1), link(7, 7)];
        assert_eq!(descendants(&all, &[5]), BTreeSet::from([2, 3, 9]));
        assert_eq!(descendants(&all, &[]), BTreeSet::new());
        assert_eq!(descendants(&all, &[7]), BTreeSet::new());
    }
}
