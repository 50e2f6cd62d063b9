//! The footer of a Parquet file: its schema, and where pages are. Nothing else of it is read.
//!
//! The schema is handed on to the `parquet` crate, which follows it by calls within calls and makes room by the counts that
//! stand in it; so it is walked first, and what is handed on is exactly what was walked. Row groups are read here.

use super::thrift::{Broken, Cursor, Wire};
use crate::limits::{DEEPEST, LONGEST_NAMES, MOST_FIELDS};

/// What a footer says.
#[derive(Debug)]
pub struct Footer {
    /// A footer with this schema and nothing else.
    pub schema: Vec<u8>,
    pub groups: Vec<Group>,
    /// Of the whole file; zero where the writer did not count.
    pub rows: u64,
}

/// Rows whose columns lie together.
#[derive(Debug)]
pub struct Group {
    pub rows: u64,
    /// One for each column without columns in it, in the order of the schema.
    pub chunks: Vec<Chunk>,
}

/// The pages of one column in one row group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// How pages are packed, as the format numbers it.
    pub codec: i32,
    /// Where the first page begins.
    pub begin: u64,
    /// How many bytes all pages have.
    pub length: u64,
}

/// Why a footer is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is none.
    Broken,
    /// Columns stand in each other too deep.
    Deep,
    /// There are too many columns, or their names are too long.
    Large,
}

impl From<Broken> for Refused {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}

impl Footer {
    /// Read a footer of a file of so many bytes.
    pub fn read(bytes: &[u8], file_length: u64) -> Result<Self, Refused> {
        let (mut cursor, mut last) = (Cursor::new(bytes), 0);
        let mut schema: Option<(Vec<u8>, usize)> = None;
        let (mut groups, mut rows) = (None, None);
        while let Some((field, wire)) = cursor.field(&mut last)? {
            match (field, &schema) {
                (2, None) => {
                    let begin = cursor.at();
                    let leaves = tree(&elements(&mut cursor, wire)?)?;
                    // The field of a list with the number two, and the end of the struct.
                    schema = Some(([&[0x29], &bytes[begin..cursor.at()], &[0]].concat(), leaves));
                }
                (3, _) => rows = Some(cursor.length(wire)?),
                (4, Some((_, leaves))) => groups = Some(row_groups(&mut cursor, wire, *leaves, file_length)?),
                // Two schemas, or none before the groups.
                (2 | 4, _) => return Err(Refused::Broken),
                _ => cursor.skip(wire)?,
            }
        }
        let (schema, _) = schema.ok_or(Refused::Broken)?;
        Ok(Self { schema, groups: groups.ok_or(Refused::Broken)?, rows: rows.ok_or(Refused::Broken)? })
    }
}

/// What decides how large a schema becomes.
#[derive(Clone, Copy, Debug)]
struct Element {
    /// How many bytes its name has.
    name: usize,
    /// How many columns stand in it.
    children: usize,
    /// Whether it has cells itself.
    cells: bool,
}

fn elements(cursor: &mut Cursor<'_>, wire: Wire) -> Result<Vec<Element>, Refused> {
    let (element, count) = cursor.list(wire)?;
    if element != Wire::Struct {
        return Err(Refused::Broken);
    }
    if count > MOST_FIELDS {
        return Err(Refused::Large);
    }
    (0..count).map(|_| schema_element(cursor)).collect()
}

/// Every known field has the type that readers expect without looking, so that they see what is seen here.
fn schema_element(cursor: &mut Cursor<'_>) -> Result<Element, Refused> {
    let (mut name, mut children, mut cells, mut last) = (None, 0, false, 0);
    while let Some((field, wire)) = cursor.field(&mut last)? {
        match field {
            4 => name = Some(cursor.binary(wire)?.len()),
            5 => children = usize::try_from(cursor.i32(wire)?).map_err(|_| Refused::Broken)?,
            1 => (_, cells) = (cursor.i32(wire)?, true),
            2 | 3 | 6..=9 => drop(cursor.i32(wire)?),
            10 => logical_type(cursor, wire)?,
            _ => cursor.skip(wire)?,
        }
    }
    Ok(Element { name: name.ok_or(Refused::Broken)?, children, cells })
}

/// A union of structs, in which every known field has its type.
fn logical_type(cursor: &mut Cursor<'_>, wire: Wire) -> Result<(), Broken> {
    one_of(cursor, wire, |cursor, variant| {
        let mut last = 0;
        while let Some((field, wire)) = cursor.field(&mut last)? {
            match (variant, field) {
                // Decimals; the algorithm of geographies.
                (5, 1 | 2) | (18, 2) => drop(cursor.i32(wire)?),
                // Whether times are in UTC, whether integers are signed.
                (7 | 8, 1) | (10, 2) if matches!(wire, Wire::True | Wire::False) => {}
                // The unit of times.
                (7 | 8, 2) => one_of(cursor, wire, |cursor, _| match cursor.field(&mut 0)? {
                    None => Ok(()),
                    Some(_) => Err(Broken::Wrong),
                })?,
                // Bits of integers, the version of variants.
                (10 | 16, 1) if wire == Wire::Byte => cursor.skip(wire)?,
                // Systems of coordinates.
                (17 | 18, 1) => drop(cursor.binary(wire)?),
                (7 | 8 | 10 | 16, 1) | (10, 2) => return Err(Broken::Wrong),
                _ => cursor.skip(wire)?,
            }
        }
        Ok(())
    })
}

/// A struct of one field, which is a struct.
fn one_of<'a>(
    cursor: &mut Cursor<'a>,
    wire: Wire,
    read: impl FnOnce(&mut Cursor<'a>, i16) -> Result<(), Broken>,
) -> Result<(), Broken> {
    let mut last = 0;
    match (wire, cursor.field(&mut last)?) {
        (Wire::Struct, Some((variant, Wire::Struct))) => read(cursor, variant)?,
        _ => return Err(Broken::Wrong),
    }
    match cursor.field(&mut last)? {
        None => Ok(()),
        Some(_) => Err(Broken::Wrong),
    }
}

/// How many columns hold cells themselves. Elements stand in the order of a walk through the tree, parents first.
fn tree(elements: &[Element]) -> Result<usize, Refused> {
    // For each open parent: how many of its children are to come, and how long its path is.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let (mut leaves, mut names) = (0, 0);
    for (place, &Element { name, children, cells }) in elements.iter().enumerate() {
        let path = match open.last_mut() {
            Some((0, _)) => return Err(Refused::Broken),
            Some((left, path)) => {
                *left -= 1;
                *path + name
            }
            // The root, whose name is in no path.
            None if place == 0 => 0,
            None => return Err(Refused::Broken),
        };
        if children > 0 || place == 0 {
            open.push((children, path));
        } else {
            leaves += usize::from(cells);
            names += path;
        }
        if open.len() > DEEPEST {
            return Err(Refused::Deep);
        }
        if names > LONGEST_NAMES {
            return Err(Refused::Large);
        }
        while open.last().is_some_and(|&(left, _)| left == 0) {
            open.pop();
        }
    }
    if elements.is_empty() || !open.is_empty() { Err(Refused::Broken) } else { Ok(leaves) }
}

fn row_groups(
    cursor: &mut Cursor<'_>,
    wire: Wire,
    leaves: usize,
    file_length: u64,
) -> Result<Vec<Group>, Refused> {
    let (element, count) = cursor.list(wire)?;
    if element != Wire::Struct && count > 0 {
        return Err(Refused::Broken);
    }
    let mut groups = Vec::new();
    for _ in 0..count {
        let (mut chunks, mut rows, mut last) = (None, None, 0);
        while let Some((field, wire)) = cursor.field(&mut last)? {
            match field {
                1 => chunks = Some(column_chunks(cursor, wire, leaves, file_length)?),
                3 => rows = Some(cursor.length(wire)?),
                _ => cursor.skip(wire)?,
            }
        }
        let chunks = chunks.ok_or(Refused::Broken)?;
        groups.push(Group { rows: rows.ok_or(Refused::Broken)?, chunks });
    }
    Ok(groups)
}

fn column_chunks(
    cursor: &mut Cursor<'_>,
    wire: Wire,
    leaves: usize,
    file_length: u64,
) -> Result<Vec<Chunk>, Refused> {
    let (element, count) = cursor.list(wire)?;
    if count != leaves || element != Wire::Struct && count > 0 {
        return Err(Refused::Broken);
    }
    (0..count)
        .map(|_| {
            let (mut chunk, mut last) = (None, 0);
            while let Some((field, wire)) = cursor.field(&mut last)? {
                match (field, wire) {
                    (3, Wire::Struct) => chunk = Some(column_metadata(cursor)?),
                    // Its pages are encrypted.
                    (3 | 8, _) => return Err(Refused::Broken),
                    _ => cursor.skip(wire)?,
                }
            }
            let chunk: Chunk = chunk.ok_or(Refused::Broken)?;
            // A page of a whole file lies in it, between the word that it begins with and the footer.
            match chunk.begin.checked_add(chunk.length) {
                Some(end) if end <= file_length => Ok(chunk),
                _ => Err(Refused::Broken),
            }
        })
        .collect()
}

fn column_metadata(cursor: &mut Cursor<'_>) -> Result<Chunk, Broken> {
    let (mut codec, mut length, mut data, mut dictionary, mut last) = (None, None, None, None, 0);
    while let Some((field, wire)) = cursor.field(&mut last)? {
        match field {
            4 => codec = Some(cursor.i32(wire)?),
            7 => length = Some(cursor.length(wire)?),
            9 => data = Some(cursor.length(wire)?),
            11 => dictionary = Some(cursor.length(wire)?),
            _ => cursor.skip(wire)?,
        }
    }
    let data = data.ok_or(Broken::Wrong)?;
    // A dictionary comes first. Writers say zero where there is none, or where there are no cells.
    let dictionary = dictionary.filter(|&dictionary| dictionary > 0 && (dictionary < data || data == 0));
    let begin = dictionary.unwrap_or(data);
    Ok(Chunk { codec: codec.ok_or(Broken::Wrong)?, begin, length: length.ok_or(Broken::Wrong)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_by_hand() {
        let tree = |elements: &[(usize, usize)]| {
            let element =
                |&(name, children): &(usize, usize)| Element { name, children, cells: children == 0 };
            tree(&elements.iter().map(element).collect::<Vec<_>>())
        };
        let table = [
            (&[][..], Err(Refused::Broken)),
            (&[(6, 0)], Ok(0)),
            (&[(6, 2), (1, 0), (1, 0)], Ok(2)),
            (&[(6, 2), (1, 1), (1, 0), (1, 0)], Ok(2)),
            (&[(6, 1), (1, 0), (1, 0)], Err(Refused::Broken)),
            (&[(6, 3), (1, 0), (1, 0)], Err(Refused::Broken)),
            (&[(6, 1 << 31), (1, 0)], Err(Refused::Broken)),
            // One long name, written once and held a thousand times.
            (&[&[(6, 1), (1 << 20, 1000)][..], &[(1, 0); 1000]].concat(), Err(Refused::Large)),
        ];
        for (elements, leaves) in table {
            assert_eq!(tree(elements), leaves, "{:?}", &elements[..elements.len().min(4)]);
        }
        let deep = |depth: usize| [vec![(1, 1); depth], vec![(1, 0)]].concat();
        assert_eq!(tree(&deep(DEEPEST)), Ok(1));
        assert_eq!(tree(&deep(DEEPEST + 1)), Err(Refused::Deep));
    }
}
