//! What a monitor's state file says, as text: lines that only grow, each with the hash of itself and all before it.
//!
//! A line is 64 hexadecimal digits, a space, JSON, and a line end. The first says whose monitor it is, the second what
//! paid for it; then come, in turn, a line of questions and a line of their answers. A line is written in one piece and
//! nothing is done on its strength before the disk has it, so only the last one can be torn, and then nothing hung on
//! it. Any other damage is refused, not repaired: what was answered must not be forgotten.

use super::query::Query;
use crate::{file_id::FileId, ledger::Receipt};
use equipoise_core::monitor::threshold_monitor::Answer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The layout of the file. The first version did not say which file it is.
const FIRST_VERSION: u64 = 1;
const VERSION: u64 = 2;
const NAME: &str = "equipoise monitor";

/// What came of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The noisy value is below the threshold.
    Below,
    /// It is not.
    Above,
    /// The program ended between question and answer. It counts as a positive answer against the budgets.
    Lost,
    /// The form halts at its first positive answer, and had one; the question was not looked at.
    Halted,
}

impl Outcome {
    /// What the budgets of those who contributed see of it.
    pub(super) fn spends_as(self) -> Answer {
        match self {
            Self::Below | Self::Halted => Answer::Below,
            Self::Above | Self::Lost => Answer::Above,
        }
    }
}

/// Whose monitor it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// An id of its own, under which the ledger was charged.
    pub id: String,
    /// The id of the ledger.
    pub ledger: String,
    /// The data set.
    pub data: String,
    /// What was said, in its one form.
    pub request: Value,
    /// Which file it was written to; nothing where an older version wrote it.
    pub file: Option<FileId>,
}

/// What paid for it, and for which rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// The receipt of the ledger.
    pub receipt: Receipt,
    /// A fingerprint of the rows under the ledger's secret, where they have content to take one of.
    pub content: Option<String>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// The first.
    Head(Head),
    /// The second.
    Payment(Payment),
    /// Questions whose coins are about to be drawn.
    Queries(Vec<Query>),
    /// The answers to the line before.
    Answers(Vec<Outcome>),
}

/// The hash of a line and of all before it.
pub type Hash = [u8; 32];

/// Before the first line.
pub const START: Hash = [0; 32];

impl Line {
    /// The line as it is written after what has this hash, and the hash with it.
    pub fn write(&self, before: &Hash) -> (String, Hash) {
        let text = self.to_json().to_string();
        let hash = hash(before, &text);
        (format!("{} {text}\n", hex(&hash)), hash)
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Head(head) => {
                let version = if head.file.is_some() { VERSION } else { FIRST_VERSION };
                let mut line = json!({
                    NAME: version, "id": head.id, "ledger": head.ledger, "data": head.data, "request": head.request,
                });
                if let Some(file) = head.file {
                    line["file"] = json!(file.to_string());
                }
                line
            }
            Self::Payment(payment) => json!({ "receipt": payment.receipt, "content": payment.content }),
            Self::Queries(queries) => {
                json!({ "queries": queries.iter().map(Query::to_json).collect::<Vec<_>>() })
            }
            Self::Answers(answers) => json!({ "answers": answers }),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let mut value: Value = serde_json::from_str(text).ok()?;
        if value.get(NAME).is_some() {
            return head(&value).map(Self::Head);
        }
        if let Some(Value::Array(queries)) = value.get("queries") {
            let read = |query: &Value| Query::parse(&query.to_string()).ok();
            return queries.iter().map(read).collect::<Option<_>>().map(Self::Queries);
        }
        if let Some(answers) = value.get_mut("answers") {
            return serde_json::from_value(answers.take()).ok().map(Self::Answers);
        }
        serde_json::from_value(value).ok().map(Self::Payment)
    }
}

fn head(value: &Value) -> Option<Head> {
    let word = |name: &str| value.get(name)?.as_str().map(str::to_string);
    let request = value.get("request")?.clone();
    let file = match value.get(NAME)?.as_u64()? {
        FIRST_VERSION => None,
        VERSION => Some(word("file")?.parse().ok()?),
        _ => return None,
    };
    Some(Head { id: word("id")?, ledger: word("ledger")?, data: word("data")?, request, file })
}

fn hash(before: &Hash, text: &str) -> Hash {
    let mut state = Sha256::new_with_prefix(before);
    state.update(text);
    state.finalize().into()
}

fn hex(hash: &Hash) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes it");
        text
    })
}

/// All that a file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// Whose it is.
    pub head: Head,
    /// What paid for it; nothing where the program ended before that was written.
    pub payment: Option<Payment>,
    /// Every question, in order, with its answer.
    pub answered: Vec<(Query, Outcome)>,
    /// Questions that were about to be answered when the program ended.
    pub open: Vec<Query>,
    /// The hash of the last whole line.
    pub hash: Hash,
    /// How many bytes are whole lines; what follows is torn.
    pub whole: usize,
}

/// Why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It is something else.
    NotAState,
    /// This line, counted from one, is not what was written.
    Line(usize),
}

impl Log {
    /// Read a file. `None` for one in which not even the first line is whole: nothing was paid or asked then.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Damage> {
        let mut log: Option<Self> = None;
        let (mut before, mut whole) = (START, 0);
        for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let number = index + 1;
            let last = whole + line.len() == bytes.len();
            let Some((read, hash)) = check(line, &before) else {
                let torn = last && (line.last() != Some(&b'\n') || line.contains(&0));
                return match log {
                    Some(log) if torn => Ok(Some(log)),
                    None if torn && begins_like_ours(line) => Ok(None),
                    Some(_) => Err(Damage::Line(number)),
                    None => {
                        Err(if begins_like_ours(line) { Damage::Line(number) } else { Damage::NotAState })
                    }
                };
            };
            whole += line.len();
            before = hash;
            log = Some(take(log, read).ok_or(Damage::Line(number))?);
            if let Some(log) = &mut log {
                (log.hash, log.whole) = (hash, whole);
            }
        }
        Ok(log)
    }
}

/// The line and its hash, where it is whole and follows what is before it.
fn check(line: &[u8], before: &Hash) -> Option<(Line, Hash)> {
    let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (digits, text) = text.split_once(' ')?;
    let hash = hash(before, text);
    if hex(&hash) != digits {
        return None;
    }
    Some((Line::read(text)?, hash))
}

/// Could it be the beginning of a first line? A file of somebody else's is never cut off.
fn begins_like_ours(line: &[u8]) -> bool {
    let (digits, rest) = line.split_at(line.len().min(64));
    let begin = format!(" {{\"{NAME}\":");
    let common = rest.len().min(begin.len());
    digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == 0)
        && rest[..common].iter().zip(begin.as_bytes()).all(|(byte, wanted)| byte == wanted || *byte == 0)
}

/// What the file says with one more line, if that is one that can follow.
fn take(log: Option<Log>, line: Line) -> Option<Log> {
    match (log, line) {
        (None, Line::Head(head)) => {
            Some(Log { head, payment: None, answered: Vec::new(), open: Vec::new(), hash: START, whole: 0 })
        }
        (Some(log @ Log { payment: None, .. }), Line::Payment(payment)) => {
            Some(Log { payment: Some(payment), ..log })
        }
        (Some(log @ Log { payment: Some(_), .. }), Line::Queries(open)) if log.open.is_empty() => {
            Some(Log { open, ..log })
        }
        (Some(mut log), Line::Answers(answers)) if log.open.len() == answers.len() => {
            log.answered.extend(log.open.drain(..).zip(answers));
            Some(log)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(threshold: u64) -> Query {
        Query::parse(&format!("{{\"where\": \"age > 40\", \"threshold\": {threshold}}}")).unwrap()
    }

    fn lines() -> Vec<Line> {
        let text = |text: &str| text.to_string();
        let receipt =
            Receipt { id: text("17"), hash: text("ab"), time: text("now"), ledger: Some(text("L")) };
        vec![
            Line::Head(Head {
                id: text("m"),
                ledger: text("L"),
                data: text("p.csv"),
                request: json!({"epsilon": "1"}),
                file: Some(FileId::from_words([1, 2, 3])),
            }),
            Line::Payment(Payment { receipt, content: None }),
            Line::Queries(vec![query(1), query(2)]),
            Line::Answers(vec![Outcome::Above, Outcome::Below]),
            Line::Queries(vec![query(3)]),
            Line::Answers(vec![Outcome::Lost]),
            Line::Queries(vec![query(4)]),
        ]
    }

    fn written(lines: &[Line]) -> Vec<String> {
        let mut hash = START;
        let write = |line: &Line| {
            let (text, next) = line.write(&hash);
            hash = next;
            text
        };
        lines.iter().map(write).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let file = written(&lines()).concat();
        let log = Log::read(file.as_bytes()).unwrap().unwrap();
        assert_eq!(
            log.answered,
            [(query(1), Outcome::Above), (query(2), Outcome::Below), (query(3), Outcome::Lost)]
        );
        assert_eq!((log.open, log.whole), (vec![query(4)], file.len()));
        assert_eq!(log.payment.unwrap().receipt.id, "17");
    }

    /// A version before this one wrote the first line without which file it is.
    #[test]
    fn the_first_layout_is_read_and_a_later_one_is_not() {
        let of = |text: &str| {
            let hash = hash(&START, text);
            Log::read(format!("{} {text}\n", hex(&hash)).as_bytes())
        };
        let old = r#"{"equipoise monitor":1,"id":"m","ledger":"L","data":"p.csv","request":{}}"#;
        assert_eq!(of(old).unwrap().unwrap().head.file, None);
        let new = old.replace(":1,", ":2,").replace("{}}", r#"{},"file":"7:8:9"}"#);
        assert_eq!(of(&new).unwrap().unwrap().head.file, Some(FileId::from_words([7, 8, 9])));
        let later = old.replace(":1,", ":3,");
        for bad in [&later, &old.replace(":1,", ":2,"), &new.replace("7:8:9", "7:8")] {
            assert_eq!(of(bad), Err(Damage::Line(1)), "{bad}");
        }
    }

    /// Whatever is cut off, what remains is what the whole lines say.
    #[test]
    fn a_torn_last_line_is_as_if_it_had_not_been_begun() {
        let parts = written(&lines());
        let file = parts.concat();
        let mut ends: Vec<usize> = vec![0];
        for part in &parts {
            ends.push(ends[ends.len() - 1] + part.len());
        }
        for cut in 0..=file.len() {
            let whole = *ends.iter().rfind(|&&end| end <= cut).unwrap();
            let log = Log::read(&file.as_bytes()[..cut]).unwrap();
            assert_eq!(log.map_or(0, |log| log.whole), whole, "cut at {cut}");
        }
        // A disk may have made the file longer before the bytes came.
        let mut zeros = file.clone().into_bytes();
        zeros.extend_from_slice(&[0; 300]);
        assert_eq!(Log::read(&zeros).unwrap().unwrap().whole, file.len());
    }

    #[test]
    fn a_changed_byte_is_damage_wherever_it_is() {
        let file = written(&lines()).concat().into_bytes();
        for at in 0..file.len() {
            let mut bad = file.clone();
            bad[at] = if bad[at] == b'7' { b'8' } else { b'7' };
            // The last line end alone looks like a torn line, whose question was never asked.
            if at + 1 == file.len() {
                continue;
            }
            assert!(Log::read(&bad).is_err(), "byte {at}");
        }
        for (drop, line) in [(1, 2), (2, 3), (3, 4)] {
            let mut parts = written(&lines());
            parts.remove(drop);
            assert_eq!(Log::read(parts.concat().as_bytes()), Err(Damage::Line(line)));
        }
        for other in ["age,town\n1,Ayr\n", "not ours", "\n", "{}"] {
            assert_eq!(Log::read(other.as_bytes()), Err(Damage::NotAState), "{other}");
        }
        assert_eq!(Log::read(b""), Ok(None));
    }

    #[test]
    fn lines_out_of_turn_are_damage() {
        let [head, payment, queries, answers, ..] = &lines()[..] else { unreachable!() };
        for (order, bad) in [
            (vec![payment], 1),
            (vec![head, queries], 2),
            (vec![head, head], 2),
            (vec![head, payment, payment], 3),
            (vec![head, payment, answers], 3),
            (vec![head, payment, queries, queries], 4),
            (vec![head, payment, queries, answers, answers], 5),
        ] {
            let order: Vec<Line> = order.into_iter().cloned().collect();
            assert_eq!(Log::read(written(&order).concat().as_bytes()), Err(Damage::Line(bad)), "{order:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Log::read(&bytes);
        }
    }
}
