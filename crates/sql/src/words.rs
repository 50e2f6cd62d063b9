//! Lines of the session in the words of a query: what to declare or to state is said as a query says it.

/// What the session calls it, and how it is written in a query. Longer lines stand before those that they begin with.
const WRITTEN: [(&str, &str); 14] = [
    (
        "state the keys of one column with `keys`",
        "state the keys of one column, as in OPTIONS(keys=['Ayr', 'Bern'])",
    ),
    ("state the `keys`", "state the keys, as in OPTIONS(keys=['Ayr', 'Bern'])"),
    ("give `group_by`", "write GROUP BY"),
    ("`keys` states", "OPTIONS(keys=[..]) states"),
    ("leave `keys` out", "leave OPTIONS(keys=[..]) out"),
    (", or state `rows` where their number is public", ""),
    ("declare `range` and `resolution`", "declare `range`"),
    ("declare `range` and `rows`", "declare `range`"),
    ("give `range` and `resolution`", "declare `range`"),
    // Where it is wrong is told by line and column.
    ("`where`: ", ""),
    ("`column`: ", ""),
    ("`group_by`: ", ""),
    ("ask for mode, histogram or select", "ask for MODE, or for COUNT(*) by GROUP BY"),
    ("ask for median, quantile, iqr, mode, histogram or select", "ask for MEDIAN, QUANTILE, IQR or MODE"),
];

/// A line in the words of a query; of people's values, ranges are those of a unit in a group.
pub(crate) fn in_query(line: &str, of_people: bool) -> String {
    let line = WRITTEN.iter().fold(line.to_string(), |line, (said, written)| line.replace(said, written));
    let bounds = if of_people { "contribution_bounds_per_group" } else { "contribution_bounds_per_row" };
    line.replace("declare `range`", &format!("declare its range, as in AVG(x, {bounds} => (0, 100))"))
        .replace("`range`", bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_said_as_a_query_says_it() {
        for (said, of_people, written) in [
            (
                "too few rows; raise epsilon, or declare `range`",
                false,
                "too few rows; raise epsilon, or declare its range, as in AVG(x, contribution_bounds_per_row => (0, 100))",
            ),
            (
                "raise epsilon, or declare `range` and `resolution`, or state `rows` where their number is public",
                true,
                "raise epsilon, or declare its range, as in AVG(x, contribution_bounds_per_group => (0, 100))",
            ),
            (
                "group by fewer columns, or state the `keys`",
                false,
                "group by fewer columns, or state the keys, as in OPTIONS(keys=['Ayr', 'Bern'])",
            ),
            ("give `group_by`, or leave it out", false, "write GROUP BY, or leave it out"),
            ("`where`: no column is called 'agee'", false, "no column is called 'agee'"),
            ("give `delta=1e-6`", false, "give `delta=1e-6`"),
        ] {
            assert_eq!(in_query(said, of_people), written);
        }
    }
}
