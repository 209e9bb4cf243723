//! Finding: what is searched for, and the pages of what is found.

use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::item::{ItemKind, Role};
use holdfast_core::time::Micros;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use uuid::Uuid;

use super::{CHATS_FOUND_MAX, HITS_MAX, Hit, HitPage, index, snippet};
use crate::sqlite::words::from_word;

/// Terms of one search.
const TERMS_MAX: usize = 10;
/// Characters of the shortest term that the index knows; shorter ones are looked for in the texts.
const INDEXED_CHARS_MIN: usize = 3;
/// Items that are looked through where no term is long enough for the index, the newest.
const LOOKED_THROUGH_MAX: i64 = 20_000;

/// What is searched for: all of these, each anywhere within a text, whatever their case. A phrase in
/// double quotes is one term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms(Vec<String>);

impl Terms {
    /// The terms of a line; none where it has none. At most ten: further ones are left out.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        let mut terms = Vec::new();
        // The index reads a term to its first NUL; there is none within a word.
        let line = line.replace('\0', " ");
        for (n, part) in line.split('"').enumerate() {
            if n % 2 == 1 {
                terms.push(part.trim().to_owned());
            } else {
                terms.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        terms.retain(|term| !term.is_empty());
        terms.truncate(TERMS_MAX);
        (!terms.is_empty()).then_some(Self(terms))
    }

    /// The terms.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Where to look and on what condition: the index first, then the texts for what it does not
    /// know.
    fn condition(&self) -> (String, Vec<Value>) {
        let (long, short): (Vec<&String>, Vec<&String>) =
            self.0.iter().partition(|term| term.chars().count() >= INDEXED_CHARS_MIN);
        let mut values = Vec::new();
        let mut sql = if long.is_empty() {
            values.push(Value::Integer(LOOKED_THROUGH_MAX));
            "docs WHERE docs.id > (SELECT COALESCE(MAX(id), 0) FROM docs) - ?".to_owned()
        } else {
            let quoted = long.iter().map(|term| format!("\"{}\"", term.replace('"', "\"\"")));
            values.push(Value::Text(quoted.collect::<Vec<_>>().join(" AND ")));
            "texts JOIN docs ON docs.id = texts.rowid WHERE texts MATCH ?".to_owned()
        };
        for term in short {
            sql.push_str(" AND docs.text LIKE ? ESCAPE '\\'");
            let plain = term.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            values.push(Value::Text(format!("%{plain}%")));
        }
        (sql, values)
    }

    /// By what the rows are ordered: the place in whichever table is looked through first.
    fn order(&self) -> &'static str {
        let indexed = self.0.iter().any(|term| term.chars().count() >= INDEXED_CHARS_MIN);
        if indexed { "texts.rowid" } else { "docs.id" }
    }
}

/// None where the page begins nowhere.
pub(super) fn page(
    db: &Connection,
    terms: &Terms,
    chat: Option<ChatId>,
    before: Option<&str>,
    limit: usize,
) -> rusqlite::Result<Option<HitPage>> {
    let before = match before.map(str::parse::<i64>) {
        None => i64::MAX,
        Some(Ok(before)) if before > 0 => before,
        Some(Ok(_) | Err(_)) => return Ok(None),
    };
    let limit = limit.clamp(1, HITS_MAX);
    let (mut condition, mut values) = terms.condition();
    let order = terms.order();
    condition.push_str(&format!(" AND {order} < ?"));
    values.push(Value::Integer(before));
    if let Some(chat) = chat {
        condition.push_str(" AND docs.chat = ?");
        values.push(Value::Blob(chat.uuid().as_bytes().to_vec()));
    }
    let sql = format!(
        "SELECT docs.id, chat, origin, n, place, kind, role, at, docs.text FROM {condition}
        ORDER BY {order} DESC LIMIT {}",
        limit + 1
    );
    let mut sql = db.prepare_cached(&sql)?;
    let found = sql.query_map(params_from_iter(values), |row| hit(row, terms))?;
    let mut found = found.collect::<Result<Vec<_>, _>>()?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(id, _)| id.to_string());
    let complete = index::is_complete(db)?;
    let hits = found.into_iter().filter_map(|(_, hit)| hit).collect();
    Ok(Some(HitPage { hits, next, complete }))
}

fn hit(row: &Row<'_>, terms: &Terms) -> rusqlite::Result<(i64, Option<Hit>)> {
    let (kind, role): (String, String) = (row.get(5)?, row.get(6)?);
    let kinds = from_word::<ItemKind>(&kind).zip(from_word::<Role>(&role));
    let text: String = row.get(8)?;
    let hit = match kinds {
        None => None,
        Some((kind, role)) => Some(Hit {
            chat: ChatId::new(Uuid::from_bytes(row.get(1)?)),
            item: ItemId::new(row.get(2)?, row.get(3)?),
            place: row.get(4)?,
            kind,
            role,
            at: Micros(row.get(7)?),
            snippet: snippet::of(&text, terms),
        }),
    };
    Ok((row.get(0)?, hit))
}

pub(super) fn chats(db: &Connection, terms: &Terms) -> rusqlite::Result<Vec<ChatId>> {
    let (condition, values) = terms.condition();
    let order = terms.order();
    let sql = format!(
        "SELECT chat FROM (SELECT docs.id AS id, chat FROM {condition} ORDER BY {order} DESC
            LIMIT {LOOKED_THROUGH_MAX})
        GROUP BY chat ORDER BY MAX(id) DESC LIMIT {CHATS_FOUND_MAX}"
    );
    let mut sql = db.prepare_cached(&sql)?;
    let found = sql.query_map(params_from_iter(values), |row| {
        Ok(ChatId::new(Uuid::from_bytes(row.get(0)?)))
    })?;
    found.collect()
}
