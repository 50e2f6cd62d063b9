//! `equipoise robust choose`: which way to be robust suits a stream.

use super::{declared, ratio, text};
use crate::Exit;
use clap::Args;
use equipoise_robust::choose::{Method, Question, Stream, choices};
use serde_json::json;

#[derive(Args, Debug)]
pub(crate) struct ChooseOptions {
    /// What is asked of the stream
    #[arg(value_parser = ["distinct", "f2", "point"])]
    pub question: String,
    /// How far off an answer may be, as a share: 0.2 unless given
    #[arg(long)]
    pub alpha: Option<String>,
    /// How likely some answer may be farther off, all together: 0.01 unless given
    #[arg(long)]
    pub beta: Option<String>,
    /// How many answers there will be: 1000 unless given
    #[arg(long)]
    pub answers: Option<u64>,
    /// Items only come, in one stream that is never merged with another
    #[arg(long)]
    pub insertions_only: bool,
    /// How often the answer will change; unknown, or for a value that only grows up to 2^50, unless given
    #[arg(long)]
    pub changes: Option<u64>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn name(method: Method) -> &'static str {
    match method {
        Method::Keyed => "keyed",
        Method::Switching => "switching",
        Method::Flips => "flips",
        Method::Copies => "copies",
    }
}

pub(super) fn run(options: &ChooseOptions) -> Result<Exit, String> {
    let stream = Stream {
        question: match options.question.as_str() {
            "distinct" => Question::Distinct,
            "f2" => Question::SquaredCounts,
            _ => Question::Point,
        },
        alpha: ratio(options.alpha.as_deref(), "alpha", "0.2")?,
        beta: ratio(options.beta.as_deref(), "beta", "0.01")?,
        answers: declared(options.answers, 1000)?,
        insertions_only: options.insertions_only,
        changes: options.changes,
    };
    let choices = choices(&stream).map_err(text)?;
    if choices.is_empty() {
        return Err(
            "nothing is proved for so small an error and so many answers; allow a larger error".to_string()
        );
    }
    if options.json {
        let list = choices.iter().map(|choice| {
            json!({
                "method": name(choice.method), "copies": choice.copies, "bytes": choice.bytes(),
                "guarantee": "proved", "promise": choice.promise(),
            })
        });
        println!("{}", json!({ "choices": list.collect::<Vec<_>>() }));
        return Ok(Exit::Done);
    }
    for choice in &choices {
        let megabytes = choice.bytes() as f64 / 1e6;
        println!("{:<9} {megabytes:>10.1} MB  {choice}", name(choice.method));
    }
    Ok(Exit::Done)
}
