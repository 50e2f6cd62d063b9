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
    io::{self, BufRead, BufReader, Read, Write},
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

    /// A change, as a line says it.
    type Update;

    /// Read one.
    fn read(&self, words: &Words<'_>) -> Result<Self::Update, String>;

    /// Follow changes in this order. Stops at the first that is refused, which changes nothing, and says how many were followed.
    fn update_all(&mut self, updates: &[Self::Update]) -> Result<(), (usize, String)>;

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
                    update => {
                        let update = follower.read(update)?;
                        follower.update_all(&[update]).map_err(|(_, error)| error)?;
                    }
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

/// So many changes are followed at once at most: copies are gone through one after the other, each for all of them.
const AT_ONCE: usize = 4096;
/// The question that `--side` makes of a question mark.
const SIDE: &Words<'_> = &[b"side"];
/// What is read of the input at once.
const READ: usize = 1 << 16;

/// Changes that were read and are not followed yet, each with the number and the words of its line.
struct Waiting<F: Follower> {
    updates: Vec<F::Update>,
    lines: Vec<(usize, Vec<u8>)>,
    exit: Exit,
}

impl<F: Follower> Waiting<F> {
    /// Follow them, and write down what was followed. A refused one is named and left out.
    fn follow(&mut self, follower: &mut F, mut file: Option<&mut StateFile>) -> Result<(), String> {
        let mut from = 0;
        while from < self.updates.len() {
            let refused = follower.update_all(&self.updates[from..]).err();
            let followed = refused.as_ref().map_or(self.updates.len() - from, |(followed, _)| *followed);
            if let Some(file) = file.as_deref_mut() {
                let lines = self.lines[from..from + followed].iter().map(|(_, line)| line.as_slice());
                file.log(lines, || follower.to_bytes())?;
            }
            from += followed;
            if let Some((_, error)) = refused {
                self.leave_out(self.lines[from].0, &error);
                from += 1;
            }
        }
        self.updates.clear();
        self.lines.clear();
        Ok(())
    }

    fn leave_out(&mut self, line: usize, error: &str) {
        eprintln!("equipoise: line {line}: {error}");
        self.exit = Exit::Usage;
    }
}

/// Every line in turn. A bad one is named and left out, and the rest goes on; the exit code tells.
fn each_line<F: Follower>(
    stream: &Stream,
    follower: &mut F,
    mut file: Option<&mut StateFile>,
    coins: &mut OsCoins,
) -> Result<Exit, String> {
    let input: Box<dyn Read> = match &stream.file {
        None => Box::new(io::stdin()),
        Some(path) => {
            Box::new(File::open(path).map_err(|error| format!("cannot open '{}': {error}", path.display()))?)
        }
    };
    let mut input = BufReader::with_capacity(READ, input);
    let mut out = io::stdout().lock();
    let mut waiting = Waiting::<F> { updates: Vec::new(), lines: Vec::new(), exit: Exit::Done };
    let mut line = Vec::new();
    for number in 1.. {
        // Whoever writes line by line finds each of them followed and written down before the next is waited for.
        if waiting.updates.len() >= AT_ONCE || !input.buffer().contains(&b'\n') {
            waiting.follow(follower, file.as_deref_mut())?;
        }
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| format!("cannot read on after line {}: {error}", number - 1))? == 0 {
            break;
        }
        let words = words(&line);
        let question: &Words<'_> = match words.as_slice() {
            [] | [b"#", ..] => continue,
            [b"?"] if stream.side => SIDE,
            [b"?", question @ ..] => question,
            update => {
                match follower.read(update) {
                    Ok(update) => {
                        waiting.updates.push(update);
                        waiting.lines.push((number, words.join(&b' ')));
                    }
                    Err(error) => {
                        // Lines are named in their order.
                        waiting.follow(follower, file.as_deref_mut())?;
                        waiting.leave_out(number, &error);
                    }
                }
                continue;
            }
        };
        waiting.follow(follower, file.as_deref_mut())?;
        let mut answer = match follower.ask(question, coins) {
            Ok(answer) => answer,
            Err(error) => {
                waiting.leave_out(number, &error);
                continue;
            }
        };
        if let Some(file) = &mut file {
            file.log([words.join(&b' ').as_slice()], || follower.to_bytes())?;
            file.sync()?;
            if file.copied {
                answer.json["guarantee"] = COPIED.into();
            }
        }
        let shown = if stream.json { answer.json.to_string() } else { answer.text };
        let shown = wording::seen_in_json(&shown);
        // Whoever reads may react to each answer: it goes out at once.
        if writeln!(out, "{shown}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    Ok(waiting.exit)
}
