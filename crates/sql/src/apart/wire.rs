//! What both sides say: a kind, a length and bytes. Words are JSON, rows are cells as they are.

use equipoise_session::source::{Batch, Cells, ColumnRead, Lost};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};

use super::{Beside, NoTable, TableColumn, TableRead};

/// Both sides are of one version: what one says, the other one knows.
pub(super) const PROTOCOL: u32 = 1;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A query: [`Ask`].
    Ask,
    /// The name of a table whose columns are asked for.
    Table,
    /// The columns of a table, or why there are none: [`TableSaid`].
    Columns,
    /// What is wrong with a query: [`Wrong`].
    Wrong,
    /// What a query comes to: [`Words`].
    Agreed,
    /// The relation is to be read: a list of columns. The question is paid for by now.
    Read,
    /// A table is to be read: [`Scan`].
    Scan,
    /// More rows of a scan are wanted: its number.
    Next,
    /// Rows: of a scan, behind its number, or of the relation.
    Rows,
    /// All rows were handed over.
    End,
    /// They could not be read to the end.
    Failed,
}

const KINDS: [Kind; 11] = [
    Kind::Ask,
    Kind::Table,
    Kind::Columns,
    Kind::Wrong,
    Kind::Agreed,
    Kind::Read,
    Kind::Scan,
    Kind::Next,
    Kind::Rows,
    Kind::End,
    Kind::Failed,
];

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ask {
    pub protocol: u32,
    pub version: String,
    pub query: String,
    /// What was said beside it, as a request in JSON.
    pub given: String,
    /// What is known of its tables.
    pub beside: Beside,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum TableSaid {
    Columns(Vec<TableColumn>),
    None(NoTable),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Wrong {
    pub problem: String,
    pub hint: Option<String>,
    pub position: Option<(usize, usize)>,
}

/// A column of the relation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RelationColumn {
    pub name: String,
    pub kind: Option<equipoise_session::source::ColumnType>,
    pub only_text: bool,
    pub unreadable: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Words {
    pub columns: Vec<RelationColumn>,
    /// Name and unit of each private table.
    pub private: Vec<(String, String)>,
    pub public: Vec<String>,
    pub reads: Vec<TableRead>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Scan {
    pub number: u32,
    pub table: usize,
    pub wanted: Vec<ColumnRead>,
}

/// So long words are at most, in bytes.
const LONGEST_WORDS: u64 = 64 << 20;

/// Say something.
pub(super) fn send(to: &mut dyn Write, kind: Kind, parts: &[&[u8]]) -> io::Result<()> {
    let code = KINDS.iter().position(|known| *known == kind).expect("all kinds are in the list");
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut head = [0; 9];
    head[0] = u8::try_from(code).expect("there are few kinds");
    head[1..].copy_from_slice(&(length as u64).to_le_bytes());
    to.write_all(&head)?;
    parts.iter().try_for_each(|part| to.write_all(part))?;
    to.flush()
}

pub(super) fn send_words(to: &mut dyn Write, kind: Kind, words: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(words).map_err(io::Error::other)?;
    send(to, kind, &[&text])
}

/// Hear something.
pub(super) fn receive(from: &mut dyn Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut head = [0; 9];
    from.read_exact(&mut head)?;
    let kind = *KINDS.get(usize::from(head[0])).ok_or_else(strange)?;
    let length = u64::from_le_bytes(head[1..].try_into().expect("eight bytes"));
    if kind != Kind::Rows && length > LONGEST_WORDS {
        return Err(strange());
    }
    let mut bytes = Vec::new();
    // No more memory than bytes that came.
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok((kind, bytes)) } else { Err(strange()) }
}

pub(super) fn words<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    serde_json::from_slice(bytes).map_err(|_| strange())
}

fn strange() -> io::Error {
    io::Error::other("this was not expected")
}

/// The number of a scan, and what is behind it.
pub(super) fn numbered(bytes: &[u8]) -> io::Result<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk().ok_or_else(strange)?;
    Ok((u32::from_le_bytes(*number), rest))
}

const FLOATS: u8 = 0;
const WHOLES: u8 = 1;
const TEXTS: u8 = 2;
/// The length of a text that is none.
const NO_TEXT: u32 = u32::MAX;

/// Rows as bytes. A text of 4 GiB and more is none.
pub(super) fn written(batch: &Batch<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&(batch.rows as u64).to_le_bytes());
    for cells in batch.cells {
        match cells {
            Cells::Floats(floats) => {
                bytes.push(FLOATS);
                floats.iter().for_each(|float| bytes.extend_from_slice(&float.to_le_bytes()));
            }
            Cells::Integers(wholes) => {
                bytes.push(WHOLES);
                bytes.extend(wholes.iter().map(|whole| u8::from(whole.is_some())));
                for whole in *wholes {
                    bytes.extend_from_slice(&whole.unwrap_or_default().to_le_bytes());
                }
            }
            Cells::Texts(texts) => write_texts(&mut bytes, texts.iter().copied()),
            Cells::Coded { texts, codes } => {
                write_texts(&mut bytes, codes.iter().map(|code| code.map(|code| texts[code as usize])));
            }
        }
    }
    bytes
}

fn write_texts<'a>(bytes: &mut Vec<u8>, texts: impl Iterator<Item = Option<&'a str>> + Clone) {
    bytes.push(TEXTS);
    let short = |text: Option<&'a str>| {
        let text = text?;
        u32::try_from(text.len()).ok().filter(|length| *length != NO_TEXT).map(|length| (length, text))
    };
    for text in texts.clone() {
        let length = short(text).map_or(NO_TEXT, |(length, _)| length);
        bytes.extend_from_slice(&length.to_le_bytes());
    }
    for (_, text) in texts.filter_map(short) {
        bytes.extend_from_slice(text.as_bytes());
    }
}

enum Column<'a> {
    Floats(Vec<f64>),
    Wholes(Vec<Option<i64>>),
    Texts(Vec<Option<&'a str>>),
}

/// Hand rows that came as bytes to somebody, if they are so many columns.
pub(super) fn shown(bytes: &[u8], columns: usize, mut to: impl FnMut(Batch<'_>)) -> Result<(), Lost> {
    let mut reader = Reading(bytes);
    let rows = usize::try_from(reader.u64()?).map_err(|_| Lost)?;
    let mut read = Vec::with_capacity(columns);
    for _ in 0..columns {
        read.push(match reader.take(1)?[0] {
            FLOATS => Column::Floats(reader.eights(rows)?.map(f64::from_le_bytes).collect()),
            WHOLES => {
                let valid = reader.take(rows)?;
                let wholes = reader.eights(rows)?.map(i64::from_le_bytes);
                Column::Wholes(
                    wholes.zip(valid).map(|(whole, valid)| (*valid == 1).then_some(whole)).collect(),
                )
            }
            TEXTS => Column::Texts(reader.texts(rows)?),
            _ => return Err(Lost),
        });
    }
    if !reader.0.is_empty() {
        return Err(Lost);
    }
    let cells: Vec<Cells<'_>> = read
        .iter()
        .map(|column| match column {
            Column::Floats(floats) => Cells::Floats(floats),
            Column::Wholes(wholes) => Cells::Integers(wholes),
            Column::Texts(texts) => Cells::Texts(texts),
        })
        .collect();
    to(Batch { rows, cells: &cells });
    Ok(())
}

struct Reading<'a>(&'a [u8]);

impl<'a> Reading<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Lost> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Lost)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u64(&mut self) -> Result<u64, Lost> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| Lost)?))
    }

    fn eights(&mut self, count: usize) -> Result<impl Iterator<Item = [u8; 8]> + use<'a>, Lost> {
        let bytes = self.take(count.checked_mul(8).ok_or(Lost)?)?;
        Ok(bytes.as_chunks::<8>().0.iter().copied())
    }

    fn texts(&mut self, count: usize) -> Result<Vec<Option<&'a str>>, Lost> {
        let lengths = self.take(count.checked_mul(4).ok_or(Lost)?)?.as_chunks::<4>().0;
        let mut texts = Vec::with_capacity(count);
        for length in lengths {
            texts.push(match u32::from_le_bytes(*length) {
                NO_TEXT => None,
                length => Some(std::str::from_utf8(self.take(length as usize)?).map_err(|_| Lost)?),
            });
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_as_they_were() {
        let floats = [1.5, f64::NAN, -0.0];
        let wholes = [Some(i64::MIN), None, Some(7)];
        let texts = [Some("ä"), None, Some("")];
        let cells = [
            Cells::Floats(&floats),
            Cells::Integers(&wholes),
            Cells::Texts(&texts),
            Cells::Coded { texts: &["x", "yy"], codes: &[Some(1), None, Some(0)] },
        ];
        let bytes = written(&Batch { rows: 3, cells: &cells });
        let mut seen = 0;
        shown(&bytes, 4, |batch| {
            seen += batch.rows;
            let [Cells::Floats(f), Cells::Integers(i), Cells::Texts(t), Cells::Texts(c)] = batch.cells else {
                panic!("{:?}", batch.cells);
            };
            let bits = |floats: &[f64]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(f), bits(&floats));
            assert_eq!((*i, *t), (&wholes[..], &texts[..]));
            assert_eq!(*c, [Some("yy"), None, Some("x")]);
        })
        .unwrap();
        assert_eq!(seen, 3);
        // Rows without cells are counted.
        shown(&written(&Batch { rows: 9, cells: &[] }), 0, |batch| assert_eq!(batch.rows, 9)).unwrap();
    }

    #[test]
    fn bytes_that_are_no_rows_are_lost() {
        let texts = [Some("abc")];
        let bytes = written(&Batch { rows: 1, cells: &[Cells::Texts(&texts), Cells::Floats(&[1.0])] });
        for length in 0..bytes.len() {
            assert_eq!(shown(&bytes[..length], 2, |_| ()), Err(Lost), "{length}");
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0xff;
            // Never a panic, and never more memory than there are bytes.
            let _ = shown(&changed, 2, |_| ());
        }
        assert_eq!(shown(&bytes, 1, |_| ()), Err(Lost));
        assert_eq!(shown(&bytes, 3, |_| ()), Err(Lost));
    }

    #[test]
    fn frames_come_back_and_what_is_cut_off_is_an_error() {
        let mut bytes = Vec::new();
        send(&mut bytes, Kind::Next, &[&7u32.to_le_bytes(), b"x"]).unwrap();
        let (kind, said) = receive(&mut &bytes[..]).unwrap();
        assert_eq!((kind, numbered(&said).unwrap()), (Kind::Next, (7, &b"x"[..])));
        assert!(receive(&mut &bytes[..bytes.len() - 1]).is_err());
        let mut huge = vec![1];
        huge.extend_from_slice(&u64::MAX.to_le_bytes());
        assert!(receive(&mut &huge[..]).is_err());
        huge[0] = 99;
        assert!(receive(&mut &huge[..]).is_err());
    }
}
