//! What was typed, made fit for one line of an error message, and options named as each surface names them.

mod surface;

pub use surface::{Form, OPTIONS, OptionName, Surface, on, option_with, options_in, unmarked, with_hint};

use std::{borrow::Cow, fmt::Write, ops::RangeInclusive};

/// Characters that nobody sees, or that change how those around them are shown, by the Unicode properties
/// `Default_Ignorable_Code_Point` and `Bidi_Control`, with the separators of lines and the marks of annotations.
const UNSEEN: [RangeInclusive<char>; 20] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d159}'..='\u{1d159}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Does it command a terminal, turn a line around, or stand there without being seen?
pub fn is_unseen(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control() || UNSEEN.iter().any(|range| range.contains(&c))
}

/// A text of somebody else's, every character that nobody would see written as its number: `a\u{202e}b`.
pub fn visible(text: &str) -> Cow<'_, str> {
    rewritten(text, is_unseen, |c, shown| {
        write!(shown, "\\u{{{:x}}}", u32::from(c)).expect("memory");
    })
}

/// The same for a name of any length in a text of ours: nor is a backtick in it taken for the mark of an option (see [`on`]).
pub fn visible_name(text: &str) -> String {
    visible(text).replace('`', MARK_SHOWN)
}

/// A document of JSON, or lines of ours, for a terminal: what nobody would see is written as JSON does, so that a document
/// says the same. Line ends and tabs stay.
pub fn seen_in_json(text: &str) -> Cow<'_, str> {
    let unseen = |c: char| is_unseen(c) && !matches!(c, '\n' | '\t');
    rewritten(text, unseen, |c, shown| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(shown, "\\u{unit:04x}").expect("memory");
        }
    })
}

fn rewritten(text: &str, unseen: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(&unseen) else { return Cow::Borrowed(text) };
    let mut shown = text[..first].to_string();
    for c in text[first..].chars() {
        if unseen(c) { write(c, &mut shown) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// A backtick as [`shown`] writes it.
const MARK_SHOWN: &str = r"\u{60}";

/// The first characters of a text, without any that could break the line, command a terminal or stay unseen, or that would be
/// taken for the mark of an option (see [`on`]).
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let (mut short, mut length, mut cut) = (String::new(), 0, 0);
    let mut buffer = [0; 4];
    for c in text.chars() {
        let piece = match c {
            '`' => MARK_SHOWN.to_string(),
            c => visible(c.encode_utf8(&mut buffer)).into_owned(),
        };
        length += piece.chars().count();
        if length > LONGEST {
            short.truncate(cut);
            return short + "...";
        }
        short.push_str(&piece);
        if length <= LONGEST - 3 {
            cut = short.len();
        }
    }
    short
}

/// A text of ours, as one line without characters that command a terminal or stay unseen.
pub fn line(text: &str) -> String {
    visible(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// "; did you mean '…'?" where one of the names is at most two slips away, however it is capitalised, else "."
pub fn nearest<N: AsRef<str>>(typed: &str, names: &[N]) -> String {
    match nearest_of(typed, names) {
        Some(name) => format!("; did you mean '{}'?", shown(name)),
        None => ".".to_string(),
    }
}

/// The one of the names that is at most two slips away, however it is capitalised.
pub fn nearest_of<'a, N: AsRef<str>>(typed: &str, names: &'a [N]) -> Option<&'a str> {
    nearest_within(typed, names, 2)
}

/// The one of the names that is at most so many slips away, however it is capitalised.
pub fn nearest_within<'a, N: AsRef<str>>(typed: &str, names: &'a [N], most: usize) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let slips = |name: &&str| edit_distance(&typed, &name.to_lowercase());
    let nearest = names.iter().map(AsRef::as_ref).min_by_key(slips)?;
    // Not a name that shares nothing with a short word.
    (slips(&nearest) <= most.min(typed.chars().count().saturating_sub(1))).then_some(nearest)
}

/// A problem that ends where [`nearest`] found nothing, and what was probably meant, with a space behind it, where it did.
pub fn and_nearest(problem: &str, nearest: &str) -> (String, String) {
    match nearest.strip_prefix("; ") {
        Some(meant) => (problem.to_string(), format!("{meant} ")),
        None => (format!("{problem}{nearest}"), String::new()),
    }
}

/// Insertions, deletions and substitutions of characters; names differ early or not at all.
fn edit_distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 60;
    let b: Vec<char> = b.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(LONGEST).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_length_are_tamed() {
        assert_eq!(shown("0.5"), "0.5");
        assert_eq!(shown("a\nb\u{1b}[31m"), r"a\u{a}b\u{1b}[31m");
        assert_eq!(line("a\nb\u{1b}c"), r"a b\u{1b}c");
        assert_eq!(shown(&"9".repeat(41)), format!("{}...", "9".repeat(37)));
        assert_eq!(shown(&"9".repeat(40)).len(), 40);
    }

    /// Right-to-left marks, zero widths, tags and their kin, and what is plainly seen in many scripts.
    #[test]
    fn what_nobody_sees_is_written_out_and_what_is_seen_stays() {
        for unseen in [
            '\u{ad}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{206f}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{fffb}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e01ef}',
            '\u{85}',
            '\u{7f}',
            '\0',
        ] {
            let text = format!("a{unseen}b");
            let number = u32::from(unseen);
            assert_eq!(visible(&text), format!("a\\u{{{number:x}}}b"));
            assert!(!shown(&text).contains(unseen) && !line(&text).contains(unseen), "{number:x}");
        }
        for seen in ["name", "naïve café", "имя", "名前", "اسم", "שם", "नाम", "한글", "🙂", "\u{fffd}", "a b"]
        {
            assert_eq!((visible(seen), shown(seen)), (seen.into(), seen.to_string()));
        }
        let long = shown(&"\u{202e}".repeat(50));
        assert_eq!(long, r"\u{202e}\u{202e}\u{202e}\u{202e}...", "no number is cut in two");
    }

    #[test]
    fn a_document_says_the_same_with_what_nobody_sees_written_out() {
        let text = "{\n\t\"k\": \"a\u{202e}\u{e0041}b\"\n}";
        assert_eq!(seen_in_json(text), "{\n\t\"k\": \"a\\u202e\\udb40\\udc41b\"\n}");
        assert!(matches!(seen_in_json("plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_nearest_name_is_at_most_two_slips_away() {
        let names = ["salary", "city", "x"];
        let table = [
            ("salary", Some("salary")),
            ("slary", Some("salary")),
            ("SALARY", Some("salary")),
            ("celery", None),
            ("ciyt", Some("city")),
            ("", None),
            ("y", None),
            ("xy", Some("x")),
        ];
        for (typed, name) in table {
            let hint = name.map_or(".".to_string(), |name| format!("; did you mean '{name}'?"));
            assert_eq!(nearest(typed, &names), hint, "{typed}");
        }
        assert_eq!(nearest::<&str>("salary", &[]), ".");
    }
}
