//! What scheduler, executors and coordinator have in common: functions, settings, and how plans are written.

use crate::{digest, handed::Handed, members::Membership};
use ballista_core::{
    config::{
        BALLISTA_BROADCAST_JOIN_THRESHOLD_BYTES, BALLISTA_BROADCAST_JOIN_THRESHOLD_ROWS,
        BALLISTA_CLIENT_IO_RETRIES_TIMES,
    },
    extension::SessionConfigExt as _,
    registry::BallistaFunctionRegistry,
    serde::BallistaPhysicalExtensionCodec,
};
use datafusion::{
    common::Result,
    config::ConfigOptions,
    execution::{
        SessionState, SessionStateBuilder, TaskContext,
        runtime_env::{RuntimeEnv, RuntimeEnvBuilder},
    },
    physical_plan::ExecutionPlan,
    prelude::{SessionConfig, SessionContext},
};
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::sync::Arc;

/// The settings of every member. What a question decides, such as the number of parts, comes on top.
pub(crate) fn settings(members: &Membership) -> SessionConfig {
    let mut config = SessionConfig::new_with_ballista()
        .with_information_schema(false)
        .with_ballista_use_tls(members.is_encrypted())
        .with_ballista_override_create_grpc_client_endpoint(members.endpoints())
        // Plans are made once, by the coordinator.
        .with_ballista_adaptive_query_planner(false);
    // One byte: nothing is known to be so small, so no side of a join is sent to every task; 0 would reject NOT IN.
    config = config
        .set_usize(BALLISTA_BROADCAST_JOIN_THRESHOLD_BYTES, 1)
        .set_usize(BALLISTA_BROADCAST_JOIN_THRESHOLD_ROWS, 1)
        // Once: what fails is the coordinator's to try again.
        .set_usize(BALLISTA_CLIENT_IO_RETRIES_TIMES, 1);
    plans_for_tasks(config.options_mut());
    config
}

/// How plans for tasks are made.
pub(crate) fn plans_for_tasks(options: &mut ConfigOptions) {
    let optimizer = &mut options.optimizer;
    optimizer.enable_round_robin_repartition = false;
    optimizer.prefer_existing_union = true;
    // No side of a join is sent to every task.
    optimizer.hash_join_single_partition_threshold = 0;
    optimizer.hash_join_single_partition_threshold_rows = 0;
    // A join that has such a filter cannot be turned round by the scheduler, which then waits for ever.
    optimizer.enable_dynamic_filter_pushdown = false;
    optimizer.enable_join_dynamic_filter_pushdown = false;
    optimizer.enable_topk_dynamic_filter_pushdown = false;
    optimizer.enable_aggregate_dynamic_filter_pushdown = false;
}

/// What plans may name: DataFusion's functions, the total ones, and the digest.
pub(crate) fn state(config: SessionConfig) -> Result<SessionState> {
    let runtime: Arc<RuntimeEnv> = RuntimeEnvBuilder::new().build_arc()?;
    let state =
        SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features();
    let context = SessionContext::new_with_state(state.build());
    register(&context);
    Ok(context.state())
}

/// Make known to a context what plans of ours name.
pub(crate) fn register(context: &SessionContext) {
    equipoise_sql_total::register(context);
    context.register_udaf(digest::udaf());
}

/// The same for executors, which look functions up by themselves.
pub(crate) fn registry(config: SessionConfig) -> Result<BallistaFunctionRegistry> {
    let state = state(config)?;
    Ok(BallistaFunctionRegistry {
        scalar_functions: state.scalar_functions().clone(),
        aggregate_functions: state.aggregate_functions().clone(),
        ..BallistaFunctionRegistry::default()
    })
}

/// How plans are written: as Ballista writes them, with tables that are handed over.
#[derive(Debug)]
pub(crate) struct Codec {
    members: Membership,
    theirs: BallistaPhysicalExtensionCodec,
}

impl Codec {
    pub fn new(members: &Membership) -> Self {
        Self { members: members.clone(), theirs: BallistaPhysicalExtensionCodec::default() }
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match Handed::read(bytes, &self.members)? {
            Some(table) => Ok(Arc::new(table)),
            None => self.theirs.try_decode(bytes, inputs, context, converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match node.downcast_ref::<Handed>() {
            Some(table) => table.write(bytes),
            None => self.theirs.try_encode(node, bytes, converter),
        }
    }
}
