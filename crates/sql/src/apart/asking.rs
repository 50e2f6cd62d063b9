//! The side that holds the ledger: it starts the program, plans what comes back, and after the charge hands it rows of tables and takes those
//! of the relation.

use super::{
    Beside, HOW, NoTable, TableColumn, TableRead, WORD,
    wire::{self, Ask, Kind, RelationColumn, Scan, TableSaid, Words, Wrong},
};
use crate::{
    Query, SqlError,
    several::{PrivateTable, Several, declared_words, two_owners},
};
use equipoise_core::{stop, wording};
use equipoise_session::{
    request::Request,
    source::{Batch, ColumnRead, ColumnType, Lost, Source, Visitor},
};
use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Read},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

/// So often a wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(100);
/// So long it may take to end.
const TO_END: Duration = Duration::from_secs(5);
/// So many batches of a scan wait at most.
const WAITING: usize = 4;

/// A query that was accepted, with a program that waits for its rows. Nothing was read.
pub struct Agreed {
    /// What is asked of the relation.
    pub query: Query,
    /// The private tables, each of which pays.
    pub private: Vec<PrivateTable>,
    /// The tables that are said to be public.
    pub public: Vec<String>,
    /// What is read of each table, in the order in which a [`Relation`] takes them.
    pub reads: Vec<TableRead>,
    names: Vec<String>,
    columns: Vec<RelationColumn>,
    process: Mutex<Process>,
}

/// Have a query understood. `given` is what was said beside it, `beside` what is known of its tables; `columns` tells those of a table by its name.
pub fn open(
    program: &Path,
    several: &Several,
    given: &Request,
    beside: &Beside,
    columns: &dyn Fn(&str) -> Result<Vec<TableColumn>, NoTable>,
) -> Result<Agreed, SqlError> {
    let unusable = |_: io::Error| {
        let shown = wording::shown(&program.to_string_lossy());
        let version = env!("CARGO_PKG_VERSION");
        let problem =
            format!("the program '{shown}' does not answer, or is of another version than {version}");
        SqlError::anywhere(problem).hint(HOW)
    };
    let mut process = Process::start(program).map_err(unusable)?;
    let ask = Ask {
        protocol: wire::PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_string(),
        query: several.text().to_string(),
        given: given.to_json(),
        beside: beside.clone(),
    };
    wire::send_words(&mut process.stream, Kind::Ask, &ask).map_err(unusable)?;
    let words = loop {
        let (kind, bytes) = process.receive().map_err(unusable)?;
        match kind {
            Kind::Table => {
                let name: String = wire::words(&bytes).map_err(unusable)?;
                let said = columns(&name).map_or_else(TableSaid::None, TableSaid::Columns);
                wire::send_words(&mut process.stream, Kind::Columns, &said).map_err(unusable)?;
            }
            Kind::Wrong => {
                let wrong: Wrong = wire::words(&bytes).map_err(unusable)?;
                return Err(SqlError::of_parts(wrong.problem, wrong.hint, wrong.position));
            }
            Kind::Agreed => break wire::words::<Words>(&bytes).map_err(unusable)?,
            _ => return Err(unusable(io::Error::other("this is not its turn"))),
        }
    };
    let unit = words.private.first().map(|(_, unit)| unit.as_str()).unwrap_or_default();
    let private = words.private.iter().cloned().map(|(name, unit)| PrivateTable { name, unit });
    let private: Vec<PrivateTable> = private.collect();
    let said = declared_words(&private, &words.public, &given.types);
    // Types were declared for columns of tables, which have them by now.
    let given = Request { types: BTreeMap::new(), ..given.clone() };
    Ok(Agreed {
        query: several.query(&given, unit, &said)?,
        private,
        public: words.public,
        reads: words.reads,
        names: words.columns.iter().map(|column| column.name.clone()).collect(),
        columns: words.columns,
        process: Mutex::new(process),
    })
}

impl Agreed {
    /// What is wrong where two names have rows in common and not one privacy unit. The program knows names alone; whoever asks knows what they mean.
    pub fn two_owners(&self, share_rows: &dyn Fn(&str, &str) -> bool) -> Option<String> {
        two_owners(&self.private, &self.public, share_rows)
    }

    /// The relation of these tables, in the order of [`Self::reads`]: each is one source for each scan, or one that can be scanned at the same
    /// time. Without them it has columns and types alone, and whoever asks for rows gets none.
    pub fn relation<'a>(&'a self, tables: Vec<Vec<&'a dyn Source>>) -> Relation<'a> {
        Relation { agreed: self, tables }
    }

    /// The same with sources of its own.
    pub fn handed(self: &Arc<Self>, tables: Vec<Vec<Box<dyn Source>>>) -> Handed {
        Handed { agreed: self.clone(), tables }
    }
}

/// The program while it is asked. It ends with whoever asks.
struct Process {
    child: Child,
    stream: UnixStream,
}

impl Process {
    fn start(program: &Path) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        stream.set_read_timeout(Some(LOOK))?;
        let child = Command::new(program)
            .arg(WORD)
            .stdin(OwnedFd::from(theirs))
            // What it would say may hold a row.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, stream })
    }

    fn receive(&mut self) -> io::Result<(Kind, Vec<u8>)> {
        wire::receive(&mut Patient(&self.stream))
    }

    fn send(&mut self, kind: Kind, parts: &[&[u8]]) -> Result<(), Lost> {
        wire::send(&mut self.stream, kind, parts).map_err(|_| Lost)
    }
}

impl Drop for Process {
    /// Let it end by itself, so that it takes what it spilled along, and soon.
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        let begun = Instant::now();
        while begun.elapsed() < TO_END {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(2)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits as long as nobody wants the work to end.
struct Patient<'a>(&'a UnixStream);

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(bytes) {
                Err(error)
                    if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&error.kind()) =>
                {
                    if stop::asked() {
                        return Err(io::Error::other("stopped"));
                    }
                }
                other => return other,
            }
        }
    }
}

/// The rows of a query about several tables, made when they are first asked for.
pub struct Relation<'a> {
    agreed: &'a Agreed,
    tables: Vec<Vec<&'a dyn Source>>,
}

/// The same with sources of its own.
pub struct Handed {
    agreed: Arc<Agreed>,
    tables: Vec<Vec<Box<dyn Source>>>,
}

impl Handed {
    fn relation(&self) -> Relation<'_> {
        let tables = self.tables.iter();
        self.agreed.relation(tables.map(|sources| sources.iter().map(|source| &**source).collect()).collect())
    }
}

/// What comes of a scan of a table.
enum Said {
    Rows(Vec<u8>),
    Ended,
}

impl Relation<'_> {
    /// Hand the program what it asks for, and its rows to `to`, until there are no more.
    fn serve<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        process: &mut Process,
        to: &SyncSender<Vec<u8>>,
    ) -> Result<(), Lost> {
        // Those that are gone have ended.
        let mut scans: HashMap<u32, Option<Receiver<Said>>> = HashMap::new();
        let mut begun = vec![0; self.tables.len()];
        loop {
            let (kind, bytes) = process.receive().map_err(|_| Lost)?;
            match kind {
                Kind::Rows => to.send(bytes).map_err(|_| Lost)?,
                Kind::End => return Ok(()),
                Kind::Scan => {
                    let Scan { number: scan, table, wanted } = wire::words(&bytes).map_err(|_| Lost)?;
                    let (rows, said) = sync_channel(WAITING);
                    let read = self.agreed.reads.get(table).ok_or(Lost)?;
                    let sources = self.tables.get(table).ok_or(Lost)?;
                    let source = *sources.get(begun[table]).or(sources.last()).ok_or(Lost)?;
                    begun[table] += 1;
                    if !wanted.iter().all(|one| read.wanted.contains(one)) {
                        return Err(Lost);
                    }
                    scope.spawn(stop::carried(move || handed_over(source, &wanted, &rows)));
                    scans.insert(scan, Some(said));
                }
                Kind::Next => {
                    let (scan, _) = wire::numbered(&bytes).map_err(|_| Lost)?;
                    let said = scans.get_mut(&scan).ok_or(Lost)?;
                    // A scan that broke off says nothing of its end.
                    let next = said.as_ref().map_or(Ok(Said::Ended), |said| said.recv().map_err(|_| Lost))?;
                    match next {
                        Said::Rows(rows) => process.send(Kind::Rows, &[&scan.to_le_bytes(), &rows])?,
                        Said::Ended => {
                            *said = None;
                            process.send(Kind::End, &[&scan.to_le_bytes()])?;
                        }
                    }
                }
                _ => return Err(Lost),
            }
        }
    }
}

/// Read a table. Who asked for it may be gone by now.
fn handed_over(source: &dyn Source, wanted: &[ColumnRead], to: &SyncSender<Said>) {
    struct Handing<'a>(&'a SyncSender<Said>);
    impl Visitor for Handing<'_> {
        fn batch(&mut self, batch: Batch<'_>) {
            let _ = self.0.send(Said::Rows(wire::written(&batch)));
        }
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut handing: Vec<Handing> = (0..threads).map(|_| Handing(to)).collect();
    let mut visitors: Vec<&mut dyn Visitor> =
        handing.iter_mut().map(|handing| handing as &mut dyn Visitor).collect();
    if source.scan(wanted, &mut visitors).is_ok() {
        let _ = to.send(Said::Ended);
    }
}

impl Source for Relation<'_> {
    fn columns(&self) -> &[String] {
        &self.agreed.names
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let mut process = self.agreed.process.lock().unwrap_or_else(PoisonError::into_inner);
        let text = serde_json::to_vec(wanted).map_err(|_| Lost)?;
        process.send(Kind::Read, &[&text])?;
        let (to, from) = sync_channel::<Vec<u8>>(2 * visitors.len());
        let from = &Mutex::new(from);
        let outcome = thread::scope(|scope| {
            let take = |visitor: &mut dyn Visitor| loop {
                let next = from.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(bytes) = next else { return Ok(()) };
                wire::shown(&bytes, wanted.len(), |batch| visitor.batch(batch))?;
            };
            let workers: Vec<_> = visitors
                .iter_mut()
                .map(|visitor| scope.spawn(stop::carried(move || take(&mut **visitor))))
                .collect();
            let served = self.serve(scope, &mut process, &to);
            drop(to);
            let taken = workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| Lost)?);
            served.and(taken)
        });
        if outcome.is_err() {
            // Nobody knows any more whose turn it is.
            let _ = process.stream.shutdown(Shutdown::Both);
        }
        outcome
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.agreed.columns[column].kind
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.agreed.columns[column].only_text
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.agreed.columns[column].unreadable.clone()
    }
}

impl Source for Handed {
    fn columns(&self) -> &[String] {
        &self.agreed.names
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        self.relation().scan(wanted, visitors)
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.relation().declared(column)
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.relation().is_only_text(column)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.relation().unreadable(column)
    }
}
