//! All numbers of a column: in memory up to a public limit, then in a temporary file, and read again for each pass.
//!
//! What a mechanism sees is the same either way: the window of ranks that it looks at
//! ([`streamed`]), a count, or a sum of whole numbers.
//!
//! A file that cannot be read again ends the work from here ([`give_up`]), which is a lost answer: what is asked of numbers is
//! asked after the charge.

use super::spill::{Piece, Spill};
use crate::{lattice::AnswerLattice, quiet::give_up};
use equipoise_core::{
    adjacency::Adjacency,
    stability::{
        Range, Reach, Window, bracket,
        digits::Digits,
        lattice::{FLOATS, clean_float, float},
        reachable::Target,
        streamed,
    },
};
use std::{
    borrow::Cow,
    iter, mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// How many bytes of numbers one scan keeps in memory. Public and fixed.
pub(crate) const MEMORY: u64 = 512 << 20;
/// So many numbers go to the file together.
const PIECE: usize = 1 << 15;

/// Where the numbers of one scan are kept, all columns together.
pub(crate) struct Store {
    memory_left: AtomicU64,
    spill: Spill,
}

impl Store {
    /// So many bytes stay in memory.
    pub fn new(memory: u64) -> Arc<Self> {
        Arc::new(Self { memory_left: AtomicU64::new(memory), spill: Spill::new(0) })
    }
}

/// A number of eight bytes.
pub(crate) trait Word: Copy {
    /// Written down.
    fn written(self) -> [u8; 8];
    /// As it was written.
    fn read(written: [u8; 8]) -> Self;
}

impl Word for f64 {
    fn written(self) -> [u8; 8] {
        self.to_bits().to_le_bytes()
    }

    fn read(written: [u8; 8]) -> Self {
        Self::from_bits(u64::from_le_bytes(written))
    }
}

impl Word for i64 {
    fn written(self) -> [u8; 8] {
        self.to_le_bytes()
    }

    fn read(written: [u8; 8]) -> Self {
        Self::from_le_bytes(written)
    }
}

/// Numbers of one column that one thread has met.
pub(crate) struct Collected<T> {
    store: Arc<Store>,
    here: Vec<T>,
    pieces: Vec<Piece>,
    /// Does it use the file?
    spilling: bool,
    /// So many numbers go there together: whole rows of them.
    piece: usize,
    bytes: Vec<u8>,
}

impl<T: Word> Collected<T> {
    pub fn new(store: &Arc<Store>) -> Self {
        Self::of_rows(store, 1)
    }

    /// The same for rows of so many numbers, none of which is ever torn.
    pub fn of_rows(store: &Arc<Store>, width: usize) -> Self {
        Self {
            piece: PIECE - PIECE % width.clamp(1, PIECE),
            store: Arc::clone(store),
            here: Vec::new(),
            pieces: Vec::new(),
            spilling: false,
            bytes: Vec::new(),
        }
    }

    /// Take in some more.
    pub fn extend(&mut self, numbers: &[T]) {
        if !self.spilling && self.here.capacity() - self.here.len() < numbers.len() {
            self.grow(numbers.len());
        }
        if !self.spilling {
            return self.here.extend_from_slice(numbers);
        }
        for part in numbers.chunks(self.piece) {
            self.here.extend_from_slice(part);
            if self.here.len() >= self.piece {
                self.put_away();
            }
        }
    }

    /// Twice the room, or else the file.
    fn grow(&mut self, more: usize) {
        let added = self.here.capacity().max(more);
        let claim = |left: u64| left.checked_sub((added * mem::size_of::<T>()) as u64);
        let store = Arc::clone(&self.store);
        if store.memory_left.try_update(Ordering::Relaxed, Ordering::Relaxed, claim).is_ok() {
            self.here.reserve_exact(added + self.here.capacity() - self.here.len());
        } else {
            self.spilling = true;
            let all = mem::take(&mut self.here);
            for part in all.chunks(self.piece) {
                self.here.extend_from_slice(part);
                self.put_away();
            }
            store.memory_left.fetch_add((all.capacity() * mem::size_of::<T>()) as u64, Ordering::Relaxed);
        }
    }

    fn put_away(&mut self) {
        self.bytes.clear();
        self.bytes.extend(self.here.iter().flat_map(|number| number.written()));
        self.here.clear();
        self.pieces.push(self.store.spill.keep(&mut self.bytes));
    }
}

/// All numbers of a column; of floats, not-a-number where there was none.
pub(crate) enum Numbers<'a, T: Word = f64> {
    /// In memory.
    InMemory(Cow<'a, [T]>),
    /// Some in memory, the others in the file.
    Spilled { here: Vec<Vec<T>>, pieces: Vec<Piece>, store: Arc<Store> },
}

impl<T: Word> Default for Numbers<'_, T> {
    fn default() -> Self {
        Self::InMemory(Cow::Borrowed(&[]))
    }
}

impl<T: Word> Numbers<'_, T> {
    /// Add what another thread has met.
    pub fn take(&mut self, collected: Collected<T>) {
        let Collected { store, here: more, pieces: others, .. } = collected;
        match self {
            Self::InMemory(all) if others.is_empty() && all.is_empty() => *all = Cow::Owned(more),
            Self::InMemory(all) if others.is_empty() => all.to_mut().extend_from_slice(&more),
            Self::InMemory(all) => {
                let here = vec![mem::take(all).into_owned(), more];
                *self = Self::Spilled { here, pieces: others, store };
            }
            Self::Spilled { here, pieces, .. } => {
                here.push(more);
                pieces.extend(others);
            }
        }
    }

    /// Hand over all numbers, some at a time.
    pub fn each(&self, mut visit: impl FnMut(&[T])) {
        match self {
            Self::InMemory(all) => visit(all),
            Self::Spilled { here, pieces, store } => {
                for numbers in here {
                    visit(numbers);
                }
                store.spill.intact().unwrap_or_else(|why| give_up(why));
                let (mut bytes, mut numbers) = (Vec::new(), Vec::new());
                for piece in pieces {
                    let read = store.spill.read(piece, &mut bytes).unwrap_or_else(|why| give_up(why));
                    numbers.clear();
                    let (words, _) = read.as_chunks::<8>();
                    numbers.extend(words.iter().map(|&word| T::read(word)));
                    visit(&numbers);
                }
            }
        }
    }

    /// The rows around the target, where each number has the place that is given for it, and so many more rows have
    /// one place.
    pub fn window(
        &self,
        target: Target,
        range: Range,
        reach: Reach,
        place: impl Fn(T) -> Option<i64>,
        more: Option<(i64, u64)>,
    ) -> Window {
        let (more_at, more) = more.unwrap_or_default();
        if let (Self::InMemory(all), Ok(more @ ..=PIECE)) = (self, usize::try_from(more)) {
            let places = all.iter().filter_map(|&number| place(number));
            let places: Vec<i64> = places.chain(iter::repeat_n(more_at, more)).collect();
            return bracket::window(&places, target, range, reach, Adjacency::AddRemove);
        }
        let mut places = Vec::new();
        let pass = |visit: &mut dyn FnMut(&[i64])| {
            self.each(|numbers| {
                places.clear();
                places.extend(numbers.iter().filter_map(|&number| place(number)));
                visit(&places);
            });
            let mut left = more;
            while left > 0 {
                let some = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
                places.clear();
                places.resize(some, more_at);
                visit(&places);
                left -= some as u64;
            }
        };
        streamed::window(pass, target, range, reach)
    }
}

impl Numbers<'_> {
    /// How many numbers there are; `with_nulls` counts those too that are none.
    pub fn count(&self, with_nulls: bool) -> u64 {
        let mut count = 0;
        self.each(|numbers| {
            count += numbers.iter().filter(|number| with_nulls || !number.is_nan()).count() as u64;
        });
        count
    }

    /// The rows around the target in a space of answers, cleaned for this adjacency. Where rows are rounded, only those of the
    /// window are: rounding keeps their order.
    pub fn window_in(
        &self,
        space: &AnswerLattice,
        target: Target,
        reach: Reach,
        adjacency: Adjacency,
    ) -> Window {
        let Some(digits) = space.rounded() else {
            return match self {
                Self::InMemory(all) if space.is_plain() => {
                    bracket::window(&all[..], target, space.range(), reach, adjacency)
                }
                _ => self.window(target, space.range(), reach, |number| space.place(number, adjacency), None),
            };
        };
        let floats = match self {
            Self::InMemory(all) => bracket::window(&all[..], target, FLOATS, reach, adjacency),
            Self::Spilled { .. } => self.window(
                target,
                FLOATS,
                reach,
                |number| clean_float(Some(number), FLOATS, adjacency),
                None,
            ),
        };
        let place = |ordinal: i64| digits.place(float(ordinal).expect("the ordinal of a finite float"));
        floats.mapped(space.range(), place, |target| self.ties(space.range(), digits, target, adjacency))
    }

    /// How many rows are below a place and how many are at it, once they are rounded and moved into a range.
    fn ties(&self, range: Range, digits: &Digits, place: i64, adjacency: Adjacency) -> (u64, u64) {
        let (mut first, mut last) = digits.cell(place);
        if place == range.lo() {
            first = f64::NEG_INFINITY;
        }
        if place == range.hi() {
            last = f64::INFINITY;
        }
        let (mut less, mut to_last, mut nulls) = (0, 0, 0);
        self.each(|numbers| {
            for number in numbers {
                less += u64::from(*number < first);
                to_last += u64::from(*number <= last);
                nulls += u64::from(number.is_nan());
            }
        });
        // A row without a value counts as the low end.
        let nulls = if adjacency == Adjacency::Replace { nulls } else { 0 };
        if place == range.lo() { (0, to_last + nulls) } else { (less + nulls, to_last - less) }
    }

    /// All places in a space of answers, cleaned for this adjacency, in memory.
    pub fn places(&self, space: &AnswerLattice, adjacency: Adjacency) -> Vec<i64> {
        let mut places = Vec::new();
        self.each(|numbers| {
            places.extend(numbers.iter().filter_map(|&number| space.place(number, adjacency)));
        });
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{quiet::privately, source::ColumnType, unanswered::Unanswered};
    use equipoise_core::{ratio::Ratio, stability::Quantile};
    use proptest::prelude::*;

    /// The numbers as two threads of a scan with this much memory would keep them.
    fn kept(numbers: &[f64], memory: u64) -> Numbers<'static> {
        let store = Store::new(memory);
        let mut threads = [Collected::new(&store), Collected::new(&store)];
        for (at, piece) in numbers.chunks(11).enumerate() {
            threads[at % 2].extend(piece);
        }
        let mut all = Numbers::default();
        for thread in threads {
            all.take(thread);
        }
        all
    }

    /// It was a panic, and reported as data that could not be read.
    #[test]
    fn a_temporary_file_that_fails_is_what_is_named() {
        let store = Store::new(0);
        store.spill.break_down();
        let mut collected = Collected::new(&store);
        collected.extend(&vec![1.0; 2 * PIECE]);
        let mut numbers = Numbers::default();
        numbers.take(collected);
        let read = privately(|| {
            numbers.each(|_| ());
            Ok(())
        });
        assert_eq!(read, Err(Unanswered::Temporary));
    }

    fn sorted(numbers: &Numbers<'_>) -> Vec<u64> {
        let mut all = Vec::new();
        numbers.each(|some| all.extend(some.iter().map(|number| number.to_bits())));
        all.sort_unstable();
        all
    }

    #[test]
    fn numbers_are_the_same_in_memory_and_in_the_file() {
        let numbers: Vec<f64> =
            (0..100_000u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) % 9973)).collect();
        let here = kept(&numbers, 1 << 30);
        assert!(matches!(here, Numbers::InMemory(_)));
        for memory in [0, 1000, 400_000, 900_000] {
            let apart = kept(&numbers, memory);
            assert!(matches!(apart, Numbers::Spilled { .. }), "{memory}");
            assert_eq!(sorted(&apart), sorted(&here), "{memory}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn tiny_limits_change_no_window(
            numbers in prop::collection::vec(prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-0.0), (0..9i32).prop_map(|near| 1.0 + f64::from(near) * 1e-8), -9.0..9.0f64, any::<f64>()], 0..200),
            memory in 0u64..2000,
            reach in 0u64..20,
            percent in 1u32..100,
        ) {
            let target: Target = Quantile::new(&Ratio::new(percent.into(), 100)).unwrap().into();
            let (here, apart) = (kept(&numbers, 1 << 30), kept(&numbers, memory));
            for (range, resolution) in [
                (None, None), (None, Some("exact")), (Some("-3,3"), Some("0.5")), (Some("0,1"), Some("exact")), (Some("-1,1"), None),
            ] {
                let space = AnswerLattice::of(ColumnType::Float, range, resolution, 7).unwrap();
                for adjacency in Adjacency::ALL {
                    let window = |numbers: &Numbers<'_>| numbers.window_in(&space, target, Reach::Ranks(reach), adjacency);
                    prop_assert!(window(&here) == window(&apart));
                    let places = |numbers: &Numbers<'_>| {
                        let mut places = numbers.places(&space, adjacency);
                        places.sort_unstable();
                        places
                    };
                    prop_assert_eq!(places(&here), places(&apart));
                    // Rounding every row first gives the same window, ties and all.
                    let first = target.window(&places(&here), space.range(), Reach::Ranks(reach));
                    prop_assert!(window(&here) == first);
                }
            }
            prop_assert_eq!(here.count(false), apart.count(false));
            prop_assert_eq!(here.count(true), numbers.len() as u64);
        }
    }
}
