use super::link::{Link, PushedRecords};
use crate::limits::WINDOW_BYTES;
use crate::record::Record;
use crate::spool::Assembler;
use tokio::sync::mpsc;

/// The records of an attempt, in their order.
#[derive(Debug)]
pub struct Events {
    pushes: mpsc::Receiver<PushedRecords>,
    assembler: Assembler,
    link: Link,
    /// Bytes taken since the last grant.
    taken: u64,
}

impl Events {
    pub(super) fn new(position: u64, pushes: mpsc::Receiver<PushedRecords>, link: Link) -> Self {
        Self { pushes, assembler: Assembler::new(position), link, taken: 0 }
    }

    /// The next record and the position behind it, or `None` when the connection is lost.
    ///
    /// Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<(Record, u64)> {
        loop {
            if let Some(ready) = self.assembler.next() {
                return Some(ready);
            }
            if self.taken >= WINDOW_BYTES / 2 {
                self.link.grant(self.taken).await;
                self.taken = 0;
            }
            let PushedRecords { position, bytes } = self.pushes.recv().await?;
            self.taken += bytes.len() as u64;
            self.assembler.push(position, bytes);
        }
    }
}
