//! A table as executors see it: rows that the coordinator read, asked for over the network and counted as they come.

use crate::{
    digest::{Digest, Digester, Key},
    members::{MESSAGE_BYTES, Membership},
};
use arrow::datatypes::{Schema, SchemaRef};
use arrow_flight::{Ticket, decode::FlightRecordBatchStream, flight_service_client::FlightServiceClient};
use datafusion::{
    common::{DataFusionError, Result, exec_err, internal_err, tree_node::TreeNodeRecursion},
    execution::TaskContext,
    physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr},
    physical_plan::{
        ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
        ReplaceChildrenOptions, SendableRecordBatchStream,
        execution_plan::{Boundedness, EmissionType},
        stream::RecordBatchReceiverStreamBuilder,
    },
};
use datafusion_proto::protobuf;
use futures::TryStreamExt as _;
use prost::Message as _;
use std::{fmt, sync::Arc};

/// What begins the bytes of such a table in a plan.
const MARK: &[u8] = b"equipoise handed table 1\n";

/// So many batches wait at most.
const WAITING: usize = 2;

/// Where a table is to be had, and what it holds.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The coordinator's address.
    pub address: String,
    /// What the coordinator asks for before it hands out rows, and which table is meant.
    pub ticket: Vec<u8>,
    /// What its hashes are keyed with.
    pub key: [u64; 2],
    /// What the coordinator read.
    pub digest: Digest,
}

/// How a place is written into a plan.
#[derive(prost::Message)]
struct Written {
    #[prost(string, tag = "1")]
    address: String,
    #[prost(bytes = "vec", tag = "2")]
    ticket: Vec<u8>,
    #[prost(fixed64, tag = "3")]
    key: u64,
    #[prost(fixed64, tag = "4")]
    second_key: u64,
    #[prost(bytes = "vec", tag = "5")]
    digest: Vec<u8>,
    #[prost(bytes = "vec", tag = "6")]
    schema: Vec<u8>,
}

/// A table that the coordinator hands over, as one partition.
pub(crate) struct Handed {
    place: Place,
    schema: SchemaRef,
    members: Membership,
    properties: Arc<PlanProperties>,
}

impl Handed {
    pub fn new(place: Place, schema: SchemaRef, members: Membership) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            // One: whoever splits a plan for several tasks knows how to split none of our leaves.
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { place, schema, members, properties: Arc::new(properties) }
    }

    /// The bytes that stand for it in a plan.
    pub fn write(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let schema = protobuf::Schema::try_from(self.schema.as_ref())?;
        let written = Written {
            address: self.place.address.clone(),
            ticket: self.place.ticket.clone(),
            key: self.place.key[0],
            second_key: self.place.key[1],
            digest: self.place.digest.to_bytes().to_vec(),
            schema: schema.encode_to_vec(),
        };
        bytes.extend_from_slice(MARK);
        bytes.extend(written.encode_to_vec());
        Ok(())
    }

    /// The table that these bytes stand for, if they stand for one.
    pub fn read(bytes: &[u8], members: &Membership) -> Result<Option<Self>> {
        let Some(bytes) = bytes.strip_prefix(MARK) else { return Ok(None) };
        let unreadable = || DataFusionError::Internal("a table in a plan could not be read".to_string());
        let written = Written::decode(bytes).map_err(|_| unreadable())?;
        let schema = protobuf::Schema::decode(written.schema.as_slice()).map_err(|_| unreadable())?;
        let place = Place {
            address: written.address,
            ticket: written.ticket,
            key: [written.key, written.second_key],
            digest: Digest::of_bytes(&written.digest).ok_or_else(unreadable)?,
        };
        let schema = Arc::new(Schema::try_from(&schema)?);
        Ok(Some(Self::new(place, schema, members.clone())))
    }
}

// The ticket is a secret, and the digest depends on rows.
impl fmt::Debug for Handed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handed").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl DisplayAs for Handed {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handed: {} columns", self.schema.fields().len())
    }
}

impl ExecutionPlan for Handed {
    fn name(&self) -> &'static str {
        "Handed"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a handed table has no inputs") }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("a handed table has one partition");
        }
        let mut stream = RecordBatchReceiverStreamBuilder::new(self.schema.clone(), WAITING);
        let to = stream.tx();
        let (place, schema, members) = (self.place.clone(), self.schema.clone(), self.members.clone());
        stream.spawn(async move {
            // One fixed line: it travels to the scheduler, and rows may be in what others say.
            let lost = || DataFusionError::Execution("a table could not be handed over whole".to_string());
            let mut rows = fetch(&place, &members).await.map_err(|_| lost())?;
            let digester = Digester::of_schema(Key(place.key), &schema)?;
            let mut digest = Digest::default();
            while let Some(batch) = rows.try_next().await.map_err(|_| lost())? {
                let batch = batch.with_schema(schema.clone()).map_err(|_| lost())?;
                digest = digest.with(digester.of_batch(&batch).map_err(|_| lost())?);
                if to.send(Ok(batch)).await.is_err() {
                    // Nobody listens any more: the rest is not wanted.
                    return Ok(());
                }
            }
            if digest == place.digest { Ok(()) } else { Err(lost()) }
        });
        Ok(stream.build())
    }
}

async fn fetch(place: &Place, members: &Membership) -> Result<FlightRecordBatchStream> {
    let external = |error: tonic::transport::Error| DataFusionError::External(Box::new(error));
    let channel = members.endpoint(&place.address).map_err(external)?.connect().await.map_err(external)?;
    let mut client = FlightServiceClient::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    let Ok(answer) = client.do_get(Ticket { ticket: place.ticket.clone().into() }).await else {
        return exec_err!("the coordinator did not answer");
    };
    Ok(FlightRecordBatchStream::new_from_flight_data(answer.into_inner().map_err(Into::into)))
}
