//! What a ledger is kept in: connections, transactions, and statements that every store understands.
//!
//! SQLite keeps ledgers in files and in memory; who keeps them elsewhere is a crate of its own, which whoever starts the program hands in
//! ([`install`](super::install)). Statements are written once, in the SQL that SQLite and Postgres share, with parameters `?1`, `?2` ..;
//! only what differs between them is asked of a store.

use super::{Fallible, entry::Row, error::Fault};

/// What is kept of a ledger, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Every entry.
    Whole,
    /// The same, only to be looked at.
    ReadOnly,
    /// In memory: the sums, and what is asked for again under a request id.
    Counted,
}

/// Where a ledger is kept.
pub trait Store: Send + Sync {
    /// A connection to a ledger that has begun.
    fn connect(&self, kept: Kept) -> Result<Box<dyn Held>, Fault>;
}

/// What a transaction comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything in it is kept.
    Commit,
    /// It leaves no trace.
    Leave,
}

/// A connection to a ledger.
pub trait Held: Send {
    /// Run this once in a transaction that excludes every other writer. This returns when what was committed is durable; a fault means that
    /// nothing of it is kept, unless it is [`Fault::Unfinished`]. Where others are in the way it is [`Fault::Busy`], before anything ran.
    fn write(&mut self, work: &mut dyn FnMut(&dyn Entries) -> Outcome) -> Result<(), Fault>;

    /// Run this once on one consistent state.
    fn read(&mut self, work: &mut dyn FnMut(&dyn Entries)) -> Result<(), Fault>;

    /// Has the line to a server gone, so that another connection may do?
    fn is_broken(&self) -> bool {
        false
    }
}

/// The entries of a ledger inside of a transaction.
pub trait Entries {
    /// What a statement finds.
    fn rows(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Fault>;

    /// Put an entry at the end.
    fn append(&self, row: &Row) -> Result<(), Fault>;

    /// The time of the ledger in seconds since 1970: that of the server, where there is one, so that hosts need not agree.
    fn now(&self) -> Result<u64, Fault>;

    /// A field of the body of an entry, as the text of its JSON, in SQL.
    fn field(&self, name: &str) -> String;

    /// The version of the layout.
    fn version(&self) -> Result<i64, Fault>;

    /// From the entry on that is written in the same transaction, the ledger is for programs that know this version.
    fn raise(&self, version: i64) -> Result<(), Fault>;

    /// What is wrong with tables, indexes and what protects them, or with what is stored below them.
    fn damage(&self) -> Result<Option<String>, Fault>;
}

/// A parameter of a statement, or what it finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Number(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_string())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<Option<&String>> for Value {
    fn from(text: Option<&String>) -> Self {
        text.map_or(Self::Null, Self::from)
    }
}

impl Value {
    fn number(&self) -> Fallible<i64> {
        match self {
            Self::Number(number) => Ok(*number),
            _ => Err(odd()),
        }
    }

    fn text(self) -> Fallible<String> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(odd()),
        }
    }
}

fn odd() -> Fault {
    Fault::damaged(0, "something in it is of another type than was written")
}

/// Parameters of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::entries::Value::from($value)),*] };
}
pub(super) use values;

/// The columns of a row, in the order in which a row is read.
pub const ROW: &str = "number, kind, id, time, data_set, analyst, request_id, body, hash";

impl Row {
    /// What `SELECT {ROW}` finds.
    fn of(values: Vec<Value>) -> Fallible<Self> {
        let found: [Value; 9] = values.try_into().map_err(|_| odd())?;
        let [number, kind, id, time, data_set, analyst, request_id, body, hash] = found;
        Ok(Self {
            number: number.number()?,
            kind: kind.text()?,
            id: id.text()?,
            time: time.text()?,
            data_set: data_set.text()?,
            analyst: analyst.text()?,
            request_id: if request_id == Value::Null { None } else { Some(request_id.text()?) },
            body: body.text()?,
            hash: hash.text()?,
        })
    }

    /// Its cells, in the order of [`ROW`].
    pub fn values(&self) -> [Value; 9] {
        [
            self.number.into(),
            (&self.kind).into(),
            (&self.id).into(),
            (&self.time).into(),
            (&self.data_set).into(),
            (&self.analyst).into(),
            self.request_id.as_ref().into(),
            (&self.body).into(),
            (&self.hash).into(),
        ]
    }
}

impl dyn Entries + '_ {
    /// The entries for which a condition holds.
    pub(super) fn all(&self, condition: &str, parameters: &[Value]) -> Fallible<Vec<Row>> {
        let found = self.rows(&format!("SELECT {ROW} FROM entries WHERE {condition}"), parameters)?;
        found.into_iter().map(Row::of).collect()
    }

    /// The first of them.
    pub(super) fn one(&self, condition: &str, parameters: &[Value]) -> Fallible<Option<Row>> {
        Ok(self.all(&format!("{condition} LIMIT 1"), parameters)?.pop())
    }

    /// A number that a statement finds; yes is one and no is zero.
    pub(super) fn number(&self, sql: &str, parameters: &[Value]) -> Fallible<i64> {
        self.rows(sql, parameters)?.first().and_then(|row| row.first()).ok_or_else(odd)?.number()
    }

    /// Is there an entry for which a condition holds?
    pub(super) fn any(&self, condition: &str, parameters: &[Value]) -> Fallible<bool> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM entries WHERE {condition})");
        Ok(self.number(&sql, parameters)? != 0)
    }

    /// The texts that a statement finds.
    pub(super) fn texts(&self, sql: &str, parameters: &[Value]) -> Fallible<Vec<String>> {
        let found = self.rows(sql, parameters)?;
        found.into_iter().map(|mut row| row.pop().ok_or_else(odd)?.text()).collect()
    }

    /// Texts with a number each.
    pub(super) fn numbered(&self, sql: &str, parameters: &[Value]) -> Fallible<Vec<(String, i64, i64)>> {
        let found = self.rows(sql, parameters)?;
        let read = |row: Vec<Value>| {
            let found: [Value; 3] = row.try_into().map_err(|_| odd())?;
            let [text, one, other] = found;
            Ok((text.text()?, one.number()?, other.number()?))
        };
        found.into_iter().map(read).collect()
    }

    /// The secret of the ledger.
    pub(super) fn secret(&self) -> Fallible<Vec<u8>> {
        let mut found = self.rows("SELECT secret FROM secret", &[])?;
        match (found.pop().and_then(|mut row| row.pop()), found.is_empty()) {
            (Some(Value::Bytes(secret)), true) => Ok(secret),
            _ => Err(Fault::damaged(0, "it has no secret, or several")),
        }
    }
}
