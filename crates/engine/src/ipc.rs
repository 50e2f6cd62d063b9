//! Arrow files and streams, as they are written to disk and into pipes.
//!
//! A file is a stream with a magic word before it and an index behind it, and is read as that stream. Before the charge only
//! the schema is read. What cells are says [`columnar`](crate::columnar).

use crate::{
    columnar::{Columns, Meaning, declared, unreadable_line, without_text},
    csv::header::all_different,
    problem::Problem,
    stream::{Origin, Stream},
    threads,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::{MessageHeader, convert::fb_to_schema, reader, root_as_message};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use equipoise_session::{
    quiet::quietly,
    source::{Kind, Lost, Source, Visitor, Wanted},
};
use std::{
    collections::HashMap,
    io::Read,
    sync::{Arc, Mutex, PoisonError},
};

/// How an Arrow file begins; a stream begins with its schema.
pub(crate) const MAGIC: &[u8] = b"ARROW1\0\0";

/// How each message begins, so that it can be told from other bytes.
pub(crate) const CONTINUATION: [u8; 4] = [0xff; 4];

/// An Arrow file or stream whose schema has been read.
pub(crate) struct Ipc {
    origin: Origin,
    columns: Vec<String>,
    meanings: Vec<Meaning>,
    /// With bytes for texts.
    schema: SchemaRef,
    /// In files of Polars dictionaries stand behind the batches that use them.
    dictionaries_last: bool,
}

/// What the codes of such a file are where it cannot be read twice.
const UNEXPLAINED: Meaning = Meaning::Unreadable(
    "codes that are explained at its end (give the file by its name, not through a pipe)",
);

impl Ipc {
    /// Read the schema.
    pub fn new(origin: Origin) -> Result<Self, Problem> {
        let mut stream = origin.open()?;
        // A schema that breaks its reader is a broken schema.
        let (schema, dictionaries_last) = quietly(|| schema(&mut stream)).map_err(|_| Problem::NotArrow)?;
        origin.keep(stream);
        let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        all_different(&columns)?;
        let once = matches!(origin, Origin::Once(..));
        let meaning = |field: &FieldRef| match field.data_type() {
            DataType::Dictionary(..) if dictionaries_last && once => UNEXPLAINED,
            data_type => declared(data_type),
        };
        let meanings = schema.fields().iter().map(meaning).collect();
        Ok(Self { origin, columns, meanings, schema: Arc::new(without_text(&schema)), dictionaries_last })
    }

    /// The messages after the schema.
    fn messages(&self, columns: Vec<usize>) -> Result<Messages, Lost> {
        let stream = if let Some(kept) = self.origin.kept() { kept? } else { self.opened_again()? };
        let mut messages = Messages {
            stream,
            schema: self.schema.clone(),
            columns,
            dictionaries: HashMap::new(),
            ended: false,
        };
        let coded =
            |&column: &usize| matches!(self.schema.field(column).data_type(), DataType::Dictionary(..));
        if self.dictionaries_last && messages.columns.iter().any(coded) {
            messages.read_dictionaries()?;
            messages.stream = self.opened_again()?;
        }
        Ok(messages)
    }

    /// The stream from its first message after the schema on.
    fn opened_again(&self) -> Result<Stream, Lost> {
        let mut stream = self.origin.open().map_err(|_| Lost)?;
        if without_text(&schema(&mut stream)?.0) == *self.schema { Ok(stream) } else { Err(Lost) }
    }
}

impl Source for Ipc {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn declared(&self, column: usize) -> Option<Kind> {
        self.meanings.get(column)?.kind()
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.meanings.get(column) == Some(&Meaning::Texts)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        let what = self.meanings.get(column)?.unreadable()?;
        Some(unreadable_line(&self.columns[column], what))
    }

    /// The answer is lost if a message cannot be read, if the stream breaks off or was read before, or if a visitor panics.
    fn scan(&self, wanted: &[Wanted], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let before = self.origin.stamp()?;
        let mut arrays: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
        arrays.sort_unstable();
        arrays.dedup();
        let messages = Mutex::new(self.messages(arrays.clone())?);
        threads::each(visitors, |visitor| {
            let mut columns = Columns::new(wanted, &arrays);
            loop {
                let batch = messages.lock().unwrap_or_else(PoisonError::into_inner).next()?;
                let Some(batch) = batch else { return Ok(()) };
                columns.visit(batch.num_rows(), batch.columns(), visitor);
            }
        })?;
        if before == self.origin.stamp()? { Ok(()) } else { Err(Lost) }
    }
}

/// One message: what it says, and the bytes of its arrays.
struct Message {
    head: Vec<u8>,
    body: Vec<u8>,
}

/// The next message, or `None` at the end of the stream.
fn message(stream: &mut Stream, first: Option<[u8; 4]>) -> Result<Option<Message>, Lost> {
    let mut word = match first {
        Some(word) => word,
        None => match word(stream)? {
            Some(word) => word,
            None => return Ok(None),
        },
    };
    // Writers of old left out the word before the length.
    if word == CONTINUATION {
        word = self::word(stream)?.ok_or(Lost)?;
    }
    let length = u32::from_le_bytes(word);
    if length == 0 {
        return Ok(None);
    }
    let head = exactly(stream, u64::from(length))?;
    let body_length = root_as_message(&head).map_err(|_| Lost)?.bodyLength();
    let body = exactly(stream, u64::try_from(body_length).map_err(|_| Lost)?)?;
    Ok(Some(Message { head, body }))
}

/// Four bytes, or `None` if the stream has ended.
fn word(stream: &mut Stream) -> Result<Option<[u8; 4]>, Lost> {
    let bytes = up_to(stream, 4)?;
    match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(word) => Ok(Some(word)),
        Err(_) if bytes.is_empty() => Ok(None),
        Err(_) => Err(Lost),
    }
}

fn exactly(stream: &mut Stream, length: u64) -> Result<Vec<u8>, Lost> {
    let bytes = up_to(stream, length)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(Lost) }
}

/// Room is made as bytes come, so that a length that lies takes none.
fn up_to(stream: &mut Stream, length: u64) -> Result<Vec<u8>, Lost> {
    let mut bytes = Vec::new();
    stream.by_ref().take(length).read_to_end(&mut bytes).map_err(|_| Lost)?;
    Ok(bytes)
}

/// The schema that a stream begins with, and whether it is written as Polars does.
fn schema(stream: &mut Stream) -> Result<(Schema, bool), Lost> {
    let mut first = word(stream)?.ok_or(Lost)?;
    if first == MAGIC[..4] {
        if exactly(stream, 4)? != MAGIC[4..] {
            return Err(Lost);
        }
        // Zeros fill up to where the writer likes a message to begin.
        let mut words = (0..64).map(|_| word(stream)?.ok_or(Lost));
        first = words.find(|word| *word != Ok([0; 4])).ok_or(Lost)??;
        if u32::from_le_bytes(first) < SHORTEST_SCHEMA {
            return Ok((bare_schema(stream, first)?, true));
        }
    }
    let message = message(stream, Some(first))?.ok_or(Lost)?;
    Ok((parsed_schema(&message.head).ok_or(Lost)?, false))
}

/// No schema is as short as this many bytes: a smaller first word is no length.
const SHORTEST_SCHEMA: u32 = 32;
/// No schema whose length is not told may be longer.
const LONGEST_BARE_SCHEMA: usize = 1 << 26;

/// A schema without its length, as Polars writes it into files: it reaches to where the next message begins. The same four
/// bytes may lie inside of it, but what breaks off there is no whole schema. The word that the next message begins with is
/// read here; messages can do without it.
fn bare_schema(stream: &mut Stream, first: [u8; 4]) -> Result<Schema, Lost> {
    let mut head = first.to_vec();
    while head.len() < LONGEST_BARE_SCHEMA {
        let next = word(stream)?.ok_or(Lost)?;
        if next == CONTINUATION
            && let Some(schema) = parsed_schema(&head)
        {
            return Ok(schema);
        }
        head.extend_from_slice(&next);
    }
    Err(Lost)
}

fn parsed_schema(head: &[u8]) -> Option<Schema> {
    Some(fb_to_schema(root_as_message(head).ok()?.header_as_schema()?))
}

/// Batches out of a stream, in their order, because dictionaries come between them.
struct Messages {
    stream: Stream,
    schema: SchemaRef,
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// Behind the end of the stream stands the index of a file.
    ended: bool,
}

impl Messages {
    fn next(&mut self) -> Result<Option<RecordBatch>, Lost> {
        if self.ended {
            return Ok(None);
        }
        while let Some(Message { head, body }) = message(&mut self.stream, None)? {
            let body = Buffer::from_vec(body);
            let message = root_as_message(&head).map_err(|_| Lost)?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::DictionaryBatch => self.read_dictionary(&body, message)?,
                MessageHeader::RecordBatch => {
                    let batch = message.header_as_record_batch().ok_or(Lost)?;
                    let schema = self.schema.clone();
                    let decoder = reader::RecordBatchDecoder::try_new(
                        &body,
                        batch,
                        schema,
                        &self.dictionaries,
                        &version,
                    );
                    let decoder = decoder.map_err(|_| Lost)?.with_projection(Some(&self.columns));
                    return decoder.read_record_batch().map(Some).map_err(|_| Lost);
                }
                _ => {}
            }
        }
        self.ended = true;
        Ok(None)
    }

    /// All dictionaries of the stream, which has to be opened again for what stands between them.
    fn read_dictionaries(&mut self) -> Result<(), Lost> {
        while let Some(Message { head, body }) = message(&mut self.stream, None)? {
            let message = root_as_message(&head).map_err(|_| Lost)?;
            if message.header_type() == MessageHeader::DictionaryBatch {
                self.read_dictionary(&Buffer::from_vec(body), message)?;
            }
        }
        Ok(())
    }

    fn read_dictionary(&mut self, body: &Buffer, message: arrow_ipc::Message<'_>) -> Result<(), Lost> {
        let batch = message.header_as_dictionary_batch().ok_or(Lost)?;
        let (all, version) = (&mut self.dictionaries, message.version());
        reader::read_dictionary(body, batch, &self.schema, all, &version).map_err(|_| Lost)
    }
}
