//! Unpacking what is packed inside of a file: pages of Parquet, buffers of Arrow. Both say beforehand how long the bytes
//! are, packed and unpacked.
//!
//! What is said is held against what so many packed bytes can unpack to at all, then room is made for it, and no more is
//! unpacked than that.

use crate::limits;
use equipoise_session::source::Lost;
use std::io::{Cursor, Read};

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Snappy,
    Gzip,
    Zstd,
    /// A block without anything around it.
    Lz4,
    /// Blocks with their lengths before them, as Hadoop writes them. Some writers called a frame so, or a bare block.
    Lz4Hadoop,
    Lz4Frame,
}

impl Codec {
    /// The most bytes that one packed byte can become.
    fn most(self) -> u64 {
        match self {
            // Three bytes copy 64.
            Self::Snappy => 22,
            // Two bits copy 258 bytes.
            Self::Gzip => 1032,
            // Four bytes are a block of 128 KiB.
            Self::Zstd => 32 << 10,
            // One byte more copies 255 bytes more.
            Self::Lz4 | Self::Lz4Hadoop | Self::Lz4Frame => 255,
        }
    }
}

/// Unpacks; what it needs for that is used again and again.
#[derive(Default)]
pub(crate) struct Unpacker {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacker {
    /// So many bytes, packed into these.
    pub fn unpack(&mut self, codec: Codec, packed: &[u8], length: usize) -> Result<Vec<u8>, Lost> {
        let mut bytes = Self::reserve(codec, packed, length)?;
        self.append(codec, packed, length, &mut bytes)?;
        Ok(bytes)
    }

    /// The same behind some first bytes that are not packed.
    pub fn unpack_behind(
        &mut self,
        first: &[u8],
        codec: Codec,
        packed: &[u8],
        length: usize,
    ) -> Result<Vec<u8>, Lost> {
        let mut bytes = Self::reserve(codec, packed, first.len().checked_add(length).ok_or(Lost)?)?;
        bytes.extend_from_slice(first);
        if length > 0 {
            self.append(codec, packed, length, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Room for so many bytes, if the packed ones can become so many.
    fn reserve(codec: Codec, packed: &[u8], length: usize) -> Result<Vec<u8>, Lost> {
        // The smallest packings begin with a few bytes that stand for nothing.
        let most = (packed.len() as u64 + 16).saturating_mul(codec.most());
        if length as u64 > most { Err(Lost) } else { limits::reserved(length) }
    }

    /// Exactly so many bytes at the end of others, for which there is room.
    fn append(&mut self, codec: Codec, packed: &[u8], length: usize, to: &mut Vec<u8>) -> Result<(), Lost> {
        let before = to.len();
        match codec {
            Codec::Snappy => {
                if snap::raw::decompress_len(packed) != Ok(length) {
                    return Err(Lost);
                }
                to.resize(before + length, 0);
                snap::raw::Decoder::new().decompress(packed, &mut to[before..]).map_err(|_| Lost)?;
            }
            Codec::Gzip => stream(flate2::read::MultiGzDecoder::new(packed), length, to)?,
            Codec::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(|_| Lost)?),
                };
                let mut end = Cursor::new(&mut *to);
                end.set_position(before as u64);
                // No more than there is room for.
                zstd.decompress_to_buffer(packed, &mut end).map_err(|_| Lost)?;
            }
            Codec::Lz4 => {
                to.resize(before + length, 0);
                lz4_block(packed, &mut to[before..])?;
            }
            Codec::Lz4Frame => stream(lz4_flex::frame::FrameDecoder::new(packed), length, to)?,
            Codec::Lz4Hadoop => {
                to.resize(before + length, 0);
                if lz4_hadoop(packed, &mut to[before..]).is_err() {
                    to.truncate(before);
                    if self.append(Codec::Lz4Frame, packed, length, to).is_err() {
                        to.truncate(before);
                        return self.append(Codec::Lz4, packed, length, to);
                    }
                }
            }
        }
        if to.len() == before + length { Ok(()) } else { Err(Lost) }
    }
}

/// What comes out of a stream, which must be so many bytes.
fn stream(stream: impl Read, length: usize, to: &mut Vec<u8>) -> Result<(), Lost> {
    let read = stream.take(length as u64 + 1).read_to_end(to).map_err(|_| Lost)?;
    if read == length { Ok(()) } else { Err(Lost) }
}

fn lz4_block(packed: &[u8], to: &mut [u8]) -> Result<(), Lost> {
    match lz4_flex::block::decompress_into(packed, to) {
        Ok(length) if length == to.len() => Ok(()),
        _ => Err(Lost),
    }
}

/// Blocks one after another, each behind its lengths, unpacked and packed.
fn lz4_hadoop(mut packed: &[u8], mut to: &mut [u8]) -> Result<(), Lost> {
    fn length(packed: &mut &[u8]) -> Result<usize, Lost> {
        let (length, rest) = packed.split_first_chunk::<4>().ok_or(Lost)?;
        *packed = rest;
        usize::try_from(u32::from_be_bytes(*length)).map_err(|_| Lost)
    }
    while !packed.is_empty() {
        let (unpacked, taken) = (length(&mut packed)?, length(&mut packed)?);
        let (block, rest) = packed.split_at_checked(taken).ok_or(Lost)?;
        let (here, behind) = to.split_at_mut_checked(unpacked).ok_or(Lost)?;
        lz4_block(block, here)?;
        (packed, to) = (rest, behind);
    }
    if to.is_empty() { Ok(()) } else { Err(Lost) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn packed(codec: Codec, bytes: &[u8]) -> Vec<u8> {
        match codec {
            Codec::Snappy => snap::raw::Encoder::new().compress_vec(bytes).unwrap(),
            Codec::Gzip => {
                let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                packed.write_all(bytes).unwrap();
                packed.finish().unwrap()
            }
            Codec::Zstd => zstd::bulk::compress(bytes, 19).unwrap(),
            Codec::Lz4 => lz4_flex::block::compress(bytes),
            Codec::Lz4Hadoop => {
                let mut packed = Vec::new();
                for part in bytes.chunks(10_000) {
                    let block = lz4_flex::block::compress(part);
                    for length in [part.len(), block.len()] {
                        packed.extend(u32::try_from(length).unwrap().to_be_bytes());
                    }
                    packed.extend(block);
                }
                packed
            }
            Codec::Lz4Frame => {
                let mut packed = lz4_flex::frame::FrameEncoder::new(Vec::new());
                packed.write_all(bytes).unwrap();
                packed.finish().unwrap()
            }
        }
    }

    const CODECS: [Codec; 6] =
        [Codec::Snappy, Codec::Gzip, Codec::Zstd, Codec::Lz4, Codec::Lz4Hadoop, Codec::Lz4Frame];

    #[test]
    fn what_was_packed_comes_back_and_no_other_length() {
        let mut unpacker = Unpacker::default();
        let texts: [Vec<u8>; 4] = [vec![0; 5_000_000], vec![7], (0..=255).cycle().take(70_000).collect(), {
            (0..50_000u32).flat_map(|k| k.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
        }];
        for codec in CODECS {
            for text in &texts {
                let small = packed(codec, text);
                let length = text.len();
                assert!(unpacker.unpack(codec, &small, length).as_ref() == Ok(text), "{codec:?} {length}");
                let behind = unpacker.unpack_behind(b"ab", codec, &small, length);
                assert!(behind == Ok([b"ab", text.as_slice()].concat()), "{codec:?} {length}");
                for wrong in [0, length - 1, length + 1, length + 4096, 1 << 40, usize::MAX] {
                    assert!(
                        wrong == length || unpacker.unpack(codec, &small, wrong) == Err(Lost),
                        "{codec:?} {wrong}"
                    );
                }
            }
        }
        assert_eq!(unpacker.unpack_behind(b"ab", Codec::Zstd, b"", 0), Ok(b"ab".to_vec()));
    }

    #[test]
    fn what_hadoop_is_said_to_have_packed_may_be_a_frame_or_a_block() {
        let text = [b"some text, ".repeat(100), vec![3; 1000]].concat();
        for codec in [Codec::Lz4, Codec::Lz4Frame, Codec::Lz4Hadoop] {
            let small = packed(codec, &text);
            assert!(Unpacker::default().unpack(Codec::Lz4Hadoop, &small, text.len()) == Ok(text.clone()));
        }
    }

    #[test]
    fn a_changed_byte_is_lost_or_unpacks_to_the_same_length() {
        let text: Vec<u8> = (0..400u32).flat_map(|k| (k * k).to_le_bytes()).collect();
        let mut unpacker = Unpacker::default();
        for codec in CODECS {
            let small = packed(codec, &text);
            for place in 0..small.len() {
                for change in [1, 0x80, 0xff] {
                    let mut broken = small.clone();
                    broken[place] ^= change;
                    let unpacked = unpacker.unpack(codec, &broken, text.len());
                    assert!(unpacked.is_err() || unpacked.is_ok_and(|bytes| bytes.len() == text.len()));
                }
            }
        }
    }
}
