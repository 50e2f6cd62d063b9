//! Prices that protect little, in words: an epsilon above ten, a delta that is not small beside one over the number of rows.
//!
//! Only public numbers decide: what was asked for, a number of rows that was stated, or one that the release itself tells. The true number
//! of rows is private and never looked at here.

use crate::{
    answer::{BatchAnswer, Group},
    release::{Promise, Release},
    statistic::{Statistic, Truth},
};
use equipoise_core::{ratio::Ratio, wording};
use serde_json::Value;

/// An epsilon above this is warned of.
const MUCH: u64 = 10;
/// Where nobody told the number of rows, a delta above one over this is warned of: data that is worth a question has more rows.
const FEW_ROWS: u64 = 1000;

/// How the number of rows is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Whoever asks stated it.
    Stated(u64),
    /// The answer tells it, with noise, or counts that come to it.
    Released(u64),
    /// It is not known, and nobody looks.
    Unknown,
}

impl Rows {
    /// A number that was stated, if one was and can be read.
    pub fn stated(text: Option<&str>) -> Self {
        text.and_then(|text| text.trim().parse().ok())
            .filter(|&rows| rows > 0)
            .map_or(Self::Unknown, Self::Stated)
    }
}

/// What to be warned of in a promise, one line each.
pub fn warnings(promise: &Promise, rows: Rows) -> Vec<String> {
    let amount = |text: &str| text.parse::<Ratio>().unwrap_or_else(|_| Ratio::zero());
    let (epsilon, delta) = (amount(&promise.epsilon), amount(&promise.delta));
    let whose = if promise.unit == "row" {
        "one row".to_string()
    } else {
        format!("all rows of one {}", wording::shown(&promise.unit))
    };
    let mut found = Vec::new();
    if epsilon > Ratio::from(MUCH) {
        let epsilon = epsilon.to_short_up(6, 12);
        found.push(format!(
            "epsilon {epsilon} is above {MUCH} and protects little: {whose} may make an outcome e^{epsilon} times as likely"
        ));
    }
    let above = |rows: u64| delta > Ratio::one() / &Ratio::from(rows);
    let short = delta.to_short_up(6, 12);
    let beside = match rows {
        Rows::Stated(rows) if above(rows) => format!("one over the stated number of rows, {rows}"),
        Rows::Released(rows) if above(rows) => format!("one over the released number of rows, {rows}"),
        Rows::Unknown if above(FEW_ROWS) => {
            let few = (Ratio::one() / &delta).to_f64().floor();
            format!("one over the number of rows wherever there are more than {few}")
        }
        _ => return found,
    };
    // A hundredth of one over the number of rows, in whole powers of ten.
    let power = match rows {
        Rows::Stated(rows) | Rows::Released(rows) => rows.checked_ilog10().unwrap_or(0) + 3,
        Rows::Unknown => 0,
    };
    let power = power.max(6);
    found.push(format!(
        "delta {short} is above {beside}: this promise would also allow {whose} to be published in full with probability {short}; \
         give a much smaller `delta`, such as 1e-{power}"
    ));
    found
}

/// The same for a release, by the number of rows that was stated or that it tells.
pub(crate) fn of_release(release: &Release, stated: Rows) -> Vec<String> {
    let told = match stated {
        Rows::Unknown => told(release).map_or(Rows::Unknown, Rows::Released),
        stated => stated,
    };
    // Counts of a few groups say little of all rows: what would be warned of without them still is.
    let found = warnings(&release.guarantee, told);
    if found.is_empty() { warnings(&release.guarantee, stated) } else { found }
}

/// The largest number of rows that a release tells.
fn told(release: &Release) -> Option<u64> {
    let own = counted(&release.statistic, &release.value, release.rows, release.groups.as_deref());
    let items = release.answers.iter().flatten().filter_map(of_item);
    own.into_iter().chain(items).max()
}

fn of_item(item: &BatchAnswer) -> Option<u64> {
    let own = counted(&item.statistic, &item.value, item.rows, item.groups.as_deref());
    own.into_iter().chain(item.answers.iter().flatten().filter_map(of_item)).max()
}

fn counted(statistic: &str, value: &Value, rows: Option<i64>, groups: Option<&[Group]>) -> Option<u64> {
    let is_count =
        Statistic::named(statistic).is_some_and(|statistic| statistic.spec().truth == Truth::Count);
    let number = |value: &Value, rows: Option<i64>| {
        rows.or_else(|| value.as_i64().filter(|_| is_count)).and_then(|rows| u64::try_from(rows).ok())
    };
    let of_group = |group: &Group| {
        let items = group.answers.iter().flatten().filter_map(of_item);
        number(&group.value, group.rows).into_iter().chain(items).max().unwrap_or_default()
    };
    let together = groups.map(|groups| groups.iter().map(of_group).fold(0, u64::saturating_add));
    together.or_else(|| number(value, rows)).filter(|&rows| rows > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(epsilon: &str, delta: &str, unit: &str) -> Promise {
        Promise {
            epsilon: epsilon.into(),
            delta: delta.into(),
            adjacency: "add-remove".into(),
            unit: unit.into(),
            max_rows_per_unit: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            per_unit: false,
            composition: None,
            windows: None,
        }
    }

    #[test]
    fn usual_prices_are_not_warned_of() {
        for rows in [Rows::Stated(1000), Rows::Released(1000), Rows::Unknown] {
            assert_eq!(warnings(&promise("10", "0.001", "row"), rows), [""; 0]);
            assert_eq!(warnings(&promise("0.1", "0", "row"), rows), [""; 0]);
        }
        assert_eq!(warnings(&promise("1", "0.002", "row"), Rows::Stated(400)), [""; 0]);
    }

    /// A delta of one half named 1,358 of 5,000 keys that one row has each, and nobody was told.
    #[test]
    fn what_protects_little_is_warned_of_by_public_numbers() {
        assert_eq!(
            warnings(&promise("10.5", "0", "row"), Rows::Unknown),
            [
                "epsilon 10.5 is above 10 and protects little: one row may make an outcome e^10.5 times as likely"
            ]
        );
        let said = |unit: &str, rows: Rows| warnings(&promise("1", "0.5", unit), rows).concat();
        assert_eq!(
            said("row", Rows::Stated(5000)),
            "delta 0.5 is above one over the stated number of rows, 5000: this promise would also allow one row to be published in \
             full with probability 0.5; give a much smaller `delta`, such as 1e-6"
        );
        // "delta 0.000001 is above .. 9999996: give a much smaller one, such as 1e-6".
        assert!(said("row", Rows::Released(9_999_996)).ends_with("such as 1e-9"));
        assert!(
            said("id", Rows::Released(3))
                .contains("the released number of rows, 3: this promise would also allow all rows of one id")
        );
        assert!(
            said("row", Rows::Unknown)
                .contains("one over the number of rows wherever there are more than 2:")
        );
        assert_eq!(warnings(&promise("11", "1/3", "row"), Rows::Stated(4)).len(), 2);
        assert_eq!(
            (Rows::stated(Some("12")), Rows::stated(Some("0")), Rows::stated(None)),
            (Rows::Stated(12), Rows::Unknown, Rows::Unknown)
        );
    }
}
