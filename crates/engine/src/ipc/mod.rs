//! Arrow files and streams, as they are written to disk and into pipes.
//!
//! A file is a stream with a magic word before it and an index behind it, and is read as that stream. Before the charge only
//! the schema is read. What cells are says [`columnar`](crate::columnar).

mod arrays;

use crate::{
    columnar::{Columns, Described, Meaning, declared, without_text},
    csv::header::all_different,
    limits::{self, MOST_FIELDS, MOST_ROWS, up_to},
    problem::Problem,
    stream::{Origin, Stream},
    threads,
    unpack::Unpacker,
};
use arrays::Arrays;
use arrow_array::{Array, ArrayRef, NullArray, new_empty_array};
use arrow_buffer::Buffer;
use arrow_ipc::{Endianness, MessageHeader, convert::fb_to_schema, root_as_message_with_opts};
use arrow_schema::{DataType, Schema};
use arrow_select::concat::concat;
use equipoise_session::{
    quiet::quietly,
    source::{ColumnRead, ColumnType, Lost, Source, Visitor},
};
use flatbuffers::VerifierOptions;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// How an Arrow file begins; a stream begins with its schema.
pub(crate) const MAGIC: &[u8] = b"ARROW1\0\0";

/// How each message begins, so that it can be told from other bytes.
pub(crate) const CONTINUATION: [u8; 4] = [0xff; 4];

/// How an Arrow file ends.
const LAST_MAGIC: &[u8] = b"ARROW1";

/// An Arrow file or stream whose schema has been read.
pub(crate) struct Ipc {
    origin: Origin,
    described: Described,
    beginning: Beginning,
}

/// What stands before the first batch.
#[derive(PartialEq)]
struct Beginning {
    /// With bytes for texts.
    schema: Schema,
    /// For each column of codes the number of the dictionary that they stand for.
    dictionaries: Vec<Option<i64>>,
    /// In files of Polars dictionaries stand behind the batches that use them.
    dictionaries_last: bool,
    /// A file ends as it begins, a stream where it likes.
    file: bool,
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
        let (schema, beginning) =
            quietly(|| Ok(Beginning::read(&mut stream))).map_err(|_| Problem::NotArrow)??;
        // What was cut off is told while that is free.
        let whole = || origin.last_bytes(LAST_MAGIC.len()).is_none_or(|bytes| bytes == LAST_MAGIC);
        if beginning.file && !whole() {
            return Err(Problem::NotArrow);
        }
        origin.keep(stream);
        let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        all_different(&columns)?;
        let once = matches!(origin, Origin::Once(..));
        let meaning = |data_type: &DataType| match data_type {
            DataType::Dictionary(..) if beginning.dictionaries_last && once => UNEXPLAINED,
            data_type => declared(data_type),
        };
        let meanings = schema.fields().iter().map(|field| meaning(field.data_type())).collect();
        Ok(Self { origin, described: Described { columns, meanings }, beginning })
    }

    /// The messages after the schema, for these columns.
    fn messages(&self, columns: Vec<usize>) -> Result<Messages<'_>, Lost> {
        let stream = if let Some(kept) = self.origin.kept() { kept? } else { self.opened_again()? };
        let mut messages = Messages {
            stream,
            beginning: &self.beginning,
            columns,
            dictionaries: HashMap::new(),
            unpacker: Unpacker::default(),
            ended: false,
        };
        let coded = |&column: &usize| self.beginning.dictionaries[column].is_some();
        if self.beginning.dictionaries_last && messages.columns.iter().any(coded) {
            messages.read_dictionaries()?;
            messages.stream = self.opened_again()?;
        }
        Ok(messages)
    }

    /// The stream from its first message after the schema on.
    fn opened_again(&self) -> Result<Stream, Lost> {
        let mut stream = self.origin.open().map_err(|_| Lost)?;
        let (_, beginning) = Beginning::read(&mut stream).map_err(|_| Lost)?;
        if beginning == self.beginning { Ok(stream) } else { Err(Lost) }
    }
}

impl Source for Ipc {
    fn columns(&self) -> &[String] {
        &self.described.columns
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.described.kind(column)
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.described.is_only_text(column)
    }

    fn texts_are_wholes(&self, column: usize) -> bool {
        self.described.texts_are_wholes(column)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.described.unreadable(column)
    }

    /// The answer is lost if a message cannot be read, if the stream breaks off or was read before, or if a visitor panics.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let before = self.origin.stamp()?;
        let mut order: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
        order.sort_unstable();
        order.dedup();
        // What cannot be read is null, and stands behind the rest.
        let unreadable = |column: &usize| self.described.meanings[*column].unreadable().is_some();
        order.sort_by_key(unreadable);
        let read = order.iter().copied().filter(|column| !unreadable(column)).collect();
        let messages = Mutex::new(quietly(|| self.messages(read))?);
        threads::each(visitors, |visitor| {
            let mut columns = Columns::new(wanted, &order);
            loop {
                let batch = messages.lock().unwrap_or_else(PoisonError::into_inner).next()?;
                let Some((rows, mut arrays)) = batch else { return Ok(()) };
                arrays.resize_with(order.len(), || Arc::new(NullArray::new(rows)));
                let mut at = 0;
                for count in limits::parts(rows as u64) {
                    let part: Vec<ArrayRef> = arrays.iter().map(|array| array.slice(at, count)).collect();
                    columns.visit(count, &part, visitor);
                    at += count;
                }
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
    if length > LONGEST_HEAD {
        return Err(Lost);
    }
    let head = exactly(stream, u64::from(length))?;
    let body_length = parsed(&head)?.bodyLength();
    let body = exactly(stream, u64::try_from(body_length).map_err(|_| Lost)?)?;
    Ok(Some(Message { head, body }))
}

/// How many bytes may say what a message holds.
const LONGEST_HEAD: u32 = 1 << 28;

/// What a message says. Whatever it leads to lies in it, no deeper and no more of it than is allowed here.
fn parsed(head: &[u8]) -> Result<arrow_ipc::Message<'_>, Lost> {
    let allowed = VerifierOptions { max_apparent_size: 1 << 28, ..VerifierOptions::default() };
    root_as_message_with_opts(&allowed, head).map_err(|_| Lost)
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

impl Beginning {
    /// The schema that a stream begins with, as it stands and as it is read.
    fn read(stream: &mut Stream) -> Result<(Schema, Self), Problem> {
        let broken = |_: Lost| Problem::NotArrow;
        let mut first = word(stream).map_err(broken)?.ok_or(Problem::NotArrow)?;
        let file = first == MAGIC[..4];
        if file {
            if exactly(stream, 4).map_err(broken)? != MAGIC[4..] {
                return Err(Problem::NotArrow);
            }
            // Zeros fill up to where the writer likes a message to begin.
            let mut words = (0..64).map(|_| word(stream).map_err(broken)?.ok_or(Problem::NotArrow));
            first = words.find(|word| *word != Ok([0; 4])).ok_or(Problem::NotArrow)??;
            if u32::from_le_bytes(first) < SHORTEST_SCHEMA {
                let (schema, dictionaries) = bare_schema(stream, first)?;
                return Ok(Self::new(schema, dictionaries, true, file));
            }
        }
        let message = message(stream, Some(first)).map_err(broken)?.ok_or(Problem::NotArrow)?;
        let (schema, dictionaries) = parsed_schema(&message.head)?;
        Ok(Self::new(schema, dictionaries, false, file))
    }

    fn new(
        schema: Schema,
        dictionaries: Vec<Option<i64>>,
        dictionaries_last: bool,
        file: bool,
    ) -> (Schema, Self) {
        let read = Self { schema: without_text(&schema), dictionaries, dictionaries_last, file };
        (schema, read)
    }
}

/// No schema is as short as this many bytes: a smaller first word is no length.
const SHORTEST_SCHEMA: u32 = 32;
/// No schema whose length is not told may be longer.
const LONGEST_BARE_SCHEMA: usize = 1 << 26;

/// A schema without its length, as Polars writes it into files: it reaches to where the next message begins. The same four
/// bytes may lie inside of it, but what breaks off there is no whole schema. The word that the next message begins with is
/// read here; messages can do without it.
fn bare_schema(stream: &mut Stream, first: [u8; 4]) -> Result<(Schema, Vec<Option<i64>>), Problem> {
    let mut head = first.to_vec();
    while head.len() < LONGEST_BARE_SCHEMA {
        let next = word(stream).map_err(|_| Problem::NotArrow)?.ok_or(Problem::NotArrow)?;
        if next == CONTINUATION {
            match parsed_schema(&head) {
                Err(Problem::NotArrow) => {}
                whole => return whole,
            }
        }
        head.extend_from_slice(&next);
    }
    Err(Problem::NotArrow)
}

/// A schema, and for each of its columns the number of its dictionary.
fn parsed_schema(head: &[u8]) -> Result<(Schema, Vec<Option<i64>>), Problem> {
    let message = parsed(head).map_err(|_| Problem::NotArrow)?;
    let schema = message.header_as_schema().ok_or(Problem::NotArrow)?;
    let fields = schema.fields().ok_or(Problem::NotArrow)?;
    if fields.len() > MOST_FIELDS {
        return Err(Problem::TooManyColumns);
    }
    if schema.endianness() != Endianness::Little {
        return Err(Problem::OtherByteOrder);
    }
    let dictionaries = fields.iter().map(|field| Some(field.dictionary()?.id())).collect();
    Ok((fb_to_schema(schema), dictionaries))
}

/// Batches out of a stream, in their order, because dictionaries come between them.
struct Messages<'a> {
    stream: Stream,
    beginning: &'a Beginning,
    /// Those that are read, in the order of the schema.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    unpacker: Unpacker,
    /// Behind the end of the stream stands the index of a file.
    ended: bool,
}

impl Messages<'_> {
    /// The rows of the next batch and their arrays.
    fn next(&mut self) -> Result<Option<(usize, Vec<ArrayRef>)>, Lost> {
        if self.ended {
            return Ok(None);
        }
        while let Some(Message { head, body }) = message(&mut self.stream, None)? {
            let (body, message) = (Buffer::from_vec(body), parsed(&head)?);
            match message.header_type() {
                MessageHeader::DictionaryBatch => self.read_dictionary(&body, message)?,
                MessageHeader::RecordBatch => return self.batch(&body, message).map(Some),
                // What is left out could have been rows.
                _ => return Err(Lost),
            }
        }
        self.ended = true;
        self.end().map(|()| None)
    }

    fn batch(
        &mut self,
        body: &Buffer,
        message: arrow_ipc::Message<'_>,
    ) -> Result<(usize, Vec<ArrayRef>), Lost> {
        let batch = message.header_as_record_batch().ok_or(Lost)?;
        let mut arrays = Arrays::new(batch, message.version(), body, &mut self.unpacker)?;
        let rows = arrays.rows();
        if rows as u64 > MOST_ROWS {
            return Err(Lost);
        }
        let mut read = Vec::with_capacity(self.columns.len());
        let mut wanted = self.columns.iter().copied().peekable();
        for (column, field) in self.beginning.schema.fields().iter().enumerate() {
            let data_type = field.data_type();
            if wanted.next_if_eq(&column).is_none() {
                arrays.skip(data_type)?;
                continue;
            }
            let values = match (data_type, self.beginning.dictionaries[column]) {
                (DataType::Dictionary(_, values), Some(id)) => {
                    // Where all codes are null, there need not be a dictionary.
                    let found = self.dictionaries.get(&id).cloned();
                    Some(found.unwrap_or_else(|| new_empty_array(values)))
                }
                _ => None,
            };
            read.push(arrays.read(data_type, values.as_ref())?);
        }
        Ok((rows, read))
    }

    /// Behind the batches of a file stands an index, the length of it and a last word, and no more: else nobody knows what
    /// was cut off or left out.
    fn end(&mut self) -> Result<(), Lost> {
        /// Writers may fill up to where they like the index to begin.
        const FILLING: u64 = 64;
        if !self.beginning.file {
            return Ok(());
        }
        let (mut behind, mut last) = (0, Vec::new());
        loop {
            let more = up_to(&mut self.stream, 1 << 16)?;
            if more.is_empty() {
                break;
            }
            behind += more.len() as u64;
            last.extend(more);
            last.drain(..last.len().saturating_sub(4 + LAST_MAGIC.len()));
        }
        let (length, magic) = last.split_first_chunk::<4>().ok_or(Lost)?;
        let index = u64::from(u32::from_le_bytes(*length)) + last.len() as u64;
        let whole = magic == LAST_MAGIC && (index..index + FILLING).contains(&behind);
        if whole { Ok(()) } else { Err(Lost) }
    }

    /// All dictionaries of the stream, which has to be opened again for what stands between them.
    fn read_dictionaries(&mut self) -> Result<(), Lost> {
        while let Some(Message { head, body }) = message(&mut self.stream, None)? {
            let message = parsed(&head)?;
            if message.header_type() == MessageHeader::DictionaryBatch {
                self.read_dictionary(&Buffer::from_vec(body), message)?;
            }
        }
        Ok(())
    }

    /// Keep a dictionary, if a column that is read has it.
    fn read_dictionary(&mut self, body: &Buffer, message: arrow_ipc::Message<'_>) -> Result<(), Lost> {
        let batch = message.header_as_dictionary_batch().ok_or(Lost)?;
        let id = batch.id();
        let of_it = |column: &&usize| self.beginning.dictionaries[**column] == Some(id);
        let Some(&column) = self.columns.iter().find(of_it) else { return Ok(()) };
        let DataType::Dictionary(_, values) = self.beginning.schema.field(column).data_type() else {
            return Err(Lost);
        };
        let data = batch.data().ok_or(Lost)?;
        let read = Arrays::new(data, message.version(), body, &mut self.unpacker)?.read(values, None)?;
        let read = match self.dictionaries.get(&id) {
            Some(before) if batch.isDelta() => {
                limits::room((before.get_array_memory_size() + read.get_array_memory_size()) as u64)?;
                concat(&[before, &read]).map_err(|_| Lost)?
            }
            None if batch.isDelta() => return Err(Lost),
            _ => read,
        };
        self.dictionaries.insert(id, read);
        Ok(())
    }
}
