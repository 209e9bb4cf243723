//! The change feed has every commit's changes, in order and without a gap.

use holdfast_store::{Committed, Unit};

use crate::world::World;

pub(super) fn moved(w: &mut World, unit: &Committed<Unit>) {
    let range = unit.changes().clone();
    if range.is_empty() {
        return;
    }
    if range.start != w.checks.changes + 1 {
        let last = w.checks.changes;
        w.fail(format!("changes {range:?} follow upon {last}"));
    }
    w.checks.changes = range.end - 1;
}

pub(super) fn is_complete(w: &mut World) {
    let mut after = 0;
    loop {
        let changes = w.journal.store.changes(after, 1000);
        let Some(last) = changes.last().map(|change| change.n) else { break };
        if changes.iter().zip(after + 1..).any(|(change, n)| change.n != n) {
            return w.fail(format!("the feed has a gap after {after}"));
        }
        after = last;
    }
    if after != w.checks.changes {
        let told = w.checks.changes;
        w.fail(format!("the feed ends at {after}, the commits at {told}"));
    }
}
