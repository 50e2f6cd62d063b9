//! Which plans may be split into tasks, and what is put around them.
//!
//! A stage of a plan runs as several tasks in several processes, each of which sees some partitions. A node whose partitions share something
//! within one process, as a nested loop join does that keeps rows of its left side, would give other rows then; it is brought into one task.
//! Nodes that are not on the list are not sent.

use crate::{
    Refused,
    digest::{Digest, Key, udaf},
    engine::Codec,
    job::Lost,
    not_sent,
};
use arrow::array::{Array as _, AsArray as _, RecordBatch};
use datafusion::{
    common::{
        JoinType, Result, internal_err,
        tree_node::{Transformed, TreeNode as _},
    },
    datasource::{memory::MemorySourceConfig, source::DataSourceExec},
    execution::TaskContext,
    physical_expr::{
        PhysicalExpr,
        aggregate::AggregateExprBuilder,
        expressions::{Column, Literal},
    },
    physical_plan::{
        ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties as _, Partitioning,
        ReplaceChildrenOptions,
        aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy},
        coalesce_partitions::CoalescePartitionsExec,
        displayable,
        joins::NestedLoopJoinExec,
        repartition::RepartitionExec,
    },
    scalar::ScalarValue,
};
use datafusion_proto::{physical_plan::AsExecutionPlan as _, protobuf::PhysicalPlanNode};
use std::{any::Any, sync::Arc};

/// Nodes that work on each partition alone, or say themselves what they gather first.
const NODES: [&str; 15] = [
    "AggregateExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "CrossJoinExec",
    "EmptyExec",
    "FilterExec",
    "HashJoinExec",
    "NestedLoopJoinExec",
    "PlaceholderRowExec",
    "ProjectionExec",
    "RepartitionExec",
    "SortMergeJoinExec",
    "StreamingTableExec",
    "UnionExec",
];

/// A plan that may be split, or which part of it may not.
pub(crate) fn for_tasks(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>, Refused> {
    let mut refused = None;
    let shaped = plan.clone().transform_up(|node| {
        if !NODES.contains(&node.name()) && !is_constant(&node) {
            refused = Some(format!("a plan with {}", node.name()));
        }
        if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>()
            && keeps_left(*join.join_type())
            && join.right().output_partitioning().partition_count() > 1
        {
            let right: Arc<dyn ExecutionPlan> = Arc::new(CoalescePartitionsExec::new(join.right().clone()));
            let left = join.left().clone();
            let recomputed = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            return Ok(Transformed::yes(node.replace_children(vec![left, right], recomputed)?));
        }
        if let Some(parts) = node.downcast_ref::<RepartitionExec>()
            && !matches!(parts.partitioning(), Partitioning::Hash(..))
        {
            // Rows go to any partition: Ballista leaves the node out, and so do we, so that one plan is looked at and run.
            return Ok(Transformed::yes(parts.input().clone()));
        }
        Ok(Transformed::no(node))
    });
    match (refused, shaped) {
        (Some(part), _) => Err(not_sent(&part)),
        (None, Ok(shaped)) => Ok(shaped.data),
        (None, Err(_)) => Err(not_sent("this query")),
    }
}

/// Are these the rows of VALUES?
fn is_constant(node: &Arc<dyn ExecutionPlan>) -> bool {
    let source = node.downcast_ref::<DataSourceExec>().map(|exec| exec.data_source().as_ref() as &dyn Any);
    source.is_some_and(<dyn Any>::is::<MemorySourceConfig>)
}

/// Does such a join give rows of its left side once its whole right side was seen?
fn keeps_left(kind: JoinType) -> bool {
    match kind {
        JoinType::Inner
        | JoinType::Right
        | JoinType::RightSemi
        | JoinType::RightAnti
        | JoinType::RightMark => false,
        JoinType::Left | JoinType::Full | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
            true
        }
    }
}

/// The digest of a plan's rows, as a plan with one row.
pub(crate) fn digested(plan: &Arc<dyn ExecutionPlan>, key: Key) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = plan.schema();
    let literal = |word| Arc::new(Literal::new(ScalarValue::UInt64(Some(word)))) as Arc<dyn PhysicalExpr>;
    let mut args = vec![literal(key.0[0]), literal(key.0[1])];
    for (place, field) in schema.fields().iter().enumerate() {
        args.push(Arc::new(Column::new(field.name(), place)));
    }
    let digest = AggregateExprBuilder::new(Arc::new(udaf()), args).schema(schema.clone()).alias("digest");
    let digest = Arc::new(digest.build()?);
    let none = || PhysicalGroupBy::new_single(Vec::new());
    let parts = AggregateExec::try_new(
        AggregateMode::Partial,
        none(),
        vec![digest.clone()],
        vec![None],
        plan.clone(),
        schema.clone(),
    )?;
    let gathered = Arc::new(CoalescePartitionsExec::new(Arc::new(parts)));
    let whole =
        AggregateExec::try_new(AggregateMode::Final, none(), vec![digest], vec![None], gathered, schema)?;
    Ok(Arc::new(whole))
}

/// The digests of a batch.
pub(crate) fn digests_of(batch: &RecordBatch) -> Result<Vec<Digest>, Lost> {
    let column = batch.columns().first().and_then(|column| column.as_binary_opt::<i32>()).ok_or(Lost)?;
    (0..column.len())
        .map(|row| column.is_valid(row).then(|| Digest::of_bytes(column.value(row))).flatten().ok_or(Lost))
        .collect()
}

/// Is what executors read from these bytes the plan that was written?
pub(crate) fn read_again(
    plan: &Arc<dyn ExecutionPlan>,
    bytes: &[u8],
    codec: &Codec,
    task: &TaskContext,
) -> Result<()> {
    let node = PhysicalPlanNode::try_decode(bytes)?;
    let read = node.try_into_physical_plan(task, codec)?;
    let [written, read] = [plan, &read].map(|plan| displayable(plan.as_ref()).indent(true).to_string());
    if written == read { Ok(()) } else { internal_err!("a plan changes on its way") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_plan::{empty::EmptyExec, limit::GlobalLimitExec};

    fn empty(partitions: usize) -> Arc<dyn ExecutionPlan> {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        Arc::new(EmptyExec::new(schema).with_partitions(partitions))
    }

    /// A nested loop join that keeps rows of its left side sees its whole right side in one task.
    #[test]
    fn joins_that_keep_left_rows_have_one_task() {
        for (kind, parts) in
            [(JoinType::Left, 1), (JoinType::LeftAnti, 1), (JoinType::Inner, 4), (JoinType::Right, 4)]
        {
            let join = NestedLoopJoinExec::try_new(empty(1), empty(4), None, &kind, None).unwrap();
            let shaped = for_tasks(&(Arc::new(join) as Arc<dyn ExecutionPlan>)).unwrap();
            assert_eq!(shaped.output_partitioning().partition_count(), parts, "{kind}");
        }
    }

    #[test]
    fn nodes_that_are_not_on_the_list_are_not_sent() {
        let limited: Arc<dyn ExecutionPlan> = Arc::new(GlobalLimitExec::new(empty(1), 0, Some(1)));
        let refused = for_tasks(&limited).unwrap_err();
        assert!(
            refused.to_string().starts_with("a plan with GlobalLimitExec is not sent to a cluster; "),
            "{refused}"
        );
    }
}
