//! Any JSON is a request or one line that says why not; any request is a plan or one line that says why not.
#![no_main]

use equipoise_session::{
    plan::{DataFacts, Plan},
    request::Request,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let facts = DataFacts { name: "data".into(), columns: vec!["a".into(), "b".into()], registered: None, kinds: Vec::new(), windows: None };
    match Request::from_json(text) {
        Ok(request) => {
            assert_eq!(Request::from_json(&request.to_json()).as_ref(), Ok(&request));
            match Plan::new(&request, &facts) {
                Ok(plan) => assert!(!plan.expected().words.contains(char::is_control)),
                Err(error) => assert!(!error.to_string().contains(char::is_control), "{error}"),
            }
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
});
