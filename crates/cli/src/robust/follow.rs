//! A stream of lines: updates are followed, questions answered at once, bad lines named and left out.

use super::{
    Stream,
    settled::{self, Settled},
    state_file::StateFile,
};
use crate::Exit;
use equipoise_core::wording;
use equipoise_entropy::OsCoins;
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
};

/// The words of a line. Items are any bytes without white space.
pub(super) type Words<'a> = [&'a [u8]];

/// What follows lines.
pub(super) trait Follower: Sized {
    /// Go on from a stored state.
    fn from_bytes(bytes: &[u8], coins: &mut OsCoins) -> Result<Self, equipoise_robust::state::Damaged>;

    /// The state as bytes.
    fn to_bytes(&self) -> Vec<u8>;

    /// Do all answers stay right however often one state goes on?
    fn goes_on_often(&self) -> bool;

    /// Follow one update. A refused one changes nothing.
    fn update(&mut self, words: &Words<'_>) -> Result<(), String>;

    /// Answer a question; the words behind the question mark.
    fn ask(&mut self, words: &Words<'_>, coins: &mut OsCoins) -> Result<Answer, String>;

    /// Count a question that was answered before.
    fn count_answer(&mut self);

    /// Say on standard error what begins, with this guarantee in the place of its own.
    fn announce(&self, guarantee: Option<&str>);
}

/// An answer, as text and as JSON.
pub(super) struct Answer {
    pub text: String,
    pub json: serde_json::Value,
}

fn words(line: &[u8]) -> Vec<&[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect()
}

/// What stands behind answers from a state that was copied.
const COPIED: &str = "heuristic";

/// Begin anew, or go on from the state file, and follow all lines.
pub(super) fn follow<F: Follower>(
    stream: &Stream,
    typed: &[Settled],
    begin: impl FnOnce(&mut OsCoins) -> Result<F, String>,
) -> Result<Exit, String> {
    let mut coins = OsCoins::new().map_err(|error| error.to_string())?;
    let Some(path) = &stream.state else {
        let mut follower = begin(&mut coins)?;
        follower.announce(None);
        return each_line(stream, &mut follower, None, &mut coins);
    };
    let (mut file, saved) = StateFile::open(path)?;
    let name = wording::visible(&path.to_string_lossy()).into_owned();
    let mut follower = match saved {
        None => {
            file.settled = Some(typed.iter().map(Settled::kept).collect());
            begin(&mut coins)?
        }
        Some(saved) => {
            settled::same(typed, file.settled.as_deref(), &name)?;
            let mut follower = F::from_bytes(&saved.state, &mut coins)
                .map_err(|error| format!("state '{name}': {error}"))?;
            if follower.goes_on_often() {
                file.copied = false;
            } else if saved.is_new_copy && !stream.copied {
                return Err(format!(
                    "the state '{name}' was copied or brought back: its coins may answer elsewhere too, which nothing covers; \
                     say --copied to go on without a guarantee, or begin anew"
                ));
            }
            for line in &saved.lines {
                match words(line).as_slice() {
                    [b"?", ..] => follower.count_answer(),
                    update => follower.update(update)?,
                }
            }
            follower
        }
    };
    file.replace(&follower.to_bytes())?;
    follower.announce(file.copied.then_some(COPIED));
    let exit = each_line(stream, &mut follower, Some(&mut file), &mut coins);
    // What was followed stays, also if reading on failed.
    file.replace(&follower.to_bytes())?;
    exit
}

/// Every line in turn. A bad one is named and left out, and the rest goes on; the exit code tells.
fn each_line<F: Follower>(
    stream: &Stream,
    follower: &mut F,
    mut file: Option<&mut StateFile>,
    coins: &mut OsCoins,
) -> Result<Exit, String> {
    let input: Box<dyn BufRead> = match &stream.file {
        None => Box::new(io::stdin().lock()),
        Some(path) => {
            let file =
                File::open(path).map_err(|error| format!("cannot open '{}': {error}", path.display()))?;
            Box::new(BufReader::new(file))
        }
    };
    let mut out = io::stdout().lock();
    let mut exit = Exit::Done;
    for (index, line) in input.split(b'\n').enumerate() {
        let line = line.map_err(|error| format!("cannot read on after line {index}: {error}"))?;
        let words = words(&line);
        let said = match words.as_slice() {
            [] | [b"#", ..] => continue,
            [b"?"] if stream.side => follower.ask(&[b"side"], coins).map(Some),
            [b"?", question @ ..] => follower.ask(question, coins).map(Some),
            update => follower.update(update).map(|()| None),
        };
        match said {
            Ok(answer) => {
                if let Some(file) = &mut file {
                    file.log(&words.join(&b' '), || follower.to_bytes())?;
                }
                let Some(mut answer) = answer else { continue };
                if let Some(file) = &mut file {
                    file.sync()?;
                    if file.copied {
                        answer.json["guarantee"] = COPIED.into();
                    }
                }
                let line = if stream.json { answer.json.to_string() } else { answer.text };
                let line = wording::seen_in_json(&line);
                // Whoever reads may react to each answer: it goes out at once.
                if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                    return Ok(exit);
                }
            }
            Err(error) => {
                eprintln!("equipoise: line {}: {error}", index + 1);
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}
