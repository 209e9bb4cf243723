//! The turn of a resume: only a few start at once. One that waits for its place is not deaf, and one
//! that has its place does not keep it for longer than its start is heavy.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use super::Orders;

/// How long at most one resume keeps others from starting. An agent that has said nothing by then
/// hangs or waits: it does not load the machine, and one failing chat does not hold up another.
const RESUME_PLACE_MAX: Duration = Duration::from_secs(5);

/// What the wait for a place came to.
#[derive(Debug)]
pub(super) enum Turn {
    /// It has a place.
    Place(OwnedSemaphorePermit),
    /// It needs none: it resumes nothing any more.
    Free,
    /// It is not to start at all.
    Off,
}

/// Waits for a place, as long as there is one to wait for.
pub(super) async fn turn(resumes: Arc<Semaphore>, mut orders: watch::Receiver<Orders>) -> Turn {
    let off = |orders: &Orders| orders.finished || orders.stop.is_some();
    tokio::select! {
        biased;
        ordered = orders.wait_for(|orders| off(orders) || orders.at_once) => match ordered {
            Ok(orders) if !off(&orders) => Turn::Free,
            // Where the actor is gone, what it began is for the next one.
            Ok(_) | Err(_) => Turn::Off,
        },
        place = resumes.acquire_owned() => place.map_or(Turn::Free, Turn::Place),
    }
}

/// Keeps a place until the agent is of no weight any more: its session stands, or it is to end, or it
/// takes too long. Whoever sees it speak, or die, lets the place go by ending this.
pub(super) async fn hold(place: OwnedSemaphorePermit, mut orders: watch::Receiver<Orders>) {
    let over = |orders: &Orders| orders.ready || orders.finished || orders.stop.is_some();
    // It decides nothing about the start that takes longer, which only makes room.
    let _ = timeout(RESUME_PLACE_MAX, orders.wait_for(over)).await;
    drop(place);
}

#[cfg(test)]
mod tests {
    use super::super::StopOrder;
    use super::*;

    fn stop() -> Option<StopOrder> {
        Some(StopOrder { grace: Duration::ZERO, leaving: false, unless_after: None })
    }

    /// What becomes of one that waits where no place is free, when it is given these orders.
    async fn waiting(given: Orders) -> Turn {
        let (orders, ordered) = watch::channel(Orders::default());
        let waits = tokio::spawn(turn(Arc::new(Semaphore::new(0)), ordered));
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        orders.send_replace(given);
        waits.await.unwrap()
    }

    #[tokio::test]
    async fn one_that_waits_hears_that_it_is_to_stop_or_resumes_nothing_any_more() {
        let stopped = Orders { stop: stop(), at_once: true, ..Orders::default() };
        assert!(matches!(waiting(stopped).await, Turn::Off));
        let finished = Orders { finished: true, ..Orders::default() };
        assert!(matches!(waiting(finished).await, Turn::Off));
        let own = Orders { at_once: true, ..Orders::default() };
        assert!(matches!(waiting(own).await, Turn::Free));
    }

    #[tokio::test]
    async fn one_whose_actor_is_gone_does_not_start() {
        let (orders, ordered) = watch::channel(Orders::default());
        drop(orders);
        assert!(matches!(turn(Arc::new(Semaphore::new(1)), ordered).await, Turn::Off));
    }

    #[tokio::test]
    async fn a_place_is_free_when_whoever_holds_it_is_ended() {
        let resumes = Arc::new(Semaphore::new(1));
        let (_orders, ordered) = watch::channel(Orders::default());
        let place = Arc::clone(&resumes).acquire_owned().await.unwrap();
        let holds = tokio::spawn(hold(place, ordered.clone()));
        holds.abort();
        assert!(matches!(turn(resumes, ordered).await, Turn::Place(_)));
    }
}
