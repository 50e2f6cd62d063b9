//! How many distinct numbers came, from the longest run of zeros in each of many groups of hashes.
//!
//! Source: P. Flajolet and others, "HyperLogLog" (2007); O. Ertl, "New cardinality estimation algorithms for
//! HyperLogLog sketches" (2017).
//!
//! One byte for each register. The typical error is `1.04/sqrt(registers)`; no bound on rare errors is proved
//! here, so copies of it are heuristic. [`kmv`](super::kmv) has the proof.

use super::{Counts, Item, RefusedItem, add};
use crate::state::{Damaged, Reader, Stored, Writer, stored_whole};
use crate::{Oblivious, Shape, hash::Key};
use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};

/// How many registers there are, as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    bits: u32,
}

impl Registers {
    /// Two to this power.
    pub fn new(bits: u32) -> Result<Self, ParameterError> {
        if (4..=20).contains(&bits) {
            Ok(Self { bits })
        } else {
            Err(ParameterError::out_of_range("register bits", bits, "give from 4 to 20, such as 14"))
        }
    }
}

impl Shape for Registers {
    fn ln_inverse_failure(&self) -> Ratio {
        Ratio::zero()
    }

    fn alpha(&self) -> Ratio {
        Ratio::one()
    }

    fn space(&self) -> usize {
        1 << self.bits
    }
}

/// Registers under a secret key.
#[derive(Clone, Debug)]
pub struct HyperLogLog {
    key: Key,
    bits: u32,
    registers: Vec<u8>,
}

impl HyperLogLog {
    /// A sketch of nothing.
    pub fn new<C: Coins>(shape: Registers, coins: &mut C) -> Self {
        Self { key: Key::draw(coins), bits: shape.bits, registers: vec![0; 1 << shape.bits] }
    }

    /// Many numbers come.
    pub fn insert_all(&mut self, numbers: &[u64]) {
        let (key, bits) = (self.key, self.bits);
        let registers = self.registers.as_mut_slice();
        key.hash_all(numbers, |hashes| {
            for &hash in hashes {
                let index = usize::try_from(hash >> (64 - bits)).expect("at most 20 bits");
                // A one behind the hash bounds the run.
                let run = ((hash << bits) | (1 << (bits - 1))).leading_zeros() + 1;
                let register = &mut registers[index];
                *register = (*register).max(u8::try_from(run).expect("at most 61"));
            }
        });
    }

    /// How many distinct numbers came, about: Ertl's estimator, which needs no corrections.
    pub fn distinct(&self) -> f64 {
        let most = 64 - self.bits as usize;
        let mut count = vec![0u32; most + 2];
        for &register in &self.registers {
            count[usize::from(register)] += 1;
        }
        let m = self.registers.len() as f64;
        let mut z = m * tau(1.0 - f64::from(count[most + 1]) / m);
        for &registers in count[1..=most].iter().rev() {
            z = 0.5 * (z + f64::from(registers));
        }
        z += m * sigma(f64::from(count[0]) / m);
        m * m / (2.0 * std::f64::consts::LN_2 * z)
    }
}

stored_whole!(HyperLogLog, b"hll\0\0\0\0\0");

impl Stored for HyperLogLog {
    fn write(&self, out: &mut Writer) {
        out.word(u64::from(self.bits));
        self.key.write(out);
        out.bytes(&self.registers);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let Registers { bits } = Registers::read(from)?;
        let key = Key::read(from)?;
        let registers = from.bytes()?;
        let most = u8::try_from(65 - bits).expect("at most 61");
        if registers.len() != 1 << bits || registers.iter().any(|&register| register > most) {
            return Err(Damaged::Content("its registers are out of range"));
        }
        Ok(Self { key, bits, registers: registers.to_vec() })
    }
}

impl Stored for Registers {
    fn write(&self, out: &mut Writer) {
        out.word(u64::from(self.bits));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let bits = u32::try_from(from.word()?).ok().and_then(|bits| Self::new(bits).ok());
        bits.ok_or(Damaged::Content("its size is out of range"))
    }
}

fn sigma(x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut x, mut y, mut z) = (x, 1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z <= before {
            return z;
        }
    }
}

fn tau(x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut x, mut y, mut z) = (x, 1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z >= before {
            return z / 3.0;
        }
    }
}

impl Oblivious for HyperLogLog {
    type Shape = Registers;
    type Input = Counts;
    type Update = u64;
    type Question = ();
    type Refused = RefusedItem;

    fn apply(input: &mut Counts, update: &u64) -> Result<(), RefusedItem> {
        add(input, Item { key: *update, count: 1 })
    }

    fn init<C: Coins>(shape: &Registers, input: &Counts, coins: &mut C) -> Self {
        let mut sketch = Self::new(*shape, coins);
        sketch.insert_all(&input.keys().copied().collect::<Vec<_>>());
        sketch
    }

    fn update(&mut self, update: &u64) {
        self.insert_all(&[*update]);
    }

    fn update_all(&mut self, updates: &[u64]) {
        self.insert_all(updates);
    }

    #[expect(clippy::cast_possible_truncation, reason = "a rounded estimate below 2^70")]
    fn query(&mut self, (): &()) -> i128 {
        self.distinct().round() as i128
    }

    fn space(&self) -> usize {
        self.registers.len()
    }
}

/// One key that serves many sets, as [`Sets`](super::kmv::Sets): asked about a set, it answers what a sketch of that set would.
#[derive(Clone, Debug)]
pub struct HyperLogLogSets(HyperLogLog);

impl Oblivious for HyperLogLogSets {
    type Shape = Registers;
    type Input = ();
    type Update = ();
    type Question = [u64];
    type Refused = RefusedItem;

    fn apply((): &mut (), (): &()) -> Result<(), RefusedItem> {
        Ok(())
    }

    fn init<C: Coins>(shape: &Registers, (): &(), coins: &mut C) -> Self {
        Self(HyperLogLog::new(*shape, coins))
    }

    fn update(&mut self, (): &()) {}

    fn query(&mut self, set: &[u64]) -> i128 {
        self.0.registers.fill(0);
        self.0.insert_all(set);
        self.0.query(&())
    }

    fn space(&self) -> usize {
        self.0.space()
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
    fn near_the_truth_from_nothing_to_many() {
        let mut coins = TestWords(3);
        let mut sketch = HyperLogLog::new(Registers::new(12).unwrap(), &mut coins);
        assert!(sketch.distinct().abs() < 1e-9);
        let mut next = 0u64;
        for count in [1u64, 10, 1000, 20_000, 200_000] {
            sketch.insert_all(&(next..count).collect::<Vec<_>>());
            next = count;
            let ratio = sketch.distinct() / count as f64;
            assert!((0.92..1.08).contains(&ratio), "{ratio} at {count}");
        }
        let read = HyperLogLog::from_bytes(&sketch.to_bytes()).unwrap();
        assert!((read.distinct() - sketch.distinct()).abs() < 1e-9);
        assert_refuses_damage(&sketch.to_bytes(), |bytes| HyperLogLog::from_bytes(bytes).err());
        assert_survives_nonsense(&sketch.to_bytes(), |bytes| HyperLogLog::from_bytes(bytes).err());
        assert!(Registers::new(3).is_err());
    }
}
