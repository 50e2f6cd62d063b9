//! The source of words: ChaCha20 under a key of the operating system, replaced at every refill.
//!
//! Stands in for `equipoise_entropy::OsCoins`, and has its shape.

use chacha20::cipher::{Array, KeyIvInit, StreamCipherCore, consts::U64};
use chacha20::{ChaChaCore, R20, variants::Ietf};
use equipoise_core::coins::Words;

const BYTES: usize = 4096;
const KEY_BYTES: usize = 32;

pub struct OsCoins {
    /// The next key, then the words that wait.
    buffer: [u8; BYTES],
    left: usize,
}

impl OsCoins {
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut coins = Self { buffer: [0; BYTES], left: 0 };
        getrandom::fill(&mut coins.buffer[..KEY_BYTES])?;
        Ok(coins)
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        let key = *self.buffer.first_chunk::<KEY_BYTES>().expect("the buffer is longer than a key");
        let mut cipher = ChaChaCore::<R20, Ietf>::new(&key.into(), &Array::default());
        let (blocks, _) = Array::<u8, U64>::slice_as_chunks_mut(&mut self.buffer);
        cipher.write_keystream_blocks(blocks);
        self.left = (BYTES - KEY_BYTES) / 8;
    }
}

impl Words for OsCoins {
    #[inline]
    fn word(&mut self) -> u64 {
        if self.left == 0 {
            self.refill();
        }
        self.left -= 1;
        let (words, _) = self.buffer[KEY_BYTES..].as_chunks();
        u64::from_le_bytes(words[self.left])
    }
}
