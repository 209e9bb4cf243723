use super::{Found, Net, boot_id, find, is_alive, send};
use crate::clock::now;
use crate::limits::{END_SURVIVORS_MAX, LOOK_EVERY, PROCESSES_NAMED_MAX};
use crate::record::{FoundBy, ProcessId, Survivor};
use crate::registry::KeeperRecord;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::io;
use uuid::Uuid;

/// What is left of an attempt whose keeper was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Survivors {
    /// Nothing was found, after looking.
    None,
    /// These could not be ended.
    Alive {
        /// The first of them.
        named: Vec<Survivor>,
        /// How many there are.
        count: usize,
    },
}

/// Ends what the lost keeper of `attempt` left: the agent that its record names, what it was seen to keep
/// (`known`: a process may have cleaned its environment), all that carries the attempt's cookie, and what
/// descends from any of them. Kills, looks, and kills again until nothing is found
/// or for at most five seconds; blocks meanwhile, so an async caller gives it a thread of its own.
///
/// A record of another boot names nobody who could live, but the cookie is looked for all the same.
///
/// # Errors
/// Those of reading `/proc`: then nothing is known.
pub fn end_survivors(
    attempt: Uuid,
    record: Option<&KeeperRecord>,
    known: &[ProcessId],
) -> io::Result<Survivors> {
    let boot = boot_id()?;
    let of_this_boot = record.filter(|record| record.boot_id == boot);
    let agent = of_this_boot.and_then(|record| record.agent);
    let seen = of_this_boot.map_or(&[][..], |_| known);
    // Children of a process that is killed lose their parent; the ones seen once are remembered.
    let mut known: BTreeMap<u32, Found> = BTreeMap::new();
    let until = now() + END_SURVIVORS_MAX;
    loop {
        if let Some(agent) = agent.filter(|&agent| is_alive(agent)) {
            known.entry(agent.pid).or_insert(Found {
                process: agent,
                state: 'R',
                by: FoundBy::Agent,
            });
        }
        for &process in seen.iter().filter(|&&process| is_alive(process)) {
            let found = Found { process, state: 'R', by: FoundBy::Descent };
            known.entry(process.pid).or_insert(found);
        }
        let carriers = find(&[], attempt, Net::Wide)?;
        known.extend(carriers.into_iter().map(|found| (found.process.pid, found)));
        known.retain(|_, found| is_alive(found.process));
        let roots: Vec<u32> = known.keys().copied().collect();
        if !roots.is_empty() {
            for found in find(&roots, attempt, Net::Descent)? {
                known.entry(found.process.pid).or_insert(found);
            }
        }
        known.retain(|_, found| is_alive(found.process));
        if known.is_empty() {
            return Ok(Survivors::None);
        }
        if now() >= until {
            let named = known.values().take(PROCESSES_NAMED_MAX).map(Found::describe).collect();
            return Ok(Survivors::Alive { named, count: known.len() });
        }
        for found in known.values() {
            let _ = send(found.process, Signal::KILL);
        }
        wait_for_deaths(known.values().map(|found| found.process));
    }
}

/// Waits until all of them are dead, but not longer than until it is worth while to kill again.
#[allow(clippy::disallowed_methods, reason = "deaths of others are looked for, within a bound")]
fn wait_for_deaths(processes: impl Iterator<Item = ProcessId> + Clone) {
    let until = now() + LOOK_EVERY;
    while now() < until && processes.clone().any(is_alive) {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the tests need processes to end")]
mod tests {
    use super::super::{COOKIE_NAME, count};
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_with_the_cookie_is_ended_and_others_are_not() {
        let (ours, other) = (Uuid::from_u128(0xa11), Uuid::from_u128(0xa12));
        let spawn = |attempt: Uuid| {
            let cookie = attempt.to_string();
            Command::new("sleep").arg("60").env(COOKIE_NAME, cookie).spawn().unwrap()
        };
        let (mut killed, mut spared) = (spawn(ours), spawn(other));
        assert_eq!(count(ours).unwrap(), 1);
        assert_eq!(end_survivors(ours, None, &[]).unwrap(), Survivors::None);
        assert_eq!(count(ours).unwrap(), 0);
        assert_eq!(count(other).unwrap(), 1);
        killed.wait().unwrap();
        spared.kill().unwrap();
        spared.wait().unwrap();
    }

    #[test]
    fn the_agent_of_the_record_is_ended_in_its_boot_only() {
        let attempt = Uuid::from_u128(0xa13);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let agent = super::super::process_id(child.id()).unwrap();
        let mut record = KeeperRecord {
            attempt,
            boot_id: "another boot".to_owned(),
            keeper: ProcessId { pid: 1, start_time: 0 },
            agent: Some(agent),
            version: String::new(),
            protocol: 1,
        };
        assert_eq!(end_survivors(attempt, Some(&record), &[agent]).unwrap(), Survivors::None);
        assert!(is_alive(agent));
        record.boot_id = boot_id().unwrap();
        assert_eq!(end_survivors(attempt, Some(&record), &[]).unwrap(), Survivors::None);
        assert!(!is_alive(agent));
        child.wait().unwrap();
    }

    #[test]
    fn what_the_keeper_was_seen_to_keep_is_ended_without_a_cookie() {
        let attempt = Uuid::from_u128(0xa15);
        let spawn = || Command::new("sleep").arg("60").spawn().unwrap();
        let (mut seen, mut other) = (spawn(), spawn());
        let id = |child: &std::process::Child| super::super::process_id(child.id()).unwrap();
        // The id of a process that is dead may be another's by now.
        let namesake = ProcessId { start_time: id(&other).start_time + 1, ..id(&other) };
        let record = KeeperRecord {
            attempt,
            boot_id: boot_id().unwrap(),
            keeper: ProcessId { pid: 1, start_time: 0 },
            agent: None,
            version: String::new(),
            protocol: 1,
        };
        let known = [id(&seen), namesake];
        assert_eq!(end_survivors(attempt, Some(&record), &known).unwrap(), Survivors::None);
        assert!(!is_alive(known[0]) && is_alive(id(&other)));
        seen.wait().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_child_without_the_cookie_is_ended_with_its_parent() {
        let attempt = Uuid::from_u128(0xa14);
        let mut parent = Command::new("sh")
            .args(["-c", "env -i sleep 61 & echo $!; wait"])
            .env(COOKIE_NAME, attempt.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(parent.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let child = super::super::process_id(line.trim().parse().unwrap()).unwrap();
        // Until it has executed `env -i` and `sleep` it still carries the cookie.
        let bound = now() + std::time::Duration::from_secs(10);
        while count(attempt).unwrap() != 1 {
            assert!(now() < bound);
            std::thread::yield_now();
        }
        assert_eq!(end_survivors(attempt, None, &[]).unwrap(), Survivors::None);
        assert!(!is_alive(child));
        parent.wait().unwrap();
    }
}
