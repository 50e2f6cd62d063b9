//! Any values for any mechanism's parameters give numbers or one line that says why not, never a panic.
#![no_main]

use equipoise_core::catalog::{self, Given};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| {
    let entry = catalog::ALL[usize::from(input.0) % catalog::ALL.len()];
    // A line for each parameter, in order; an empty line leaves it out.
    let values = entry.parameters.iter().zip(input.1.split(','));
    let pairs = values.filter(|(_, value)| !value.is_empty()).map(|(p, value)| (p.name.to_string(), value.to_string()));
    let outcome = Given::new(entry, pairs).and_then(|given| (entry.derive)(&given));
    if let Err(error) = outcome {
        assert!(!error.to_string().contains(char::is_control));
    }
});
