//! How many distinct numbers came, from the least of their hashes.
//!
//! Source: Z. Bar-Yossef and others, "Counting distinct elements in a data stream" (2002).
//!
//! # Guarantee
//!
//! While fewer than `size` distinct numbers came, the answer is exact. Later it lies in `(1 ± alpha)·distinct`, except
//! with probability `e^-ln_inverse_failure`, for one fixed set of at most 2^40 numbers; see
//! [`hash`](crate::hash) for what stands for a random function.
//!
//! With a secret key and insertions only, one sketch of one stream of the size [`Size::keyed`] stays right, at all moments
//! together except with probability beta, for whoever reacts to its answers: step 4. That ends where one key
//! serves several sets, or where sketches are merged or numbers go again.
//!
//! # Why
//!
//! Let k be the size, F the number of distinct numbers, v the k-th least of their hashes as a share of 2^64; the
//! answer is `(k - 1)/v`.
//!
//! 1. It is above `(1 + alpha)F` only if k or more of F hashes lie below `(k-1)/((1+alpha)F)`, where
//!    `(k-1)/(1+alpha)` are expected. Chernoff: at most `exp(-alpha²·(k-1)/((1+alpha)(2+alpha)))`.
//! 2. It is below `(1 - alpha)F` only if fewer than k lie below `(k-1)/((1-alpha)F)`: at most
//!    `exp(-alpha²·(k-1)/(2(1-alpha)))`, which is less.
//! 3. Equal hashes count once. Drawn one after another, the i-th of the k least of 2^40 hits an earlier one with chance at
//!    most `i/(k·2^24)`, and these sum to `k/2^25`. So 64 hits have a chance of at most `(k/2^25)^64/64!`: e^-650 up to
//!    k = 2^14, e^-400 up to 2^20, e^-240 up to 2^24, and no more is claimed. With fewer, it is as if k were 65 less.
//! 4. A number that came before changes nothing, and a new one has a fresh hash, whoever chose it and why: the answer
//!    at F distinct numbers has the same law for every adversary. Take counts F that grow by `1 + alpha/4`. If the
//!    answer is within `1 ± alpha/2` at each of them, then, since it never falls, it is within `1 ± alpha` at
//!    all counts between. So a size that fails with chance beta over the number of these counts is enough.

use super::{Counts, Item, RefusedItem, add};
use crate::state::{Damaged, Reader, Stored, Writer, stored_whole};
use crate::{Oblivious, Shape, grid::Grid, hash::Key};
use equipoise_core::{coins::Coins, interval::ln_upper, loss::ParameterError, ratio::Ratio};

/// What step 3 takes from k, and one from step 1.
const LOST: usize = 66;

/// How many hashes are kept, and which error that allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    alpha: Ratio,
    size: usize,
}

impl Size {
    /// Keep this many hashes.
    pub fn new(alpha: &Ratio, size: usize) -> Result<Self, ParameterError> {
        if !alpha.is_positive() || *alpha >= Ratio::one() {
            return Err(ParameterError::out_of_range(
                "alpha",
                alpha,
                "give a number between 0 and 1, such as 0.1",
            ));
        }
        if !(32..=1 << 24).contains(&size) {
            return Err(ParameterError::out_of_range("size", size, "keep from 32 to 2^24 hashes"));
        }
        Ok(Self { alpha: alpha.clone(), size })
    }

    /// Keep as many as this failure needs.
    pub fn proved(alpha: &Ratio, ln_inverse_failure: &Ratio) -> Result<Self, ParameterError> {
        Self::new(alpha, 32)?;
        let wanted = (ln_inverse_failure + &ln_upper(&Ratio::from(3u64))) / exponent(alpha);
        let size = wanted.ceil_i64().and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX - LOST);
        let size = Self::new(alpha, (size + LOST).max(32))?;
        if size.ln_inverse_failure() < *ln_inverse_failure {
            let accepted =
                "so rare a failure is not proved at this error; give a larger error or fewer answers";
            return Err(ParameterError::out_of_range("alpha", alpha, accepted));
        }
        Ok(size)
    }

    /// Keep as many as one keyed sketch needs to stay right at all moments together, except with probability beta.
    pub fn keyed(alpha: &Ratio, beta: &Ratio) -> Result<Self, ParameterError> {
        if !beta.is_positive() || *beta >= Ratio::one() {
            return Err(ParameterError::out_of_range(
                "beta",
                beta,
                "give a number between 0 and 1, such as 0.01",
            ));
        }
        let counts = Grid::growing(&(alpha / &Ratio::from(4u64)), 1 << 40)?.len();
        let half = alpha / &Ratio::from(2u64);
        Self::proved(&half, &ln_upper(&(Ratio::from(counts as u64) / beta)))
    }

    /// How many hashes are kept.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl Stored for Size {
    fn write(&self, out: &mut Writer) {
        self.alpha.write(out);
        out.word(self.size as u64);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Self::new(&Ratio::read(from)?, from.size()?).map_err(|_| Damaged::Content("its size is out of range"))
    }
}

/// What one hash contributes to the exponent of step 1.
fn exponent(alpha: &Ratio) -> Ratio {
    alpha.squared() / ((Ratio::one() + alpha) * (Ratio::from(2u64) + alpha))
}

impl Shape for Size {
    fn ln_inverse_failure(&self) -> Ratio {
        let most: u64 = match self.size {
            ..=0x4000 => 650,
            0x4001..=0x10_0000 => 400,
            _ => 240,
        };
        // Steps 1, 2 and 3, each with at most this exponent.
        let kept = self.size.saturating_sub(LOST) as u64;
        let each = (exponent(&self.alpha) * Ratio::from(kept)).min(Ratio::from(most));
        (each - ln_upper(&Ratio::from(3u64))).max(Ratio::zero())
    }

    fn alpha(&self) -> Ratio {
        self.alpha.clone()
    }

    fn space(&self) -> usize {
        16 * self.size
    }
}

/// The least hashes.
#[derive(Clone, Debug)]
pub struct Kmv {
    key: Key,
    size: usize,
    /// Hashes below the limit, unsorted, some perhaps twice.
    least: Vec<u64>,
    /// Hashes from here on are too large.
    limit: u64,
}

impl Kmv {
    /// A sketch of nothing.
    pub fn new<C: Coins>(size: &Size, coins: &mut C) -> Self {
        Self::with_key(size.size, Key::draw(coins))
    }

    fn with_key(size: usize, key: Key) -> Self {
        Self { key, size, least: Vec::with_capacity(2 * size), limit: u64::MAX }
    }

    /// Many numbers come.
    pub fn insert_all(&mut self, numbers: &[u64]) {
        let key = self.key;
        key.hash_all(numbers, |hashes| {
            for &hash in hashes {
                if hash < self.limit {
                    self.keep(hash);
                }
            }
        });
    }

    fn keep(&mut self, hash: u64) {
        self.least.push(hash);
        if self.least.len() == 2 * self.size {
            self.tidy();
        }
    }

    /// Only the least, each once, in order.
    fn tidy(&mut self) {
        self.least.sort_unstable();
        self.least.dedup();
        self.least.truncate(self.size);
        if self.least.len() == self.size {
            self.limit = self.least[self.size - 1];
        }
    }

    /// How many distinct numbers came, about.
    pub fn distinct(&mut self) -> u128 {
        self.tidy();
        if self.least.len() < self.size {
            return self.least.len() as u128;
        }
        ((self.size as u128 - 1) << 64) / (u128::from(self.limit) + 1)
    }

    /// The distinct numbers of both streams: the sketch of all of them. `None` unless key and size are the same.
    pub fn merged(mut self, other: &Self) -> Option<Self> {
        (self.key == other.key && self.size == other.size).then(|| {
            for &hash in &other.least {
                if hash < self.limit {
                    self.keep(hash);
                }
            }
            self
        })
    }
}

stored_whole!(Kmv, b"kmv\0\0\0\0\0");

impl Stored for Kmv {
    fn write(&self, out: &mut Writer) {
        let mut tidy = self.clone();
        tidy.tidy();
        out.word(self.size as u64);
        self.key.write(out);
        out.word(tidy.least.len() as u64);
        out.words(tidy.least);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let size = read_size(from)?;
        let mut sketch = Self::with_key(size, Key::read(from)?);
        let count = from.size()?;
        if count > size {
            return Err(Damaged::Content("more hashes than it keeps"));
        }
        sketch.least.extend(from.words(count)?);
        sketch.tidy();
        Ok(sketch)
    }
}

fn read_size(from: &mut Reader<'_>) -> Result<usize, Damaged> {
    let size = from.size()?;
    if (32..=1 << 24).contains(&size) { Ok(size) } else { Err(Damaged::Content("its size is out of range")) }
}

impl Oblivious for Kmv {
    type Shape = Size;
    type Input = Counts;
    type Update = u64;
    type Question = ();
    type Refused = RefusedItem;

    fn apply(input: &mut Counts, update: &u64) -> Result<(), RefusedItem> {
        add(input, Item { key: *update, count: 1 })
    }

    fn init<C: Coins>(shape: &Size, input: &Counts, coins: &mut C) -> Self {
        let mut sketch = Self::new(shape, coins);
        sketch.insert_all(&input.keys().copied().collect::<Vec<_>>());
        sketch
    }

    fn update(&mut self, update: &u64) {
        self.insert_all(&[*update]);
    }

    fn update_all(&mut self, updates: &[u64]) {
        self.insert_all(updates);
    }

    fn query(&mut self, (): &()) -> i128 {
        i128::try_from(self.distinct()).expect("at most 2^88")
    }

    fn space(&self) -> usize {
        16 * self.size
    }
}

/// One key that serves many sets: asked about a set, it answers what a sketch of that set would.
///
/// This is how sketches of many sets under one hash are used, and what breaks: right for sets that do not depend on
/// earlier answers only.
#[derive(Clone, Debug)]
pub struct Sets {
    size: usize,
    key: Key,
}

impl Oblivious for Sets {
    type Shape = Size;
    type Input = ();
    type Update = ();
    type Question = [u64];
    type Refused = RefusedItem;

    fn apply((): &mut (), (): &()) -> Result<(), RefusedItem> {
        Ok(())
    }

    fn init<C: Coins>(shape: &Size, (): &(), coins: &mut C) -> Self {
        Self { size: shape.size, key: Key::draw(coins) }
    }

    fn update(&mut self, (): &()) {}

    fn query(&mut self, set: &[u64]) -> i128 {
        let mut sketch = Kmv::with_key(self.size, self.key);
        sketch.insert_all(set);
        i128::try_from(sketch.distinct()).expect("at most 2^88")
    }

    fn space(&self) -> usize {
        size_of::<Self>()
    }
}

impl Stored for Sets {
    fn write(&self, out: &mut Writer) {
        out.word(self.size as u64);
        self.key.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Self { size: read_size(from)?, key: Key::read(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        TestWords,
        state::{assert_refuses_damage, assert_survives_nonsense},
    };

    #[test]
    fn exact_while_few_and_near_when_many() {
        let mut coins = TestWords(1);
        let size = Size::proved(&"0.2".parse().unwrap(), &Ratio::from(20u64)).unwrap();
        assert_eq!(size.size(), 1459);
        let mut sketch = Kmv::new(&size, &mut coins);
        for _ in 0..3 {
            sketch.insert_all(&(0..1000).collect::<Vec<_>>());
            assert_eq!(sketch.distinct(), 1000);
        }
        sketch.insert_all(&(0..100_000).collect::<Vec<_>>());
        let answer = sketch.distinct();
        assert!((80_000..=120_000).contains(&answer), "{answer}");
    }

    #[test]
    fn sizes_and_what_they_prove() {
        let alpha: Ratio = "0.1".parse().unwrap();
        for wanted in [1u64, 20, 64, 80] {
            let size = Size::proved(&alpha, &Ratio::from(wanted)).unwrap();
            assert!(size.ln_inverse_failure() >= Ratio::from(wanted));
            assert!(size.ln_inverse_failure() < Ratio::from(wanted) + Ratio::new(1, 100));
        }
        // 0.05²/(1.05·2.05) an item; about 1100 counts at beta 0.01: ln 110,000 = 11.6.
        let keyed = Size::keyed(&alpha, &"0.01".parse().unwrap()).unwrap().size();
        assert!((10_000..11_500).contains(&keyed), "{keyed}");
        assert!(Size::proved(&"0.2".parse().unwrap(), &Ratio::from(210u64)).is_ok());
        assert!(Size::proved(&alpha, &Ratio::from(450u64)).is_err(), "equal hashes alone are more likely");
        // Step 3: ln 64! > 205.
        for (power, most) in [(14, 650.0), (20, 400.0), (24, 240.0)] {
            assert!(64.0 * f64::from(25 - power) * std::f64::consts::LN_2 + 205.0 > most, "{power}");
        }
        assert!(Size::new(&Ratio::one(), 64).is_err() && Size::new(&alpha, 31).is_err());
    }

    #[test]
    fn stored_and_merged_states_answer_the_same() {
        let mut coins = TestWords(2);
        let size = Size::new(&"0.1".parse().unwrap(), 64).unwrap();
        let mut all = Kmv::new(&size, &mut coins);
        let (mut left, mut right) = (all.clone(), all.clone());
        left.insert_all(&(0..5000).collect::<Vec<_>>());
        right.insert_all(&(4000..9000).collect::<Vec<_>>());
        all.insert_all(&(0..9000).collect::<Vec<_>>());
        let mut merged = left.clone().merged(&right).unwrap();
        assert_eq!(merged.distinct(), all.distinct());
        let mut read = Kmv::from_bytes(&all.to_bytes()).unwrap();
        assert_eq!(read.distinct(), all.distinct());
        assert!(left.merged(&Kmv::new(&size, &mut coins)).is_none());
        assert_refuses_damage(&all.to_bytes(), |bytes| Kmv::from_bytes(bytes).err());
        assert_survives_nonsense(&all.to_bytes(), |bytes| Kmv::from_bytes(bytes).err());
    }
}
