//! Whole queries over tables cut into batches and partitions.

use crate::{check, make_total};
use arrow::{
    array::RecordBatch,
    util::display::{ArrayFormatter, FormatOptions},
};
use datafusion::{
    common::Result,
    datasource::MemTable,
    logical_expr::LogicalPlan,
    physical_plan::collect,
    prelude::{SessionConfig, SessionContext},
};
use std::sync::Arc;

/// How tables are cut and read.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    pub batch: usize,
    pub partitions: usize,
    pub backwards: bool,
}

pub const CUTS: [Cut; 4] = [
    Cut { batch: 8192, partitions: 1, backwards: false },
    Cut { batch: 1, partitions: 1, backwards: true },
    Cut { batch: 8192, partitions: 4, backwards: false },
    Cut { batch: 3, partitions: 4, backwards: true },
];

/// Tables by name, cut.
pub fn tables(tables: &[(&str, &RecordBatch)], cut: Cut) -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(cut.partitions)
        .with_batch_size(cut.batch)
        // Small tables are spread as large ones are.
        .with_round_robin_repartition(true);
    let context = SessionContext::new_with_config(config);
    crate::register(&context);
    for (name, batch) in tables {
        let mut partitions = vec![Vec::new(); cut.partitions];
        let mut starts: Vec<usize> = (0..batch.num_rows()).step_by(cut.batch).collect();
        if cut.backwards {
            starts.reverse();
        }
        for (place, start) in starts.into_iter().enumerate() {
            partitions[place % cut.partitions]
                .push(batch.slice(start, cut.batch.min(batch.num_rows() - start)));
        }
        let table = MemTable::try_new(batch.schema(), partitions).expect("a table");
        context.register_table(*name, Arc::new(table)).expect("a fresh context");
    }
    context
}

/// The last plan of a query, made total and checked.
pub async fn last_plan(context: &SessionContext, sql: &str) -> LogicalPlan {
    let plan = super::analyzed(context, sql).await;
    let total = make_total(plan).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let last = context.state().optimize(&total).unwrap_or_else(|error| panic!("{sql}: {error}"));
    check(&last).unwrap_or_else(|error| panic!("{sql}: {error}\n{last}"));
    last
}

/// The rows of a query as texts, sorted.
pub async fn rows(context: &SessionContext, sql: &str) -> Vec<Vec<String>> {
    let last = last_plan(context, sql).await;
    execute(context, &last).await.unwrap_or_else(|error| panic!("{sql}: {error}\n{last}"))
}

/// The rows of a last plan.
pub async fn execute(context: &SessionContext, last: &LogicalPlan) -> Result<Vec<Vec<String>>> {
    let state = context.state();
    let physical = state.query_planner().create_physical_plan(last, &state).await?;
    let mut rows = Vec::new();
    for batch in collect(physical, context.task_ctx()).await? {
        let options = FormatOptions::default().with_null("∅");
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).expect("plain"))
            .collect();
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|column| column.value(row).to_string()).collect());
        }
    }
    rows.sort();
    Ok(rows)
}
