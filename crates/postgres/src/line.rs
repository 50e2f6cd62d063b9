//! A line to a server that lasts longer than a question: on a thread of its own, so that whoever waits for it may be in a runtime already.

use crate::{connect::Session, settings::Settings};
use equipoise_engine::remote::ServerProblem;
use equipoise_session::ledger::Value;
use std::{
    collections::HashMap,
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::time::timeout;
use tokio_postgres::{
    Client, Error, Row, SimpleQueryMessage, Statement,
    error::SqlState,
    types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

/// A server that says nothing for so long is gone.
const PATIENCE: Duration = Duration::from_mins(1);
/// So many statements are kept ready; those of data sets that began anew have numbers in them, and there may be any number.
const MOST_STATEMENTS: usize = 200;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The line is gone, and with it whether the server did what it was asked last.
    Lost,
    /// The server said no, with this code. What else it says stays here: it may quote what is stored.
    Code(String),
}

type Answer<T> = Result<T, Trouble>;

enum Asked {
    Batch(String, SyncSender<Answer<Vec<String>>>),
    Rows(String, Vec<Value>, SyncSender<Answer<Vec<Vec<Value>>>>),
}

/// The line.
pub(crate) struct Line {
    asked: Option<Sender<Asked>>,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    pub fn open(settings: &Settings) -> Result<Self, ServerProblem> {
        let (asked, questions) = channel();
        let (ready, opened) = sync_channel(1);
        let settings = settings.clone();
        let thread = thread::Builder::new().name("ledger".to_string()).spawn(move || {
            let session = Session::connect(&settings);
            let (said, session) = match session {
                Ok(session) => (Ok(()), Some(session)),
                Err(problem) => (Err(problem), None),
            };
            // Nobody waits any more where this fails.
            let _ = ready.send(said);
            if let Some(session) = session {
                serve(&session, &questions);
                session.end();
            }
        });
        let thread = thread.map_err(|_| ServerProblem::Failed)?;
        opened.recv().unwrap_or(Err(ServerProblem::Failed))?;
        Ok(Self { asked: Some(asked), thread: Some(thread) })
    }

    fn ask<T>(&self, question: impl FnOnce(SyncSender<Answer<T>>) -> Asked) -> Answer<T> {
        let (reply, answer) = sync_channel(1);
        let asked = self.asked.as_ref().ok_or(Trouble::Lost)?;
        asked.send(question(reply)).map_err(|_| Trouble::Lost)?;
        answer.recv().unwrap_or(Err(Trouble::Lost))
    }

    /// Statements without parameters, in one message; the cells of the last row that they find.
    pub fn batch(&self, sql: &str) -> Answer<Vec<String>> {
        self.ask(|reply| Asked::Batch(sql.to_string(), reply))
    }

    /// What a statement finds.
    pub fn rows(&self, sql: &str, parameters: &[Value]) -> Answer<Vec<Vec<Value>>> {
        self.ask(|reply| Asked::Rows(sql.to_string(), parameters.to_vec(), reply))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        drop(self.asked.take());
        // A fork waits for this, so that no thread of ours is copied half-way.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(session: &Session, questions: &Receiver<Asked>) {
    let mut statements = HashMap::new();
    // Replies that nobody waits for are nobody's.
    for asked in questions {
        match asked {
            Asked::Batch(sql, reply) => {
                let _ = reply.send(session.run(async |client| within(batch(client, &sql)).await));
            }
            Asked::Rows(sql, parameters, reply) => {
                let found = session
                    .run(async |client| within(rows(client, &mut statements, &sql, &parameters)).await);
                let _ = reply.send(found);
            }
        }
    }
}

async fn within<T>(work: impl Future<Output = Result<T, Error>>) -> Answer<T> {
    match timeout(PATIENCE, work).await {
        Err(_) => Err(Trouble::Lost),
        Ok(done) => done.map_err(|error| trouble(&error)),
    }
}

/// Classes 08 and 57P are the words of a server that goes away.
fn trouble(error: &Error) -> Trouble {
    match error.code().map(SqlState::code) {
        Some(code) if !code.starts_with("08") && !code.starts_with("57P") && code != "25P03" => {
            Trouble::Code(code.to_string())
        }
        Some(_) => Trouble::Lost,
        // What is wrong on this side of the line, such as a cell of another type, breaks no line.
        None if error.is_closed() => Trouble::Lost,
        None => match error.to_string() {
            said if said.starts_with("error serializing") || said.starts_with("error deserializing") => {
                Trouble::Code(String::new())
            }
            _ => Trouble::Lost,
        },
    }
}

async fn batch(client: &Client, sql: &str) -> Result<Vec<String>, Error> {
    let mut last = Vec::new();
    for message in client.simple_query(sql).await? {
        if let SimpleQueryMessage::Row(row) = message {
            last = (0..row.len()).map(|place| row.get(place).unwrap_or_default().to_string()).collect();
        }
    }
    Ok(last)
}

async fn rows(
    client: &Client,
    statements: &mut HashMap<String, Statement>,
    sql: &str,
    parameters: &[Value],
) -> Result<Vec<Vec<Value>>, Error> {
    let known = statements.get(sql).cloned();
    let statement = if let Some(statement) = known {
        statement
    } else {
        let statement = client.prepare(sql).await?;
        if statements.len() >= MOST_STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_string(), statement.clone());
        statement
    };
    let parameters: Vec<Parameter<'_>> = parameters.iter().map(Parameter).collect();
    let parameters: Vec<&(dyn ToSql + Sync)> =
        parameters.iter().map(|parameter| parameter as &(dyn ToSql + Sync)).collect();
    let found = client.query(&statement, &parameters).await?;
    found.iter().map(cells).collect()
}

fn cells(row: &Row) -> Result<Vec<Value>, Error> {
    let cell = |(place, column): (usize, &tokio_postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(place)?.map_or(Value::Null, Value::Number),
            Type::INT4 => {
                row.try_get::<_, Option<i32>>(place)?.map_or(Value::Null, |number| i64::from(number).into())
            }
            Type::BOOL => {
                row.try_get::<_, Option<bool>>(place)?.map_or(Value::Null, |yes| i64::from(yes).into())
            }
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(place)?.map_or(Value::Null, Value::Bytes),
            _ => row.try_get::<_, Option<String>>(place)?.map_or(Value::Null, Value::Text),
        })
    };
    row.columns().iter().enumerate().map(cell).collect()
}

/// A parameter as the type that the server asks for.
#[derive(Debug)]
struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Number(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Value::Number(number) => number.to_sql(kind, out),
            Value::Text(text) => text.to_sql(kind, out),
            Value::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT4, Type::INT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}
