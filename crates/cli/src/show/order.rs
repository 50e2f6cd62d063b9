//! In which order groups are shown: by their keys, or by their answers.

use clap::ValueEnum;
use equipoise_session::{
    answer::Group,
    release::{Outcome, Release},
    statistic::Statistic,
};
use serde_json::Value;
use std::cmp::Ordering;

/// In which order groups are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// By key, numbers as numbers.
    #[default]
    Key,
    /// The largest answer first; refused groups last.
    Largest,
    /// The smallest answer first; refused groups last.
    Smallest,
}

/// Bring the groups of a release into this order, for words and pictures; JSON keeps the order in which they were released.
pub(crate) fn sort(release: &mut Release, order: Order) {
    let items = release.answers.iter_mut().flatten();
    let items = items.filter_map(|item| Some((item.statistic.as_str(), item.groups.as_mut()?)));
    let own = release.groups.as_mut().map(|groups| (release.statistic.as_str(), groups));
    for (statistic, groups) in own.into_iter().chain(items) {
        // Bins and points are released from the lowest on, which their texts do not tell.
        let binned = [Statistic::Histogram, Statistic::Ecdf].iter().any(|one| one.name() == statistic);
        if order == Order::Key && binned && groups.iter().any(|group| is_bin(&group.key)) {
            continue;
        }
        groups
            .sort_by(|one, other| by_answer(one, other, order).then_with(|| compared(&one.key, &other.key)));
    }
}

/// Is it the text of a bin, or of a point of a distribution function?
fn is_bin(key: &Value) -> bool {
    // Of a group's bins, the last of its keys.
    let own = key.as_array().and_then(|keys| keys.last()).unwrap_or(key);
    own.as_str().is_some_and(|key| {
        key.contains(" .. ") || ["below ", "above ", "up to ", "at "].iter().any(|word| key.starts_with(word))
    })
}

fn by_answer(one: &Group, other: &Group, order: Order) -> Ordering {
    if order == Order::Key {
        return Ordering::Equal;
    }
    match (answer(one), answer(other)) {
        (Some(one), Some(other)) if order == Order::Largest => compared(other, one),
        (Some(one), Some(other)) => compared(one, other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// What a group is sorted by: its answer, the first of a list, or the first statistic of a summary that has one.
fn answer(group: &Group) -> Option<&Value> {
    let first = |value: &'_ Value| !value.is_null();
    if let Some(answers) = &group.answers {
        let released = answers.iter().filter(|item| item.outcome == Outcome::Released);
        return released.map(|item| &item.value).find(|value| first(value));
    }
    match &group.value {
        Value::Array(values) => values.iter().find(|value| first(value)),
        one => Some(one).filter(|value| first(value)),
    }
}

/// Empty fields first, then numbers by their size, then texts by their letters; lists by their first difference.
fn compared(one: &Value, other: &Value) -> Ordering {
    if let (Value::Array(one), Value::Array(other)) = (one, other) {
        let parts = one.iter().zip(other).map(|(one, other)| compared(one, other));
        return parts.fold(Ordering::Equal, Ordering::then).then(one.len().cmp(&other.len()));
    }
    let number = |value: &Value| {
        value
            .as_f64()
            .or_else(|| value.as_str()?.trim().parse().ok())
            .filter(|number: &f64| number.is_finite())
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    match (number(one), number(other)) {
        // Numbers that no float tells apart are told apart as texts.
        (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| text(one).cmp(&text(other))),
        (Some(_), None) if other.is_null() => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) if one.is_null() => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => (!one.is_null()).cmp(&!other.is_null()).then_with(|| text(one).cmp(&text(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A release of these keys with these answers.
    fn release(groups: &[(Value, Value)]) -> Release {
        let groups: Vec<Value> = groups
            .iter()
            .map(|(key, value)| {
                let outcome = if value.is_null() { "refused" } else { "released" };
                json!({ "key": key, "outcome": outcome, "value": value, "error": null })
            })
            .collect();
        serde_json::from_value(json!({
            "outcome": "released", "value": null, "statistic": "count", "data": "d.csv", "mechanism": "laplace",
            "guarantee": { "epsilon": "1", "delta": "0", "adjacency": "add-remove", "unit": "row" },
            "error": null, "groups": groups, "spent": { "epsilon": "1", "delta": "0" }, "remaining": null,
            "receipt": null,
        }))
        .expect("a release")
    }

    fn keys(groups: &[(Value, Value)], order: Order) -> Vec<Value> {
        let mut release = release(groups);
        sort(&mut release, order);
        release.groups.expect("groups").into_iter().map(|group| group.key).collect()
    }

    #[test]
    fn keys_are_sorted_as_numbers_where_they_are_numbers() {
        let groups = ["10", "9", "b", "-1.5", "a", "1e3"].map(|key| (json!(key), json!(1)));
        let groups = [&groups[..], &[(Value::Null, json!(1))]].concat();
        let sorted =
            [Value::Null, json!("-1.5"), json!("9"), json!("10"), json!("1e3"), json!("a"), json!("b")];
        assert_eq!(keys(&groups, Order::Key), sorted);
        let pairs = [["b", "2"], ["a", "10"], ["a", "2"]].map(|key| (json!(key), json!(1)));
        assert_eq!(keys(&pairs, Order::Key), [json!(["a", "2"]), json!(["a", "10"]), json!(["b", "2"])]);
    }

    #[test]
    fn answers_are_sorted_both_ways_and_refused_groups_come_last() {
        let groups =
            [("a", json!(5)), ("b", Value::Null), ("c", json!(40.5)), ("d", json!(5)), ("e", json!(-1))];
        let groups = groups.map(|(key, value)| (json!(key), value));
        assert_eq!(keys(&groups, Order::Largest), ["c", "a", "d", "e", "b"]);
        assert_eq!(keys(&groups, Order::Smallest), ["e", "a", "d", "c", "b"]);
        // Decimals and dates are texts; of lists the first one that has rows counts.
        let texts = [("a", json!("9.50")), ("b", json!("10.25")), ("c", json!([null, 9.7]))];
        let texts = texts.map(|(key, value)| (json!(key), value));
        assert_eq!(keys(&texts, Order::Largest), ["b", "c", "a"]);
    }

    #[test]
    fn bins_stay_in_the_order_in_which_they_were_released() {
        let bins = ["below 0", "0 .. 2000", "2000 .. 4000", "10000 .. 12000", "above 12000"];
        let groups = bins.map(|key| (json!(key), json!(1)));
        let sorted = |statistic: &str, groups: &[(Value, Value)]| {
            let mut release = release(groups);
            release.statistic = statistic.to_string();
            sort(&mut release, Order::Key);
            release.groups.expect("groups").into_iter().map(|group| group.key).collect::<Vec<_>>()
        };
        assert_eq!(sorted("histogram", &groups), bins);
        assert_ne!(sorted("count", &groups), bins, "texts of a column that look like bins are none");
        let of_towns = ["a", "b"].iter().flat_map(|town| bins.map(|bin| (json!([town, bin]), json!(1))));
        let of_towns: Vec<(Value, Value)> = of_towns.collect();
        let keys: Vec<Value> = of_towns.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(sorted("histogram", &of_towns), keys);
        let drawn = ["at 200", "at 1000"].map(|key| (json!(key), json!(1)));
        assert_eq!(sorted("ecdf", &drawn), ["at 200", "at 1000"]);
    }

    #[test]
    fn the_order_is_total() {
        let wild = ["nan", "inf", "", "007", "7", "7.0", "\u{1b}", "-0", "0", "1e400"];
        let wild: Vec<Value> = wild.iter().map(|text| json!(text)).chain([Value::Null]).collect();
        for (one, other) in wild.iter().flat_map(|one| wild.iter().map(move |other| (one, other))) {
            assert_eq!(compared(one, other), compared(other, one).reverse(), "{one} {other}");
            assert_eq!(compared(one, other) == Ordering::Equal, one == other, "{one} {other}");
            for third in &wild {
                if compared(one, other).is_le() && compared(other, third).is_le() {
                    assert!(compared(one, third).is_le(), "{one} {other} {third}");
                }
            }
        }
    }
}
