//! Pages of one column, one after another, as the `parquet` crate decodes them: every number in a page's header is held
//! against the bytes that are there before anything is made of it.
//!
//! Columns here are flat: no lists, and nothing in anything else.

use super::{
    delta,
    footer::Chunk,
    thrift::{Broken, Cursor, Wire},
};
use crate::{
    bytes::Bytes,
    limits,
    unpack::{Codec, Unpacker},
};
use equipoise_session::source::Lost;
use parquet::{
    basic::{Encoding, Type as Physical},
    column::page::{Page, PageIterator, PageMetadata, PageReader},
    errors::{ParquetError, Result as ParquetResult},
};
use std::{iter, sync::Arc};

/// What the schema says of a column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub physical: Physical,
    /// Bytes of a cell, where all have as many.
    pub width: usize,
    /// Whether cells may be null.
    pub optional: bool,
}

/// Reads the pages of a column in a row group.
pub struct Pages {
    bytes: Arc<Bytes>,
    column: Column,
    codec: Option<Codec>,
    unpacker: Unpacker,
    /// Where the next page begins, and how many bytes there are from there on.
    at: u64,
    left: u64,
    /// How many rows the next pages may have.
    rows_left: u64,
    /// How many bytes the longest text of the dictionary has, if there is one.
    longest: Option<usize>,
    /// The dictionary, until it is asked for.
    dictionary: Option<Page>,
}

/// How the format numbers what it is packed with.
pub fn codec(number: i32) -> Result<Option<Codec>, Unpackable> {
    Ok(Some(match number {
        0 => return Ok(None),
        1 => Codec::Snappy,
        2 => Codec::Gzip,
        3 => return Err(Unpackable::Known("lzo")),
        4 => return Err(Unpackable::Known("brotli")),
        5 => Codec::Lz4Hadoop,
        6 => Codec::Zstd,
        7 => Codec::Lz4,
        _ => return Err(Unpackable::Unknown),
    }))
}

/// Why pages cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpackable {
    Known(&'static str),
    Unknown,
}

impl Pages {
    /// The pages of a column in a row group of so many rows. The dictionary, which is the first, is read here.
    pub fn new(bytes: Arc<Bytes>, chunk: Chunk, column: Column, rows: u64) -> Result<Self, Lost> {
        let codec = codec(chunk.codec).map_err(|_| Lost)?;
        let (at, left) = (chunk.begin, chunk.length);
        let mut pages = Self {
            bytes,
            column,
            codec,
            unpacker: Unpacker::default(),
            at,
            left,
            rows_left: rows,
            longest: None,
            dictionary: None,
        };
        if pages.left > 0 && rows > 0 {
            let (header, length) = pages.header()?;
            if let Kind::Dictionary { .. } = header.kind {
                pages.dictionary = pages.page(&header, length)?;
            }
        }
        Ok(pages)
    }

    /// How many bytes a cell can have that is not stored itself: one that is in the dictionary, or null.
    pub fn longest_shared(&self) -> usize {
        self.longest.unwrap_or(0).max(self.column.width)
    }

    /// The header of the next page, and how many bytes it has.
    fn header(&self) -> Result<(Header, usize), Lost> {
        let mut length = 1 << 10;
        loop {
            let there = usize::try_from(self.left.min(length)).map_err(|_| Lost)?;
            let mut bytes = vec![0; there];
            self.bytes.fill_at(&mut bytes, self.at)?;
            let mut cursor = Cursor::new(&bytes);
            match Header::read(&mut cursor) {
                Ok(header) => return Ok((header, cursor.at())),
                // Least and greatest values in it may be long.
                Err(Broken::Ends) if length < self.left && length < LONGEST_HEADER => length *= 16,
                Err(_) => return Err(Lost),
            }
        }
    }

    /// The page behind a header of so many bytes; `None` if it is to be left out.
    fn page(&mut self, header: &Header, header_length: usize) -> Result<Option<Page>, Lost> {
        let (at, left) = (self.at + header_length as u64, self.left - header_length as u64);
        if header.packed as u64 > left {
            return Err(Lost);
        }
        (self.at, self.left) = (at + header.packed as u64, left - header.packed as u64);
        if matches!(header.kind, Kind::Index | Kind::Data { values: 0, .. }) {
            return Ok(None);
        }
        let mut packed = limits::reserved(header.packed)?;
        packed.resize(header.packed, 0);
        self.bytes.fill_at(&mut packed, at)?;
        let unpacked = self.unpacked(header, packed)?;
        match header.kind {
            Kind::Dictionary { values, encoding } => self.dictionary(unpacked, values, encoding).map(Some),
            Kind::Data { values, encoding, levels } => {
                self.rows_left = self.rows_left.checked_sub(u64::from(values)).ok_or(Lost)?;
                self.check(&unpacked, values, encoding, levels)?;
                Ok(Some(data_page(unpacked, values, encoding, levels)))
            }
            Kind::Index => Ok(None),
        }
    }

    fn unpacked(&mut self, header: &Header, packed: Vec<u8>) -> Result<Vec<u8>, Lost> {
        let first = match header.kind {
            Kind::Data { levels: Levels::Before { repetition, definition, packed: true, .. }, .. } => {
                repetition.checked_add(definition).ok_or(Lost)?
            }
            Kind::Data { levels: Levels::Before { packed: false, .. }, .. } => return Ok(packed),
            _ => 0,
        };
        let Some(codec) = self.codec else { return Ok(packed) };
        let (levels, values) = packed.split_at_checked(first).ok_or(Lost)?;
        let length = header.unpacked.checked_sub(first).ok_or(Lost)?;
        match (first, length) {
            (0, 1..) => self.unpacker.unpack(codec, values, length),
            _ => self.unpacker.unpack_behind(levels, codec, values, length),
        }
    }

    /// A dictionary has no more values than its bytes can hold.
    fn dictionary(&mut self, bytes: Vec<u8>, values: u32, encoding: Encoding) -> Result<Page, Lost> {
        if self.longest.is_some() || !is_of_dictionary(encoding) {
            return Err(Lost);
        }
        self.longest = Some(match self.column.physical {
            Physical::BYTE_ARRAY => longest_text(&bytes, values).ok_or(Lost)?,
            physical => {
                let width = self.column.width.max(fixed_width(physical));
                let needed = (width as u64).checked_mul(u64::from(values)).ok_or(Lost)?;
                if width == 0 || needed > bytes.len() as u64 {
                    return Err(Lost);
                }
                width
            }
        });
        Ok(Page::DictionaryPage { buf: bytes.into(), num_values: values, encoding, is_sorted: false })
    }

    /// What decoders make room for by numbers in the page.
    fn check(&self, bytes: &[u8], values: u32, encoding: Encoding, levels: Levels) -> Result<(), Lost> {
        let begin = levels.end(bytes, values, self.column.optional).ok_or(Lost)?;
        let cells = bytes.get(begin..).ok_or(Lost)?;
        match encoding {
            // There is a dictionary, and codes say of how many bits they are.
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => match (self.longest, cells.first()) {
                (Some(_), Some(0..=32)) => Ok(()),
                _ => Err(Lost),
            },
            Encoding::DELTA_LENGTH_BYTE_ARRAY => match delta::count(cells) {
                Ok(count) if count <= u64::from(values) => limits::room(count * 4),
                _ => Err(Lost),
            },
            Encoding::DELTA_BYTE_ARRAY => {
                limits::room(u64::from(values) * 8)?;
                let length = delta::texts(cells, u64::from(values)).map_err(|_| Lost)?;
                // Texts are addressed by 32 bits with a sign.
                if length > i32::MAX as u64 { Err(Lost) } else { limits::room(length) }
            }
            _ => Ok(()),
        }
    }
}

/// Writers give a plain dictionary any of three names.
fn is_of_dictionary(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY)
}

/// The longest of so many texts, each behind its length; `None` if they are not there.
fn longest_text(mut bytes: &[u8], texts: u32) -> Option<usize> {
    let mut longest = 0;
    for _ in 0..texts {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        bytes = rest.get(length..)?;
        longest = longest.max(length);
    }
    Some(longest)
}

/// Bytes of a value of a type that has as many for each.
fn fixed_width(physical: Physical) -> usize {
    match physical {
        Physical::INT32 | Physical::FLOAT => 4,
        Physical::INT64 | Physical::DOUBLE => 8,
        Physical::INT96 => 12,
        // Eight fit in a byte, but nobody makes a dictionary of two values.
        Physical::BOOLEAN => 1,
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => 0,
    }
}

/// No header of a page is longer.
const LONGEST_HEADER: u64 = 1 << 26;

/// What a page says of itself.
struct Header {
    packed: usize,
    unpacked: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Dictionary { values: u32, encoding: Encoding },
    Data { values: u32, encoding: Encoding, levels: Levels },
    Index,
}

/// Where it stands which cells are null.
#[derive(Clone, Copy)]
enum Levels {
    /// Packed with the cells, and behind their length.
    Within { encoding: Encoding },
    /// Before them, so many bytes, never packed.
    Before { repetition: usize, definition: usize, nulls: u32, packed: bool },
}

impl Levels {
    /// Where cells begin.
    fn end(self, bytes: &[u8], values: u32, optional: bool) -> Option<usize> {
        match self {
            Self::Before { repetition, definition, .. } => repetition.checked_add(definition),
            Self::Within { .. } if !optional => Some(0),
            Self::Within { encoding: Encoding::RLE } => {
                let length = u32::from_le_bytes(*bytes.first_chunk::<4>()?);
                usize::try_from(length).ok()?.checked_add(4)
            }
            // One bit for each.
            Self::Within { .. } => usize::try_from(values.div_ceil(8)).ok(),
        }
    }
}

fn data_page(bytes: Vec<u8>, values: u32, encoding: Encoding, levels: Levels) -> Page {
    let (buf, num_values, statistics) = (bytes.into(), values, None);
    match levels {
        Levels::Within { encoding: levels } => Page::DataPage {
            buf,
            num_values,
            encoding,
            def_level_encoding: levels,
            rep_level_encoding: Encoding::RLE,
            statistics,
        },
        Levels::Before { repetition, definition, nulls, packed } => Page::DataPageV2 {
            buf,
            num_values,
            encoding,
            num_nulls: nulls,
            num_rows: values,
            def_levels_byte_len: u32::try_from(definition).unwrap_or(u32::MAX),
            rep_levels_byte_len: u32::try_from(repetition).unwrap_or(u32::MAX),
            is_compressed: packed,
            statistics,
        },
    }
}

fn encoding(number: i32) -> Result<Encoding, Broken> {
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        #[expect(deprecated, reason = "old files have it")]
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return Err(Broken::Wrong),
    })
}

impl Header {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Broken> {
        let mut sizes = [None; 4];
        let mut numbers = [None; 9];
        let mut packed = true;
        let (mut described, mut last) = (0, 0);
        while let Some((field, wire)) = cursor.field(&mut last)? {
            match field {
                1..=3 => sizes[usize::from(field.unsigned_abs())] = Some(cursor.i32(wire)?),
                // Data, a dictionary, data of the second version.
                5 | 7 | 8 if wire == Wire::Struct => {
                    described = field;
                    (numbers, packed) = Self::numbers(cursor)?;
                }
                5 | 7 | 8 => return Err(Broken::Wrong),
                _ => cursor.skip(wire)?,
            }
        }
        let size =
            |number: Option<i32>| usize::try_from(number.ok_or(Broken::Wrong)?).map_err(|_| Broken::Wrong);
        let count = |field: usize| -> Result<u32, Broken> {
            u32::try_from(numbers[field].ok_or(Broken::Wrong)?).map_err(|_| Broken::Wrong)
        };
        let coding = |field: usize| encoding(numbers[field].ok_or(Broken::Wrong)?);
        let kind = match (sizes[1].ok_or(Broken::Wrong)?, described) {
            (0, 5) => {
                let levels = Levels::Within { encoding: coding(3)? };
                Kind::Data { values: count(1)?, encoding: coding(2)?, levels }
            }
            (1, _) => Kind::Index,
            (2, 7) => Kind::Dictionary { values: count(1)?, encoding: coding(2)? },
            (3, 8) => {
                let (repetition, definition) = (size(numbers[6])?, size(numbers[5])?);
                let levels = Levels::Before { repetition, definition, nulls: count(2)?, packed };
                Kind::Data { values: count(1)?, encoding: coding(4)?, levels }
            }
            _ => return Err(Broken::Wrong),
        };
        Ok(Self { packed: size(sizes[3])?, unpacked: size(sizes[2])?, kind })
    }

    /// The numbers of the struct that describes a page, by their fields, and whether its cells are packed.
    fn numbers(cursor: &mut Cursor<'_>) -> Result<([Option<i32>; 9], bool), Broken> {
        let (mut numbers, mut packed, mut last) = ([None; 9], true, 0);
        while let Some((field, wire)) = cursor.field(&mut last)? {
            match (field, wire) {
                (1..=6, Wire::I32) => numbers[usize::from(field.unsigned_abs())] = Some(cursor.i32(wire)?),
                (7, Wire::False) => packed = false,
                _ => cursor.skip(wire)?,
            }
        }
        Ok((numbers, packed))
    }
}

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Nobody is told more: the answer is lost.
pub fn lost(_: Lost) -> ParquetError {
    ParquetError::General(String::new())
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        if let Some(dictionary) = self.dictionary.take() {
            return Ok(Some(dictionary));
        }
        while self.left > 0 && self.rows_left > 0 {
            let (header, length) = self.header().map_err(lost)?;
            // A later dictionary would change what earlier codes stand for.
            if matches!(header.kind, Kind::Dictionary { .. }) {
                return Err(lost(Lost));
            }
            if let Some(page) = self.page(&header, length).map_err(lost)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        Err(lost(Lost))
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        Err(lost(Lost))
    }
}

/// The pages of one column of one row group, as the `parquet` crate asks for them.
pub struct Once(iter::Once<Pages>);

impl Once {
    pub fn new(pages: Pages) -> Self {
        Self(iter::once(pages))
    }
}

impl Iterator for Once {
    type Item = ParquetResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|pages| Ok(Box::new(pages) as Box<dyn PageReader>))
    }
}

impl PageIterator for Once {}
