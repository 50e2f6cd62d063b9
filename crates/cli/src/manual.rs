//! `equipoise completions` and `equipoise man`.

use crate::{
    Exit,
    args::{Arguments, CompletionsOptions, ManOptions},
    ask::{internal, usage},
    complete,
};
use clap::CommandFactory;
use std::io::{self, Write};

pub(crate) fn completions(options: &CompletionsOptions) -> Exit {
    put(&complete::script(options.shell))
}

pub(crate) fn man(options: &ManOptions) -> Exit {
    if let Some(folder) = &options.folder {
        return match clap_mangen::generate_to(Arguments::command(), folder) {
            Ok(()) => Exit::Done,
            Err(error) => {
                let shown = equipoise_core::wording::shown(&folder.to_string_lossy());
                usage(format!(
                    "pages cannot be written to '{shown}' ({}); give a folder that exists",
                    error.kind()
                ))
            }
        };
    }
    let mut page = Vec::new();
    match clap_mangen::Man::new(Arguments::command()).render(&mut page) {
        Ok(()) => put(&page),
        Err(error) => internal(error.kind()),
    }
}

/// To the terminal; a closed pipe is no news.
pub(crate) fn put(bytes: &[u8]) -> Exit {
    match io::stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            internal(format!("the output could not be written ({})", error.kind()))
        }
        _ => Exit::Done,
    }
}
