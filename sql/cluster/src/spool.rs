//! The tables of one question, read once by the coordinator, kept in files of its own and handed out to executors.
//!
//! The files lie in a folder that only this account reads, and go with the question. Whoever asks for rows needs the question's secret,
//! which stands in its plans alone.

use crate::{
    digest::{Digest, Digester, Key},
    handed::Place,
    members::{MESSAGE_BYTES, Membership},
};
use arrow::{
    datatypes::SchemaRef,
    ipc::{
        reader::StreamReader,
        writer::{IpcWriteOptions, StreamWriter},
    },
};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo, HandshakeRequest,
    HandshakeResponse, PollInfo, PutResult, SchemaResult, Ticket,
    encode::FlightDataEncoderBuilder,
    error::FlightError,
    flight_service_server::{FlightService, FlightServiceServer},
};
use datafusion::{error::Result, physical_plan::SendableRecordBatchStream};
use futures::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use std::{
    fs::{File, OpenOptions, Permissions},
    io::{BufReader, BufWriter, Write as _},
    net::{IpAddr, SocketAddr},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot, task};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming, transport::server::TcpIncoming};

/// So many batches wait at most.
const WAITING: usize = 2;

/// So long is the secret of a question, in bytes.
const SECRET_BYTES: usize = 32;

/// The tables that are handed out.
struct Tables {
    secret: [u8; SECRET_BYTES],
    files: Mutex<Vec<PathBuf>>,
}

impl Tables {
    /// The file that a ticket is for. Hashes are compared, so that time tells nothing of the secret.
    fn file(&self, ticket: &[u8]) -> Option<PathBuf> {
        let (secret, number) = ticket.split_at_checked(SECRET_BYTES)?;
        let number = u64::from_le_bytes(number.try_into().ok()?);
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files.get(usize::try_from(number).ok()?)?;
        (blake3::hash(secret) == blake3::hash(&self.secret)).then(|| file.clone())
    }
}

/// A folder that its owner alone reads.
pub(crate) fn own_folder(prefix: &str, inside: &Path) -> std::io::Result<TempDir> {
    let mode = Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(prefix).permissions(mode).tempdir_in(inside)
}

/// Hands out tables until it is dropped.
pub(crate) struct Spool {
    folder: TempDir,
    address: SocketAddr,
    key: Key,
    tables: Arc<Tables>,
    // Dropped, it ends the server.
    _ends: oneshot::Sender<()>,
}

impl Spool {
    /// Listen at an address of this host, any port. Needs a runtime.
    pub async fn open(
        at: IpAddr,
        members: &Membership,
        key: Key,
        secret: [u8; SECRET_BYTES],
    ) -> std::io::Result<Self> {
        let folder = own_folder("equipoise-tables-", &std::env::temp_dir())?;
        let listener = TcpListener::bind((at, 0)).await?;
        let address = listener.local_addr()?;
        let tables = Arc::new(Tables { secret, files: Mutex::new(Vec::new()) });
        let (ends, ended) = oneshot::channel::<()>();
        let service = FlightServiceServer::new(Hands(tables.clone()))
            .max_encoding_message_size(MESSAGE_BYTES)
            .max_decoding_message_size(MESSAGE_BYTES);
        let serving = members
            .server()
            .map_err(std::io::Error::other)?
            .add_service(service)
            .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), async {
                let _ = ended.await;
            });
        task::spawn(serving);
        Ok(Self { folder, address, key, tables, _ends: ends })
    }

    /// Read a table to its end and hand it out from now on.
    pub async fn take(&self, mut rows: SendableRecordBatchStream) -> Result<Place> {
        let number = self.tables.files.lock().unwrap_or_else(PoisonError::into_inner).len();
        let path = self.folder.path().join(format!("{number}.arrows"));
        let schema = rows.schema();
        let digester = Digester::of_schema(self.key, &schema)?;
        let mut file = writer(&path, &schema)?;
        let mut digest = Digest::default();
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            digest = digest.with(digester.of_batch(&batch)?);
            file.write(&batch)?;
        }
        file.into_inner()?.flush()?;
        self.tables.files.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        let mut ticket = self.tables.secret.to_vec();
        ticket.extend_from_slice(&(number as u64).to_le_bytes());
        Ok(Place { address: self.address.to_string(), ticket, key: self.key.0, digest })
    }
}

fn writer(path: &PathBuf, schema: &SchemaRef) -> Result<StreamWriter<BufWriter<File>>> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(StreamWriter::try_new_with_options(BufWriter::new(file), schema, IpcWriteOptions::default())?)
}

/// Serves rows of tables, and nothing else.
struct Hands(Arc<Tables>);

type Answer<T> = BoxStream<'static, Result<T, Status>>;

#[tonic::async_trait]
impl FlightService for Hands {
    type HandshakeStream = Answer<HandshakeResponse>;
    type ListFlightsStream = Answer<FlightInfo>;
    type DoGetStream = Answer<FlightData>;
    type DoPutStream = Answer<PutResult>;
    type DoActionStream = Answer<arrow_flight::Result>;
    type ListActionsStream = Answer<ActionType>;
    type DoExchangeStream = Answer<FlightData>;

    async fn do_get(&self, request: Request<Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        let path =
            self.0.file(&request.into_inner().ticket).ok_or_else(|| Status::not_found("no such table"))?;
        let (to, rows) = tokio::sync::mpsc::channel(WAITING);
        let lost = || FlightError::ExternalError("a table could not be read".into());
        let file = File::open(path).map_err(|_| Status::internal("a table could not be read"))?;
        let reader = StreamReader::try_new(BufReader::new(file), None)
            .map_err(|_| Status::internal("a table could not be read"))?;
        let schema = reader.schema();
        task::spawn_blocking(move || {
            for batch in reader {
                if to.blocking_send(batch.map_err(|_| lost())).is_err() {
                    return;
                }
            }
        });
        let written = FlightDataEncoderBuilder::new().with_schema(schema).build(ReceiverStream::new(rows));
        Ok(Response::new(written.map_err(|_| Status::internal("a table could not be read")).boxed()))
    }

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Err(no())
    }

    async fn list_flights(&self, _: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>, Status> {
        Err(no())
    }

    async fn get_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        Err(no())
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        Err(no())
    }

    async fn get_schema(&self, _: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        Err(no())
    }

    async fn do_put(&self, _: Request<Streaming<FlightData>>) -> Result<Response<Self::DoPutStream>, Status> {
        Err(no())
    }

    async fn do_exchange(
        &self,
        _: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        Err(no())
    }

    async fn do_action(&self, _: Request<Action>) -> Result<Response<Self::DoActionStream>, Status> {
        Err(no())
    }

    async fn list_actions(&self, _: Request<Empty>) -> Result<Response<Self::ListActionsStream>, Status> {
        Err(no())
    }
}

fn no() -> Status {
    Status::unimplemented("tables are handed out, nothing else")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handed::Handed;
    use arrow::{
        array::{RecordBatch, StringArray},
        datatypes::{DataType, Field, Schema},
    };
    use datafusion::{
        execution::TaskContext,
        physical_plan::{ExecutionPlan as _, common::collect, stream::RecordBatchStreamAdapter},
    };
    use futures::stream;

    fn rows() -> RecordBatch {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Utf8, true)]));
        let texts: StringArray = (0..1_000).map(|row| Some(row.to_string())).collect();
        RecordBatch::try_new(schema, vec![Arc::new(texts)]).unwrap()
    }

    /// A table is handed over whole; with another digest, another secret, or after the question, not at all.
    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_handed_over_is_what_was_read_or_nothing() {
        let members = Membership::of_this_host();
        let spool =
            Spool::open([127, 0, 0, 1].into(), &members, Key([1, 2]), [7; SECRET_BYTES]).await.unwrap();
        let batch = rows();
        let stream = stream::iter([Ok(batch.slice(0, 600)), Ok(batch.slice(600, 400))]);
        let place =
            spool.take(Box::pin(RecordBatchStreamAdapter::new(batch.schema(), stream))).await.unwrap();
        assert_eq!(place.digest.rows, 1_000);
        let file = spool.folder.path().join("0.arrows");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(spool.folder.path()), mode(&file)), (0o700, 0o600));
        let fetched = |place: &Place| {
            let table = Handed::new(place.clone(), batch.schema(), members.clone());
            collect(table.execute(0, Arc::new(TaskContext::default())).unwrap())
        };
        let whole = fetched(&place).await.unwrap();
        assert_eq!(arrow::compute::concat_batches(&batch.schema(), &whole).unwrap(), batch);
        let mut lost = place.clone();
        lost.digest.rows += 1;
        let mut changed = place.clone();
        changed.digest.sum ^= 1;
        let mut stranger = place.clone();
        stranger.ticket[0] ^= 1;
        let mut other = place.clone();
        other.ticket[SECRET_BYTES] = 1;
        for (what, place) in [("lost", lost), ("changed", changed), ("stranger", stranger), ("other", other)]
        {
            assert!(fetched(&place).await.is_err(), "{what}");
        }
        drop(spool);
        assert!(!file.exists());
        assert!(fetched(&place).await.is_err(), "after the question");
    }
}
