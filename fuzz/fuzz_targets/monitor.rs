//! Any line is a question or one line that says why not, and what is written down reads as the same question; any bytes
//! are a state file or refused, and what is cut off at any place reads as its whole lines.
#![no_main]

use equipoise_session::monitor::{
    Query,
    log::{Line, Log, Outcome, START},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &[u8], u16)| {
    let (text, bytes, cut) = input;
    match Query::parse(text) {
        Ok(query) => {
            assert_eq!(Query::parse(&query.to_json().to_string()).as_ref(), Ok(&query));
            let (line, hash) = Line::Queries(vec![query]).write(&START);
            let file = line + &Line::Answers(vec![Outcome::Lost]).write(&hash).0;
            // Without its first two lines it is no state file, whole or cut.
            let end = usize::from(cut).min(file.len());
            assert!(Log::read(file.as_bytes()).is_err());
            let _ = Log::read(&file.as_bytes()[..end]);
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
    let _ = Log::read(bytes);
});
