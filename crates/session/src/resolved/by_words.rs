//! What the words of a question alone decide: whether it can use a delta, and whether people count once for each value.

use super::{AUTO, statistic};
use crate::{
    columns,
    facts::DataFacts,
    request::Request,
    source::ColumnRead,
    statistic::{Argument, Column, Statistic},
    types::Types,
};
use equipoise_core::adjacency::Unit;

/// The column of which each person counts once for each value: where the most frequent values are asked for, whose counts one person moves by
/// one each and all the same way (a number of values would move by as many as they have), no bound on rows was stated, and either no key can
/// show who has it (candidates are stated, or the whole answer passes a gate) or there is a bound on values.
pub(super) fn counted_values(
    statistic: Statistic,
    request: &Request,
    facts: &DataFacts,
    types: &Types,
) -> Option<ColumnRead> {
    let by_row = request.max_rows_per_unit.is_some() || !request.group_by.is_empty();
    let unit = facts.unit(request.unit.as_deref()).ok()?;
    let frequent = matches!(statistic, Statistic::Mode | Statistic::Top | Statistic::Select);
    if !frequent || unit == Unit::Row || by_row {
        return None;
    }
    let found = statistic == Statistic::Select && request.among.is_empty();
    // A column that does not exist is an error of the question, later.
    let column = columns::named(&facts.columns, request.column.as_deref()?).ok()?;
    (found == request.max_groups_per_unit.is_some()).then(|| types.key(column))
}

/// Does it need a delta, for its mechanism or for what it finds?
pub(super) fn needs_delta(statistic: Statistic, mechanism: Option<&str>, request: &Request) -> bool {
    let mechanisms = statistic.spec().mechanisms;
    let finds_candidates = statistic.takes(Argument::Among) && request.among.is_empty();
    // Bins of a group are found apart from its key.
    let finds_bins = request.says(Argument::Width) && !request.says(Argument::Range);
    let by_mechanism = match mechanism {
        Some(name) => mechanisms.iter().any(|mechanism| mechanism.name == name && mechanism.needs_delta),
        None => !mechanisms.is_empty() && mechanisms.iter().all(|mechanism| mechanism.needs_delta),
    };
    finds_candidates || finds_bins || by_mechanism
}

/// Can the question use a delta, to find keys or for its mechanism?
pub(crate) fn uses_delta(request: &Request) -> bool {
    let Ok(statistic) = statistic(request) else { return false };
    // The column of a histogram is its key, or cut into bins: between public ends these are public keys.
    let bins = match statistic {
        Statistic::Histogram => request.says(Argument::Range) || request.says(Argument::QuantileBins),
        statistic => statistic == Statistic::Ecdf,
    };
    let own_keys = usize::from(statistic.spec().column == Column::Keys && request.column.is_some());
    let keys = request.group_by.len() + own_keys;
    let keyed = keys > usize::from(bins);
    let mechanism = request.mechanism.as_deref().filter(|&name| name != AUTO);
    (keyed && request.keys.is_empty()) || needs_delta(statistic, mechanism, request)
}
