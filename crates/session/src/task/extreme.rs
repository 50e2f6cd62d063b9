//! The least or the largest value of a column, from inside: a value that a few rows at most lie beyond.
//!
//! # Guarantee
//!
//! Epsilon under both adjacencies, whatever the rows. Nineteen twentieths buy the value ([`shifted_inverse`]), the rest a noisy number of
//! rows with a value, below which there is no answer. A row without a value is no row here, under replace too: a row that is
//! replaced by one of them goes, which costs no more. Where rows come and go, the number of those without is drawn with the same noise
//! after a refusal ([`holding`](super::holding)).
//!
//! # Why from inside
//!
//! The largest value itself is one person's, and hangs on that row alone: nobody may tell it. So the answer is at most the largest value,
//! and at least the one that so many rows lie above; how many depends on epsilon and on how many answers are possible. The least value
//! is the largest one of the mirror image.

use super::{
    Answering, Expected,
    count::{whole_noise, within},
    guard::without_a_value,
    holding::{DOUBT, Holding},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar, rounded_to},
    error::PlanError,
    lattice::AnswerLattice,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Around, RowFacts, places::Places},
    statistic::Statistic,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::{
        laplace,
        shifted_inverse::{self, Answers, ShiftedInverse},
    },
    ratio::Ratio,
    stability::{Median, Reach, Sorted, max, reachable::Target},
};
use std::sync::Arc;

/// The answer lies anywhere among the possible ones with at most this probability. It is less than what a bar may fail with: a bar that fails
/// is to miss by some ranks, and not by everything.
const ASTRAY: (i64, u64) = (1, 1_000_000);
/// The part of epsilon that buys the number of rows.
const ROWS_SHARE: (i64, u64) = (1, 20);

/// The least or the largest value of one column.
#[derive(Clone, Debug)]
pub(crate) struct Extreme {
    need: Need,
    space: AnswerLattice,
    largest: bool,
    mechanism: Box<shifted_inverse::Calibrated>,
    /// So many rows may lie beyond the answer.
    beyond: u64,
    rows: Arc<laplace::Calibrated>,
    rows_within: i64,
    cost: Loss,
    confidence: f64,
    /// Are rows moved into a declared range, or to multiples of a resolution?
    moved: bool,
    /// What is said of rows without a value, where they can be counted for nothing.
    holding: Option<Holding>,
}

impl Extreme {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let column = said.column()?;
        let space = said.lattice(column)?;
        let bought = Eps::new(said.eps().ratio() * &Ratio::new(ROWS_SHARE.0, ROWS_SHARE.1))?;
        let rows = whole_noise(&bought)?;
        let range = space.range();
        // All places of 64 bits are one more than 64 bits count; nobody misses the last.
        let count = u64::try_from(i128::from(range.hi()) - i128::from(range.lo()) + 1).unwrap_or(u64::MAX);
        let mechanism = ShiftedInverse {
            eps: Eps::new(said.eps().ratio() - bought.ratio())?,
            answers: Answers::Even { first: Ratio::zero(), step: Ratio::one(), count },
            beta: said.failure().clone().min(Ratio::new(ASTRAY.0, ASTRAY.1)),
        }
        .calibrate()?;
        let beyond = mechanism.accuracy(said.failure()).unwrap_or(mechanism.limit());
        Ok(Self {
            need: said.numbers(column)?,
            space,
            largest: said.statistic() == Statistic::Max,
            mechanism: Box::new(mechanism),
            beyond,
            rows_within: within(&rows, said.failure())?,
            rows,
            cost: Loss::pure(said.eps()),
            confidence: said.confidence(),
            moved: said.range().is_some() || said.has_step(),
            holding: Holding::where_free(said),
        })
    }

    /// What the parts cost, added up.
    #[cfg(test)]
    pub fn spent(&self) -> Loss {
        self.mechanism.cost().compose(&self.rows.cost())
    }

    /// There is an answer from so many rows on: more than the mechanism looks at.
    fn needed(&self) -> u64 {
        self.mechanism.limit() + 1
    }

    fn bar(&self) -> ErrorBar {
        let rounded = self.space.rounded().map(|digits| Condition::RoundedTo(digits.digits()));
        let side = if self.largest { "above" } else { "below" };
        let inside = Condition::Given(if self.moved {
            format!(
                "rows are moved into the range and to its steps; the answer is not {side} the true one of these"
            )
        } else {
            format!("the answer is not {side} the true one")
        });
        ErrorBar::rank(self.confidence, self.beyond).on(rounded).on(inside)
    }

    /// How many rows have a value, to stand behind "too few rows".
    fn seen<C: Coins>(&self, gathered: &dyn RowFacts, counted: i64, coins: &mut C) -> String {
        match &self.holding {
            Some(holding) => {
                let without = i64::try_from(without_a_value(gathered, &self.need)).unwrap_or(i64::MAX);
                let without = self.rows.run_whole(without, coins);
                format!(" ({})", holding.words(counted, without, self.rows_within))
            }
            // As few as there may be none.
            None if counted <= self.rows_within => " (perhaps none holds a value)".to_string(),
            None => String::new(),
        }
    }

    /// A place of the lattice, or the one that it has in the mirror.
    fn mirrored(&self, place: i64) -> i64 {
        if self.largest {
            return place;
        }
        let range = self.space.range();
        let mirrored = i128::from(range.lo()) + i128::from(range.hi()) - i128::from(place);
        i64::try_from(mirrored).expect("between the ends")
    }

    /// The rows that are looked at: so many largest ones as the mechanism asks for, and how many there are in all.
    fn far_rows(&self, gathered: &dyn RowFacts) -> (Vec<i64>, u64) {
        let places = Places { space: self.space.clone(), adjacency: Adjacency::AddRemove };
        // The last row, or the first: as far from the median as there are rows.
        let shift = if self.largest { i64::MAX } else { i64::MIN };
        let target = Target::shifted(Median.quantile(), shift);
        let around = Around { target, reach: Reach::Ranks(self.mechanism.limit()) };
        let window = gathered.windows(&self.need, &places, &[around]).remove(0);
        (window.values().iter().map(|&place| self.mirrored(place)).collect(), window.rows())
    }
}

impl Answering for Extreme {
    fn mechanism(&self) -> &'static str {
        "shifted-inverse"
    }

    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need.clone()]
    }

    fn expected(&self) -> Expected {
        let (above, beyond) = if self.largest { ("above", "at most") } else { ("below", "at least") };
        let rounded = self.space.rounded().map(|digits| format!(" of rows {}", rounded_to(digits.digits())));
        let words = format!(
            "{beyond} the true value{}, with at most {} rows {above} it; refused when a noisy count of the rows (off by at most {}, from \
             {}/{} of epsilon) is below {}",
            match (self.moved, rounded) {
                (true, Some(rounded)) => format!("{rounded} and moved into the range"),
                (true, None) => " of rows moved into the range and to its steps".to_string(),
                (false, rounded) => rounded.unwrap_or_default(),
            },
            self.beyond,
            self.rows_within,
            ROWS_SHARE.0,
            ROWS_SHARE.1,
            self.needed()
        );
        Expected { error: Some(self.bar()), words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let (far, all) = self.far_rows(gathered);
        let counted = self.rows.run_whole(i64::try_from(all).unwrap_or(i64::MAX), coins);
        let range = self.space.range();
        let removals = max::removals(&Sorted::new(&far, range), self.mechanism.limit());
        // Drawn in every case, so that a refusal shows nothing but the count.
        let height = self.mechanism.run(&removals, coins);
        let place = (Ratio::from(range.lo()) + &height).floor_i64().unwrap_or(range.hi());
        let answer = if u64::try_from(counted).is_ok_and(|rows| rows >= self.needed()) {
            Answer::released(self.space.value(self.mirrored(place)), self.bar())
        } else {
            let (beyond, needed) = (self.beyond, self.needed());
            let seen = self.seen(gathered, counted, coins);
            // More epsilon helps no column without numbers.
            let more = format!(
                ": {beyond} rows may lie beyond the answer, which takes at least {needed} rows; raise epsilon, or declare `range` and \
                 `resolution`"
            );
            let more = if seen.contains(DOUBT) { String::new() } else { more };
            Answer::refused(format!("too few rows{seen}{more}"))
        };
        answer.with_rows(Some(counted))
    }

    fn answer_type(&self) -> Option<String> {
        self.space.kind().map(|kind| kind.to_string())
    }

    fn predicted(&self) -> Option<f64> {
        Some(self.beyond as f64)
    }

    fn rows_needed(&self) -> Option<u64> {
        Some(self.needed())
    }

    fn rows_assured(&self) -> Option<u64> {
        Some(self.needed().saturating_add(self.rows_within()))
    }

    fn rows_within(&self) -> u64 {
        self.rows_within.unsigned_abs()
    }
}
