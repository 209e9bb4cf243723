//! What is true of this backend alone.

mod damage;
mod limits;
mod plans;
mod tidy;
mod upgrade;

use std::path::Path;

use rusqlite::Connection;

use super::{FILE, Options, Sqlite};
use crate::contract::pen::Pen;

fn open(dir: &Path) -> Sqlite {
    Sqlite::open(&Options::new(dir)).unwrap()
}

/// Another connection to the file, as damage or another program would have it.
fn raw(dir: &Path) -> Connection {
    Connection::open(dir.join(FILE)).unwrap()
}

fn store(sqlite: &Sqlite) -> std::sync::Arc<dyn crate::Store> {
    std::sync::Arc::new(sqlite.clone())
}

async fn chat(sqlite: &Sqlite, n: u128) -> Pen {
    Pen::open(store(sqlite), n).await
}
