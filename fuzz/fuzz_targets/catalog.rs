//! Any words after `calibrate` give numbers or one line that says why not, never a panic.
#![no_main]

use equipoise_core::catalog::{self, Given};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut words = text.split(' ');
    let Ok(entry) = catalog::find(words.next().unwrap_or_default()) else { return };
    let mut pairs = Vec::new();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        pairs.push((name.to_string(), value.to_string()));
    }
    if let Ok(given) = Given::new(entry, pairs) {
        let _ = (entry.derive)(&given);
    }
});
