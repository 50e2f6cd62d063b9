//! The chain: each entry's hash covers the entry and the hash before it, so that no entry can be edited,
//! dropped or put in between without changing every hash after it.
//!
//! What it cannot show by itself: that entries at the end are missing. A ledger restored from an old copy is
//! a good ledger. Compare it with a [`Head`] kept elsewhere, or with a receipt.

use super::{
    Fallible, clock,
    entry::Row,
    store::{ROW, row},
};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};
use std::{fmt, fmt::Write, str::FromStr};

/// What stands before the first entry.
pub(super) const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The last entry of a ledger: who knows it can tell later whether entries were lost.
///
/// As text it is one line: the ledger's id, the number of entries, the hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The id of the ledger.
    pub ledger: String,
    /// How many entries it has.
    pub entries: u64,
    /// The hash of the last one.
    pub hash: String,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.ledger, self.entries, self.hash)
    }
}

/// The text is not the head of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAHead;

impl fmt::Display for NotAHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the head of a ledger: write its id, the number of entries and the hash in one line")
    }
}

impl std::error::Error for NotAHead {}

impl FromStr for Head {
    type Err = NotAHead;
    fn from_str(text: &str) -> Result<Self, NotAHead> {
        let hex = |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit());
        match text.split_whitespace().collect::<Vec<_>>()[..] {
            [ledger, entries, hash] if hex(ledger, 32) && hex(hash, 64) => Ok(Self {
                ledger: ledger.to_ascii_lowercase(),
                entries: entries.parse().map_err(|_| NotAHead)?,
                hash: hash.to_ascii_lowercase(),
            }),
            _ => Err(NotAHead),
        }
    }
}

/// What is new in an entry; number, time and hash come from the chain.
pub(super) struct Link<'a> {
    pub kind: &'static str,
    pub id: &'a str,
    pub data_set: &'a str,
    pub analyst: Option<&'a str>,
    pub request_id: Option<&'a str>,
    pub body: String,
}

/// Put an entry at the end. Only inside a transaction that excludes other writers.
pub(super) fn append(connection: &Connection, link: Link<'_>) -> Fallible<Row> {
    let (last, before) = last(connection)?.unwrap_or((0, BEGINNING.to_string()));
    let mut row = Row {
        number: last + 1,
        kind: link.kind.to_string(),
        id: link.id.to_string(),
        time: clock::now(),
        data_set: link.data_set.to_string(),
        analyst: link.analyst.unwrap_or_default().to_string(),
        request_id: link.request_id.map(str::to_string),
        body: link.body,
        hash: String::new(),
    };
    row.hash = hash(&before, &row);
    connection.execute(
        &format!("INSERT INTO entries ({ROW}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"),
        params![
            row.number,
            row.kind,
            row.id,
            row.time,
            row.data_set,
            row.analyst,
            row.request_id,
            row.body,
            row.hash
        ],
    )?;
    Ok(row)
}

/// The number of the last entry and its hash. What it says may be a long answer and is not read.
pub(super) fn last(connection: &Connection) -> Fallible<Option<(i64, String)>> {
    let sql = "SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1";
    Ok(connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// The first entry.
pub(super) fn first(connection: &Connection) -> Fallible<Option<Row>> {
    let sql = format!("SELECT {ROW} FROM entries ORDER BY number LIMIT 1");
    Ok(connection.query_row(&sql, [], row).optional()?)
}

/// Every entry in order, with whether its hash follows from the one before.
pub(super) fn walk(connection: &Connection, mut each: impl FnMut(Row, bool) -> Fallible<()>) -> Fallible<()> {
    let mut statement = connection.prepare(&format!("SELECT {ROW} FROM entries ORDER BY number"))?;
    let mut before = BEGINNING.to_string();
    for found in statement.query_map([], row)? {
        let found = found?;
        let good = hash(&before, &found) == found.hash;
        before.clone_from(&found.hash);
        each(found, good)?;
    }
    Ok(())
}

/// The hash of a row after this one. Lengths stand before texts, so that no two rows read the same.
pub(super) fn hash(before: &str, row: &Row) -> String {
    let mut state = Sha256::new_with_prefix(b"equipoise ledger entry 1");
    let mut feed = |text: &str| {
        state.update((text.len() as u64).to_le_bytes());
        state.update(text);
    };
    feed(before);
    feed(&row.number.to_string());
    for text in [&row.kind, &row.id, &row.time, &row.data_set, &row.analyst] {
        feed(text);
    }
    feed(if row.request_id.is_some() { "1" } else { "0" });
    feed(row.request_id.as_deref().unwrap_or_default());
    feed(&row.body);
    hex(&state.finalize())
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string");
        text
    })
}
