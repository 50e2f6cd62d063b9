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
//! 4. Where w is a power of two, several rows take their bits from one hash, no bit twice: as independent as from several.

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

    /// As many as this failure needs: of all powers of two the width with the fewest buckets.
    pub fn proved(alpha: &Ratio, ln_inverse_failure: &Ratio) -> Result<Self, ParameterError> {
        Self::new(alpha, 1, 1)?;
        let of_width = |power: u32| {
            let one = Self::new(alpha, 1, 1 << power).ok()?;
            let each = one.ln_inverse_failure();
            let rows = each.is_positive().then(|| ln_inverse_failure / &each)?.ceil_i64();
            Self::new(alpha, usize::try_from(rows?).ok()?.max(1) | 1, one.width).ok()
        };
        let least = (0..=28).filter_map(of_width).min_by_key(|shape| shape.rows * shape.width);
        least.ok_or_else(|| {
            ParameterError::out_of_range("alpha", alpha, "so small an error needs too many buckets")
        })
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

    fn alpha(&self) -> Ratio {
        self.alpha.clone()
    }

    fn space(&self) -> usize {
        self.rows * (8 * self.width + 16)
    }
}

/// Rows of signed buckets.
#[derive(Clone, Debug)]
struct Table {
    /// One for each group of rows that share a hash.
    keys: Vec<Key>,
    width: usize,
    buckets: Vec<i64>,
    /// For each row, the sum of its squared buckets, so that an answer need not look at all of them.
    squares: Vec<i128>,
}

/// How many rows share a hash: a power of two takes whole bits, of which 64 serve several rows.
fn rows_per_hash(width: usize) -> usize {
    if width.is_power_of_two() { 64 / (width.trailing_zeros() as usize + 1) } else { 1 }
}

/// The bucket and the sign of a row of its group.
#[inline]
fn place(width: usize, hash: u64, row: usize) -> (usize, i64) {
    let (bucket, bit) = if width.is_power_of_two() {
        let bits = hash >> (row * (width.trailing_zeros() as usize + 1));
        (bits >> 1 & (width as u64 - 1), bits)
    } else {
        (((hash >> 32) * width as u64) >> 32, hash)
    };
    (usize::try_from(bucket).expect("below the width"), if bit & 1 == 0 { 1 } else { -1 })
}

impl Table {
    fn new<C: Coins>(shape: &Buckets, coins: &mut C) -> Self {
        let (rows, width) = (shape.rows, shape.width);
        let keys = (0..rows.div_ceil(rows_per_hash(width))).map(|_| Key::draw(coins)).collect();
        Self { keys, width, buckets: vec![0; rows * width], squares: vec![0; rows] }
    }

    fn add(&mut self, item: Item) {
        self.add_all(&[item]);
    }

    /// Group by group, so that its rows stay near.
    fn add_all(&mut self, items: &[Item]) {
        let (width, together) = (self.width, rows_per_hash(self.width));
        let numbers: Vec<u64> = items.iter().map(|item| item.key).collect();
        let groups = self.buckets.chunks_mut(together * width).zip(self.squares.chunks_mut(together));
        for (key, (buckets, squares)) in self.keys.iter().zip(groups) {
            let mut counts = items.iter().map(|item| item.count);
            key.hash_all(&numbers, |hashes| {
                for (&hash, count) in hashes.iter().zip(counts.by_ref()) {
                    for (row, (buckets, squares)) in
                        buckets.chunks_exact_mut(width).zip(squares.iter_mut()).enumerate()
                    {
                        let (bucket, sign) = place(width, hash, row);
                        let before = buckets[bucket];
                        let after = before.saturating_add(sign * count);
                        buckets[bucket] = after;
                        // Too large a sum comes back when the counts do.
                        *squares = squares.wrapping_add(square(after)).wrapping_sub(square(before));
                    }
                }
            });
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
        let together = rows_per_hash(self.width);
        let groups = self.keys.iter().zip(self.buckets.chunks(together * self.width));
        let signed = groups.flat_map(|(key, buckets)| {
            let hash = key.hash(number);
            buckets.chunks_exact(self.width).enumerate().map(move |(row, buckets)| {
                let (bucket, sign) = place(self.width, hash, row);
                i128::from(sign * buckets[bucket])
            })
        });
        middle(signed.collect())
    }

    fn space(&self) -> usize {
        8 * self.buckets.len() + 16 * self.keys.len()
    }
}

impl Stored for Table {
    fn write(&self, out: &mut Writer) {
        out.words([self.squares.len() as u64, self.width as u64]);
        out.words(self.keys.iter().flat_map(Key::words));
        out.words(self.buckets.iter().map(|bucket| bucket.cast_unsigned()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (rows, width) = (from.size()?, from.size()?);
        if rows % 2 == 0 || rows > 1 << 16 || !(1..=1 << 28).contains(&width) {
            return Err(Damaged::Content("its rows are out of range"));
        }
        let words = from.words(2 * rows.div_ceil(rows_per_hash(width)))?;
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
        assert_eq!((shape.width(), shape.rows()), (256, 25));
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
        // q = 2/20.48: a row is worth ln(1/(4q(1-q)))/2 = 0.5214.
        let shape = Buckets::proved(&alpha, &Ratio::from(64u64)).unwrap();
        assert_eq!((shape.width(), shape.rows()), (2048, 123));
        assert!(shape.ln_inverse_failure() >= Ratio::from(64u64));
        assert!(Buckets::new(&alpha, 5, 300).unwrap().ln_inverse_failure().is_zero());
        assert!(Buckets::proved(&"1e-6".parse().unwrap(), &Ratio::one()).is_err());
        assert!(Buckets::new(&alpha, 4, 300).is_err() && Buckets::new(&alpha, 5, 0).is_err());
    }

    #[test]
    fn rows_that_share_a_hash_share_no_bit_of_it() {
        assert_eq!([1, 2, 128, 2048, 2400].map(rows_per_hash), [64, 32, 8, 5, 1]);
        for width in [1usize, 2, 128, 2048] {
            let places = |hash: u64| (0..rows_per_hash(width)).map(move |row| place(width, hash, row));
            for bit in 0..64 {
                let moved = places(0).zip(places(1 << bit)).filter(|(before, after)| before != after);
                let used = rows_per_hash(width) * (width.trailing_zeros() as usize + 1);
                assert_eq!(moved.count(), usize::from(bit < used), "bit {bit} of {width}");
            }
        }
    }
}
