//! Every reading of what another task wrote is counted: rows that were lost or doubled between two stages end the task.
//!
//! The writer of a shuffle file says how many rows it wrote; the scheduler passes that on with the file's place. A reader that gets fewer or
//! more has read something else.

use ballista_core::{
    JobId,
    execution_plans::{ShuffleReaderExec, stats_for_partitions},
};
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use datafusion::{
    common::{
        DataFusionError, Result, internal_err,
        stats::Precision,
        tree_node::{Transformed, TreeNode as _, TreeNodeRecursion},
    },
    execution::TaskContext,
    physical_expr::PhysicalExpr,
    physical_plan::{
        ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
        ReplaceChildrenOptions, SendableRecordBatchStream, stream::RecordBatchStreamAdapter,
    },
    prelude::SessionConfig,
};
use futures::{StreamExt as _, stream};
use std::{fmt, sync::Arc};

/// Runs stages as Ballista does, with every reading counted.
#[derive(Default)]
pub(crate) struct CountingEngine(DefaultExecutionEngine);

impl ExecutionEngine for CountingEngine {
    fn create_query_stage_exec(
        &self,
        job: JobId,
        stage: usize,
        task: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        folder: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let plan = plan
            .transform_up(|node| {
                Ok(match node.downcast_ref::<ShuffleReaderExec>() {
                    Some(_) => Transformed::yes(Arc::new(Counted(node)) as Arc<dyn ExecutionPlan>),
                    None => Transformed::no(node),
                })
            })?
            .data;
        self.0.create_query_stage_exec(job, stage, task, partitions, plan, folder, config)
    }
}

/// A reading that is counted.
#[derive(Debug)]
struct Counted(Arc<dyn ExecutionPlan>);

impl DisplayAs for Counted {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counted")
    }
}

/// How many rows the writers of a partition say they wrote.
fn written(reader: &ShuffleReaderExec, partition: usize) -> Result<u64> {
    // What the reader says of one partition alone is about another one where it reads several files: its places are asked.
    let places = reader.partition.get(if reader.broadcast { 0 } else { partition });
    let Some(places) = places else { return internal_err!("there is no such partition") };
    match stats_for_partitions(0, places.iter().map(|place| place.partition_stats)).num_rows {
        Precision::Exact(rows) => Ok(rows as u64),
        Precision::Inexact(_) | Precision::Absent => internal_err!("a writer did not say how many rows"),
    }
}

/// The rows as they are, and an error behind the last one if there were fewer or more than were written.
pub(crate) fn counted(rows: SendableRecordBatchStream, written: u64) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let checked = stream::unfold(Some((rows, 0_u64)), move |state| async move {
        let (mut rows, seen) = state?;
        match rows.next().await {
            Some(Ok(batch)) => {
                let seen = seen + batch.num_rows() as u64;
                Some((Ok(batch), Some((rows, seen))))
            }
            Some(Err(error)) => Some((Err(error), None)),
            None if seen == written => None,
            // One fixed line: both numbers are about rows.
            None => {
                let error = "rows were lost or doubled between two stages".to_string();
                Some((Err(DataFusionError::Execution(error)), None))
            }
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, checked))
}

impl ExecutionPlan for Counted {
    fn name(&self) -> &'static str {
        "Counted"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.0]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if let (Some(reader), true) = (children.pop(), children.is_empty()) {
            Ok(Arc::new(Self(reader)))
        } else {
            internal_err!("one reading is counted")
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(reader) = self.0.downcast_ref::<ShuffleReaderExec>() else {
            return internal_err!("what is counted is no reading");
        };
        let written = written(reader, partition)?;
        Ok(counted(self.0.execute(partition, context)?, written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::{
        array::{Int64Array, RecordBatch},
        datatypes::{DataType, Field, Schema},
    };
    use futures::TryStreamExt as _;

    /// Two batches with five rows.
    fn five() -> SendableRecordBatchStream {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        let batch = |rows: Vec<i64>| {
            RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(rows))]).map_err(Into::into)
        };
        let batches = stream::iter([batch(vec![1, 2, 3]), batch(vec![4, 5])]);
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }

    #[tokio::test]
    async fn a_row_more_or_less_than_was_written_is_an_error() {
        for (written, whole) in [(4, false), (5, true), (6, false), (0, false)] {
            let read: Result<Vec<RecordBatch>> = counted(five(), written).try_collect().await;
            assert_eq!(read.is_ok(), whole, "{written} rows written, five read");
        }
    }
}
