//! Tokens, links and cookies: 256 random bits each, of which the server keeps the SHA-256 alone.
//!
//! A secret of so many random bits needs no stretching: nobody tries them out, so a fast hash is as good as a slow one, and a
//! stolen store opens nothing.

use equipoise_core::coins::Words;
use equipoise_entropy::OsCoins;
use sha2::{Digest, Sha256};
use std::fmt::{self, Write as _};

/// A secret as its holder has it. It is shown once and never written down.
pub struct Secret(String);

impl Secret {
    /// Fresh from the operating system's randomness.
    pub fn fresh() -> Result<Self, String> {
        let mut coins = OsCoins::new().map_err(|error| error.to_string())?;
        let mut text = String::from("eq_");
        for _ in 0..4 {
            let _ = write!(text, "{:016x}", coins.word());
        }
        Ok(Self(text))
    }

    /// The text that its holder keeps.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it here.
    pub fn hash(&self) -> String {
        hash(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What is kept of a secret, in hexadecimal.
pub fn hash(secret: &str) -> String {
    let mut state = Sha256::new_with_prefix(b"equipoise server secret 1");
    state.update(secret);
    state.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_256_bits_and_shows_none_of_them() {
        let secret = Secret::fresh().unwrap();
        assert_eq!(secret.reveal().len(), 3 + 64);
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_ne!(secret.hash(), Secret::fresh().unwrap().hash());
        assert!(!secret.hash().contains(&secret.reveal()[3..19]));
        assert_eq!(hash("a").len(), 64);
    }
}
