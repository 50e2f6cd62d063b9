//! How many rows hold a value of a column and how many hold none: one pair of noisy numbers, for what to say where there is no answer.
//!
//! # Guarantee
//!
//! Under add/remove, what the noise of either number costs: a row holds a value or none, so that whoever comes or goes moves one of both
//! numbers, and by one. Under replace a row can move both, which nobody has paid for: there is no pair then.
//!
//! # Why it is free
//!
//! A question that says how many rows it is about has noise for them already: a bought number, the two sides of a sum. The number of
//! rows without a value is one more coordinate of the same noise, which moves only where the others do not.

pub(crate) use crate::bar::DOUBT;
use crate::{resolved::ResolvedRequest, source::ColumnType, statistic::Statistic};
use equipoise_core::{adjacency::Adjacency, wording};

/// What rows hold or do not, in words.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    column: String,
    /// Nothing where it is a condition, which is true, false or unknown.
    noun: Option<&'static str>,
}

impl Holding {
    /// Of the column that a question is about.
    pub fn of(said: &ResolvedRequest) -> Self {
        let column = said.column().ok().or(said.group_by().last().copied());
        let kind = column.and_then(|column| said.kind(column));
        let noun = match kind {
            _ if said.statistic() == Statistic::Share => None,
            None | Some(ColumnType::Float | ColumnType::Integer | ColumnType::Decimal { .. }) => {
                Some("a number")
            }
            Some(_) => Some("a value"),
        };
        Self { column: column.map_or(String::new(), |column| said.column_name(column)), noun }
    }

    /// The same where a pair costs nothing: rows come and go, and each is counted by itself.
    pub fn where_free(said: &ResolvedRequest) -> Option<Self> {
        (said.adjacency() == Adjacency::AddRemove && said.fold().is_none()).then(|| Self::of(said))
    }

    /// How many of all rows hold a value, by two noisy numbers, each of which may be off by `within`.
    pub fn words(&self, with: i64, without: i64, within: i64) -> String {
        // Where hardly any row has one, more epsilon or a range helps nobody.
        let doubt = if hardly_any(with, without, within) {
            format!(": {DOUBT}")
        } else if none_of_few(with, without, within) {
            // Noise does not tell a column of texts from one with many empty fields here.
            "; perhaps none does".to_string()
        } else {
            String::new()
        };
        let (with, without) = (with.max(0), without.max(0));
        let all = with.saturating_add(without);
        // Two numbers that are mostly noise read like a column with many empty fields.
        let off = if within > all / 10 { format!(", each give or take {within}") } else { String::new() };
        match self.noun {
            Some(noun) => {
                let column = wording::shown(&self.column);
                format!("about {with} of about {all} rows hold {noun} in '{column}'{off}{doubt}")
            }
            None => format!("of about {all} rows the condition is true or false for about {with}{off}"),
        }
    }
}

/// Does hardly any row hold a value? Noise alone is no reason to doubt.
fn hardly_any(with: i64, without: i64, within: i64) -> bool {
    let (with, without) = (with.max(0), without.max(0));
    with.saturating_add(within) < with.saturating_add(without).saturating_sub(within) / 10
}

/// May no row hold a value, where some rows surely hold none and most seem to?
fn none_of_few(with: i64, without: i64, within: i64) -> bool {
    with <= within && without > within && without / 2 >= with
}

/// May no row hold a value, though there are rows enough?
pub(super) fn maybe_none(with: i64, without: i64, within: i64) -> bool {
    with <= within && hardly_any(with, without, within)
}

#[cfg(test)]
mod tests {
    use super::{super::divisor::Divisor, *};
    use equipoise_core::{
        loss::{Eps, Loss},
        ratio::Ratio,
        tape::{delta_between, enumerate},
        universe::neighbouring_pairs,
    };

    /// Of 300 numbers at epsilon 0.01 noise found 25, and 642 that are none: an answer asked whether the column holds numbers.
    #[test]
    fn noise_alone_is_no_reason_to_doubt_a_column() {
        let carrier = Holding { column: "carrier".into(), noun: Some("a number") };
        assert_eq!(
            carrier.words(-4, 336_812, 5000),
            "about 0 of about 336812 rows hold a number in 'carrier': does the column hold numbers?"
        );
        assert!(carrier.words(9, 5000, 50).contains(DOUBT));
        // Of 344 penguins "about 360 of about 1782" held a number, as if most had no weight.
        assert_eq!(
            carrier.words(25, 642, 1500),
            "about 25 of about 667 rows hold a number in 'carrier', each give or take 1500"
        );
        assert!(!carrier.words(0, 713, 700).contains(DOUBT));
        assert!(!carrier.words(0, 690, 700).contains("perhaps"), "there may be no rows at all");
        // Of a column of texts of 344 rows nothing was said.
        for text in [carrier.words(20, 331, 60), carrier.words(-7, 344, 60)] {
            assert!(text.ends_with("; perhaps none does"), "{text}");
        }
        for text in [carrier.words(61, 283, 60), carrier.words(40, 70, 60)] {
            assert!(!text.contains("perhaps"), "{text}");
        }
    }

    /// Rows with a value and rows without, both shown: the price of one where rows come and go. Mutants: a row without a value counts
    /// twice; a row is replaced by one without a value.
    #[test]
    fn a_pair_costs_what_one_of_its_numbers_does() {
        let eps: Eps = "1".parse().unwrap();
        let bought = Divisor::bought(&eps, &Ratio::new(1, 20)).unwrap();
        let worst = |adjacency: Adjacency, times: u64| {
            let law = |rows: &[i64]| {
                let with = rows.iter().sum::<i64>().unsigned_abs();
                let without = (rows.len() as u64 - with) * times;
                enumerate(&"1e-8".parse().unwrap(), |tape| {
                    (bought.noisy(with, tape), bought.noisy(without, tape))
                })
            };
            let pairs = neighbouring_pairs(&[0, 1], 1, adjacency);
            let deltas = pairs.into_iter().map(|(a, b)| delta_between(eps.ratio(), &law(&a), &law(&b)));
            deltas.reduce(|one, other| one.max(&other)).expect("some pair")
        };
        let [promised, caught] = ["1e-3", "0.1"].map(|text| text.parse::<Ratio>().unwrap());
        assert!(worst(Adjacency::AddRemove, 1).upper() <= promised);
        assert!(worst(Adjacency::AddRemove, 2).lower() > caught);
        assert!(worst(Adjacency::Replace, 1).lower() > caught);
        assert_eq!(bought.cost(), Some(Loss::pure(&eps)));
    }

    /// Twenty numbers among a million rows have a mean, though hardly any row has one.
    #[test]
    fn few_values_that_are_surely_there_are_no_reason_to_refuse() {
        assert!(hardly_any(20, 1_000_000, 8) && !maybe_none(20, 1_000_000, 8));
        assert!(maybe_none(3, 1_000_000, 8) && !maybe_none(3, 60, 8));
    }
}
