//! Plans of DataFusion in which no row can fail the query, and no row can move others.
//!
//! # Guarantee
//!
//! In a plan that [`make_total`] gives and [`check`] accepts, the value of every expression is a function of the values in its row, and is
//! always there: a value or null. Every aggregate is a function of the multiset of values in its group. No order, batch size, number of
//! partitions or other row shows in any of them; no error and no panic comes from a row; no row decides how long a text gets.
//!
//! # Why
//!
//! 1. Casts, operators and functions that may fail are calls of a total form (`total.rs`), which is null where the original fails.
//! 2. What stays as it is cannot fail on a row: comparisons of one plain type, logic, CASE, IN, casts that lose nothing.
//! 3. Floats enter through a total form that makes NaN null and gives zero one sign, and leave every total form so. So no two values that
//!    compare as equal differ in their bits: keys, DISTINCT, joins, MIN and MAX need no rule of their own.
//! 4. Sums, averages and variances are exact and rounded once (`aggregate`); other aggregates on the list do not depend on order as they are.
//! 5. The optimizer sees functions without rules of its own, of any types and immutable: it may fold literals, which gives null where rows
//!    would be null; it adds no cast, because there is nothing to coerce. `check` looks at its last plan all the same.
//!
//! `README.md` says how it is used, `FUNCTIONS.md` what is on the list.

#![forbid(unsafe_code)]

mod aggregate;
mod allowed;
mod check;
mod clean;
mod kernel;
mod quiet;
mod rewrite;
mod size;
#[cfg(test)]
mod tests;
mod total;
mod types;
mod verify;

use datafusion::{common::DataFusionError, logical_expr::LogicalPlan, prelude::SessionContext};
use std::fmt;

/// Why a plan cannot be made total. `Display` is one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotTotal {
    /// The node, function or operator.
    pub what: String,
    /// Why it is not accepted.
    pub why: String,
    /// The rewrite that would be accepted.
    pub rewrite: String,
}

impl fmt::Display for NotTotal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} is not accepted in a private query: {}; {}", self.what, self.why, self.rewrite)
    }
}

impl std::error::Error for NotTotal {}

impl NotTotal {
    fn refuse(
        what: impl Into<String>,
        why: impl Into<String>,
        rewrite: impl Into<String>,
    ) -> DataFusionError {
        DataFusionError::External(Box::new(Self {
            what: what.into(),
            why: why.into(),
            rewrite: rewrite.into(),
        }))
    }

    /// What was refused below DataFusion's tree walk, or what the walk itself said about the plan.
    fn said(error: DataFusionError) -> Self {
        match error {
            DataFusionError::External(inner) => match inner.downcast::<Self>() {
                Ok(refused) => *refused,
                Err(other) => Self::plan(&other.to_string()),
            },
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => Self::said(*inner),
            other => Self::plan(&other.strip_backtrace()),
        }
    }

    fn plan(text: &str) -> Self {
        Self {
            what: "the plan".into(),
            why: total::first_line(text),
            rewrite: "write it in another way".into(),
        }
    }
}

/// The plan with every cast, operator, function and aggregate in its total form. The plan must be analyzed: its types coerced.
///
/// Looks at no table. Names and types of its columns stay; every computed column becomes nullable. Floats of tables pass a projection
/// directly above their scan.
pub fn make_total(plan: LogicalPlan) -> Result<LogicalPlan, NotTotal> {
    quiet::install();
    let plan = rewrite::plan(plan).map_err(NotTotal::said)?;
    check(&plan)?;
    Ok(plan)
}

/// Makes the total forms known to `context` by name, so that plans can be sent to it, and keeps the text of their panics off the error
/// stream. Running plans of [`make_total`] where they were made needs no registration.
pub fn register(context: &SessionContext) {
    quiet::install();
    for total in allowed::all() {
        context.register_udf(datafusion::logical_expr::ScalarUDF::new_from_impl(total));
    }
    for kind in aggregate::Kind::ALL {
        context.register_udaf(aggregate::Exact::udaf(kind));
    }
}

/// Whether only total forms are in `plan`: to be asserted on the optimizer's last plan.
pub fn check(plan: &LogicalPlan) -> Result<(), NotTotal> {
    check::plan(plan).map_err(NotTotal::said)
}
