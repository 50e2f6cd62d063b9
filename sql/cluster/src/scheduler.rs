//! The scheduler: it splits plans in stages and hands their tasks to executors that ask for work. It sees plans, not rows.
//!
//! Nothing is tried again here. A job that loses an executor is ended: what the coordinator gets is whole, or nothing.

use crate::{
    engine::{Codec, settings, state},
    members::{MESSAGE_BYTES, Membership, Refused},
};
use ballista_core::{
    config::TaskSchedulingPolicy, serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer,
};
use ballista_scheduler::{
    cluster::{
        BallistaCluster, ClusterStateEvent,
        memory::{InMemoryClusterState, InMemoryJobState},
    },
    config::SchedulerConfig,
    scheduler_process::create_scheduler,
    scheduler_server::SchedulerServer,
};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use futures::StreamExt as _;
use std::{net::SocketAddr, sync::Arc};
use tokio::{net::TcpListener, task};
use tonic::transport::server::TcpIncoming;

type Server = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// An executor that says nothing for so many seconds is lost; a busy one says something every five.
const SILENCE_SECONDS: u64 = 15;
/// So long the rows of a finished job are kept for the coordinator, which asks for their removal itself, in seconds.
const KEPT_SECONDS: u64 = 900;

fn failed(error: impl std::fmt::Display) -> Refused {
    Refused::new(format!("the scheduler could not start: {error}"), "look at --listen")
}

/// Serve at an address until the process ends. `ready` is called once it listens.
pub async fn run(
    listen: SocketAddr,
    members: &Membership,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), Refused> {
    members.allows(listen.ip())?;
    let listener = TcpListener::bind(listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let for_sessions = members.clone();
    let message = u32::try_from(MESSAGE_BYTES).unwrap_or(u32::MAX);
    let config = SchedulerConfig {
        namespace: "equipoise".to_string(),
        external_host: address.ip().to_string(),
        bind_host: address.ip().to_string(),
        bind_port: address.port(),
        // Executors ask: nothing but the scheduler and the executors' rows listens.
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        finished_job_data_clean_up_interval_seconds: KEPT_SECONDS,
        finished_job_state_clean_up_interval_seconds: KEPT_SECONDS,
        grpc_server_max_decoding_message_size: message,
        grpc_server_max_encoding_message_size: message,
        grpc_client_max_message_size: message,
        executor_timeout_seconds: SILENCE_SECONDS,
        expire_dead_executor_interval_seconds: 1,
        task_max_failures: 1,
        stage_max_failures: 1,
        use_tls: members.is_encrypted(),
        override_create_grpc_client_endpoint: Some(members.endpoints()),
        override_physical_codec: Some(Arc::new(Codec::new(members))),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new(
        Arc::new(InMemoryClusterState::default()),
        Arc::new(InMemoryJobState::new(
            config.scheduler_id.clone(),
            Arc::new(state),
            Arc::new(move || settings(&for_sessions)),
        )),
    );
    let jobs = cluster.job_state();
    let server: Server = create_scheduler(cluster, Arc::new(config)).await.map_err(failed)?;
    let mut events = server.cluster_state_events().await.map_err(failed)?;
    let ending = server.clone();
    task::spawn(async move {
        // Without this the lost executor's stages would run again inside, which nobody outside could tell from one run.
        while let Some(event) = events.next().await {
            if !matches!(event, ClusterStateEvent::RemovedExecutor { .. }) {
                continue;
            }
            for job in jobs.get_jobs().await.unwrap_or_default() {
                let _ = ending.cancel_job(job).await;
            }
        }
    });
    let service = SchedulerGrpcServer::new(server)
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    // Built here: Ballista's own server knows no certificates, and has routes that tell the number of executors.
    let serving = members.server().map_err(failed)?.add_service(service);
    ready(address);
    serving.serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true))).await.map_err(failed)
}
