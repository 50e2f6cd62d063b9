//! Any text is a number that reads back as itself, or one line that says why not.
#![no_main]

use equipoise_core::{
    loss::{Delta, Eps, Rho},
    ratio::Ratio,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Ratio>() {
        Ok(number) => {
            let printed = number.to_string();
            if printed.len() < 400 {
                assert_eq!(printed.parse::<Ratio>().as_ref(), Ok(&number));
            }
            assert!(!number.to_f64().is_nan());
            assert!(number.dyadic_down(64) <= number && number <= number.dyadic_up(64));
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
    let _ = (text.parse::<Eps>(), text.parse::<Delta>(), text.parse::<Rho>());
});
