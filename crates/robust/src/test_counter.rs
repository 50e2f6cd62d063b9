//! An oblivious algorithm for tests: it counts, and is off by a hundred in rare copies.

use super::{
    Oblivious, Shape,
    state::{Damaged, Reader, Stored, Writer},
};
use equipoise_core::{coins::Coins, ratio::Ratio};

/// Counts, and answers with an error of its own coins: off by a hundred in one of `2^rarely` copies.
#[derive(Debug)]
pub(crate) struct Counter {
    pub count: i128,
    pub off: bool,
    pub key: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Rarely(pub u32);

impl Shape for Rarely {
    fn ln_inverse_failure(&self) -> Ratio {
        // ln 2 > 69/100.
        Ratio::from(u64::from(self.0)) * Ratio::new(69, 100)
    }

    fn alpha(&self) -> Ratio {
        Ratio::zero()
    }

    fn space(&self) -> usize {
        size_of::<Counter>()
    }
}

impl Oblivious for Counter {
    type Shape = Rarely;
    type Input = i128;
    type Update = i64;
    type Question = ();
    type Refused = String;

    fn apply(input: &mut i128, update: &i64) -> Result<(), String> {
        let next = *input + i128::from(*update);
        if next < 0 {
            return Err(format!("{next} is below zero"));
        }
        *input = next;
        Ok(())
    }

    fn init<C: Coins>(shape: &Rarely, input: &i128, coins: &mut C) -> Self {
        Self { count: *input, off: shape.0 <= 64 && coins.bits(shape.0) == 0, key: coins.bits(64) }
    }

    fn update(&mut self, update: &i64) {
        self.count += i128::from(*update);
    }

    fn query(&mut self, (): &()) -> i128 {
        self.count + if self.off { 100 } else { 0 }
    }

    fn space(&self) -> usize {
        size_of::<Self>()
    }
}

impl Stored for Rarely {
    fn write(&self, out: &mut Writer) {
        out.word(u64::from(self.0));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Self(u32::try_from(from.word()?).unwrap_or(0)))
    }
}

impl Stored for Counter {
    fn write(&self, out: &mut Writer) {
        self.count.write(out);
        self.off.write(out);
        out.word(self.key);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Self { count: i128::read(from)?, off: bool::read(from)?, key: from.word()? })
    }
}
