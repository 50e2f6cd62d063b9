//! Runs a closure on every block, on all cores; whatever fails becomes a public default.
//!
//! # Guarantee
//!
//! The list of outputs has one entry for each block, in their order, whatever the closure does short of ending the
//! process: a panic, a late answer, a number that is not one or a vector of the wrong length is the default. If the closure keeps no
//! memory from block to block, and of the data reads nothing but the rows of its block, entry i depends on those rows and
//! its index alone, and so one person changes no more entries than the partition says.
//!
//! A closure can break this in two ways that are easy to miss under add/remove: by the *places* of its rows (to seed a
//! generator, say) and by the number of all rows. One row more at the top moves every place. Use places to find rows, and
//! nothing else; seed by [`Block::index`].
//!
//! With [`Limit::Time`] that holds up to how blocks slow each other down;
//! [`Limit::Steps`] counts steps of the block itself and does not have this exception.
//!
//! The closure is trusted: it could write files or keep a memory. Code that is not trusted belongs in a process of its
//! own.
//!
//! # Why
//!
//! 1. Each output is computed from its block and index, and kept at its index; which thread did it leaves no trace.
//! 2. A panic unwinds into its own block. Its message, which may quote rows, is not printed, on any thread.
//! 3. Defaults are public constants, filled in after the closure returned.
//!
//! # Example
//!
//! ```
//! use equipoise_core::subsample::{blocks::{Runner, numbers}, partition::Blocks};
//!
//! let ages = [31.0, 45.0, 28.0, 52.0];
//! let blocks = Blocks::from_labels(3, &[0, 1, 0, 1]);
//! let outputs = Runner::default().run(&blocks, |block| {
//!     let sum: f64 = block.rows().iter().map(|&row| ages[row]).sum();
//!     sum / block.rows().len() as f64
//! });
//! // The third block is empty, and zero over zero is not a number.
//! assert_eq!(numbers(outputs, 0.0), [29.5, 48.5, 0.0]);
//! ```

use super::partition::Blocks;
use std::{
    cell::Cell,
    num::NonZero,
    panic::{self, AssertUnwindSafe},
    sync::{
        Once,
        atomic::{
            AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

/// When an answer comes too late; public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Limit {
    /// Never.
    #[default]
    None,
    /// After this long for each block. The closure should look at [`Block::expired`] now and then.
    Time(Duration),
    /// After so many calls of [`Block::step`]: the same on every machine and under any load.
    Steps(u64),
}

/// How closures are run.
#[derive(Default)]
pub struct Runner {
    /// How many threads; one for each core if nothing is said.
    pub threads: Option<NonZero<usize>>,
    /// When an answer comes too late.
    pub limit: Limit,
}

/// One block, as the closure sees it.
pub struct Block<'a> {
    rows: &'a [usize],
    index: usize,
    watch: Watch,
}

struct Watch {
    limit: Limit,
    start: Option<Instant>,
    steps: Cell<u64>,
}

impl Watch {
    fn new(limit: Limit) -> Self {
        let start = matches!(limit, Limit::Time(_)).then(Instant::now);
        Self { limit, start, steps: Cell::new(0) }
    }

    fn expired(&self) -> bool {
        match self.limit {
            Limit::None => false,
            Limit::Time(limit) => self.start.is_some_and(|start| start.elapsed() > limit),
            Limit::Steps(limit) => self.steps.get() > limit,
        }
    }
}

impl<'a> Block<'a> {
    /// The places of its rows in the data, in their order: for looking rows up. The numbers themselves say how many rows
    /// came before, which other people decide.
    pub fn rows(&self) -> &'a [usize] {
        self.rows
    }

    /// Which block this is, from zero: each may have a function of its own.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Is it too late for an answer? Then any will do.
    pub fn expired(&self) -> bool {
        self.watch.expired()
    }

    /// Count a step of work. True while there is time.
    pub fn step(&self) -> bool {
        self.watch.steps.set(self.watch.steps.get().saturating_add(1));
        !self.watch.expired()
    }
}

/// How many blocks are running. While any is, no panic is reported, on any thread: a closure may start threads of its own.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Keep the message of a panic inside a block from being printed, since it may quote rows. Other panics are reported
/// as before. See [`crate::prepare`].
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if RUNNING.load(SeqCst) == 0 {
                before(info);
            }
        }));
    });
}

impl Runner {
    /// The outputs of the closure, in the order of the blocks; nothing where it failed or was late.
    pub fn run<V: Send>(&self, blocks: &Blocks, function: impl Fn(&Block) -> V + Sync) -> Vec<Option<V>> {
        prepare();
        let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let threads = self.threads.unwrap_or_else(cores).get().min(blocks.count().max(1));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut outputs = Vec::new();
            loop {
                let index = next.fetch_add(1, Relaxed);
                if index >= blocks.count() {
                    return outputs;
                }
                outputs.push((index, self.run_one(blocks.block(index), index, &function)));
            }
        };
        let found: Vec<(usize, Option<V>)> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                all.extend(other.join().expect("panics end in their block"));
            }
            all
        });
        let mut outputs: Vec<Option<V>> = Vec::new();
        outputs.resize_with(blocks.count(), || None);
        for (index, output) in found {
            outputs[index] = output;
        }
        outputs
    }

    fn run_one<V>(&self, rows: &[usize], index: usize, function: &impl Fn(&Block) -> V) -> Option<V> {
        let block = Block { rows, index, watch: Watch::new(self.limit) };
        RUNNING.fetch_add(1, SeqCst);
        let output = panic::catch_unwind(AssertUnwindSafe(|| function(&block)));
        let output = match output {
            Ok(output) if !block.expired() => Some(output),
            Ok(_) => None,
            Err(payload) => {
                // What was thrown may panic once more when it is dropped.
                let _ = panic::catch_unwind(AssertUnwindSafe(|| drop(payload)));
                None
            }
        };
        RUNNING.fetch_sub(1, SeqCst);
        output
    }
}

/// Votes that are finite numbers: what is not gets the default.
pub fn numbers(outputs: impl IntoIterator<Item = Option<f64>>, default: f64) -> Vec<f64> {
    let number = |output: Option<f64>| output.filter(|value| value.is_finite()).unwrap_or(default);
    outputs.into_iter().map(number).collect()
}

/// Votes that are vectors as long as the default, all finite; others are the default as a whole.
pub fn vectors<V: AsRef<[f64]>>(
    outputs: impl IntoIterator<Item = Option<V>>,
    default: &[f64],
) -> Vec<Vec<f64>> {
    let fits = |vote: &[f64]| vote.len() == default.len() && vote.iter().all(|value| value.is_finite());
    let vector = |output: Option<V>| match &output {
        Some(vote) if fits(vote.as_ref()) => vote.as_ref().to_vec(),
        _ => default.to_vec(),
    };
    outputs.into_iter().map(vector).collect()
}

/// Votes of any kind: what is missing gets the default.
pub fn labels<T: Clone>(outputs: impl IntoIterator<Item = Option<T>>, default: &T) -> Vec<T> {
    outputs.into_iter().map(|output| output.unwrap_or_else(|| default.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten() -> Blocks {
        Blocks::from_labels(10, &(0..40).map(|row| row % 10).collect::<Vec<_>>())
    }

    #[test]
    fn every_block_gives_one_output_in_its_place_on_any_number_of_threads() {
        for threads in [1, 2, 7, 100] {
            let runner = Runner { threads: NonZero::new(threads), ..Runner::default() };
            let sums = runner.run(&ten(), |block| (block.index(), block.rows().iter().sum::<usize>()));
            assert_eq!(sums, (0..10).map(|i| Some((i, 4 * i + 60))).collect::<Vec<_>>());
        }
        assert!(Runner::default().run(&Blocks::from_labels(0, &[]), |_| 0).is_empty());
    }

    #[test]
    fn one_thread_is_the_one_that_asks() {
        let runner = Runner { threads: NonZero::new(1), ..Runner::default() };
        let threads = runner.run(&ten(), |_| thread::current().id());
        assert_eq!(threads, [Some(thread::current().id()); 10]);
    }

    /// Panics elsewhere are told again once no block runs. Other tests run blocks meanwhile, and end.
    #[test]
    fn what_was_counted_as_running_ends() {
        Runner::default().run(&ten(), |block| assert!(block.index() > 3));
        let begun = std::time::Instant::now();
        while RUNNING.load(SeqCst) > 0 {
            assert!(begun.elapsed().as_secs() < 300, "a block counts as running for ever");
            thread::yield_now();
        }
    }

    #[test]
    fn what_fails_is_the_default_and_the_others_stay() {
        struct Spiteful;
        impl Drop for Spiteful {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let outputs = Runner::default().run(&ten(), |block| match block.index() {
            2 => panic!("a row: {:?}", block.rows()),
            3 => f64::NAN,
            4 => f64::INFINITY,
            5 => panic::panic_any(Spiteful),
            index => index as f64,
        });
        assert_eq!(numbers(outputs, -1.0), [0.0, 1.0, -1.0, -1.0, -1.0, -1.0, 6.0, 7.0, 8.0, 9.0]);
        let outputs = [Some(vec![1.0, 2.0]), Some(vec![1.0]), None, Some(vec![f64::NAN, 0.0])];
        assert_eq!(vectors(outputs, &[0.0, 9.0]), [[1.0, 2.0], [0.0, 9.0], [0.0, 9.0], [0.0, 9.0]]);
        assert_eq!(labels([Some("a"), None], &"none"), ["a", "none"]);
    }

    #[test]
    fn late_answers_do_not_count() {
        let steps = Runner { limit: Limit::Steps(5), ..Runner::default() };
        let outputs = steps.run(&ten(), |block| {
            let mut done = 0;
            while done < block.index() && block.step() {
                done += 1;
            }
            done
        });
        assert_eq!(outputs.iter().flatten().count(), 6);
        assert_eq!(outputs[5], Some(5));
        let time = Runner { limit: Limit::Time(Duration::from_millis(1)), ..Runner::default() };
        let outputs = time.run(&ten(), |block| {
            while block.index() == 3 && !block.expired() {
                thread::yield_now();
            }
        });
        assert!(outputs[3].is_none());
    }

    /// What the guarantee asks of closures: with labels that stay, one row more at the top changes one block of rows, but
    /// the places in all of them.
    #[test]
    fn a_closure_that_reads_places_is_changed_everywhere_by_one_row() {
        let (less, more) = ([0, 1, 2, 0, 1, 2], [1, 0, 1, 2, 0, 1, 2]);
        let data = [7, 10, 11, 12, 13, 14, 15];
        let changed = |function: &(dyn Fn(&Block, &[i32]) -> i32 + Sync)| {
            let run = |labels: &[u64], data: &[i32]| {
                Runner::default().run(&Blocks::from_labels(3, labels), |block| function(block, data))
            };
            let (a, b) = (run(&less, &data[1..]), run(&more, &data));
            a.iter().zip(&b).filter(|(a, b)| a != b).count()
        };
        assert_eq!(changed(&|block, data| block.rows().iter().map(|&row| data[row]).sum()), 1);
        assert_eq!(changed(&|block, _| i32::try_from(block.rows()[0]).unwrap()), 3);
        assert_eq!(changed(&|block, data| data[block.rows()[0]] + i32::try_from(data.len()).unwrap()), 3);
    }

    #[test]
    fn panics_elsewhere_are_caught_as_before() {
        Runner::default().run(&ten(), |_| ());
        assert!(panic::catch_unwind(|| panic!("outside")).is_err());
    }
}
