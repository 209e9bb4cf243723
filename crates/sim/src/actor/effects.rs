//! Has done what a chat owes, by the driver of its attempt: the host's own functions say what.

use holdfast_core::effect::Owed;
use holdfast_host::actor::orders::{HostLife, Then, draw_up, letters_needed, plan};
use holdfast_host::attachments::letter::Letter;
use holdfast_host::attempt::Origin;

use super::Actor;
use crate::driver::Driver;
use crate::host::Host;
use crate::world::World;

impl Actor {
    /// Has done what the chat owes: the driver of its attempt runs and knows its orders.
    pub(super) fn reconcile(&mut self, w: &mut World, host: &mut Host, origin: Origin) {
        let owed = self.work.owed();
        let life = if host.is_stopping() { HostLife::Stops } else { HostLife::Runs };
        let plan = plan(self.driver, owed.as_ref(), life);
        if let Some(over) = self.driver.take_if(|driver| Some(*driver) == plan.finished)
            && let Some(driver) = host.drivers.get_mut(&over)
        {
            driver.finish();
        }
        let Some(owed) = owed else { return };
        match plan.then {
            Then::Nothing => return,
            Then::Start => {
                let (secret, position) = (owed.secret.clone(), self.work.core().position());
                let driver = Driver::new(self.id, owed.attempt, secret, position, origin);
                host.drivers.insert(owed.attempt, driver);
                self.driver = Some(owed.attempt);
            }
            Then::Order => {}
        }
        self.order(w, host, &owed);
    }

    fn order(&mut self, w: &mut World, host: &mut Host, owed: &Owed) {
        let Some(driver) = host.drivers.get_mut(&owed.attempt) else { return };
        let before = driver.orders.clone();
        let mut letters = std::collections::BTreeMap::new();
        for message in letters_needed(owed, &before) {
            if !w.calm && w.rng.permille(w.weather.texts_unread) {
                w.say(|| format!("the text of {message} cannot be read"));
            } else if let Some(row) = w.journal.store.message(self.id, message) {
                letters.insert(message, Letter { text: row.text, enclosed: Vec::new() });
            }
        }
        let drawn = draw_up(self.work.core(), owed, before, &letters);
        self.work.ordered(drawn.unordered);
        driver.order(drawn.orders);
    }
}
