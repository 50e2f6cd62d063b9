//! A table or a query as rows: one transaction for all scans of a question.

use crate::{
    catalogue::{AS_TYPED, Column, Table},
    connect::{self, Session},
    settings::Settings,
    types::Wire,
    wire,
};
use equipoise_core::stop;
use equipoise_engine::{
    reading::{LONGEST_TEXT, Meaning, RowBlock, each, unreadable_line},
    remote::Queried,
};
use equipoise_session::{
    quiet::quietly,
    source::{ColumnRead, ColumnType, Lost, Source, Visitor},
};
use futures_util::StreamExt as _;
use std::{
    mem,
    pin::pin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};
use tokio_postgres::{Client, Error};

/// So many bytes of rows go from the line to a reader at once, and so many times that wait at most.
const BYTES_AT_ONCE: usize = 1 << 17;
const WAITING: usize = 16;
/// A row of all texts together stays below what the server can send at once.
const LONGEST_ROW: usize = 1 << 28;
/// So often somebody looks whether anybody waits for the answer.
const LOOK: Duration = Duration::from_millis(100);

/// Where rows come from.
pub(crate) enum Origin {
    /// A table, as it was looked up for the plan.
    Table(Table),
    /// A query of the steward's, which is never asked about: its rows go to a file.
    Query(String),
}

/// Rows whose columns have been looked up.
pub(crate) struct Rows {
    settings: Settings,
    origin: Origin,
    columns: Vec<Column>,
    names: Vec<String>,
    /// Are texts stored as they are sent?
    as_stored: bool,
    /// The transaction, from the first scan on.
    session: Mutex<Option<Session>>,
    /// Of a query: what the server says is wrong with it, for its steward.
    said: Mutex<Option<String>>,
}

impl Rows {
    pub fn new(settings: Settings, origin: Origin, columns: Vec<Column>, as_stored: bool) -> Self {
        let names = columns.iter().map(|column| column.name.clone()).collect();
        let (session, said) = (Mutex::new(None), Mutex::new(None));
        Self { settings, origin, columns, names, as_stored, session, said }
    }
}

impl Queried for Rows {
    fn failure(&self) -> Option<String> {
        self.said.lock().ok()?.clone()
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        let session = self.session.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(session) = session {
            let _ = connect::apart(|| {
                session.end();
                Ok(())
            });
        }
    }
}

impl Source for Rows {
    fn columns(&self) -> &[String] {
        &self.names
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.columns.get(column)?.meaning.as_ref().ok()?.kind()
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|column| column.meaning == Ok(Meaning::Texts))
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        let Column { name, meaning, .. } = self.columns.get(column)?;
        Some(unreadable_line(name, meaning.as_ref().err()?))
    }

    /// The answer is lost if the line or the server breaks off, or if the table has other columns or parts now.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let mut kept = self.session.lock().map_err(|_| Lost)?;
        // A transaction in which something failed is of no more use.
        let session = kept.take();
        let begun = thread::scope(|scope| {
            let begin = || quietly(|| session.map_or_else(|| self.begin(), Ok));
            scope.spawn(begin).join().unwrap_or(Err(Lost))
        });
        let session = begun?;
        self.read(&session, wanted, visitors)?;
        *kept = Some(session);
        Ok(())
    }
}

impl Rows {
    /// Begin the transaction. A table that was planned for is locked against changes of its columns, and is still that table.
    fn begin(&self) -> Result<Session, Lost> {
        let session = Session::begin(&self.settings).map_err(|_| Lost)?;
        if let Origin::Table(planned) = &self.origin {
            let is_same = session.run(async |client| lock(client, planned).await).map_err(|_| Lost)?;
            let now = session.table(Some(&planned.name)).map_err(|_| Lost)?;
            if !is_same || now != *planned {
                return Err(Lost);
            }
        } else {
            let set = session.run(async |client| client.batch_execute(AS_TYPED).await);
            set.map_err(|_| Lost)?;
        }
        if self.as_stored {
            // Texts come as their bytes: a conversion, or a check, of one could fail the whole.
            session
                .run(async |client| client.batch_execute("SET LOCAL client_encoding = SQL_ASCII").await)
                .map_err(|_| Lost)?;
        }
        Ok(session)
    }

    fn read(
        &self,
        session: &Session,
        wanted: &[ColumnRead],
        visitors: &mut [&mut dyn Visitor],
    ) -> Result<(), Lost> {
        let query = self.select(wanted);
        let wires: Vec<Wire> = wanted.iter().map(|wanted| self.columns[wanted.column].wire).collect();
        let (sender, receiver) = sync_channel(WAITING);
        let (receiver, over) = (Mutex::new(receiver), AtomicBool::new(false));
        thread::scope(|scope| {
            let over = &over;
            let line = scope.spawn(move || {
                quietly(|| {
                    let copied = session.run(async |client| copied(client, &query, &sender, over).await);
                    copied.map_err(|error| self.failed(error.as_ref()))
                })
            });
            let read = each(visitors, |visitor| {
                let mut block = RowBlock::new(wanted);
                while let Some(bytes) = next(&receiver)? {
                    wire::rows(&bytes, &wires, &mut block, visitor)?;
                }
                block.hand_over(visitor);
                Ok(())
            });
            over.store(true, Relaxed);
            // Whoever waits to hand over more is let go.
            drop(receiver);
            let line = line.join().unwrap_or(Err(Lost));
            read.and(line)
        })
    }

    /// What the server says goes to nobody, but for a query, whose steward may see the rows.
    fn failed(&self, error: Option<&Error>) -> Lost {
        if let (Origin::Query(_), Some(said)) = (&self.origin, error.and_then(Error::as_db_error)) {
            *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(said.message().to_string());
        }
        Lost
    }

    /// Columns by name, all rows as they lie.
    fn select(&self, wanted: &[ColumnRead]) -> String {
        let columns = wanted.iter().map(|wanted| &self.columns[wanted.column]);
        let texts = columns.clone().filter(|column| column.wire == Wire::Text).count();
        let longest = LONGEST_TEXT.min(LONGEST_ROW / texts.max(1));
        let cell = |column: &Column| {
            let name = quoted(&column.name);
            match column.wire {
                // Whoever wants all columns gets nothing for those that are not read.
                _ if column.meaning.is_err() => "NULL".to_string(),
                // The only thing that the server computes, and no row can fail it: the length stands before the text, which is not
                // unpacked for it.
                Wire::Text => format!(
                    "CASE WHEN pg_catalog.octet_length({name}) <= {longest} THEN {name}::pg_catalog.text END"
                ),
                _ => name,
            }
        };
        let cells: Vec<String> = columns.map(cell).collect();
        let from = match &self.origin {
            Origin::Table(table) => quoted_table(table),
            Origin::Query(query) => format!("({query}\n) AS extracted"),
        };
        format!("COPY (SELECT {} FROM {from}) TO STDOUT (FORMAT binary)", cells.join(", "))
    }
}

/// Lock a table, and compare the types that its columns have now with those that were planned for.
async fn lock(client: &Client, planned: &Table) -> Result<bool, Error> {
    let name = quoted_table(planned);
    // Before the first look at anything, so that no table that is written anew meanwhile is empty for us.
    if planned.lockable {
        client.batch_execute(&format!("LOCK TABLE {name} IN ACCESS SHARE MODE")).await?;
    }
    let readable: Vec<&Column> = planned.columns.iter().filter(|column| column.meaning.is_ok()).collect();
    let names: Vec<String> = readable.iter().map(|column| quoted(&column.name)).collect();
    let looked = client.prepare(&format!("SELECT {} FROM {name}", names.join(", "))).await?;
    let is_same = |(now, then): (&tokio_postgres::Column, &&Column)| {
        now.table_oid() == Some(planned.number) && now.type_().oid() == then.number
    };
    Ok(looked.columns().len() == readable.len() && looked.columns().iter().zip(&readable).all(is_same))
}

fn quoted_table(table: &Table) -> String {
    format!("{}.{}", quoted(&table.name.schema), quoted(&table.name.table))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Hand on what comes over the line, many rows at once, without what stands before the first.
async fn copied(
    client: &Client,
    query: &str,
    readers: &SyncSender<Vec<u8>>,
    over: &AtomicBool,
) -> Result<(), Option<Error>> {
    let mut rows = pin!(client.copy_out(query).await.map_err(Some)?);
    let mut gathered = Vec::with_capacity(BYTES_AT_ONCE);
    let mut begun = false;
    loop {
        let Ok(next) = tokio::time::timeout(LOOK, rows.next()).await else {
            // The rows are slow to come, or nobody waits any longer.
            if over.load(Relaxed) {
                return Err(None);
            }
            continue;
        };
        let Some(message) = next else { break };
        let message = message.map_err(Some)?;
        let rows = if begun { &message } else { wire::behind_header(&message).map_err(|_| None)? };
        gathered.extend_from_slice(rows);
        begun = true;
        if gathered.len() >= BYTES_AT_ONCE {
            let full = mem::replace(&mut gathered, Vec::with_capacity(BYTES_AT_ONCE));
            readers.send(full).map_err(|_| None)?;
        }
    }
    if !begun {
        return Err(None);
    }
    readers.send(gathered).map_err(|_| None)
}

/// The next rows; nothing at the end of the line.
fn next(waiting: &Mutex<Receiver<Vec<u8>>>) -> Result<Option<Vec<u8>>, Lost> {
    loop {
        stop::look();
        match waiting.lock().map_err(|_| Lost)?.recv_timeout(LOOK) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}
