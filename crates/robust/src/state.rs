//! How a structure is stored: bytes with a version, a kind and a checksum, refused with one clear line when damaged.
//!
//! The bytes hold keys: whoever reads them can break what they promise. They are for the disk of whoever runs the structure.
//!
//! # Guarantee
//!
//! Reading gives back a structure that answers as the stored one would have, or an error; never a structure from bytes
//! that were cut short or changed, except with probability 2^-64. The checksum finds accidents. It is no seal:
//! whoever can write the file can write another checksum.
//!
//! A structure that was read twice has the same keys twice, and two continuations of one stream are two sets under one
//! key. So each state is to be continued once, by whoever stored it; [`copies`](crate::copies) that keep their
//! input draw fresh coins when they are read, and need no such care.

use crate::hash::Key;
use equipoise_core::ratio::Ratio;
use std::fmt;

/// How every state begins.
const MAGIC: [u8; 8] = *b"equipois";

/// The version that is written and read.
const VERSION: u64 = 1;

/// Bytes before the body: magic, version, kind, length.
const HEAD: usize = 32;

/// What a stored structure is called, in eight bytes.
pub type Kind = [u8; 8];

/// Why bytes are not a stored structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// They do not begin as a state does.
    NotAState,
    /// They have another version.
    Version(u64),
    /// They hold another structure.
    Kind {
        /// What they hold.
        found: String,
        /// What was to be read.
        wanted: String,
    },
    /// They were cut short or changed.
    Checksum,
    /// The checksum fits, the content makes no sense.
    Content(&'static str),
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAState => {
                f.write_str("this is not a stored structure; give what was stored, or begin anew")
            }
            Self::Version(version) => write!(
                f,
                "the state has version {version} and this program reads version {VERSION}; use the program that wrote it"
            ),
            Self::Kind { found, wanted } => {
                write!(
                    f,
                    "the state is of the structure '{found}', not '{wanted}'; give the one that was stored"
                )
            }
            Self::Checksum => f.write_str("the state is damaged, cut short or changed; begin anew"),
            Self::Content(what) => write!(f, "the state makes no sense: {what}; begin anew"),
        }
    }
}

impl std::error::Error for Damaged {}

/// What can be part of a state.
pub trait Stored: Sized {
    /// Append it.
    fn write(&self, out: &mut Writer);

    /// Read it back.
    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged>;
}

/// Bytes of a state, written one part after another.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// A whole number.
    pub fn word(&mut self, word: u64) {
        self.0.extend(word.to_le_bytes());
    }

    /// Whole numbers, without their count.
    pub fn words(&mut self, words: impl IntoIterator<Item = u64>) {
        self.0.extend(words.into_iter().flat_map(u64::to_le_bytes));
    }

    /// Bytes, with their count.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.0.extend(bytes);
    }
}

/// Bytes of a state, read one part after another.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

const SHORT: Damaged = Damaged::Content("a part is missing");

impl<'a> Reader<'a> {
    /// A whole number.
    pub fn word(&mut self) -> Result<u64, Damaged> {
        let (word, rest) = self.0.split_first_chunk::<8>().ok_or(SHORT)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }

    /// A count of things that take at least eight bytes each, so that it fits what is left.
    pub fn count(&mut self) -> Result<usize, Damaged> {
        let count = self.size()?;
        if count <= self.0.len() / 8 { Ok(count) } else { Err(SHORT) }
    }

    /// A number that fits the machine.
    pub fn size(&mut self) -> Result<usize, Damaged> {
        usize::try_from(self.word()?).map_err(|_| Damaged::Content("a size is too large"))
    }

    /// So many whole numbers.
    pub fn words(&mut self, count: usize) -> Result<Vec<u64>, Damaged> {
        if count > self.0.len() / 8 {
            return Err(SHORT);
        }
        (0..count).map(|_| self.word()).collect()
    }

    /// Bytes with their count.
    pub fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let count = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn end(&self) -> Result<(), Damaged> {
        if self.0.is_empty() { Ok(()) } else { Err(Damaged::Content("something follows its end")) }
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    Key::from_words([u64::from_le_bytes(MAGIC), VERSION]).hash_bytes(bytes)
}

/// A whole state.
pub fn seal(kind: Kind, write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut body = Writer::default();
    write(&mut body);
    let mut bytes = Writer(MAGIC.to_vec());
    bytes.word(VERSION);
    bytes.0.extend(kind);
    bytes.bytes(&body.0);
    let check = checksum(&bytes.0);
    bytes.word(check);
    bytes.0
}

/// Read a whole state.
pub fn unseal<T>(
    kind: Kind,
    bytes: &[u8],
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, Damaged>,
) -> Result<T, Damaged> {
    let (state, rest) = split(bytes)?;
    if !rest.is_empty() {
        return Err(Damaged::Checksum);
    }
    let found: Kind = state[16..24].try_into().expect("eight bytes");
    if found != kind {
        let text = |kind: &Kind| String::from_utf8_lossy(kind).trim_end_matches('\0').to_string();
        return Err(Damaged::Kind { found: text(&found), wanted: text(&kind) });
    }
    let mut reader = Reader(&state[HEAD..state.len() - 8]);
    let value = read(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The state that these bytes begin with, its checksum verified, and what follows it.
pub fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), Damaged> {
    let mut head = Reader(bytes.strip_prefix(&MAGIC).ok_or(Damaged::NotAState)?);
    let version = head.word().map_err(|_| Damaged::Checksum)?;
    if version != VERSION {
        return Err(Damaged::Version(version));
    }
    head.word().map_err(|_| Damaged::Checksum)?;
    let body = head.size().map_err(|_| Damaged::Checksum)?;
    let end = body.checked_add(HEAD + 8).ok_or(Damaged::Checksum)?;
    let (state, rest) = bytes.split_at_checked(end).ok_or(Damaged::Checksum)?;
    let (content, check) = state.split_last_chunk::<8>().expect("longer than its checksum");
    if checksum(content) != u64::from_le_bytes(*check) {
        return Err(Damaged::Checksum);
    }
    Ok((state, rest))
}

impl Stored for () {
    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(())
    }
}

impl Stored for i128 {
    fn write(&self, out: &mut Writer) {
        out.0.extend(self.to_le_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (number, rest) = from.0.split_first_chunk::<16>().ok_or(SHORT)?;
        from.0 = rest;
        Ok(Self::from_le_bytes(*number))
    }
}

impl Stored for bool {
    fn write(&self, out: &mut Writer) {
        out.word(u64::from(*self));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        match from.word()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged::Content("neither yes nor no")),
        }
    }
}

impl Stored for Ratio {
    fn write(&self, out: &mut Writer) {
        out.bytes(self.to_string().as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let text = std::str::from_utf8(from.bytes()?).ok();
        text.and_then(|text| text.parse().ok()).ok_or(Damaged::Content("a number cannot be read"))
    }
}

impl Stored for Key {
    fn write(&self, out: &mut Writer) {
        out.words(self.words());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Self::from_words([from.word()?, from.word()?]))
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Writer) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        bool::read(from)?.then(|| T::read(from)).transpose()
    }
}

/// Things of which each takes at least eight bytes.
impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Writer) {
        out.word(self.len() as u64);
        for value in self {
            value.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        (0..from.count()?).map(|_| T::read(from)).collect()
    }
}

/// Lines that were followed after a state was stored, each chained to what stands before it.
///
/// A log is appended to the state in the same file. What was cut off at its end was never answered to, if whoever writes it
/// waits for the disk before each answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain(u64);

impl Chain {
    /// The chain that begins behind this whole state.
    pub fn behind(state: &[u8]) -> Self {
        Self(checksum(state))
    }

    /// The bytes that add a line.
    pub fn link(&mut self, line: &[u8]) -> Vec<u8> {
        let mut out = Writer::default();
        out.bytes(line);
        let mut chained = self.0.to_le_bytes().to_vec();
        chained.extend(&out.0);
        self.0 = checksum(&chained);
        out.word(self.0);
        out.0
    }
}

/// The lines behind a state, as [`split`] gives both. A last line that was cut short is left out; damage before it is an error.
pub fn lines<'a>(state: &[u8], log: &'a [u8]) -> Result<Vec<&'a [u8]>, Damaged> {
    let (mut chain, mut rest, mut lines) = (Chain::behind(state), Reader(log), Vec::new());
    while !rest.0.is_empty() {
        let (Ok(line), Ok(check)) = (rest.bytes(), rest.word()) else { break };
        chain.link(line);
        if chain.0 != check {
            // Where nothing follows, the disk had not finished it.
            return if rest.0.is_empty() { Ok(lines) } else { Err(Damaged::Checksum) };
        }
        lines.push(line);
    }
    Ok(lines)
}

/// `to_bytes` and `from_bytes` of a structure that is stored whole.
macro_rules! stored_whole {
    ($name:ty, $kind:literal) => {
        impl $name {
            /// The state as bytes. They hold its keys: keep them secret.
            pub fn to_bytes(&self) -> Vec<u8> {
                $crate::state::seal(*$kind, |out| $crate::state::Stored::write(self, out))
            }

            /// Go on from a stored state. Do so once only: the coins are the same each time.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::state::Damaged> {
                $crate::state::unseal(*$kind, bytes, <Self as $crate::state::Stored>::read)
            }
        }
    };
}

pub(crate) use stored_whole;

/// Every damage that a test can do to a state is an error, and never a panic.
#[cfg(test)]
pub(crate) fn assert_refuses_damage(bytes: &[u8], read: impl Fn(&[u8]) -> Option<Damaged>) {
    for cut in (0..bytes.len()).step_by(bytes.len() / 50 + 1) {
        assert!(read(&bytes[..cut]).is_some(), "cut at {cut}");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
        let mut changed = bytes.to_vec();
        changed[at] ^= 1 << (at % 8);
        assert!(read(&changed).is_some(), "changed at {at}");
    }
    assert!(read(&[bytes, b"x"].concat()).is_some());
}

/// With a checksum that fits a changed content, anything but a panic is fine.
#[cfg(test)]
pub(crate) fn assert_survives_nonsense(bytes: &[u8], read: impl Fn(&[u8]) -> Option<Damaged>) {
    let end = bytes.len() - 8;
    for at in (HEAD..end).step_by(bytes.len() / 200 + 1) {
        let mut changed = bytes.to_vec();
        changed[at] ^= 1 << (at % 8);
        let check = checksum(&changed[..end]);
        changed[end..].copy_from_slice(&check.to_le_bytes());
        let _ = read(&changed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = *b"numbers\0";

    fn read(bytes: &[u8]) -> Result<Vec<i128>, Damaged> {
        unseal(KIND, bytes, Vec::read)
    }

    #[test]
    fn what_was_written_is_read_and_damage_is_named() {
        let numbers: Vec<i128> = vec![-1, 0, i128::MAX];
        let bytes = seal(KIND, |out| numbers.write(out));
        assert_eq!(read(&bytes).unwrap(), numbers);
        assert_refuses_damage(&bytes, |bytes| read(bytes).err());
        assert_survives_nonsense(&bytes, |bytes| read(bytes).err());
        let other = seal(*b"letters\0", |out| numbers.write(out));
        let mut old = bytes.clone();
        old[8] = 9;
        let errors = [&b""[..], &other, &old, &bytes[..50]].map(|bytes| read(bytes).unwrap_err().to_string());
        assert_eq!(
            errors,
            [
                "this is not a stored structure; give what was stored, or begin anew",
                "the state is of the structure 'letters', not 'numbers'; give the one that was stored",
                "the state has version 9 and this program reads version 1; use the program that wrote it",
                "the state is damaged, cut short or changed; begin anew",
            ]
        );
        // A count that no memory could hold is an error before any memory is taken.
        let huge = seal(KIND, |out| out.word(u64::MAX));
        assert_eq!(read(&huge).unwrap_err(), SHORT);
    }

    #[test]
    fn ratios_keep_their_exact_value() {
        for text in ["1/3", "0.1", "12345678901234567890.5", "1e-40"] {
            let ratio: Ratio = text.parse().unwrap();
            let bytes = seal(KIND, |out| ratio.write(out));
            assert_eq!(unseal(KIND, &bytes, Ratio::read).unwrap(), ratio);
        }
    }

    #[test]
    fn a_log_gives_back_its_lines_and_leaves_out_what_was_cut() {
        let state = seal(KIND, |out| out.word(7));
        let mut chain = Chain::behind(&state);
        let log: Vec<u8> = [&b"ann"[..], b"?", b""].iter().flat_map(|line| chain.link(line)).collect();
        assert_eq!(lines(&state, &log).unwrap(), [&b"ann"[..], b"?", b""]);
        for cut in 0..log.len() {
            let kept = lines(&state, &log[..cut]).unwrap().len();
            assert_eq!(kept, usize::from(cut >= 19) + usize::from(cut >= 36), "{cut}");
        }
        let mut changed = log.clone();
        changed[9] ^= 1;
        assert_eq!(lines(&state, &changed).unwrap_err(), Damaged::Checksum);
        // A log behind another state is none.
        assert!(lines(&seal(KIND, |out| out.word(8)), &log).is_err());
        let file = [state.clone(), log.clone()].concat();
        assert_eq!(split(&file).unwrap(), (&state[..], &log[..]));
    }
}
