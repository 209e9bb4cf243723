//! Saying a reply step by step, in no API's form.

use std::collections::BTreeSet;

use tokio::sync::{mpsc, watch};

use super::script::Step;
use super::wire::Part;

/// The gates that the test has opened.
pub(super) type Gates = watch::Receiver<BTreeSet<String>>;

/// Sends the pieces of a reply; ends early when the agent has hung up.
pub(super) async fn perform(
    reply: String,
    steps: Vec<Step>,
    mut gates: Gates,
    send: mpsc::Sender<Part>,
) {
    // A failed send means that nobody listens any more.
    drop(try_perform(&reply, steps, &mut gates, &send).await);
}

async fn try_perform(
    reply: &str,
    steps: Vec<Step>,
    gates: &mut Gates,
    send: &mpsc::Sender<Part>,
) -> Result<(), mpsc::error::SendError<Part>> {
    let mut calls = 0;
    let mut stop = None;
    for step in steps {
        match step {
            Step::Say(text) => {
                for word in text.split_inclusive(' ') {
                    send.send(Part::Text(word.to_owned())).await?;
                }
            }
            Step::Think(text) => {
                for word in text.split_inclusive(' ') {
                    send.send(Part::Thought(word.to_owned())).await?;
                }
            }
            Step::Stream { count, gap } => {
                for number in 1..=count {
                    send.send(Part::Text(format!("chunk {number} "))).await?;
                    tokio::time::sleep(gap).await;
                }
            }
            Step::Tool { name, arguments } => {
                let id = format!("call_{}_{calls}", reply);
                send.send(Part::Call { id, name, arguments }).await?;
                calls += 1;
            }
            Step::Hang(time) => tokio::time::sleep(time).await,
            // Without a server there is nobody left to open it, nor to hear what follows.
            Step::Gate(name) => drop(gates.wait_for(|open| open.contains(&name)).await),
            Step::Stop(reason) => stop = Some(reason),
            Step::Cut { .. } => return send.send(Part::Cut).await,
            Step::Fail(code) => return send.send(Part::Failed(code)).await,
            Step::Empty { .. } => break,
            Step::Usage(_) | Step::Status { .. } => {}
        }
    }
    send.send(Part::End { stop }).await
}
