//! A keyed hash of whole numbers: SipHash-2-4, in batches.
//!
//! Source: J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF" (2012).
//!
//! Sketches are analysed with a truly random function. With a secret key nobody who computes less than 2^64 steps
//! is known to tell SipHash from one; that assumption stands behind every "proved" that rests on a sketch.

use equipoise_core::coins::Coins;

/// A secret key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u64; 2]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Numbers that are hashed side by side.
const LANES: usize = 8;

type State = [u64; 4];

#[inline]
fn round([mut a, mut b, mut c, mut d]: State) -> State {
    a = a.wrapping_add(b);
    b = b.rotate_left(13) ^ a;
    a = a.rotate_left(32);
    c = c.wrapping_add(d);
    d = d.rotate_left(16) ^ c;
    a = a.wrapping_add(d);
    d = d.rotate_left(21) ^ a;
    c = c.wrapping_add(b);
    b = b.rotate_left(17) ^ c;
    c = c.rotate_left(32);
    [a, b, c, d]
}

#[inline]
fn absorb(mut state: State, word: u64) -> State {
    state[3] ^= word;
    state = round(round(state));
    state[0] ^= word;
    state
}

#[inline]
fn finish(mut state: State) -> u64 {
    state[2] ^= 0xff;
    state = round(round(round(round(state))));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

impl Key {
    /// A fresh key.
    pub fn draw<C: Coins>(coins: &mut C) -> Self {
        Self([coins.bits(64), coins.bits(64)])
    }

    /// The two words of the key: for whoever stores a sketch, as secret as the key.
    pub fn words(&self) -> [u64; 2] {
        self.0
    }

    /// A key that was stored.
    pub fn from_words(words: [u64; 2]) -> Self {
        Self(words)
    }

    #[inline]
    fn start(&self) -> State {
        let [k0, k1] = self.0;
        [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ]
    }

    /// The hash of one number.
    #[inline]
    pub fn hash(&self, number: u64) -> u64 {
        finish(absorb(absorb(self.start(), number), 8 << 56))
    }

    /// The hash of two numbers in their order.
    #[inline]
    pub fn hash_pair(&self, numbers: [u64; 2]) -> u64 {
        let state = numbers.into_iter().fold(self.start(), absorb);
        finish(absorb(state, 16 << 56))
    }

    /// The hash of any bytes.
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        let (words, rest) = bytes.as_chunks::<8>();
        let state = words.iter().fold(self.start(), |state, word| absorb(state, u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length modulo 256 stands in the last byte.
        finish(absorb(state, u64::from_le_bytes(last) | (bytes.len() as u64) << 56))
    }

    /// The hashes of many numbers, handed over in batches.
    #[inline]
    pub fn hash_all(&self, numbers: &[u64], mut take: impl FnMut(&[u64])) {
        let start = self.start();
        let (batches, rest) = numbers.as_chunks::<LANES>();
        for batch in batches {
            let mut hashes = [0; LANES];
            for (hash, &number) in hashes.iter_mut().zip(batch) {
                *hash = finish(absorb(absorb(start, number), 8 << 56));
            }
            take(&hashes);
        }
        for &number in rest {
            take(&[self.hash(number)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hasher;

    #[test]
    #[expect(deprecated, reason = "the standard library's own SipHash-2-4, to compare with")]
    fn equal_to_the_hash_of_the_standard_library() {
        for number in [0, 1, 0x0706_0504_0302_0100, u64::MAX] {
            let key = Key([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
            let mut standard = std::hash::SipHasher::new_with_keys(key.0[0], key.0[1]);
            standard.write(&u64::to_le_bytes(number));
            assert_eq!(key.hash(number), standard.finish());
            standard.write(&u64::to_le_bytes(77));
            assert_eq!(key.hash_pair([number, 77]), standard.finish());
            assert_eq!(key.hash_bytes(&number.to_le_bytes()), key.hash(number));
        }
        // The first eight bytes of the test vector of the authors.
        let key = Key([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
        assert_eq!(key.hash(0x0706_0504_0302_0100), 0x93f5_f579_9a93_2462);
        assert_eq!(key.hash_bytes(&[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(key.hash_bytes(&[0, 1, 2]), 0x8567_6696_d7fb_7e2d);
    }

    #[test]
    fn batches_are_the_same_hashes() {
        let key = Key([3, 4]);
        let numbers: Vec<u64> = (0..100).collect();
        let mut hashes = Vec::new();
        key.hash_all(&numbers, |batch| hashes.extend_from_slice(batch));
        assert_eq!(hashes, numbers.iter().map(|&number| key.hash(number)).collect::<Vec<_>>());
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
