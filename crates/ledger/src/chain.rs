//! The chain: each entry's hash covers the entry and the hash before it, so that no entry can be edited,
//! dropped or put in between without changing every hash after it.
//!
//! What it cannot show by itself: that entries at the end are missing. A ledger restored from an old copy is
//! a good ledger. Compare it with a [`Head`] kept elsewhere, or with a receipt.

use super::{
    Fallible, clock,
    entries::{Entries, values},
    entry::Row,
};
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
pub(super) fn append(entries: &dyn Entries, link: Link<'_>) -> Fallible<Row> {
    append_at(entries, link, clock::at(entries.now()?))
}

/// The same with a time that was fixed before.
pub(super) fn append_at(entries: &dyn Entries, link: Link<'_>, time: String) -> Fallible<Row> {
    let (last, before) = last(entries)?.unwrap_or((0, BEGINNING.to_string()));
    let mut row = Row {
        number: last + 1,
        kind: link.kind.to_string(),
        id: link.id.to_string(),
        time,
        data_set: link.data_set.to_string(),
        analyst: link.analyst.unwrap_or_default().to_string(),
        request_id: link.request_id.map(str::to_string),
        body: link.body,
        hash: String::new(),
    };
    row.hash = hash(&before, &row);
    entries.append(&row)?;
    Ok(row)
}

/// The same at a ledger time, in seconds since 1970, which is never before that of the last charge.
pub(super) fn append_in_time(entries: &dyn Entries, link: Link<'_>, seconds: u64) -> Fallible<Row> {
    append_at(entries, link, clock::at(seconds))
}

/// The number of the last entry and its hash. What it says may be a long answer and is not read.
pub(super) fn last(entries: &dyn Entries) -> Fallible<Option<(i64, String)>> {
    let sql = "SELECT hash, number, number FROM entries ORDER BY number DESC LIMIT 1";
    Ok(entries.numbered(sql, &[])?.pop().map(|(hash, number, _)| (number, hash)))
}

/// The first entry.
pub(super) fn first(entries: &dyn Entries) -> Fallible<Option<Row>> {
    entries.one("number IS NOT NULL ORDER BY number", &[])
}

/// So many entries are read at a time: each may be followed by questions about others.
const AT_A_TIME: i64 = 64;

/// Every entry in order, with whether its hash follows from the one before.
pub(super) fn walk(entries: &dyn Entries, mut each: impl FnMut(Row, bool) -> Fallible<()>) -> Fallible<()> {
    let (mut before, mut from) = (BEGINNING.to_string(), i64::MIN);
    loop {
        let page = entries.all("number >= ?1 ORDER BY number LIMIT ?2", values![from, AT_A_TIME])?;
        let Some(next) = page.last().map(|row| row.number.checked_add(1)) else { return Ok(()) };
        for found in page {
            let good = hash(&before, &found) == found.hash;
            before.clone_from(&found.hash);
            each(found, good)?;
        }
        match next {
            Some(next) => from = next,
            None => return Ok(()),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: &str, id: &str, request_id: Option<&str>) -> Row {
        Row {
            number: 1,
            kind: kind.into(),
            id: id.into(),
            time: "t".into(),
            data_set: "d".into(),
            analyst: "a".into(),
            request_id: request_id.map(str::to_string),
            body: "b".into(),
            hash: String::new(),
        }
    }

    /// Were texts hashed without their lengths, letters could move from one field to the next.
    #[test]
    fn no_two_rows_read_the_same() {
        let moved = [
            row("ab", "c", None),
            row("a", "bc", None),
            row("abc", "", None),
            row("ab", "c", Some("")),
            row("ab", "c", Some("1")),
            Row { number: 11, ..row("ab", "c", None) },
            Row { time: "td".into(), data_set: String::new(), ..row("ab", "c", None) },
            Row { time: String::new(), data_set: "td".into(), ..row("ab", "c", None) },
            Row { data_set: "da".into(), analyst: String::new(), ..row("ab", "c", None) },
            Row { data_set: String::new(), analyst: "da".into(), ..row("ab", "c", None) },
            Row { body: "bb".into(), ..row("ab", "c", None) },
        ];
        let hashes: std::collections::BTreeSet<String> =
            moved.iter().map(|row| hash(BEGINNING, row)).collect();
        assert_eq!(hashes.len(), moved.len());
        let one = row("ab", "c", None);
        assert_ne!(hash("0", &Row { number: 12, ..one.clone() }), hash("01", &Row { number: 2, ..one }));
    }

    /// The hash of ledgers that are already written.
    #[test]
    fn the_hash_is_the_one_that_ledgers_have() {
        // SHA-256 of the prefix and of each text after its length in eight bytes, worked out by another program.
        let known = "a34399d76b72459f25671f8023e2c1e8c36436807e82956434e6287be6c2427a";
        assert_eq!(hash(BEGINNING, &row("charge", "c", Some("again"))), known);
        assert_eq!(hex(&[0, 9, 10, 0xff]), "00090aff");
    }

    #[test]
    fn a_head_has_the_lengths_of_an_id_and_a_hash() {
        let head = |id: usize, hash: usize| format!("{} 7 {}", "A".repeat(id), "b".repeat(hash));
        let read: Head = head(32, 64).parse().unwrap();
        assert_eq!((read.ledger, read.entries, read.hash), ("a".repeat(32), 7, "b".repeat(64)));
        for (id, hash) in [(31, 64), (33, 64), (0, 64), (32, 63), (32, 65), (64, 32)] {
            assert_eq!(head(id, hash).parse::<Head>(), Err(NotAHead), "{id} {hash}");
        }
        assert_eq!(head(32, 64).replace('A', "g").parse::<Head>(), Err(NotAHead));
        assert_eq!(head(32, 64).replace('b', "x").parse::<Head>(), Err(NotAHead));
        assert_eq!(head(32, 64).replace('7', "-7").parse::<Head>(), Err(NotAHead));
    }
}
