//! The side that joins: it is told a query and columns, asks for rows when the relation is read, and hands those of the relation back.

use super::{
    Beside, NoTable, TableColumn, TableRead,
    wire::{self, Ask, Kind, RelationColumn, Scan, TableSaid, Words, Wrong},
};
use crate::{
    SqlError,
    several::{Joined, Several},
};
use equipoise_session::{
    quiet::quietly,
    request::Request,
    source::{Batch, ColumnRead, Lost, Source, Visitor},
};
use std::{
    collections::HashMap,
    io,
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

/// Who joins what it is handed.
pub trait Engine {
    /// The relation of a query whose tables are at the other end of a connection.
    fn open(
        &self,
        several: &Several,
        given: &Request,
        beside: &Beside,
        connection: &Arc<Connection>,
    ) -> Result<Opened, SqlError>;
}

/// A relation, and what it reads.
pub struct Opened {
    /// The relation.
    pub joined: Joined,
    /// What is read of each table, by the numbers that scans have.
    pub reads: Vec<TableRead>,
}

/// The way to whoever asks.
pub struct Connection {
    from: UnixStream,
    to: Mutex<UnixStream>,
    scans: Mutex<HashMap<u32, Sender<Said>>>,
    numbers: AtomicU32,
}

enum Said {
    Rows(Vec<u8>),
    Ended,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// The columns of a table, asked for while a query is planned.
    pub fn columns(&self, table: &str) -> Result<Vec<TableColumn>, NoTable> {
        let said = || -> io::Result<TableSaid> {
            wire::send_words(&mut *locked(&self.to), Kind::Table, &table)?;
            match wire::receive(&mut &self.from)? {
                (Kind::Columns, bytes) => wire::words(&bytes),
                _ => Err(io::Error::other("columns were asked for")),
            }
        };
        match said() {
            Ok(TableSaid::Columns(columns)) => Ok(columns),
            Ok(TableSaid::None(why)) => Err(why),
            Err(_) => Err(NoTable {
                problem: "nobody tells the columns of the table".into(),
                hint: "ask again".into(),
            }),
        }
    }

    /// Have the rows of a table shown to the visitors.
    pub fn scan(
        &self,
        table: usize,
        wanted: &[ColumnRead],
        visitors: &mut [&mut dyn Visitor],
    ) -> Result<(), Lost> {
        let scan = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (to, said) = channel();
        locked(&self.scans).insert(scan, to);
        let ask = Scan { number: scan, table, wanted: wanted.to_vec() };
        wire::send_words(&mut *locked(&self.to), Kind::Scan, &ask).map_err(|_| Lost)?;
        let said = &Mutex::new(said);
        let outcome = thread::scope(|scope| {
            let take = |visitor: &mut dyn Visitor| loop {
                // Each asks for one batch and takes one; which one is of no meaning.
                wire::send(&mut *locked(&self.to), Kind::Next, &[&scan.to_le_bytes()]).map_err(|_| Lost)?;
                let next = locked(said).recv();
                match next {
                    Ok(Said::Rows(bytes)) => {
                        wire::shown(&bytes, wanted.len(), |batch| visitor.batch(batch))?;
                    }
                    Ok(Said::Ended) => return Ok(()),
                    Err(_) => return Err(Lost),
                }
            };
            let workers: Vec<_> =
                visitors.iter_mut().map(|visitor| scope.spawn(move || take(&mut **visitor))).collect();
            workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| Lost)?)
        });
        locked(&self.scans).remove(&scan);
        outcome
    }

    /// Hear what comes, and hand it to who waits for it, until nothing comes any more.
    fn hear(&self, reads: &Sender<Vec<ColumnRead>>) -> io::Result<()> {
        loop {
            let (kind, bytes) = wire::receive(&mut &self.from)?;
            if kind == Kind::Read {
                let _ = reads.send(wire::words(&bytes)?);
                continue;
            }
            let (scan, rows) = wire::numbered(&bytes)?;
            let said = match kind {
                Kind::Rows => Said::Rows(rows.to_vec()),
                Kind::End => Said::Ended,
                _ => return Err(io::Error::other("this is not its turn")),
            };
            if let Some(to) = locked(&self.scans).get(&scan) {
                let _ = to.send(said);
            }
        }
    }

    fn read(&self, source: &dyn Source, wanted: &[ColumnRead]) -> Result<(), Lost> {
        let mut handing: Vec<Handing> = (0..thread::available_parallelism().map_or(1, usize::from))
            .map(|_| Handing { to: &self.to, failed: AtomicBool::new(false) })
            .collect();
        let mut visitors: Vec<&mut dyn Visitor> =
            handing.iter_mut().map(|handing| handing as &mut dyn Visitor).collect();
        quietly(|| source.scan(wanted, &mut visitors))?;
        if handing.iter().any(|handing| handing.failed.load(Ordering::Relaxed)) { Err(Lost) } else { Ok(()) }
    }
}

/// Hands rows of the relation over.
struct Handing<'a> {
    to: &'a Mutex<UnixStream>,
    failed: AtomicBool,
}

impl Visitor for Handing<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        let bytes = wire::written(&batch);
        if wire::send(&mut *locked(self.to), Kind::Rows, &[&bytes]).is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
    }
}

/// So long a reading may go on when nobody waits for it any more: without rows most end by themselves, and take along what they spilled.
const TO_END: Duration = Duration::from_secs(2);

/// Answer one query: what is wrong with it, or its relation as often as it is read. `closed` is called when nobody asks any more and a reading
/// does not end.
pub fn serve(stream: UnixStream, engine: &dyn Engine, closed: impl FnOnce() + Send) -> io::Result<()> {
    let (kind, bytes) = wire::receive(&mut &stream)?;
    let ask: Ask = match kind {
        Kind::Ask => wire::words(&bytes)?,
        _ => return Err(io::Error::other("a query was expected")),
    };
    // Another version may write, or mean, something else.
    if (ask.protocol, ask.version.as_str()) != (wire::PROTOCOL, env!("CARGO_PKG_VERSION")) {
        return Err(io::Error::other("another version asks"));
    }
    let connection = Arc::new(Connection {
        to: Mutex::new(stream.try_clone()?),
        from: stream,
        scans: Mutex::default(),
        numbers: AtomicU32::new(0),
    });
    let given = Request::from_json(&ask.given).map_err(io::Error::other)?;
    let opened =
        Several::read(&ask.query).and_then(|several| engine.open(&several, &given, &ask.beside, &connection));
    let Opened { joined, reads } = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let (problem, hint, position) = error.parts();
            return wire::send_words(
                &mut *locked(&connection.to),
                Kind::Wrong,
                &Wrong { problem, hint, position },
            );
        }
    };
    let source = &*joined.source;
    let column = |(place, name): (usize, &String)| RelationColumn {
        name: name.clone(),
        kind: source.declared(place),
        only_text: source.is_only_text(place),
        unreadable: source.unreadable(place),
    };
    let words = Words {
        columns: source.columns().iter().enumerate().map(column).collect(),
        private: joined.private.iter().map(|table| (table.name.clone(), table.unit.clone())).collect(),
        public: joined.public.clone(),
        reads,
    };
    wire::send_words(&mut *locked(&connection.to), Kind::Agreed, &words)?;
    let (asked, wanted): (_, Receiver<Vec<ColumnRead>>) = channel();
    let reading = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // With the end of the words the waiting ends, whatever they were.
            let _ = connection.hear(&asked);
            locked(&connection.scans).clear();
            drop(asked);
            let ended = Instant::now();
            while reading.load(Ordering::SeqCst) {
                if ended.elapsed() > TO_END {
                    return closed();
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
        while let Ok(wanted) = wanted.recv() {
            reading.store(true, Ordering::SeqCst);
            let kind = if connection.read(source, &wanted).is_ok() { Kind::End } else { Kind::Failed };
            reading.store(false, Ordering::SeqCst);
            if wire::send(&mut *locked(&connection.to), kind, &[]).is_err() {
                break;
            }
        }
        Ok(())
    })
}
