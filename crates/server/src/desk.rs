//! Questions between their charge and the time at which their answers are recorded and shown.
//!
//! # Guarantee
//!
//! - An answer is recorded, and can be seen, at its charge's time plus `answer_time`, a public setting of the data set, and the time
//!   that its programs take, which is fixed beforehand; where the rows
//!   took longer, at twice that; where they took longer still, never. A release, a refusal and a lost answer look the same until then.
//! - What is recorded at one moment is recorded in the order of the charges, and the time that is written down is the scheduled one:
//!   neither tells how long rows took.
//! - Whether another question is taken depends on how many wait for their time, not on how long rows took, unless rows take longer
//!   than twice `answer_time`.
//! - What was charged and not recorded when the server ends is lost: nothing of it is kept.

use crate::{log, problem::Problem};
use axum::http::StatusCode;
use equipoise_session::{
    session::{Held, Session},
    unanswered::Unanswered,
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashMap, HashSet},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::sync::broadcast;

/// So many questions wait at once; others are not taken, for free.
pub const MOST_WAITING: usize = 256;
/// So many of one member, so that nobody's answers are late because somebody asks much.
pub const MOST_OF_ONE: usize = 4;
/// So many scans run at once; each uses all cores.
const SCANS: usize = 2;

/// A question whose time has come.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The id of its charge.
    pub id: String,
    /// Who asked.
    pub member: String,
    /// The id of the data set.
    pub data_set: String,
}

/// What a question is while it waits.
pub struct Waiting {
    /// Who asked.
    pub member: String,
    /// The id of the data set.
    pub data_set: String,
    /// When its answer is shown, by the clock of the ledger.
    pub ready_at: String,
    /// The same one `answer_time` later.
    pub late_at: String,
    /// After how many seconds answers of the data set are shown.
    pub answer_time: u64,
    /// Its place among those that may wait.
    pub place: Arc<Place>,
}

enum Answered {
    NotYet,
    Held(Box<Held>),
    Lost,
}

struct Entry {
    waiting: Waiting,
    charged: Instant,
    late: bool,
    answered: Answered,
}

#[derive(Default)]
struct Inside {
    entries: HashMap<String, Entry>,
    /// By time, then by the order of the charges.
    due: BinaryHeap<Reverse<(Instant, u64, String)>>,
    charges: u64,
    /// Request ids that are being planned and charged at this moment.
    underway: HashSet<(String, String)>,
    /// The longest scan of each data set, for its stewards.
    scans: BTreeMap<String, Duration>,
    closed: bool,
}

/// All questions that wait.
pub struct Desk {
    inside: Mutex<Inside>,
    changed: Condvar,
    places: Places,
    program: Program,
    scanning: Mutex<usize>,
    scan_ended: Condvar,
    ready: broadcast::Sender<Ready>,
    /// Held to read from a charge until the desk knows of it.
    taking_in: RwLock<()>,
    lost: AtomicU64,
}

/// One of the places of those that wait. It is free again when nobody has it any more.
pub struct Place {
    places: Places,
    member: String,
    /// Kept as long as the place is.
    _program: Option<Running>,
}

/// How many places each member has.
type Places = Arc<Mutex<HashMap<String, usize>>>;

/// Until when the programs of one question take blocks, by what is public of them.
type Program = Arc<Mutex<Option<Instant>>>;

/// The turn of a question whose programs run. The next one begins when its answer has been shown, so that whoever waits for a turn
/// learns a time that is public anyway.
struct Running(Program);

impl Drop for Running {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = places.get_mut(&self.member) {
            *own -= 1;
            if *own == 0 {
                places.remove(&self.member);
            }
        }
    }
}

/// The turn of a scan, which the next one gets however this one ends.
struct Turn<'a>(&'a Desk);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.scanning.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.scan_ended.notify_one();
    }
}

/// A request id while its question is planned and charged.
pub struct Underway<'a> {
    desk: &'a Desk,
    key: (String, String),
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.desk.locked().underway.remove(&self.key);
    }
}

impl Desk {
    /// An empty desk, whose answers this session records on a thread of its own.
    pub fn new(session: Session) -> Arc<Self> {
        let desk = Arc::new(Self {
            inside: Mutex::default(),
            changed: Condvar::new(),
            places: Arc::default(),
            program: Arc::default(),
            scanning: Mutex::default(),
            scan_ended: Condvar::new(),
            ready: broadcast::channel(1024).0,
            taking_in: RwLock::default(),
            lost: AtomicU64::new(0),
        });
        let recorder = desk.clone();
        thread::spawn(move || recorder.record_all(session));
        desk
    }

    fn locked(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who is told of answers whose time has come.
    pub fn listen(&self) -> broadcast::Receiver<Ready> {
        self.ready.subscribe()
    }

    /// A place for one more question, before it is charged.
    pub fn place(&self, member: &str) -> Result<Arc<Place>, Problem> {
        self.placed(member, None)
    }

    /// The same for a question whose programs run, of which there is one at a time: blocks that share a processor slow each
    /// other down. Its answer is shown after so many seconds.
    pub fn place_of_program(&self, member: &str, seconds: u64) -> Result<Arc<Place>, Problem> {
        let now = Instant::now();
        let mut running = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = *running {
            let left = until.saturating_duration_since(now).as_secs() + 1;
            let line = "another program runs; nothing was charged, try again when its answer is shown";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, line).after(left));
        }
        *running = Some(now + Duration::from_secs(seconds));
        drop(running);
        // Free again where there is no place.
        self.placed(member, Some(Running(self.program.clone())))
    }

    fn placed(&self, member: &str, program: Option<Running>) -> Result<Arc<Place>, Problem> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let own = places.get(member).copied().unwrap_or_default();
        if own < MOST_OF_ONE && places.values().sum::<usize>() < MOST_WAITING {
            places.insert(member.to_string(), own + 1);
            let (places, member) = (self.places.clone(), member.to_string());
            return Ok(Arc::new(Place { places, member, _program: program }));
        }
        let line = if own < MOST_OF_ONE {
            "too many questions wait for their answers; nothing was charged, try again soon"
        } else {
            "four of your questions wait for their answers; nothing was charged, try again when one has come"
        };
        Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, line).after(1))
    }

    /// Keep others from asking under the same request id while this one is planned and charged.
    pub fn underway(&self, member: &str, key: &str) -> Result<Underway<'_>, Problem> {
        let key = (member.to_string(), key.to_string());
        if self.locked().underway.insert(key.clone()) {
            return Ok(Underway { desk: self, key });
        }
        Err(Problem::new(
            StatusCode::CONFLICT,
            "a question under this key is being taken in; ask again in a moment",
        )
        .after(1))
    }

    /// Hold this from before a charge until it is on the desk.
    pub fn take_in(&self) -> RwLockReadGuard<'_, ()> {
        self.taking_in.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until every charge that the ledger has is on the desk, or was there.
    pub fn settle(&self) {
        drop(self.taking_in.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// How many answers were lost since the server began.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::SeqCst)
    }

    /// Put a question that was just charged on the desk.
    pub fn begin(&self, id: &str, waiting: Waiting) {
        let charged = Instant::now();
        let mut inside = self.locked();
        let due = charged + Duration::from_secs(waiting.answer_time);
        inside.charges += 1;
        let order = inside.charges;
        inside.due.push(Reverse((due, order, id.to_string())));
        let entry = Entry { waiting, charged, late: false, answered: Answered::NotYet };
        inside.entries.insert(id.to_string(), entry);
        self.changed.notify_all();
    }

    /// Read rows when it is this question's turn, and keep what came of it until its time.
    pub fn scan(&self, id: &str, data_set: &str, answer: impl FnOnce() -> Result<Held, Unanswered>) {
        // Waiting for others is part of it: a steward is warned of that, too.
        let began = Instant::now();
        let mut scanning = self.scanning.lock().unwrap_or_else(PoisonError::into_inner);
        while *scanning >= SCANS {
            scanning = self.scan_ended.wait(scanning).unwrap_or_else(PoisonError::into_inner);
        }
        *scanning += 1;
        drop(scanning);
        let turn = Turn(self);
        let answered = answer();
        let took = began.elapsed();
        drop(turn);
        self.keep(id, data_set, took, answered);
    }

    /// Read rows and have programs run on them, which takes at least so long whatever the rows are. Scans of others go on beside it.
    pub fn run(
        &self,
        id: &str,
        data_set: &str,
        at_least: Duration,
        answer: impl FnOnce() -> Result<Held, Unanswered>,
    ) {
        let began = Instant::now();
        let answered = answer();
        self.keep(id, data_set, began.elapsed().saturating_sub(at_least), answered);
    }

    fn keep(&self, id: &str, data_set: &str, took: Duration, answered: Result<Held, Unanswered>) {
        let mut inside = self.locked();
        let longest = inside.scans.entry(data_set.to_string()).or_default();
        *longest = took.max(*longest);
        if let Some(entry) = inside.entries.get_mut(id) {
            entry.answered = answered.map_or(Answered::Lost, |held| Answered::Held(Box::new(held)));
        }
    }

    /// The longest scan of a data set since the server began. It depends on rows: for stewards alone.
    pub fn longest_scan(&self, data_set: &str) -> Option<Duration> {
        self.locked().scans.get(data_set).copied()
    }

    /// A question that waits: who asked, when it will be shown, and in how many seconds.
    pub fn waits(&self, id: &str) -> Option<(String, String, u64)> {
        let inside = self.locked();
        let entry = inside.entries.get(id)?;
        let times = if entry.late { 2 } else { 1 };
        let due = entry.charged + Duration::from_secs(times * entry.waiting.answer_time);
        let left = due.saturating_duration_since(Instant::now());
        let at = if entry.late { &entry.waiting.late_at } else { &entry.waiting.ready_at };
        Some((
            entry.waiting.member.clone(),
            at.clone(),
            left.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX),
        ))
    }

    /// Is nothing recorded any more?
    pub fn is_closed(&self) -> bool {
        self.locked().closed
    }

    /// Nothing is recorded any more; what waits is lost.
    pub fn close(&self) {
        self.locked().closed = true;
        self.changed.notify_all();
    }

    /// Record answers when their time has come, one after another.
    fn record_all(&self, mut session: Session) {
        while let Some((order, id)) = self.next_due() {
            let mut inside = self.locked();
            let Some(entry) = inside.entries.get_mut(&id) else { continue };
            let answer_time = entry.waiting.answer_time;
            match std::mem::replace(&mut entry.answered, Answered::NotYet) {
                Answered::NotYet if !entry.late => {
                    entry.late = true;
                    let due = entry.charged + Duration::from_secs(2 * answer_time);
                    inside.due.push(Reverse((due, order, id)));
                    continue;
                }
                Answered::Held(held) => {
                    let after = if entry.late { 2 * answer_time } else { answer_time };
                    // The disk is waited for without the lock.
                    drop(inside);
                    if let Err(error) = session.record_after(*held, after) {
                        log::failure(&error.to_string());
                        self.lost.fetch_add(1, Ordering::SeqCst);
                    }
                    inside = self.locked();
                }
                Answered::NotYet | Answered::Lost => {
                    self.lost.fetch_add(1, Ordering::SeqCst);
                }
            }
            let Some(entry) = inside.entries.remove(&id) else { continue };
            drop(inside);
            let Waiting { member, data_set, .. } = entry.waiting;
            // Nobody may be listening.
            let _ = self.ready.send(Ready { id, member, data_set });
        }
    }

    /// Wait until the next question's time has come; `None` when the desk is closed.
    fn next_due(&self) -> Option<(u64, String)> {
        let mut inside = self.locked();
        loop {
            if inside.closed {
                return None;
            }
            let now = Instant::now();
            let wait = match inside.due.peek() {
                Some(Reverse((due, ..))) if *due <= now => {
                    let Reverse((_, order, id)) = inside.due.pop()?;
                    return Some((order, id));
                }
                Some(Reverse((due, ..))) => *due - now,
                None => Duration::from_hours(1),
            };
            inside = self.changed.wait_timeout(inside, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
