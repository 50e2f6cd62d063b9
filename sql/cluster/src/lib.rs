//! Relations made on several hosts: a scheduler and executors of Ballista, and a coordinator that believes nothing it has not counted.
//!
//! The coordinator, which holds the ledger, makes the plan, reads the tables with readers of its own and hands their rows out; executors join
//! and aggregate them; the coordinator fetches the relation. Noise, bounding and charges stay where they are.
//!
//! # Guarantee
//!
//! [`Cluster::rows`] gives the rows of the plan, or nothing, within a time that is known before. If a member loses, doubles or changes
//! rows once, what comes back is nothing, but for a chance of about 2^-128.
//!
//! # Why
//!
//! 1. The plan is what the walker proved; it is run as it was made: nothing plans again.
//! 2. Every table is hashed as it is read, and again by each task that reads it (`handed`).
//! 3. Every reading between two stages is counted against what was written (`counted`).
//! 4. The relation is asked for twice, once as its digest and once as its rows; two runs that fail in one way are needed to agree on
//!    something wrong (`digest`).
//! 5. Nothing inside is tried again, and every pass has a deadline. A failed try is thrown away whole and repeated once.

#![forbid(unsafe_code)]

mod counted;
mod digest;
mod engine;
pub mod executor;
mod handed;
mod job;
mod members;
pub mod scheduler;
mod shape;
mod spool;

pub use job::Lost;
pub use members::{Membership, NAME, Refused};

use arrow::array::RecordBatch;
use datafusion::{
    execution::TaskContext,
    physical_plan::{ExecutionPlan, empty::EmptyExec, streaming::StreamingTableExec},
    prelude::SessionContext,
};
use digest::{Digest, Digester, Key};
use engine::Codec;
use equipoise_core::coins::Coins as _;
use equipoise_entropy::OsCoins;
use handed::{Handed, Place};
use job::Jobs;
use spool::Spool;
use std::{
    net::{IpAddr, TcpStream, ToSocketAddrs as _},
    sync::Arc,
    time::Duration,
};

/// How often a relation is asked for before it is lost.
const TRIES: usize = 2;
/// Between two tries, so that a member that restarts is there again.
const PAUSE: Duration = Duration::from_secs(2);
/// So long a cluster has to show that it runs plans at all.
const SHOWN_WITHIN: Duration = Duration::from_secs(30);

/// A cluster as the coordinator knows it.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its scheduler, as `HOST:PORT`.
    pub scheduler: String,
    /// What the coordinator shows.
    pub members: Membership,
    /// How many parts of a relation are worked on side by side; at least 2.
    pub parts: usize,
    /// How long one pass may take.
    pub deadline: Duration,
}

/// A part of a plan that is not sent away.
fn not_sent(part: &str) -> Refused {
    Refused::new(
        format!("{part} is not sent to a cluster"),
        "leave --cluster out, or write the query in another way",
    )
}

impl Cluster {
    /// Have a context make plans for tasks of a cluster, and know what such plans name.
    pub fn adapt(&self, context: &SessionContext) {
        engine::register(context);
        let state = context.state_ref();
        let mut state = state.write();
        let options = state.config_mut().options_mut();
        options.execution.target_partitions = self.parts.max(2);
        engine::plans_for_tasks(options);
    }

    /// The address of this host that the scheduler's network sees.
    fn own_address(&self) -> Result<IpAddr, Refused> {
        executor::split(&self.scheduler)?;
        let silent = || executor::silent(&self.scheduler);
        for address in self.scheduler.to_socket_addrs().map_err(|_| silent())? {
            self.members.allows(address.ip())?;
            if let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_secs(10)) {
                return Ok(stream.local_addr().map_err(|_| silent())?.ip());
            }
        }
        Err(silent())
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs { scheduler: &self.scheduler, members: &self.members, parts: self.parts }
    }

    /// Is every part of this plan one that is sent, and read again as it was written?
    pub fn sendable(&self, plan: &Arc<dyn ExecutionPlan>, task: &TaskContext) -> Result<(), Refused> {
        let codec = Codec::new(&self.members);
        let unknown = |_| not_sent("this query");
        let shaped = shape::for_tasks(plan)?;
        let handed = replaced(shaped, &mut |leaf| {
            let place = Place {
                address: "127.0.0.1:1".to_string(),
                ticket: vec![0; 40],
                key: [0; 2],
                digest: Digest::default(),
            };
            Ok(Arc::new(Handed::new(place, leaf.schema(), self.members.clone())))
        });
        let handed = handed.map_err(unknown)?;
        for plan in [shape::digested(&handed, Key([0; 2])).map_err(unknown)?, handed] {
            let bytes = job::written(&plan, &codec).map_err(unknown)?;
            if bytes.len() > members::MESSAGE_BYTES / 2 {
                return Err(not_sent("a query with so many constants"));
            }
            shape::read_again(&plan, &bytes, &codec, task).map_err(|_| not_sent("this query"))?;
        }
        Ok(())
    }

    /// Find out, before anything is charged, whether the cluster can run this plan: all of it can be sent, and an executor answers a question
    /// about no row.
    pub async fn check(&self, plan: &Arc<dyn ExecutionPlan>, task: &TaskContext) -> Result<(), Refused> {
        self.own_address()?;
        self.sendable(plan, task)?;
        let codec = Codec::new(&self.members);
        let unknown = |_| not_sent("this query");
        let nothing: Arc<dyn ExecutionPlan> = Arc::new(EmptyExec::new(plan.schema()));
        let nothing = shape::digested(&nothing, Key([0; 2])).map_err(unknown)?;
        let bytes = job::written(&nothing, &codec).map_err(unknown)?;
        let answered = self.digest(bytes, SHOWN_WITHIN).await;
        if answered == Ok(Digest::default()) {
            return Ok(());
        }
        Err(Refused::new(
            format!("no executor of the cluster at {} answered", self.scheduler),
            format!("start one: equipoise cluster executor --scheduler {}", self.scheduler),
        ))
    }

    /// The rows of a plan, in any order. Tables are read once, here; `grow` is told of the bytes of each batch that is held, and may say no.
    pub async fn rows(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        task: &Arc<TaskContext>,
        grow: &(impl Fn(usize) -> Result<(), Lost> + Sync),
        shrink: &(impl Fn() + Sync),
    ) -> Result<Vec<RecordBatch>, Lost> {
        let at = self.own_address().map_err(|_| Lost)?;
        let mut coins = OsCoins::new().map_err(|_| Lost)?;
        let key = Key([coins.bits(64), coins.bits(64)]);
        let mut secret = [0; 32];
        for part in secret.chunks_exact_mut(8) {
            part.copy_from_slice(&coins.bits(64).to_le_bytes());
        }
        let spool = Spool::open(at, &self.members, key, secret).await.map_err(|_| Lost)?;
        let shaped = shape::for_tasks(plan).map_err(|_| Lost)?;
        let mut leaves = Vec::new();
        let found = replaced(shaped.clone(), &mut |leaf| {
            leaves.push(leaf.clone());
            Ok(leaf)
        });
        found.map_err(|_| Lost)?;
        let mut places = Vec::new();
        for leaf in leaves {
            let rows = leaf.execute(0, task.clone()).map_err(|_| Lost)?;
            places.push(spool.take(rows).await.map_err(|_| Lost)?);
        }
        let mut places = places.into_iter();
        let handed = replaced(shaped, &mut |leaf| {
            let place = places.next().ok_or_else(|| {
                datafusion::common::DataFusionError::Internal("a table is missing".to_string())
            })?;
            Ok(Arc::new(Handed::new(place, leaf.schema(), self.members.clone())))
        });
        let handed = handed.map_err(|_| Lost)?;
        let codec = Codec::new(&self.members);
        let digested = shape::digested(&handed, key).map_err(|_| Lost)?;
        let digested = job::written(&digested, &codec).map_err(|_| Lost)?;
        let handed = job::written(&handed, &codec).map_err(|_| Lost)?;
        let digester = Digester::of_schema(key, &plan.schema()).map_err(|_| Lost)?;
        for attempt in 0..TRIES {
            if attempt > 0 {
                shrink();
                tokio::time::sleep(PAUSE).await;
            }
            let Ok(expected) = self.digest(digested.clone(), self.deadline).await else { continue };
            let mut rows = Vec::new();
            let mut digest = Digest::default();
            let jobs = self.jobs();
            let fetched = jobs.run(handed.clone(), self.deadline, |batch| {
                grow(batch.get_array_memory_size())?;
                digest = digest.with(digester.of_batch(&batch).map_err(|_| Lost)?);
                rows.push(batch.with_schema(plan.schema()).map_err(|_| Lost)?);
                Ok(())
            });
            if fetched.await.is_ok() && digest == expected {
                return Ok(rows);
            }
        }
        Err(Lost)
    }

    /// The digest that a plan gives.
    async fn digest(&self, plan: Vec<u8>, within: Duration) -> Result<Digest, Lost> {
        let mut found = Vec::new();
        let jobs = self.jobs();
        let asked = jobs.run(plan, within, |batch| {
            found.extend(shape::digests_of(&batch)?);
            Ok(())
        });
        asked.await?;
        match found.as_slice() {
            [only] => Ok(*only),
            _ => Err(Lost),
        }
    }
}

/// The plan with something else in place of each table, in one fixed order.
fn replaced(
    plan: Arc<dyn ExecutionPlan>,
    by: &mut dyn FnMut(Arc<dyn ExecutionPlan>) -> datafusion::common::Result<Arc<dyn ExecutionPlan>>,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    use datafusion::common::tree_node::{Transformed, TreeNode as _};
    let replaced = plan.transform_up(|node| {
        if node.is::<StreamingTableExec>() {
            Ok(Transformed::yes(by(node)?))
        } else {
            Ok(Transformed::no(node))
        }
    });
    Ok(replaced?.data)
}
