//! Exact audits of whole questions and of what lives on between them, beside those of mechanisms in `equipoise-audit`: units, filters,
//! computed columns, groups, what budgets are charged, votes of blocks, and monitors that end and start again.

mod answers;
mod composed;
mod computed;
mod memory;
mod pairs;
mod people;
mod per_unit;
mod pooled;
mod regression;
mod together;
mod values;
mod windows;

pub(crate) use memory::Memory;

use crate::{graph, monitor, program, stated, votes};
use equipoise_audit::{Audit, exact, zoo};

/// The audits of this crate.
pub const ALL: &[&Audit] = &[
    &answers::ANSWERS,
    &answers::GROUPS,
    &together::TOGETHER,
    &composed::COMPOSED,
    &pooled::POOLED,
    &people::UNITS,
    &people::UNIT_GROUPS,
    &values::UNIT_VALUES,
    &per_unit::PER_UNIT,
    &people::FILTERS,
    &computed::EXPRESSIONS,
    &pairs::PAIRS,
    &regression::REGRESSION,
    &people::ROW_BUDGETS,
    &windows::WINDOWS,
    &votes::audits::VOTES,
    &votes::audits::WIDTHS,
    &program::audits::PROGRAMS,
    &program::audits::ANALYSES,
    &stated::audits::STATED,
    &stated::audits::SCORES,
    &graph::edge_audits::GRAPH_EDGES,
    &graph::edge_audits::GRAPH_REMOVALS,
    &graph::audits::GRAPH_NODES,
    &monitor::audits::MONITOR_FILES,
];

/// Every audit there is: the claims of mechanisms, those of whole questions, and the zoo.
pub fn all() -> Vec<&'static Audit> {
    exact::ALL.iter().chain(ALL).chain(zoo::ALL).copied().collect()
}
