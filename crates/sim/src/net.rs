//! The way between people and the host: requests are late, come twice, overtake each other; answers
//! get lost.

use std::collections::BTreeMap;

use holdfast_core::input::Reply;
use holdfast_core::refusal::Refusal;

use crate::rng::Rng;

/// What a caller is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Done(Reply),
    Refused(Refusal),
    /// The connection broke: nobody knows what became of it.
    Lost,
}

#[derive(Debug)]
struct Late<T> {
    at: u64,
    what: T,
}

/// What is under way.
#[derive(Debug, Default)]
pub(crate) struct Net {
    /// Requests, by their number.
    to_host: Vec<Late<usize>>,
    to_people: Vec<Late<(usize, Answer)>>,
    deliveries: BTreeMap<u64, usize>,
    next: u64,
}

impl Net {
    pub(crate) fn send(&mut self, request: usize, at: u64) {
        self.to_host.push(Late { at, what: request });
    }

    /// Gives the host one request that has come.
    pub(crate) fn arrive(&mut self, now: u64, rng: &mut Rng) -> Option<(u64, usize)> {
        let request = take(&mut self.to_host, now, rng)?;
        self.next += 1;
        self.deliveries.insert(self.next, request);
        Some((self.next, request))
    }

    pub(crate) fn request_of(&self, delivery: u64) -> usize {
        self.deliveries.get(&delivery).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn reply(&mut self, delivery: u64, answer: Answer, at: u64) {
        if let Some(request) = self.deliveries.remove(&delivery) {
            self.to_people.push(Late { at, what: (request, answer) });
        }
    }

    /// Gives somebody one answer that has come.
    pub(crate) fn return_one(&mut self, now: u64, rng: &mut Rng) -> Option<(usize, Answer)> {
        take(&mut self.to_people, now, rng)
    }

    pub(crate) fn has_request(&self, now: u64) -> bool {
        self.to_host.iter().any(|late| late.at <= now)
    }

    pub(crate) fn has_answer(&self, now: u64) -> bool {
        self.to_people.iter().any(|late| late.at <= now)
    }

    pub(crate) fn wakes_at(&self) -> Option<u64> {
        let requests = self.to_host.iter().map(|late| late.at);
        requests.chain(self.to_people.iter().map(|late| late.at)).min()
    }

    /// The host is gone: whoever waits for it is told that the connection broke.
    pub(crate) fn break_off(&mut self, at: u64) {
        for request in std::mem::take(&mut self.deliveries).into_values() {
            self.to_people.push(Late { at, what: (request, Answer::Lost) });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.to_host.is_empty() && self.to_people.is_empty() && self.deliveries.is_empty()
    }
}

fn take<T>(from: &mut Vec<Late<T>>, now: u64, rng: &mut Rng) -> Option<T> {
    let ready: Vec<usize> =
        from.iter().enumerate().filter(|(_, late)| late.at <= now).map(|(at, _)| at).collect();
    let at = *rng.pick(&ready)?;
    Some(from.swap_remove(at).what)
}
