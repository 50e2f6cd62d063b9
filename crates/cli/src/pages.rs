//! Output of any length, piece by piece: little is held, and whoever stops reading is no error.

use crate::{Exit, not_written};
use equipoise_core::wording;
use std::{
    io::{self, BufWriter, StdoutLock, Write},
    ops::ControlFlow,
};

/// Standard output for pieces.
pub(crate) struct Pages {
    output: BufWriter<StdoutLock<'static>>,
    failed: Option<io::Error>,
}

impl Pages {
    pub(crate) fn new() -> Self {
        Self { output: BufWriter::with_capacity(1 << 16, io::stdout().lock()), failed: None }
    }

    /// Print a piece; what nobody would see is written out. Stop where nobody reads on.
    pub(crate) fn put(&mut self, text: &str) -> ControlFlow<()> {
        match self.output.write_all(wording::seen_in_json(text).as_bytes()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Everything is out, or nobody wanted more of it.
    pub(crate) fn end(mut self) -> Exit {
        let done = match self.failed.take() {
            Some(error) => Err(error),
            None => self.output.flush(),
        };
        match done {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => not_written(&error),
            _ => Exit::Done,
        }
    }
}

/// The parts of a list as JSON writes it over several lines, without holding the list.
pub(crate) struct Listed {
    any: bool,
}

impl Listed {
    pub(crate) fn new() -> Self {
        Self { any: false }
    }

    /// The next one, with what stands before it.
    pub(crate) fn next(&mut self, value: &serde_json::Value) -> String {
        let before = if std::mem::replace(&mut self.any, true) { ",\n  " } else { "[\n  " };
        // No text of JSON has a line end in it.
        format!("{before}{}", format!("{value:#}").replace('\n', "\n  "))
    }

    /// What stands behind the last one.
    pub(crate) fn end(&self) -> &'static str {
        if self.any { "\n]\n" } else { "[]\n" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_list_in_parts_is_the_list() {
        for values in
            [vec![], vec![json!({"a": ["x\ny", {}]})], vec![json!(1), json!({"b": null}), json!([])]]
        {
            let mut listed = Listed::new();
            let mut text: String = values.iter().map(|value| listed.next(value)).collect();
            text.push_str(listed.end());
            assert_eq!(text, format!("{:#}\n", Value::Array(values)));
        }
    }
}
