//! The rows of a proved plan, as a source for the session: it runs when they are first asked for, which is after the charge.

use crate::{prepare::Limits, table::Ended};
use arrow::{array::RecordBatch, datatypes::SchemaRef};
use datafusion::{
    execution::{TaskContext, memory_pool::MemoryConsumer},
    physical_plan::{ExecutionPlan, execute_stream},
};
use equipoise_engine::memory;
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};
use equipoise_sql_cluster::Cluster;
use std::sync::{Arc, OnceLock};
use tokio::runtime::Builder;

/// The rows of a relation, read at most once: asked again, they come in the same order.
pub(crate) struct Relation {
    columns: Vec<String>,
    schema: SchemaRef,
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    limits: Limits,
    cluster: Option<Cluster>,
    rows: OnceLock<Result<Vec<RecordBatch>, Lost>>,
}

impl Relation {
    /// The rows of a plan, which runs on this host or on a cluster.
    pub fn new(
        plan: Arc<dyn ExecutionPlan>,
        task: Arc<TaskContext>,
        limits: Limits,
        cluster: Option<Cluster>,
    ) -> Self {
        let schema = plan.schema();
        let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
        Self { columns, schema, plan, task, limits, cluster, rows: OnceLock::new() }
    }

    /// Run the plan. Whatever fails says nothing: its words may hold a row.
    pub fn rows(&self) -> Result<&[RecordBatch], Lost> {
        let rows = self.rows.get_or_init(|| {
            let runtime =
                Builder::new_multi_thread().worker_threads(self.limits.threads).enable_all().build();
            let runtime = runtime.map_err(|_| Lost)?;
            let rows = runtime.block_on(self.run());
            // Before the runtime goes, which waits for whoever still reads.
            if let Some(ended) = self.task.session_config().get_extension::<Ended>() {
                ended.set();
            }
            rows
        });
        rows.as_deref().map_err(|_| Lost)
    }

    async fn run(&self) -> Result<Vec<RecordBatch>, Lost> {
        let held = MemoryConsumer::new("relation").register(self.task.memory_pool());
        if let Some(cluster) = &self.cluster {
            let grow = |bytes| held.try_grow(bytes).map_err(|_| equipoise_sql_cluster::Lost);
            let shrink = || {
                held.free();
            };
            return cluster.rows(&self.plan, &self.task, &grow, &shrink).await.map_err(|_| Lost);
        }
        let mut stream = execute_stream(self.plan.clone(), self.task.clone()).map_err(|_| Lost)?;
        let mut rows = Vec::new();
        while let Some(batch) = std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await {
            let batch = batch.map_err(|_| Lost)?;
            held.try_grow(batch.get_array_memory_size()).map_err(|_| Lost)?;
            rows.push(batch);
        }
        Ok(rows)
    }
}

impl Source for Relation {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let rows = self.rows()?;
        let parts = rows.len().div_ceil(visitors.len().max(1)).max(1);
        std::thread::scope(|scope| {
            for (batches, visitor) in rows.chunks(parts).zip(visitors.iter_mut()) {
                scope.spawn(move || batches.iter().for_each(|batch| shown(batch, wanted, *visitor)));
            }
        });
        Ok(())
    }

    // Texts are read as in CSV: a number among them is one.
    fn declared(&self, column: usize) -> Option<ColumnType> {
        memory::kind(self.schema.field(column).data_type()).filter(|kind| *kind != ColumnType::Text)
    }

    fn is_only_text(&self, column: usize) -> bool {
        memory::is_only_text(self.schema.field(column).data_type())
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        let what = memory::unreadable(self.schema.field(column).data_type())?;
        Some(equipoise_engine::reading::unreadable_line(&self.columns[column], what))
    }
}

/// Hand one batch to a visitor.
fn shown(batch: &RecordBatch, wanted: &[ColumnRead], visitor: &mut dyn Visitor) {
    enum Held {
        Floats(Vec<f64>),
        Wholes(Vec<Option<i64>>),
        Texts(Vec<Option<String>>),
    }
    let held: Vec<Held> = wanted
        .iter()
        .map(|wanted| {
            let array = batch.column(wanted.column);
            match wanted.kind {
                ColumnType::Float => Held::Floats(memory::floats(array)),
                ColumnType::Text => Held::Texts(memory::texts(array)),
                kind => Held::Wholes(memory::wholes(array, kind)),
            }
        })
        .collect();
    let texts: Vec<Vec<Option<&str>>> = held
        .iter()
        .map(|held| match held {
            Held::Texts(texts) => texts.iter().map(Option::as_deref).collect(),
            Held::Floats(_) | Held::Wholes(_) => Vec::new(),
        })
        .collect();
    let cells: Vec<Cells<'_>> = held
        .iter()
        .zip(&texts)
        .map(|(held, texts)| match held {
            Held::Floats(floats) => Cells::Floats(floats),
            Held::Wholes(wholes) => Cells::Integers(wholes),
            Held::Texts(_) => Cells::Texts(texts),
        })
        .collect();
    visitor.batch(Batch { rows: batch.num_rows(), cells: &cells });
}
