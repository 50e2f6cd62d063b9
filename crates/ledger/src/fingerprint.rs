//! Recognises the same content under another name, and tells nobody what the content is.
//!
//! A fingerprint is an HMAC-SHA-256 under a secret of the ledger. It is made when the steward registers a data
//! set, is stored in the ledger and never shown: who knows it without the secret learns nothing, and who has
//! the secret has the ledger, which only its owner reads.

use super::chain::hex;
use equipoise_core::{coins::Words, stop};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// A fresh secret.
pub(super) fn fresh_secret(coins: &mut impl Words) -> [u8; 32] {
    let mut secret = [0; 32];
    for part in secret.chunks_exact_mut(8) {
        part.copy_from_slice(&coins.word().to_le_bytes());
    }
    secret
}

/// A hash that binds the chain to the secret.
pub(super) fn seal(secret: &[u8]) -> [u8; 32] {
    let mut state = Sha256::new_with_prefix(b"equipoise ledger secret 1");
    state.update(secret);
    state.finalize().into()
}

/// The fingerprint of everything that the reader has.
pub(super) fn of(secret: &[u8], content: &mut dyn Read) -> io::Result<String> {
    let mut state = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length");
    let mut buffer = vec![0; 1 << 16];
    loop {
        if stop::asked() {
            return Err(io::Error::other("it was interrupted"));
        }
        match content.read(&mut buffer) {
            Ok(0) => return Ok(hex(&state.finalize().into_bytes())),
            Ok(length) => state.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn a_known_fingerprint() {
        let found = of(b"Jefe", &mut &b"what do ya want for nothing?"[..]).unwrap();
        assert_eq!(found, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    /// A signal in the middle of a read is no end of the file, and no error; a failing disk is one.
    #[test]
    fn interrupted_reads_go_on_and_failing_ones_do_not() {
        struct Halting<'a>(Vec<io::ErrorKind>, &'a [u8]);
        impl Read for Halting<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.pop().map_or_else(|| self.1.read(buffer), |kind| Err(kind.into()))
            }
        }
        let whole = of(b"key", &mut &b"rows"[..]).unwrap();
        let interrupted = vec![io::ErrorKind::Interrupted; 3];
        assert_eq!(of(b"key", &mut Halting(interrupted, b"rows")).unwrap(), whole);
        assert!(of(b"key", &mut Halting(vec![io::ErrorKind::TimedOut], b"rows")).is_err());
    }

    #[test]
    fn the_seal_hides_and_binds_the_secret() {
        assert_ne!(seal(&[0; 32]), seal(&[1; 32]));
        assert_ne!(seal(&[7; 32]), [7; 32]);
    }
}
