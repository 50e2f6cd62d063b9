//! Rows of `COPY .. (FORMAT binary)` as cells. Every cell is read by itself; only a line that is not of this format is lost.

use crate::types::Wire;
use equipoise_engine::reading::{RowBlock, Value};
use equipoise_session::source::{Lost, Visitor};
use std::fmt::Write as _;

/// What the rows begin with.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
/// From 1970 to 2000, where Postgres begins to count.
const DAYS: i64 = 10_957;
const MICROSECONDS: i64 = DAYS * 86_400_000_000;

/// The first bytes without what stands before the first row.
pub(crate) fn behind_header(bytes: &[u8]) -> Result<&[u8], Lost> {
    let rest = bytes.strip_prefix(SIGNATURE).ok_or(Lost)?;
    let (flags, rest) = rest.split_first_chunk::<4>().ok_or(Lost)?;
    let (extension, rest) = rest.split_first_chunk::<4>().ok_or(Lost)?;
    let extension = usize::try_from(u32::from_be_bytes(*extension)).map_err(|_| Lost)?;
    // The upper half says what a reader has to understand; we understand nothing more.
    if u32::from_be_bytes(*flags) >> 16 != 0 {
        return Err(Lost);
    }
    rest.get(extension..).ok_or(Lost)
}

/// Rows out of whole messages. True at the end of all rows.
pub(crate) fn rows(
    mut bytes: &[u8],
    wires: &[Wire],
    block: &mut RowBlock,
    visitor: &mut dyn Visitor,
) -> Result<bool, Lost> {
    let mut scratch = String::new();
    while !bytes.is_empty() {
        let (count, rest) = bytes.split_first_chunk::<2>().ok_or(Lost)?;
        bytes = rest;
        match i16::from_be_bytes(*count) {
            -1 => return if bytes.is_empty() { Ok(true) } else { Err(Lost) },
            count if usize::try_from(count) == Ok(wires.len()) => {}
            _ => return Err(Lost),
        }
        for (place, wire) in wires.iter().enumerate() {
            let (length, rest) = bytes.split_first_chunk::<4>().ok_or(Lost)?;
            bytes = rest;
            let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
                block.put(place, &Value::Null);
                continue;
            };
            let (cell, rest) = bytes.split_at_checked(length).ok_or(Lost)?;
            bytes = rest;
            block.put(place, &value(*wire, cell, &mut scratch).ok_or(Lost)?);
        }
        block.end_row(visitor);
    }
    Ok(false)
}

/// One cell; `None` where its bytes are not of its type, which the server never sends.
fn value<'a>(wire: Wire, cell: &'a [u8], scratch: &'a mut String) -> Option<Value<'a>> {
    Some(match wire {
        Wire::Bool => match cell {
            [yes] => Value::Bool(*yes != 0),
            _ => return None,
        },
        Wire::Int2 => Value::Int(i16::from_be_bytes(cell.try_into().ok()?).into()),
        Wire::Int4 => Value::Int(i32::from_be_bytes(cell.try_into().ok()?).into()),
        Wire::Int8 => Value::Int(i64::from_be_bytes(cell.try_into().ok()?)),
        Wire::Oid => Value::Int(u32::from_be_bytes(cell.try_into().ok()?).into()),
        Wire::Float4 => Value::Single(f32::from_be_bytes(cell.try_into().ok()?)),
        Wire::Float8 => Value::Float(f64::from_be_bytes(cell.try_into().ok()?)),
        Wire::Day => match i32::from_be_bytes(cell.try_into().ok()?) {
            // Days without end, which no calendar has.
            i32::MIN | i32::MAX => Value::Null,
            day => Value::Day(i64::from(day) + DAYS),
        },
        Wire::Moment => match i64::from_be_bytes(cell.try_into().ok()?) {
            i64::MIN | i64::MAX => Value::Null,
            moment => moment.checked_add(MICROSECONDS).map_or(Value::Null, Value::Moment),
        },
        Wire::Text | Wire::Label => Value::Bytes(cell),
        Wire::Uuid => uuid(cell, scratch)?,
        Wire::Numeric => numeric(cell, scratch)?,
        Wire::Nothing => return None,
    })
}

/// `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11`, as Postgres writes it.
fn uuid<'a>(cell: &[u8], scratch: &'a mut String) -> Option<Value<'a>> {
    let cell: &[u8; 16] = cell.try_into().ok()?;
    scratch.clear();
    for (place, byte) in cell.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            scratch.push('-');
        }
        write!(scratch, "{byte:02x}").ok()?;
    }
    Some(Value::Bytes(scratch.as_bytes()))
}

/// Groups of four decimal digits, where the first stands, a sign, and how many digits are behind the point.
fn numeric<'a>(cell: &[u8], scratch: &'a mut String) -> Option<Value<'a>> {
    const NEGATIVE: u16 = 0x4000;
    const NAN: u16 = 0xc000;
    const INFINITY: u16 = 0xd000;
    const BELOW_ALL: u16 = 0xf000;
    let (head, groups) = cell.split_first_chunk::<8>()?;
    let word = |place: usize| u16::from_be_bytes([head[2 * place], head[2 * place + 1]]);
    let (count, weight, sign, scale) = (word(0), word(1).cast_signed(), word(2), word(3));
    match sign {
        NAN => return Some(Value::Null),
        INFINITY => return Some(Value::Float(f64::INFINITY)),
        BELOW_ALL => return Some(Value::Float(f64::NEG_INFINITY)),
        0 | NEGATIVE => {}
        _ => return None,
    }
    if groups.len() != 2 * usize::from(count) {
        return None;
    }
    let group = |place: i32| -> u16 {
        let at = usize::try_from(place).ok().filter(|at| *at < usize::from(count));
        at.map_or(0, |at| u16::from_be_bytes([groups[2 * at], groups[2 * at + 1]]))
    };
    let negative = sign == NEGATIVE;
    // So many groups behind the point, and whole groups have so many digits too many.
    let behind = i32::from(scale.div_ceil(4));
    let last = i32::from(weight) + behind;
    if (0..9).contains(&last) && scale <= 24 {
        let units = (0..=last).fold(0i128, |units, place| units * 10_000 + i128::from(group(place)));
        let units = units / 10i128.pow(u32::from(scale.div_ceil(4) * 4 - scale));
        let units = if negative { -units } else { units };
        return Some(Value::Decimal(units, i8::try_from(scale).ok()?));
    }
    scratch.clear();
    if negative {
        scratch.push('-');
    }
    write!(scratch, "{}", if weight < 0 { 0 } else { group(0) }).ok()?;
    for place in 1..=i32::from(weight) {
        write!(scratch, "{:04}", group(place)).ok()?;
    }
    if scale > 0 {
        scratch.push('.');
        let point = scratch.len();
        for place in 1..=behind {
            write!(scratch, "{:04}", group(i32::from(weight) + place)).ok()?;
        }
        scratch.truncate(point + usize::from(scale));
    }
    Some(Value::Bytes(scratch.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(weight: i16, sign: u16, scale: u16, groups: &[u16]) -> Vec<u8> {
        let count = u16::try_from(groups.len()).expect("few");
        let words = [count, weight.cast_unsigned(), sign, scale].into_iter().chain(groups.iter().copied());
        words.flat_map(u16::to_be_bytes).collect()
    }

    #[test]
    fn numerics_by_hand() {
        let mut scratch = String::new();
        for (cell, expected) in [
            (cell(0, 0, 0, &[]), Value::Decimal(0, 0)),
            (cell(0, 0, 2, &[12, 3400]), Value::Decimal(1234, 2)),
            (cell(0, 0x4000, 1, &[12, 5000]), Value::Decimal(-125, 1)),
            (cell(1, 0, 0, &[1]), Value::Decimal(10_000, 0)),
            (cell(-1, 0, 4, &[7]), Value::Decimal(7, 4)),
            (cell(-2, 0, 6, &[700]), Value::Decimal(7, 6)),
            (cell(0, 0xc000, 0, &[]), Value::Null),
            (cell(0, 0xd000, 0, &[]), Value::Float(f64::INFINITY)),
            (cell(0, 0xf000, 0, &[]), Value::Float(f64::NEG_INFINITY)),
            (
                cell(9, 0x4000, 1, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 5000]),
                Value::Bytes(b"-1000000000000000000000000000000000002.5"),
            ),
            (cell(-3, 0, 30, &[12]), Value::Bytes(b"0.000000000012000000000000000000")),
        ] {
            let read = numeric(&cell, &mut scratch);
            assert_eq!(read, Some(expected));
        }
        for broken in [cell(0, 1, 0, &[]), cell(0, 0, 0, &[1])[..9].to_vec(), vec![0; 7]] {
            assert_eq!(numeric(&broken, &mut scratch), None);
        }
    }

    #[test]
    fn what_has_no_end_or_no_place_is_null() {
        let mut scratch = String::new();
        let mut read = |wire, cell: &[u8]| format!("{:?}", value(wire, cell, &mut scratch));
        assert_eq!(read(Wire::Day, &i32::MAX.to_be_bytes()), "Some(Null)");
        assert_eq!(read(Wire::Day, &i32::MIN.to_be_bytes()), "Some(Null)");
        assert_eq!(read(Wire::Day, &0i32.to_be_bytes()), "Some(Day(10957))");
        assert_eq!(read(Wire::Moment, &i64::MAX.to_be_bytes()), "Some(Null)");
        assert_eq!(read(Wire::Moment, &i64::MIN.to_be_bytes()), "Some(Null)");
        assert_eq!(read(Wire::Moment, &0i64.to_be_bytes()), "Some(Moment(946684800000000))");
        assert_eq!(read(Wire::Moment, &(i64::MAX - 1).to_be_bytes()), "Some(Null)");
        assert_eq!(read(Wire::Int4, &[0; 8]), "None");
        assert_eq!(read(Wire::Bool, &[]), "None");
    }
}
