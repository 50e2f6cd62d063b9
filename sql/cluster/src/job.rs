//! One plan run on the cluster: handed in once, waited for, its rows fetched and counted. What fails is cancelled, and what is done is removed.

use crate::{
    counted::counted,
    engine::{Codec, settings},
    members::{MESSAGE_BYTES, Membership},
};
use arrow::array::RecordBatch;
use ballista_core::{
    client::BallistaClient,
    extension::BallistaConfigGrpcEndpoint,
    serde::protobuf::{
        CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair,
        PartitionLocation, execute_query_params::Query, execute_query_result, job_status::Status,
        scheduler_grpc_client::SchedulerGrpcClient,
    },
    version,
};
use datafusion::{common::Result, physical_plan::ExecutionPlan};
use datafusion_proto::{physical_plan::AsExecutionPlan as _, protobuf::PhysicalPlanNode};
use equipoise_core::coins::Coins as _;
use equipoise_entropy::OsCoins;
use futures::TryStreamExt as _;
use std::{sync::Arc, time::Duration};
use tokio::time::{sleep, timeout};
use tonic::transport::Channel;

/// Something was lost on the way. No word of what others said leaves: rows may be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

/// So often the scheduler is asked how far a job is.
const ASKED_EVERY: Duration = Duration::from_millis(50);
/// So long the scheduler has for one answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);

/// The bytes of a plan.
pub(crate) fn written(plan: &Arc<dyn ExecutionPlan>, codec: &Codec) -> Result<Vec<u8>> {
    let node = PhysicalPlanNode::try_from_physical_plan(plan.clone(), codec)?;
    let mut bytes = Vec::new();
    node.try_encode(&mut bytes)?;
    Ok(bytes)
}

/// Runs plans.
pub(crate) struct Jobs<'a> {
    pub scheduler: &'a str,
    pub members: &'a Membership,
    pub parts: usize,
}

impl Jobs<'_> {
    /// Run a plan within a time, and give its rows to `take` as they come.
    pub async fn run(
        &self,
        plan: Vec<u8>,
        within: Duration,
        mut take: impl FnMut(RecordBatch) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        let connecting = timeout(ANSWERED_WITHIN, async {
            self.members.endpoint(self.scheduler).map_err(|_| Lost)?.connect().await.map_err(|_| Lost)
        });
        let mut client = SchedulerGrpcClient::new(connecting.await.map_err(|_| Lost)??)
            .max_encoding_message_size(MESSAGE_BYTES)
            .max_decoding_message_size(MESSAGE_BYTES);
        let handed_in = timeout(ANSWERED_WITHIN, self.hand_in(&mut client, plan)).await;
        let job = handed_in.map_err(|_| Lost)??;
        let outcome = timeout(within, async {
            for place in self.finished(&mut client, &job).await? {
                self.fetch(place, &mut take).await?;
            }
            Ok(())
        });
        let outcome = outcome.await.unwrap_or(Err(Lost));
        // Best effort: what stays is removed by the members themselves.
        let _ = timeout(ANSWERED_WITHIN, async {
            if outcome.is_err() {
                let _ = client.cancel_job(CancelJobParams { job_id: job.clone() }).await;
            }
            let all = CleanJobDataParams { job_id: job.clone(), remove_stage_ids: Vec::new() };
            let _ = client.clean_job_data(all).await;
        })
        .await;
        outcome
    }

    async fn hand_in(
        &self,
        client: &mut SchedulerGrpcClient<Channel>,
        plan: Vec<u8>,
    ) -> Result<String, Lost> {
        let config = settings(self.members).with_target_partitions(self.parts);
        let settings = config.options().entries().into_iter();
        let settings = settings.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect();
        // A name of this question alone: sessions share nothing.
        let mut coins = OsCoins::new().map_err(|_| Lost)?;
        let session_id = format!("{:016x}{:016x}", coins.bits(64), coins.bits(64));
        let mut request = tonic::Request::new(ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(plan)),
            settings,
            operation_id: session_id.clone(),
            session_id,
        });
        version::insert_version_header(request.metadata_mut());
        let answer = client.execute_query(request).await.map_err(|_| Lost)?.into_inner();
        match answer.result {
            Some(execute_query_result::Result::Success(success)) => Ok(success.job_id),
            Some(execute_query_result::Result::Failure(_)) | None => Err(Lost),
        }
    }

    /// Where the rows of a job are, once it has finished.
    async fn finished(
        &self,
        client: &mut SchedulerGrpcClient<Channel>,
        job: &str,
    ) -> Result<Vec<PartitionLocation>, Lost> {
        loop {
            let asked = client.get_job_status(GetJobStatusParams { job_id: job.to_string() });
            let answer = timeout(ANSWERED_WITHIN, asked).await.map_err(|_| Lost)?.map_err(|_| Lost)?;
            match answer.into_inner().status.and_then(|status| status.status) {
                Some(Status::Successful(job)) => return Ok(job.partition_location),
                Some(Status::Failed(_)) => return Err(Lost),
                Some(Status::Queued(_) | Status::Running(_)) | None => sleep(ASKED_EVERY).await,
            }
        }
    }

    async fn fetch(
        &self,
        place: PartitionLocation,
        take: &mut impl FnMut(RecordBatch) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        let layout = place.layout();
        let executor = place.executor_meta.ok_or(Lost)?;
        let partition = place.partition_id.ok_or(Lost)?;
        let rows = u64::try_from(place.partition_stats.ok_or(Lost)?.num_rows).map_err(|_| Lost)?;
        let port = u16::try_from(executor.port).map_err(|_| Lost)?;
        let endpoints = Arc::new(BallistaConfigGrpcEndpoint::new(self.members.endpoints()));
        let encrypted = self.members.is_encrypted();
        let connecting = BallistaClient::try_new(
            &executor.host,
            port,
            MESSAGE_BYTES,
            encrypted,
            Some(endpoints),
            1,
            0,
            0,
            0,
        );
        let mut client = connecting.await.map_err(|_| Lost)?;
        let fetched =
            client.fetch_partition(&executor.id, &partition.into(), place.file_id, layout, true).await;
        let mut fetched = counted(fetched.map_err(|_| Lost)?, rows);
        while let Some(batch) = fetched.try_next().await.map_err(|_| Lost)? {
            take(batch)?;
        }
        Ok(())
    }
}
