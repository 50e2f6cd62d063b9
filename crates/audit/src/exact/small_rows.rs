//! What the stable releases share: statistics of up to seven small rows, with their slacks.

use crate::{
    Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    outcome::Slack,
    stability::{Answer, Median, Quantile, Range, Reach, ValueAndSlack, mode},
    tape::{Tape, enumerate},
};

/// The values of a row.
pub(super) const VALUES: [i64; 5] = [0, 1, 2, 3, 4];

/// The range of a row.
pub(super) fn range() -> Range {
    Range::new(VALUES[0], VALUES[4]).expect("in order")
}

/// A statistic of rows, with its slack.
pub(super) type Statistic = fn(&[i64], Adjacency) -> ValueAndSlack<i64>;

/// The low median.
pub(super) fn median(rows: &[i64], adjacency: Adjacency) -> ValueAndSlack<i64> {
    Median.value_and_slack(&Median.window(rows, range(), Reach::Ranks(0)), adjacency)
}

/// The lower quartile.
pub(super) fn quartile(rows: &[i64], adjacency: Adjacency) -> ValueAndSlack<i64> {
    let quartile = Quantile::new(&"1/4".parse().expect("a fraction")).expect("between 0 and 1");
    quartile.value_and_slack(&quartile.window(rows, range(), Reach::Ranks(0)), adjacency)
}

/// The most frequent value.
pub(super) fn mode(rows: &[i64], adjacency: Adjacency) -> ValueAndSlack<i64> {
    mode::value_and_slack(rows, range(), adjacency)
}

/// The worst delta of a release over all data sets of so many rows; `distort` stands between the true slack
/// and the release.
pub(super) fn measure<Y: Ord>(
    claim: &Claim,
    size: usize,
    statistic: Statistic,
    distort: fn(Slack) -> Slack,
    release: impl Fn(Answer<i64>, Slack, &mut Tape) -> Y,
) -> Measured {
    claim.over_universe(&VALUES, size, |rows| {
        let ValueAndSlack { value, slack } = statistic(rows, claim.adjacency);
        let slack = distort(slack);
        enumerate(&pairs::floor(), |tape| release(value, slack, tape))
    })
}

/// The slack as it is.
pub(super) fn honest(slack: Slack) -> Slack {
    slack
}

/// The slack of a careless count: one row too many.
pub(super) fn one_too_many(slack: Slack) -> Slack {
    let rows = slack.until_change().map(|rows| rows + 1);
    rows.map_or(slack, |rows| Slack::rows_to_change(rows, slack.adjacency()))
}
