//! Texts made of texts, never longer than what they are made of.

use super::LONGEST_TEXT;
use super::vector::{Texts, Wholes, kept};
use std::borrow::Cow;

/// Characters from a place on, at most so many.
pub(super) fn substr<'a>(texts: Texts<'a>, from: &Wholes, many: Option<&Wholes>) -> Texts<'a> {
    // The same places for all records: each text of a list is looked at once.
    if let (Texts::Coded { .. }, Some(from), Some(many)) =
        (&texts, same(from), many.map_or(Some(None), |many| same(many).map(Some)))
    {
        return texts.map(|text| Some(part(text, from, many)));
    }
    let plain = texts.into_plain().into_iter().enumerate().map(|(row, text)| {
        let many = match many {
            Some(many) => Some(many.get(row)?),
            None => None,
        };
        kept(part(text?, from.get(row)?, many))
    });
    Texts::Plain(plain.collect())
}

/// The number that all records have.
fn same(wholes: &Wholes) -> Option<i64> {
    let first = wholes.get(0)?;
    let all = wholes.present.count() == wholes.values.len() as u64;
    (all && wholes.values.iter().all(|&value| value == first)).then_some(first)
}

/// Characters are counted from one on; a negative place counts from the end. Places before the first are there to be counted, and empty.
fn part(text: Cow<'_, str>, from: i64, many: Option<i64>) -> Cow<'_, str> {
    let first = match from {
        0.. => from - 1,
        _ => i64::try_from(text.chars().count()).unwrap_or(i64::MAX).saturating_add(from),
    };
    let place = |characters: i64| {
        let characters = usize::try_from(characters).unwrap_or(0);
        text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
    };
    let start = place(first);
    let end = many.map_or(text.len(), |many| place(first.saturating_add(many.max(0))));
    let found = start..end.max(start);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[found]),
        Cow::Owned(text) => Cow::Owned(text[found].to_string()),
    }
}

/// One text after another.
pub(super) fn concat<'a>(parts: &[Texts<'a>], skip_nulls: bool, rows: usize) -> Texts<'a> {
    let joined = |row: usize| {
        let texts: Vec<Option<&str>> = parts.iter().map(|part| part.get(row)).collect();
        if !skip_nulls && texts.iter().any(Option::is_none) {
            return None;
        }
        let length: usize = texts.iter().flatten().map(|text| text.len()).sum();
        if length > LONGEST_TEXT {
            return None;
        }
        kept(Cow::Owned(texts.into_iter().flatten().collect()))
    };
    Texts::Plain((0..rows).map(joined).collect())
}

/// Does a text fit a pattern? `%` stands for any characters, `_` for one. Where a `%` could stand for more, only the last one is
/// tried again, so that a long text costs its length times that of the pattern at most.
pub(super) fn like(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let (mut at, mut next) = (0, 0);
    // Behind the last `%`, and where its characters end so far.
    let mut again: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(next) {
            Some(b'%') => {
                next += 1;
                again = Some((next, at));
            }
            Some(b'_') => {
                at += width(text[at]);
                next += 1;
            }
            Some(&byte) if byte == text[at] => {
                at += 1;
                next += 1;
            }
            _ => match &mut again {
                Some((behind, end)) => {
                    *end += width(text[*end]);
                    at = *end;
                    next = *behind;
                }
                None => return false,
            },
        }
    }
    pattern[next..].iter().all(|&byte| byte == b'%')
}

/// How many bytes the character has that begins with this one.
fn width(byte: u8) -> usize {
    match byte {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}
