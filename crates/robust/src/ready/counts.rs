//! The sum of squared counts, and the counts of single items, of a stream in which items come and go.

use super::{
    Promise,
    paced::{Paced, Sizes},
    split, split_signed,
    way::Way,
};
use crate::{
    Guarantee, Oblivious,
    choose::Method,
    copies::Spent,
    grid::Grid,
    hash::Key,
    parameters::Wanted,
    sketch::{
        Counts, Item, RefusedItem,
        table::{Buckets, F2, Point},
    },
    state::{Damaged, Kind, Stored, seal, unseal},
};
use equipoise_core::{
    coins::Coins,
    loss::{Eps, ParameterError},
    ratio::Ratio,
};

/// Sizes of one's own, which no theorem covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Copies.
    pub copies: usize,
    /// Rows of a copy, an odd number.
    pub rows: usize,
    /// Buckets of a row.
    pub width: usize,
    /// The loss of an answer.
    pub loss: Eps,
}

/// Items that come and go, in copies of a sketch.
pub struct Sketched<A: Oblivious> {
    items: Key,
    /// All counts of the stream without their signs, summed: so that no bucket and no sum of squares overflows.
    weight: u64,
    way: Way<A>,
}

/// The most that all counts of a stream may sum to. Squared counts then sum to 2^120 at most, the end of their grid.
const MOST_WEIGHT: u64 = 1 << 60;

/// The sum of squared counts.
pub type RobustF2 = Sketched<F2>;

/// The counts of single items.
pub type RobustPoint = Sketched<Point>;

/// What the two sketches of rows have in common.
pub trait RowSketch:
    Sizes + Oblivious<Shape = Buckets, Input = Counts, Update = Item, Refused = RefusedItem>
{
    /// What a stored structure is called.
    const STORED_AS: Kind;
}

impl RowSketch for F2 {
    const STORED_AS: Kind = *b"rows-f2\0";
}

impl RowSketch for Point {
    const STORED_AS: Kind = *b"rows-at\0";
}

impl Sizes for F2 {
    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError> {
        split(alpha, 1 << 120)
    }

    fn shape(_: &Counts, alpha: &Ratio, ln_inverse: &Ratio) -> Result<Buckets, ParameterError> {
        Buckets::proved(alpha, ln_inverse)
    }

    fn some_question() -> &'static () {
        &()
    }

    fn some_update() -> Item {
        Item { key: 1, count: 1 }
    }
}

impl Sizes for Point {
    fn grid(alpha: &Ratio) -> Result<(Grid, Ratio), ParameterError> {
        split_signed(alpha, 1 << 61)
    }

    fn shape(_: &Counts, alpha: &Ratio, ln_inverse: &Ratio) -> Result<Buckets, ParameterError> {
        Buckets::proved(alpha, ln_inverse)
    }

    fn some_question() -> &'static u64 {
        &0
    }

    fn some_update() -> Item {
        Item { key: 1, count: 1 }
    }
}

impl RobustF2 {
    /// One sketch after another, or copies behind a monitor, for an answer that changes at most so often.
    pub fn of_changes<C: Coins>(
        method: Method,
        promise: &Promise,
        changes: u64,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let way = Way::of_changes(method, promise, changes, &Counts::new(), coins)?;
        Ok(Self { items: Key::draw(coins), weight: 0, way })
    }
}

impl<A: RowSketch> Sketched<A> {
    /// Copies of proved sizes, or of one's own.
    pub fn new<C: Coins>(
        promise: &Promise,
        own: Option<&Own>,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        let copies = if let Some(own) = own {
            let (grid, alpha) = A::grid(promise.alpha()?)?;
            let wanted = Wanted { answers: promise.answers, beta: promise.beta.clone(), grid: grid.len() };
            let plan = wanted.heuristic(own.copies, own.loss.clone())?;
            let shape = Buckets::new(&alpha, own.rows, own.width)?;
            Paced::of(promise, plan, shape, Counts::new(), coins)?
        } else {
            Paced::begin(promise, Counts::new(), coins)?
        };
        Ok(Self { items: Key::draw(coins), weight: 0, way: Way::Copies(copies) })
    }

    /// The number that stands for an item.
    pub fn number(&self, item: &[u8]) -> u64 {
        self.items.hash_bytes(item)
    }

    /// Items come, or go where their counts are negative. Stops at the first that is refused, and says how many were followed.
    pub fn update(&mut self, items: &[Item]) -> Result<(), (usize, RefusedItem)> {
        let mut weight = self.weight;
        let fits = |item: &&Item| {
            let more = weight.checked_add(item.count.unsigned_abs()).filter(|&sum| sum <= MOST_WEIGHT);
            weight = more.unwrap_or(weight);
            more.is_some()
        };
        let good = items.iter().take_while(fits).count();
        self.way.update_all(&items[..good])?;
        self.weight = weight;
        if good < items.len() { Err((good, RefusedItem::TooLarge)) } else { Ok(()) }
    }

    /// The answer.
    pub fn query<C: Coins>(&mut self, question: &A::Question, coins: &mut C) -> Result<i128, Spent> {
        self.way.query(question, coins)
    }

    /// How many answers are left in this phase.
    pub fn queries_left(&self) -> u64 {
        self.way.queries_left()
    }

    /// How often the answer may still change; `None` without a limit.
    pub fn changes_left(&self) -> Option<u64> {
        self.way.changes_left()
    }

    /// Count an answer that was given before: how a structure is rebuilt from a log.
    pub fn count_answer(&mut self) {
        self.way.count_answer();
    }

    /// Does it keep its input, so that a stored state has no coins to use twice?
    pub fn keeps_input(&self) -> bool {
        self.way.keeps_input()
    }

    /// What stands behind the answers.
    pub fn guarantee(&self) -> Guarantee {
        self.way.guarantee()
    }

    /// How many copies there are.
    pub fn copy_count(&self) -> usize {
        self.way.copy_count()
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        self.way.space()
    }

    /// The state as bytes. They hold keys: keep them secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(A::STORED_AS, |out| {
            self.items.write(out);
            out.word(self.weight);
            self.way.write(out);
        })
    }

    /// Go on from a stored state; once only, unless it keeps its input.
    pub fn from_bytes<C: Coins>(bytes: &[u8], coins: &mut C) -> Result<Self, Damaged> {
        unseal(A::STORED_AS, bytes, |from| {
            Ok(Self { items: Key::read(from)?, weight: from.word()?, way: Way::read(from, coins)? })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TestWords, state::assert_refuses_damage};

    fn promise(answers: u64, keep: bool) -> Promise {
        let (alpha, beta) = ("0.9".parse().unwrap(), "0.1".parse().unwrap());
        Promise { alpha, beta, answers, asked: 0, keep }
    }

    #[test]
    fn rows_go_on_after_they_were_stored() {
        let mut coins = TestWords(22);
        let own = Own { copies: 60, rows: 3, width: 64, loss: "2".parse().unwrap() };
        let mut f2 = RobustF2::new(&promise(10, true), Some(&own), &mut coins).unwrap();
        f2.update(&[Item { key: 1, count: 100 }]).unwrap();
        let bytes = f2.to_bytes();
        let mut f2 = RobustF2::from_bytes(&bytes, &mut coins).unwrap();
        let answer = f2.query(&(), &mut coins).unwrap();
        assert!((8_900..=10_000).contains(&answer), "{answer}");
        assert_eq!((f2.queries_left(), f2.guarantee()), (9, Guarantee::Heuristic));
        let other = RobustPoint::from_bytes(&bytes, &mut coins).err().unwrap().to_string();
        assert_eq!(
            other,
            "the state is of the structure 'rows-f2', not 'rows-at'; give the one that was stored"
        );
        assert_refuses_damage(&bytes, |bytes| RobustF2::from_bytes(bytes, &mut TestWords(1)).err());
    }

    #[test]
    fn a_count_beyond_a_million_is_answered_within_the_promise() {
        let mut coins = TestWords(24);
        let mut point = RobustPoint::new(&promise(10, false), None, &mut coins).unwrap();
        assert_eq!(point.guarantee(), Guarantee::Proved);
        for count in [1i64 << 40, -(1 << 41)] {
            point.update(&[Item { key: 7, count }, Item { key: 8, count: 3 }]).unwrap();
        }
        // The root of squared counts is 2^40 and a little.
        let answer = point.query(&7, &mut coins).unwrap();
        assert!((answer + (1 << 40)).abs() * 10 <= 9 << 40, "{answer}");
        assert!(point.query(&9, &mut coins).unwrap().abs() * 10 <= 9 << 40);
    }

    #[test]
    fn counts_that_would_overflow_are_refused_and_the_rest_goes_on() {
        let mut coins = TestWords(25);
        let mut f2 = RobustF2::new(&promise(10, false), None, &mut coins).unwrap();
        let item = |count| Item { key: 1, count };
        let refused = f2.update(&[item(1 << 59), item(i64::MIN), item(1)]).unwrap_err();
        assert_eq!(refused, (1, RefusedItem::TooLarge));
        assert_eq!(
            refused.1.to_string(),
            "all counts of the stream together would exceed 2^60; use a larger unit"
        );
        f2.update(&[item(1 - (1 << 59))]).unwrap();
        assert_eq!(f2.query(&(), &mut coins).unwrap(), 1);
        assert_eq!(f2.update(&[item(2)]).unwrap_err().0, 0);
    }

    #[test]
    fn squared_counts_in_other_ways() {
        let mut coins = TestWords(26);
        let promise = Promise { alpha: "0.5".parse().unwrap(), ..promise(10, false) };
        for method in [Method::Switching, Method::Flips] {
            let mut f2 = RobustF2::of_changes(method, &promise, 3, &mut coins).unwrap();
            f2.update(&[Item { key: 1, count: 100 }]).unwrap();
            let mut f2 = RobustF2::from_bytes(&f2.to_bytes(), &mut coins).unwrap();
            let answer = f2.query(&(), &mut coins).unwrap();
            assert!((9_000..=10_000).contains(&answer), "{answer}");
            assert_eq!((f2.queries_left(), f2.changes_left()), (9, Some(2)));
            assert_eq!(f2.guarantee(), Guarantee::Proved);
        }
    }
}
