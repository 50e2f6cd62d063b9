//! Which of a person's rows come first: an order that any engine can compute.
//!
//! # Definition
//!
//! The place of a row among the rows of its person and group, or of a group among the groups of its person, is
//! `sha256(k || message)` as a number of which the first 64 bits count, and for equal ones the message itself, byte by byte.
//! `k` is the run's key as 64 lower-case hexadecimal digits. The message is a list of cells:
//!
//! | place of | cells of the message |
//! |---|---|
//! | a group | the person's id, the cells of the key |
//! | a row | the person's id, the cells of the key if there are groups, the row's own cells in the order in which they are handed on, its copy number |
//!
//! The copy number tells rows apart whose cells are all the same: 1, 2, … in any order, they are interchangeable. Every cell ends
//! with a comma. Before that stands
//!
//! - nothing where the cell is null;
//! - of a text its length in bytes, a colon and the text: `3:ann,`. An id is a text, in its [canonical form](super::id);
//! - of a whole number, decimal, day, moment, or yes or no the whole number that it is kept as ([`ColumnType`]), in decimal digits: `-12,`;
//! - of a float the 63 bits without the sign as a whole number in decimal digits, with `-` in front where the sign is set: `4607182418800017408,`
//!   is 1, `-0,` is minus zero. All that is not a number is null.
//!
//! So a message says one list of cells only, whatever stands in texts.
//!
//! # In SQL
//!
//! `substr(sha256(k || message), 1, 16)` is the place as text, and texts of equal length have the order of their numbers; Spark writes
//! `sha2(…, 256)`. A text cell is `coalesce(strlen(t) || ':' || t, '') || ','` (`octet_length` in Spark and Postgres). The bits of a float
//! a = |x| from 2^-1022 on are `(e + 1023) * 2^52 + (a / 2^e - 1) * 2^52`, where e is `floor(log2(a))`, corrected by one where a / 2^e is not
//! in 1 .. 2; of a smaller one `a * 2^1074`: every step is exact in doubles.
//!
//! # Why this hash
//!
//! The guarantee holds for every function in its place ([`bound`](super::bound)), so the hash decides only whether sets of rows are equally
//! likely. MD5 and SHA-256 are what Spark, DuckDB, Postgres, BigQuery, Snowflake, Trino, ClickHouse and DataFusion have in common. SHA-256 is taken: nobody can
//! choose cells that a key favours, and most processors have instructions for it (about 40 ns a block; several times that without). The key fills one block of it, so that it is hashed once for a scan
//! and a message of up to 55 bytes is one block more. Rows of people within the bound are not hashed at all.

use super::encode::{take, take_length};
use crate::source::{ColumnRead, ColumnType};
use equipoise_core::coins::Words;
use sha2::block_api::compress256;
use std::cmp::Ordering;

/// The key by which one scan draws rows.
#[derive(Clone, Copy)]
pub(crate) struct RunKey([u64; 4]);

impl RunKey {
    /// The next four words.
    pub fn drawn<W: Words>(coins: &mut W) -> Self {
        Self(std::array::from_fn(|_| coins.word()))
    }

    /// As hashes and other engines see it.
    pub fn digits(self) -> String {
        let [a, b, c, d] = self.0;
        format!("{a:016x}{b:016x}{c:016x}{d:016x}")
    }
}

/// The bytes that SHA-256 takes at a time.
const BLOCK: usize = 64;

/// What SHA-256 begins with: the first 32 bits behind the point of the square roots of the first eight primes.
const BEGINNING: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Places of rows and groups under one key.
pub(super) struct Ranking {
    /// What SHA-256 has come to after the key.
    keyed: [u32; 8],
    keys: Vec<ColumnType>,
    cells: Vec<ColumnType>,
    /// Any other function of messages: the guarantee must not notice.
    #[cfg(test)]
    pub instead: Option<fn(&[u8]) -> u64>,
}

impl Ranking {
    /// For rows with such keys and cells.
    pub fn new(key: RunKey, keys: &[ColumnRead], cells: &[ColumnRead]) -> Self {
        let kinds = |wanted: &[ColumnRead]| wanted.iter().map(|wanted| wanted.kind).collect();
        let mut keyed = BEGINNING;
        compress256(&mut keyed, key.digits().as_bytes().as_chunks().0);
        Self {
            keyed,
            keys: kinds(keys),
            cells: kinds(cells),
            #[cfg(test)]
            instead: None,
        }
    }

    /// The place of a message. By blocks and not by the hasher of the same crate, which takes twice as long for so few bytes.
    pub fn place(&self, message: &[u8]) -> u64 {
        #[cfg(test)]
        if let Some(instead) = self.instead {
            return instead(message);
        }
        let mut state = self.keyed;
        let (whole, rest) = message.as_chunks::<BLOCK>();
        if !whole.is_empty() {
            compress256(&mut state, whole);
        }
        // The end of a text is a bit, zeros, and how many bits there were, in one block or two.
        let mut last = [0; 2 * BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = 0x80;
        let end = if rest.len() < BLOCK - 8 { BLOCK } else { 2 * BLOCK };
        let bits = 8 * (BLOCK + message.len()) as u64;
        last[end - 8..end].copy_from_slice(&bits.to_be_bytes());
        compress256(&mut state, last[..end].as_chunks().0);
        u64::from(state[0]) << 32 | u64::from(state[1])
    }

    /// Write the message of a group, with which those of its rows begin. Without groups the key has no cells.
    pub fn group_message(&self, id: &[u8], key: &[u8], message: &mut Vec<u8>) {
        message.clear();
        spell_text(Some(id), message);
        spell(&self.keys, key, message);
    }

    /// Write what the message of a row adds to that of its group.
    pub fn row_message(&self, cells: &[u8], copy: u64, message: &mut Vec<u8>) {
        spell(&self.cells, cells, message);
        spell_whole(copy, message);
        message.push(b',');
    }
}

/// Something with a place.
#[derive(Clone, Copy)]
pub(super) struct Placed<T> {
    pub place: u64,
    pub what: T,
}

/// Leave the first so many, at least one. Messages are asked for where places are equal.
pub(super) fn keep_first<T>(all: &mut Vec<Placed<T>>, most: usize, message: impl Fn(&T) -> Vec<u8>) {
    let by_place = |one: &Placed<T>, other: &Placed<T>| match one.place.cmp(&other.place) {
        Ordering::Equal => message(&one.what).cmp(&message(&other.what)),
        order => order,
    };
    if most < all.len() {
        all.select_nth_unstable_by(most - 1, by_place);
        all.truncate(most);
    }
}

/// Write cells of these kinds, given as [`put`](super::encode::put) wrote them, into a message.
fn spell(kinds: &[ColumnType], mut bytes: &[u8], message: &mut Vec<u8>) {
    let word = |bytes: &mut &[u8]| <[u8; 8]>::try_from(take(8, bytes)).expect("eight bytes");
    for kind in kinds {
        match kind {
            ColumnType::Float => {
                let value = f64::from_bits(u64::from_le_bytes(word(&mut bytes)));
                if !value.is_nan() {
                    spell_signed(value.is_sign_negative(), value.abs().to_bits(), message);
                }
            }
            ColumnType::Text => {
                let length = take_length(&mut bytes).checked_sub(1);
                spell_text(length.map(|length| take(length, &mut bytes)), message);
                continue;
            }
            ColumnType::Integer
            | ColumnType::Decimal { .. }
            | ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::Boolean => {
                if take_length(&mut bytes) > 0 {
                    let value = i64::from_le_bytes(word(&mut bytes));
                    spell_signed(value < 0, value.unsigned_abs(), message);
                }
            }
        }
        message.push(b',');
    }
}

fn spell_text(text: Option<&[u8]>, message: &mut Vec<u8>) {
    if let Some(text) = text {
        spell_whole(text.len() as u64, message);
        message.push(b':');
        message.extend_from_slice(text);
    }
    message.push(b',');
}

fn spell_signed(negative: bool, size: u64, message: &mut Vec<u8>) {
    if negative {
        message.push(b'-');
    }
    spell_whole(size, message);
}

/// In decimal digits. Four at a time: this is done for nearly every row, and long divisions are slow.
fn spell_whole(mut number: u64, message: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    if let Ok(digit @ 0..10) = u8::try_from(number) {
        message.push(b'0' + digit);
        return;
    }
    let start = digits.len() - 1 - number.ilog10() as usize;
    for four in digits.rchunks_mut(4) {
        let last = (number % 10_000) as usize;
        number /= 10_000;
        four[..2].copy_from_slice(&PAIRS[last / 100]);
        four[2..].copy_from_slice(&PAIRS[last % 100]);
        if number == 0 {
            break;
        }
    }
    message.extend_from_slice(&digits[start..]);
}

/// The two digits of every number below a hundred.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rows::encode::{put, put_length},
        source::Cells,
    };
    use equipoise_core::coins::ScriptedWords;
    use sha2::{Digest, Sha256};

    fn ranking(keys: &[ColumnType], cells: &[ColumnType]) -> Ranking {
        let wanted = |kinds: &[ColumnType]| {
            kinds.iter().map(|&kind| ColumnRead { column: 0, kind }).collect::<Vec<_>>()
        };
        let key = RunKey::drawn(&mut ScriptedWords::new(vec![0x0123_4567_89ab_cdef; 4]));
        Ranking::new(key, &wanted(keys), &wanted(cells))
    }

    #[test]
    fn messages_spell_every_kind_of_cell() {
        let floats = [1.0, -0.0, f64::NAN, f64::NEG_INFINITY, 5e-324, 0.0];
        let wholes = [Some(i64::MIN), None, Some(0), Some(105), Some(99), Some(-1)];
        let texts = [Some("a,b"), None, Some("\u{fc}"), Some("3:ann,"), Some(","), Some("0123456789")];
        let expected = [
            "4607182418800017408,-9223372036854775808,3:a,b,1,",
            "-0,,,2,",
            ",0,2:\u{fc},3,",
            "-9218868437227405312,105,6:3:ann,,4,",
            "1,99,1:,,5,",
            "0,-1,10:0123456789,6,",
        ];
        let kinds = [ColumnType::Float, ColumnType::Decimal { digits: 2 }, ColumnType::Text];
        for (row, expected) in expected.into_iter().enumerate() {
            let mut bytes = Vec::new();
            for cells in [Cells::Floats(&floats), Cells::Integers(&wholes), Cells::Texts(&texts)] {
                put(&cells, row, &mut bytes);
            }
            let mut message = Vec::new();
            ranking(&[], &kinds).row_message(&bytes, row as u64 + 1, &mut message);
            assert_eq!(String::from_utf8(message).unwrap(), expected);
        }
    }

    #[test]
    fn numbers_are_spelt_as_everybody_spells_them() {
        let powers = (0..20).flat_map(|digits| {
            let power = 10u64.pow(digits);
            [power - 1, power, power + 1, power.saturating_mul(3)]
        });
        for number in powers.chain([u64::MAX, u64::MAX - 1, 110, 1_001_001]) {
            let mut message = Vec::new();
            spell_whole(number, &mut message);
            assert_eq!(message, number.to_string().as_bytes());
        }
    }

    /// By `hashlib` of Python: a row in a group, and one without groups, whose key stands in front as 64 digits.
    #[test]
    fn places_are_what_others_compute() {
        let mut cells = Vec::new();
        put(&Cells::Floats(&[1.5]), 0, &mut cells);
        put(&Cells::Texts(&[Some("a")]), 0, &mut cells);
        put(&Cells::Texts(&[Some("ann")]), 0, &mut cells);
        let ranking = ranking(&[], &[ColumnType::Float, ColumnType::Text, ColumnType::Text]);
        let mut message = Vec::new();
        ranking.group_message(b"ann", &[], &mut message);
        ranking.row_message(&cells, 1, &mut message);
        assert_eq!(message, b"3:ann,4609434218613702656,1:a,3:ann,1,");
        assert_eq!(ranking.place(&message), 0x225e_17e9_7019_e5e7);
        // Of every length around the blocks of the hash.
        for length in 0..200 {
            let message = "x".repeat(length);
            let digest = Sha256::digest(format!("{}{message}", "0123456789abcdef".repeat(4)));
            assert_eq!(ranking.place(message.as_bytes()).to_be_bytes(), digest[..8]);
        }
    }

    #[test]
    fn the_key_of_a_group_stands_between_the_id_and_the_row() {
        let mut key = Vec::new();
        put(&Cells::Integers(&[Some(-7)]), 0, &mut key);
        put(&Cells::Texts(&[None]), 0, &mut key);
        let ranking = ranking(&[ColumnType::Date, ColumnType::Text], &[ColumnType::Text]);
        let (mut cells, mut message) = (Vec::new(), b"left over".to_vec());
        put_length(2, &mut cells);
        cells.push(b'b');
        ranking.group_message(b"ann", &key, &mut message);
        assert_eq!(message, b"3:ann,-7,,");
        ranking.row_message(&cells, 12, &mut message);
        assert_eq!(message, b"3:ann,-7,,1:b,12,");
    }

    #[test]
    fn the_first_are_kept_and_messages_part_equal_places() {
        for most in 1..6 {
            let places = [(3, "c"), (1, "z"), (1, "b"), (2, "a"), (1, "m")];
            let mut all = places.map(|(place, what)| Placed { place, what }).to_vec();
            keep_first(&mut all, most, |what| what.as_bytes().to_vec());
            let mut kept: Vec<&str> = all.iter().map(|one| one.what).collect();
            kept.sort_unstable();
            let mut expected = ["b", "m", "z", "a", "c"][..most.min(5)].to_vec();
            expected.sort_unstable();
            assert_eq!(kept, expected);
        }
    }
}
