//! Broken copies of a file: always the same ones for a number, so that what happened can be looked at again.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of tests are small, or cut on purpose"
)]

/// Numbers that look random and come back for the same seed.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Below this number, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Lengths, counts and places that hurt.
const EXTREMES: [i64; 16] = [
    0,
    1,
    -1,
    i64::MAX,
    i64::MIN,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    1 << 20,
    1 << 30,
    1 << 40,
    1 << 61,
    2_800_000_000_000_000_000,
    0x7f,
    0xff,
    0xffff,
];

/// A broken copy, by one to three changes; `other` is a file to take pieces from.
pub fn mutated(whole: &[u8], other: &[u8], seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let mut bytes = whole.to_vec();
    for _ in 0..=numbers.below(3) {
        if bytes.is_empty() {
            break;
        }
        change(&mut bytes, other, &mut numbers);
    }
    bytes
}

/// A place in the file; every second one near its beginning or its end, where formats say what they hold.
fn place(length: usize, numbers: &mut Numbers) -> usize {
    let near = numbers.below(length.min(400));
    match numbers.below(4) {
        0 => near,
        1 => length - 1 - near,
        _ => numbers.below(length),
    }
}

fn change(bytes: &mut Vec<u8>, other: &[u8], numbers: &mut Numbers) {
    let at = place(bytes.len(), numbers);
    let extreme = EXTREMES[numbers.below(EXTREMES.len())];
    match numbers.below(10) {
        0 | 1 => bytes[at] ^= 1 << numbers.below(8),
        2 => bytes[at] = numbers.next() as u8,
        // A number of four or eight bytes, where such numbers stand.
        3 => overwrite(bytes, at & !3, &(extreme as i32).to_le_bytes()),
        4 => overwrite(bytes, at & !7, &extreme.to_le_bytes()),
        // A number of Thrift, or of a frame.
        5 => overwrite(bytes, at, &varint(extreme.cast_unsigned())),
        6 => bytes.truncate(at),
        7 => {
            let end = bytes.len().min(at + 1 + numbers.below(64));
            bytes.drain(at..end);
        }
        8 => {
            let end = bytes.len().min(at + 1 + numbers.below(200));
            let piece = bytes[at..end].to_vec();
            let to = place(bytes.len(), numbers);
            bytes.splice(to..to, piece);
        }
        _ => {
            let from = numbers.below(other.len());
            let piece = &other[from..other.len().min(from + 1 + numbers.below(100))];
            overwrite(bytes, at, piece);
        }
    }
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    let end = bytes.len().min(at + with.len());
    bytes[at..end].copy_from_slice(&with[..end - at]);
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
