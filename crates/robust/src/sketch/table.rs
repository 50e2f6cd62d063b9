//! Rows of signed buckets: the sum of squared counts (AMS), and the count of one number (Count-Sketch).
//!
//! Source: N. Alon, Y. Matias, M. Szegedy (1996); M. Charikar, K. Chen, M. Farach-Colton (2002); M. Thorup and
//! Y. Zhang (2012) for buckets in the place of dense rows.
//!
//! # Guarantee
//!
//! For one fixed stream, which may take numbers away again, except with probability `e^-ln_inverse_failure`: [`F2`]
//! answers within `(1 ± alpha)` of the sum of squared counts, and [`Point`] answers each count within alpha times
//! the square root of that sum.
//!
//! # Why
//!
//! 1. In a row each number has a random bucket of w and a random sign; a bucket holds the signed sum of its counts.
//!    The sum of the squared buckets has the mean F2 and a variance of at most `2·F2²/w`; a signed bucket has the
//!    mean of its number's count and a variance of at most `F2/w`.
//! 2. Chebyshev: a row is off with chance at most `q = 2/(w·alpha²)`, in both cases.
//! 3. The median of d rows is off only if half of them are: at most `(4q(1-q))^(d/2)` for q below one half.

use super::{Counts, Item, RefusedItem, add};
use crate::state::{Damaged, Reader, Stored, Writer, stored_whole};
use crate::{Oblivious, Shape, hash::Key};
use equipoise_core::{coins::Coins, interval::ln_lower, loss::ParameterError, ratio::Ratio};

/// How many rows and buckets there are, and which error they allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    alpha: Ratio,
    rows: usize,
    width: usize,
}

impl Buckets {
    /// These sizes.
    pub fn new(alpha: &Ratio, rows: usize, width: usize) -> Result<Self, ParameterError> {
        if !alpha.is_positive() || *alpha > Ratio::one() {
            return Err(ParameterError::out_of_range(
                "alpha",
                alpha,
                "give a number above 0 and at most 1, such as 0.1",
            ));
        }
        if rows.is_multiple_of(2) || rows > 1 << 16 {
            return Err(ParameterError::out_of_range("rows", rows, "give an odd number below 2^16"));
        }
        if width == 0 || width > 1 << 28 {
            return Err(ParameterError::out_of_range("width", width, "give from 1 to 2^28 buckets"));
        }
        Ok(Self { alpha: alpha.clone(), rows, width })
    }

    /// As many as this failure needs: rows of `24/alpha²` buckets.
    pub fn proved(alpha: &Ratio, ln_inverse_failure: &Ratio) -> Result<Self, ParameterError> {
        Self::new(alpha, 1, 1)?;
        let width =
            (Ratio::from(24u64) / alpha.squared()).ceil_i64().and_then(|width| usize::try_from(width).ok());
        let one = Self::new(alpha, 1, width.unwrap_or(usize::MAX))?;
        let rows = (ln_inverse_failure / &one.ln_inverse_failure()).ceil_i64();
        let rows = rows.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX - 1);
        Self::new(alpha, rows | 1, one.width)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many buckets each row has.
    pub fn width(&self) -> usize {
        self.width
    }
}

impl Shape for Buckets {
    fn ln_inverse_failure(&self) -> Ratio {
        let q = Ratio::from(2u64) / (Ratio::from(self.width as u64) * self.alpha.squared());
        let base = Ratio::from(4u64) * &q * (Ratio::one() - &q);
        if Ratio::from(2u64) * q >= Ratio::one() {
            return Ratio::zero();
        }
        Ratio::from(self.rows as u64) / Ratio::from(2u64) * ln_lower(&base.recip())
    }
}

/// Rows of signed buckets.
#[derive(Clone, Debug)]
struct Table {
    keys: Vec<Key>,
    width: usize,
    buckets: Vec<i64>,
    /// For each row, the sum of its squared buckets, so that an answer need not look at all of them.
    squares: Vec<i128>,
}

impl Table {
    fn new<C: Coins>(shape: &Buckets, coins: &mut C) -> Self {
        let keys = (0..shape.rows).map(|_| Key::draw(coins)).collect();
        let (rows, width) = (shape.rows, shape.width);
        Self { keys, width, buckets: vec![0; rows * width], squares: vec![0; rows] }
    }

    /// The bucket of a hash by its upper half, the sign by its last bit.
    fn place(width: usize, hash: u64) -> (usize, i64) {
        let bucket = ((hash >> 32) * width as u64) >> 32;
        (usize::try_from(bucket).expect("below the width"), if hash & 1 == 0 { 1 } else { -1 })
    }

    fn add(&mut self, item: Item) {
        self.add_all(&[item]);
    }

    /// Row by row, so that a row stays near.
    fn add_all(&mut self, items: &[Item]) {
        let rows = self.keys.iter().zip(self.buckets.chunks_exact_mut(self.width)).zip(&mut self.squares);
        for ((key, row), squares) in rows {
            for item in items {
                let (bucket, sign) = Self::place(row.len(), key.hash(item.key));
                let before = row[bucket];
                let after = before.saturating_add(sign * item.count);
                row[bucket] = after;
                // Too large a sum comes back when the counts do.
                *squares = squares.wrapping_add(square(after)).wrapping_sub(square(before));
            }
        }
    }

    fn begin<C: Coins>(shape: &Buckets, input: &Counts, coins: &mut C) -> Self {
        let mut table = Self::new(shape, coins);
        table.add_all(&input.iter().map(|(&key, &count)| Item { key, count }).collect::<Vec<_>>());
        table
    }

    fn f2(&self) -> i128 {
        middle(self.squares.clone())
    }

    fn point(&self, number: u64) -> i128 {
        let rows = self.keys.iter().zip(self.buckets.chunks_exact(self.width));
        let signed = rows.map(|(key, row)| {
            let (bucket, sign) = Self::place(row.len(), key.hash(number));
            i128::from(sign * row[bucket])
        });
        middle(signed.collect())
    }

    fn space(&self) -> usize {
        8 * self.buckets.len() + 16 * self.keys.len()
    }
}

impl Stored for Table {
    fn write(&self, out: &mut Writer) {
        out.words([self.keys.len() as u64, self.width as u64]);
        out.words(self.keys.iter().flat_map(Key::words));
        out.words(self.buckets.iter().map(|bucket| bucket.cast_unsigned()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (rows, width) = (from.size()?, from.size()?);
        if rows % 2 == 0 || rows > 1 << 16 || !(1..=1 << 28).contains(&width) {
            return Err(Damaged::Content("its rows are out of range"));
        }
        let words = from.words(2 * rows)?;
        let keys = words.chunks_exact(2).map(|pair| Key::from_words([pair[0], pair[1]])).collect();
        let buckets: Vec<i64> = from.words(rows * width)?.into_iter().map(u64::cast_signed).collect();
        let squares = buckets
            .chunks_exact(width)
            .map(|row| row.iter().map(|&bucket| square(bucket)).fold(0, i128::wrapping_add));
        Ok(Self { squares: squares.collect(), keys, width, buckets })
    }
}

impl Stored for Buckets {
    fn write(&self, out: &mut Writer) {
        self.alpha.write(out);
        out.words([self.rows as u64, self.width as u64]);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let shape = Self::new(&Ratio::read(from)?, from.size()?, from.size()?);
        shape.map_err(|_| Damaged::Content("its rows are out of range"))
    }
}

/// Below 2^126; a row of 2^28 of them may overflow, which takes counts that sum to more than 2^49 in each bucket.
fn square(bucket: i64) -> i128 {
    i128::from(bucket) * i128::from(bucket)
}

fn middle(mut values: Vec<i128>) -> i128 {
    let at = values.len() / 2;
    *values.select_nth_unstable(at).1
}

macro_rules! sketch {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $question:ty, |$table:ident, $asked:ident| $answer:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(Table);

        stored_whole!($name, $kind);

        impl Stored for $name {
            fn write(&self, out: &mut Writer) {
                self.0.write(out);
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
                Table::read(from).map(Self)
            }
        }

        impl Oblivious for $name {
            type Shape = Buckets;
            type Input = Counts;
            type Update = Item;
            type Question = $question;
            type Refused = RefusedItem;

            fn apply(input: &mut Counts, update: &Item) -> Result<(), RefusedItem> {
                add(input, *update)
            }

            fn init<C: Coins>(shape: &Buckets, input: &Counts, coins: &mut C) -> Self {
                Self(Table::begin(shape, input, coins))
            }

            fn update(&mut self, update: &Item) {
                self.0.add(*update);
            }

            fn update_all(&mut self, updates: &[Item]) {
                self.0.add_all(updates);
            }

            fn query(&mut self, $asked: &$question) -> i128 {
                let $table = &self.0;
                $answer
            }

            fn space(&self) -> usize {
                self.0.space()
            }
        }
    };
}

sketch! {
    /// The sum of squared counts.
    F2, b"f2\0\0\0\0\0\0", (), |table, _nothing| table.f2()
}

sketch! {
    /// The count of the number that is asked about.
    Point, b"point\0\0\0", u64, |table, number| table.point(*number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        TestWords,
        state::{assert_refuses_damage, assert_survives_nonsense},
    };

    #[test]
    fn near_the_truth_also_after_deletions() {
        let mut coins = TestWords(4);
        let shape = Buckets::proved(&"0.25".parse().unwrap(), &Ratio::from(10u64)).unwrap();
        assert_eq!((shape.width(), shape.rows()), (384, 17));
        let mut counts = Counts::new();
        let mut f2 = F2::init(&shape, &counts, &mut coins);
        let mut point = Point::init(&shape, &counts, &mut coins);
        let items: Vec<Item> =
            (0..3000u64).map(|key| Item { key: key % 500, count: (key % 7).cast_signed() - 2 }).collect();
        for item in &items {
            F2::apply(&mut counts, item).unwrap();
        }
        f2.update_all(&items);
        for item in &items {
            point.update(item);
        }
        let truth: i128 = counts.values().map(|&count| i128::from(count) * i128::from(count)).sum();
        let answer = f2.query(&());
        assert!(4 * (answer - truth).abs() <= truth, "{answer} for {truth}");
        for (&number, &count) in counts.iter().take(50) {
            let off = point.query(&number) - i128::from(count);
            assert!(16 * off * off <= truth, "{off}");
        }
        let mut read = F2::from_bytes(&f2.to_bytes()).unwrap();
        assert_eq!(read.query(&()), answer);
        assert_refuses_damage(&f2.to_bytes(), |bytes| F2::from_bytes(bytes).err());
        assert_survives_nonsense(&f2.to_bytes(), |bytes| F2::from_bytes(bytes).err());
        assert!(Point::from_bytes(&f2.to_bytes()).unwrap_err().to_string().contains("'f2', not 'point'"));
    }

    #[test]
    fn sizes_and_what_they_prove() {
        let alpha: Ratio = "0.1".parse().unwrap();
        // q = 1/12: a row is worth ln(1/(4/12·11/12))/2 = 0.5929.
        let shape = Buckets::proved(&alpha, &Ratio::from(64u64)).unwrap();
        assert_eq!((shape.width(), shape.rows()), (2400, 109));
        assert!(shape.ln_inverse_failure() >= Ratio::from(64u64));
        assert!(Buckets::new(&alpha, 5, 300).unwrap().ln_inverse_failure().is_zero());
        assert!(Buckets::new(&alpha, 4, 300).is_err() && Buckets::new(&alpha, 5, 0).is_err());
    }
}
