//! Ranks in plain words: between which quantiles of the rows an answer lies that may be so many ranks off.

use super::{Condition, ErrorBar, Ranks};
use crate::statistic::Statistic;
use serde_json::Value;

/// About how many rows there are, as clauses behind a bar, and what its ranks are of them.
pub fn rows_words(statistic: &str, rows: i64, error: &ErrorBar, of: &Value) -> String {
    let rows = rows.max(0);
    let of_people = error.conditions().iter().any(|condition| matches!(condition, Condition::PerUnit { .. }));
    let about = format!("; about {rows} {}", if of_people { "people" } else { "rows" });
    match error.in_ranks().filter(|_| rows > 0) {
        Some(Ranks::One(rank)) => format!("{about}, so {}", place_words(statistic, *rank, rows)),
        Some(Ranks::Each(each)) => {
            let (share, digits) = percentage(each.iter().copied().max().unwrap_or(0), rows);
            let quartile = |at: f64| {
                format!("between the {:.digits$} % and the {:.digits$} % quantile", at - share, at + share)
            };
            match of {
                Value::Array(_) => {
                    format!("{about}, so each at most {share:.digits$} % of them from its place")
                }
                _ if share < 25.0 => format!("{about}, so one {}, one {}", quartile(25.0), quartile(75.0)),
                _ => format!("{about}, so each at most {share:.digits$} % of them from its place"),
            }
        }
        None => about,
    }
}

/// Where an answer lies among so many rows that may be so many ranks off.
fn place_words(statistic: &str, rank: u64, rows: i64) -> String {
    let (share, digits) = percentage(rank, rows);
    match Statistic::named(statistic) {
        Some(Statistic::Median) if share < 50.0 => {
            format!("between the {:.digits$} % and the {:.digits$} % quantile", 50.0 - share, 50.0 + share)
        }
        Some(Statistic::Min) if share < 100.0 => format!("not above the {share:.digits$} % quantile"),
        Some(Statistic::Max) if share < 100.0 => {
            format!("not below the {:.digits$} % quantile", 100.0 - share)
        }
        _ => format!("{share:.digits$} % of them at most"),
    }
}

/// What ranks mean in a table of groups, once: that of the group with the fewest rows, where their numbers are known.
pub fn table_ranks_words(statistic: &str, groups: &[(Option<i64>, &ErrorBar)]) -> Option<String> {
    let rank = |error: &ErrorBar| match error.in_ranks()? {
        Ranks::One(rank) => Some(*rank),
        Ranks::Each(each) => each.iter().copied().max(),
    };
    let most = groups.iter().filter_map(|(_, error)| rank(error)).max()?;
    let rows = groups.iter().filter_map(|(rows, error)| Some(((*rows)?, rank(error)?, *error)));
    let fewest = rows.filter(|(rows, ..)| *rows > 0).min_by_key(|(rows, ..)| *rows);
    // Small groups may have ends in place of ranks.
    let all = groups.iter().all(|(_, error)| rank(error).is_some());
    let smallest = if all { "the smallest group" } else { "the smallest group with ranks" };
    let of_fewest = fewest.map(|(rows, rank, error)| {
        if let Some(Ranks::One(_)) = error.in_ranks() {
            format!("; of the about {rows} rows of {smallest} that is {}", place_words(statistic, rank, rows))
        } else {
            let (share, digits) = percentage(rank, rows);
            let median = median_of(statistic, error).filter(|_| share < 50.0);
            let median = median.map_or(String::new(), |rank| {
                format!(", so that its median lies {}", place_words(Statistic::Median.name(), rank, rows))
            });
            format!("; of the about {rows} rows of {smallest} that is {share:.digits$} % at most{median}")
        }
    });
    Some(format!(
        "within {most} ranks: at most {most} rows of its group lie between an answer and the true one{}",
        of_fewest.unwrap_or_default()
    ))
}

/// By how many ranks the median of a summary may be off: the one in the middle of its quantiles.
fn median_of(statistic: &str, error: &ErrorBar) -> Option<u64> {
    match error.in_ranks()? {
        Ranks::Each(each) if Statistic::named(statistic) == Some(Statistic::Summary) => {
            each.get(each.len() / 2).copied()
        }
        _ => None,
    }
}

/// Ranks in percent of the rows, rounded up to two digits, and how many of these stand behind the point.
fn percentage(rank: u64, rows: i64) -> (f64, usize) {
    let share = 100.0 * rank as f64 / rows as f64;
    let digits = match share {
        10.0.. => 0,
        1.0.. => 1,
        _ => 2,
    };
    let power = 10f64.powi(i32::try_from(digits).unwrap_or(0));
    ((share * power).ceil() / power, digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranks_are_quantiles_in_plain_words() {
        let one = ErrorBar::rank(0.95, 32);
        let said = |statistic: &str, error: &ErrorBar, of: Value| rows_words(statistic, 1600, error, &of);
        assert_eq!(
            said("median", &one, json!(5)),
            "; about 1600 rows, so between the 48.0 % and the 52.0 % quantile"
        );
        assert_eq!(said("max", &one, json!(5)), "; about 1600 rows, so not below the 98.0 % quantile");
        let each = ErrorBar::ranks(0.95, &[16, 32]);
        assert_eq!(
            said("quantile", &each, json!([1, 2])),
            "; about 1600 rows, so each at most 2.0 % of them from its place"
        );
        assert_eq!(
            said("iqr", &each, json!(5)),
            "; about 1600 rows, so one between the 23.0 % and the 27.0 % quantile, one between the 73.0 % and the 77.0 % quantile"
        );
        let noise = ErrorBar::noise(0.95, 1.0, 2.0);
        assert_eq!(said("mean", &noise, json!(1.5)), "; about 1600 rows");
    }

    #[test]
    fn tables_say_once_what_ranks_are() {
        let one = ErrorBar::rank(0.95, 43);
        let groups = [(Some(4300), &one), (Some(430), &one), (None, &one)];
        assert_eq!(
            table_ranks_words("median", &groups).unwrap(),
            "within 43 ranks: at most 43 rows of its group lie between an answer and the true one; of the about 430 rows of the smallest \
             group that is between the 40 % and the 60 % quantile"
        );
        let noise = ErrorBar::noise(0.95, 1.0, 2.0);
        assert_eq!(table_ranks_words("mean", &[(Some(9), &noise)]), None);
        let summary = ErrorBar::ranks(0.95, &[16, 12, 12, 12, 16]);
        assert_eq!(
            table_ranks_words("summary", &[(Some(400), &noise), (Some(400), &summary)]).unwrap(),
            "within 16 ranks: at most 16 rows of its group lie between an answer and the true one; of the about 400 rows of the smallest \
             group with ranks that is 4.0 % at most, so that its median lies between the 47.0 % and the 53.0 % quantile"
        );
    }
}
