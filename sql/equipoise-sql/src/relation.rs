//! The rows of a proved plan, as a source for the session: it runs when they are asked for, which is after the charge.
//!
//! Rows that are made on this host go to whoever bounds them as they come: no more than a few batches of a relation are in memory beside what the
//! engine holds. A cluster's are handed on when all of them were held against what was counted.

use crate::{prepare::Limits, table::Ended};
use arrow::{array::RecordBatch, datatypes::SchemaRef};
use datafusion::{
    execution::{TaskContext, memory_pool::MemoryConsumer},
    physical_plan::{ExecutionPlan, execute_stream, execution_plan::reset_plan_states},
};
use equipoise_engine::memory;
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};
use equipoise_sql_cluster::Cluster;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc::{Receiver, Sender, channel},
};

/// So many batches wait for whoever bounds rows.
const WAITING: usize = 4;

/// The rows of a relation, made anew each time that they are asked for; the session asks once.
pub(crate) struct Relation {
    columns: Vec<String>,
    schema: SchemaRef,
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    limits: Limits,
    cluster: Option<Cluster>,
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
        Self { columns, schema, plan, task, limits, cluster }
    }

    /// A plan that did not run yet, and where it runs.
    fn begin(&self) -> Result<(Arc<dyn ExecutionPlan>, Runtime), Lost> {
        if let Some(ended) = self.task.session_config().get_extension::<Ended>() {
            ended.set(false);
        }
        let plan = reset_plan_states(self.plan.clone()).map_err(|_| Lost)?;
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.worker_threads(self.limits.threads).enable_all().build();
        Ok((plan, runtime.map_err(|_| Lost)?))
    }

    /// Nobody reads any more. This comes before the runtime goes, which waits for whoever still reads tables.
    fn end(&self) {
        if let Some(ended) = self.task.session_config().get_extension::<Ended>() {
            ended.set(true);
        }
    }

    /// Run the plan on this host and hand every batch over as it comes. Whatever fails says nothing: its words may hold a row.
    async fn hand_over(&self, plan: Arc<dyn ExecutionPlan>, to: Sender<RecordBatch>) -> Result<(), Lost> {
        let mut stream = execute_stream(plan, self.task.clone()).map_err(|_| Lost)?;
        while let Some(batch) = std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await {
            to.send(batch.map_err(|_| Lost)?).await.map_err(|_| Lost)?;
        }
        Ok(())
    }

    /// Show the rows of a plan that runs here to these visitors, each in a thread of its own.
    fn stream(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let (plan, runtime) = self.begin()?;
        let (to, from) = channel(WAITING);
        // Where nobody shows rows any more, because all threads panicked, there is nobody to send to.
        let from = Arc::new(Mutex::new(from));
        std::thread::scope(|scope| {
            for visitor in visitors.iter_mut() {
                let from = from.clone();
                scope.spawn(move || {
                    while let Some(batch) = next(&from) {
                        shown(&batch, wanted, *visitor);
                    }
                });
            }
            drop(from);
            let handed = runtime.block_on(self.hand_over(plan, to));
            self.end();
            handed
        })
    }

    /// All rows of a plan that runs on a cluster.
    fn of_cluster(&self, cluster: &Cluster) -> Result<Vec<RecordBatch>, Lost> {
        let (plan, runtime) = self.begin()?;
        let held = MemoryConsumer::new("relation").register(self.task.memory_pool());
        let grow = |bytes| held.try_grow(bytes).map_err(|_| equipoise_sql_cluster::Lost);
        let shrink = || {
            held.free();
        };
        let rows = runtime.block_on(cluster.rows(&plan, &self.task, &grow, &shrink));
        self.end();
        rows.map_err(|_| Lost)
    }
}

/// The next batch for whichever thread asks first.
fn next(from: &Mutex<Receiver<RecordBatch>>) -> Option<RecordBatch> {
    from.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

impl Source for Relation {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let Some(cluster) = &self.cluster else { return self.stream(wanted, visitors) };
        let rows = self.of_cluster(cluster)?;
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
