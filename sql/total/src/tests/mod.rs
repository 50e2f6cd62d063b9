//! Tests of the crate as a whole: kernels on hostile rows, plans, random expressions.

// Arrays are named by their type here, which `collect` would put last.
#![allow(clippy::from_iter_instead_of_collect)]

mod fuzz;
mod hostile;
mod kernels;
mod page;
mod plans;
mod whole;

use crate::make_total;
use arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::{
    common::Result,
    datasource::MemTable,
    execution::context::ExecutionProps,
    logical_expr::{Expr, LogicalPlan, physical_planning_context::PhysicalPlanningContext},
    physical_expr::{PhysicalExpr, create_physical_expr},
    prelude::{SessionConfig, SessionContext},
    scalar::ScalarValue,
};
use std::sync::Arc;

/// A context with one table `t`.
fn context(batch: &RecordBatch) -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
    let table = MemTable::try_new(batch.schema(), vec![vec![batch.clone()]]).expect("a table");
    context.register_table("t", Arc::new(table)).expect("a fresh context");
    context
}

/// The plan of a query with types coerced and nothing else.
async fn analyzed(context: &SessionContext, sql: &str) -> LogicalPlan {
    let state = context.state();
    let plan = state.create_logical_plan(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    state
        .analyzer()
        .execute_and_check(plan, &state.config_options().clone(), |_, _| {})
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// `SELECT ..` as expressions, from the table's columns up.
struct Compiled {
    levels: Vec<Vec<(String, Arc<dyn PhysicalExpr>)>>,
}

impl Compiled {
    /// Of a plan that is projections above a scan.
    fn new(plan: &LogicalPlan) -> Self {
        let mut levels = Vec::new();
        let mut node = plan;
        while let LogicalPlan::Projection(projection) = node {
            let schema = projection.input.schema();
            let each = |(place, expr): (usize, &Expr)| {
                let name = projection.schema.field(place).name().clone();
                let physical = create_physical_expr(
                    expr,
                    schema,
                    &ExecutionProps::new(),
                    &PhysicalPlanningContext::default(),
                );
                (name, physical.unwrap_or_else(|error| panic!("{expr}: {error}")))
            };
            levels.insert(0, projection.expr.iter().enumerate().map(each).collect());
            node = &projection.input;
        }
        assert!(matches!(node, LogicalPlan::TableScan(_)), "projections above a scan alone: {plan}");
        Self { levels }
    }

    /// The first level alone: the table with its floats in their normal form.
    fn entered(&self, batch: &RecordBatch) -> RecordBatch {
        run(&self.levels[0], batch).expect("columns and total forms")
    }

    /// The one column that the query asks for.
    fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let mut batch = batch.clone();
        for level in &self.levels {
            batch = run(level, &batch)?;
        }
        Ok(Arc::clone(batch.column(0)))
    }
}

fn run(level: &[(String, Arc<dyn PhysicalExpr>)], batch: &RecordBatch) -> Result<RecordBatch> {
    let column = |(name, expr): &(String, Arc<dyn PhysicalExpr>)| {
        let values = expr.evaluate(batch)?.into_array(batch.num_rows())?;
        Ok((name.clone(), values, true))
    };
    Ok(RecordBatch::try_from_iter_with_nullable(level.iter().map(column).collect::<Result<Vec<_>>>()?)?)
}

fn cells(array: &dyn Array) -> Vec<ScalarValue> {
    (0..array.len()).map(|row| ScalarValue::try_from_array(array, row).expect("a plain cell")).collect()
}

async fn total(context: &SessionContext, sql: &str) -> LogicalPlan {
    make_total(analyzed(context, sql).await).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The line with which a query is refused.
async fn refused(context: &SessionContext, sql: &str) -> String {
    match make_total(analyzed(context, sql).await) {
        Ok(plan) => panic!("{sql} was accepted:\n{plan}"),
        Err(error) => error.to_string(),
    }
}
