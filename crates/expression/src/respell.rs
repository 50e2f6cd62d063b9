//! Other spellings of an expression that was not accepted: the same question as it is written here, never another one.
//!
//! Whoever offers one reads it again first: what is not accepted either is not offered.

use crate::{
    functions::Function,
    parse::is_reserved,
    program::reads_as_number,
    token::{Token, spans},
};

/// Names that a text may have meant: of these, the one that is at most so many slips away.
pub type Nearest<'a> = &'a dyn Fn(&str, &[&str], usize) -> Option<String>;

/// Signs of other languages, and what they are here. The longer ones come first.
const SIGNS: [(&str, &str); 15] = [
    ("!==", "<>"),
    ("===", "="),
    ("&&", " and "),
    ("=>", ">="),
    ("=<", "<="),
    ("≥", ">="),
    ("≤", "<="),
    ("≠", "<>"),
    ("&", " and "),
    ("“", "'"),
    ("”", "'"),
    ("‘", "'"),
    ("’", "'"),
    ("~", " not "),
    ("!", " not "),
];
/// Signs that stay as they are, though others begin as they do.
const KEPT: [&str; 4] = ["<=", ">=", "!=", "=="];
/// What stands before a constant.
const COMPARISONS: [&str; 6] = ["=", "<>", "<", ">", "<=", ">="];
/// A longer word that is one slip away is meant; a shorter one may be anything.
const LONG: usize = 4;

/// What a text was probably meant as, the likeliest first: signs of other languages, names that are no columns, texts without quotes and
/// numbers with them. `hint` is what the error says to write.
pub fn respelled(text: &str, hint: Option<&str>, columns: &[&str], nearest: Nearest<'_>) -> Vec<String> {
    let plain = with_signs(text, &[]);
    let named = with_names(&plain, columns, nearest);
    // One bar joins conditions elsewhere, and two texts here.
    let joined = with_names(&with_signs(text, &[("||", " or "), ("|", " or ")]), columns, nearest);
    let cast = hint.and_then(|hint| with_hint(&named, hint));
    let unquoted = without_quotes(&named);
    // A quote that is never closed ends with the text.
    let closed = spans(&plain).is_err().then(|| with_names(&format!("{plain}'"), columns, nearest));
    let null = with_null(&named);
    let mut all = Vec::new();
    for one in [Some(named), cast, Some(unquoted), Some(null), Some(joined), closed].into_iter().flatten() {
        let one = one.trim().to_string();
        if one != text.trim() && !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// The text with other signs for those of other languages, outside of quotes.
fn with_signs(text: &str, more: &[(&str, &str)]) -> String {
    let (mut made, mut rest) = (String::new(), text);
    let mut quote = None;
    while let Some(first) = rest.chars().next() {
        let kept = KEPT.iter().any(|sign| rest.starts_with(sign))
            && !SIGNS[..2].iter().any(|(sign, _)| rest.starts_with(sign));
        let longest = SIGNS.iter().chain(more).find(|(sign, _)| !kept && rest.starts_with(sign));
        let taken = match (quote, longest) {
            (Some(open), _) => {
                quote = (first != open).then_some(open);
                made.push(first);
                first.len_utf8()
            }
            (None, Some((sign, here))) => {
                // A word is apart from others by one space.
                let spaced = made.ends_with([' ', '(']) || made.is_empty();
                made.push_str(if spaced { here.trim_start() } else { here });
                let behind = &rest[sign.len()..];
                let spaces = if here.ends_with(' ') { behind.len() - behind.trim_start().len() } else { 0 };
                sign.len() + spaces
            }
            (None, None) if kept => {
                made.push_str(&rest[..2]);
                2
            }
            (None, None) => {
                quote = matches!(first, '\'' | '"' | '`').then_some(first);
                made.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    made
}

/// The text with columns and functions for names that are nearly theirs, and with quotes around words that stand where a constant does.
fn with_names(text: &str, columns: &[&str], nearest: Nearest<'_>) -> String {
    let Ok(tokens) = spans(text) else { return text.to_string() };
    let is_column = |name: &str| columns.contains(&name);
    // A word that names nothing.
    let unknown = |place: usize| match tokens.get(place) {
        Some((_, Token::Word(word))) => {
            (!is_reserved(word) && !is_truth(word) && !is_column(word)).then_some(word)
        }
        Some((_, Token::Quoted(word))) => (!is_column(word)).then_some(word),
        _ => None,
    };
    let sign = |place: usize| match tokens.get(place) {
        Some((_, Token::Sign(sign))) => *sign,
        Some((_, Token::Word(word))) if word.eq_ignore_ascii_case("in") => "in",
        Some((_, Token::Word(word))) if word.eq_ignore_ascii_case("as") => "as",
        _ => "",
    };
    let (mut made, mut copied, mut listed) = (String::new(), 0, false);
    let mut place = 0;
    while place < tokens.len() {
        let (range, _) = &tokens[place];
        let before = place.checked_sub(1).map_or("", sign);
        listed = match before {
            "(" if place > 1 && sign(place - 2) == "in" => true,
            ")" => false,
            _ => listed,
        };
        let (mut end, mut last) = (range.end, place);
        let here = match unknown(place) {
            None => None,
            Some(word) if sign(place + 1) == "(" => {
                let known = Function::named(word).is_some() || word.to_lowercase().ends_with("cast");
                let names = Function::names();
                if known { None } else { nearest(word, &names, 2) }
            }
            Some(_) if before == "as" => None,
            Some(word) => {
                let constant = COMPARISONS.contains(&before) || listed;
                let same = columns.iter().find(|column| column.eq_ignore_ascii_case(word));
                let near = if word.chars().count() >= LONG { nearest(word, columns, 1) } else { None };
                let near = same.map(ToString::to_string).or(near);
                if let (true, None) = (constant, &near) {
                    // Words that stand beside each other are one text.
                    while matches!(tokens.get(last + 1), Some((_, Token::Word(_))))
                        && unknown(last + 1).is_some()
                    {
                        last += 1;
                        end = tokens[last].0.end;
                    }
                    let constant =
                        if last == place { word.clone() } else { text[range.start..end].to_string() };
                    Some(format!("'{}'", constant.replace('\'', "''")))
                } else {
                    near.or_else(|| nearest(word, columns, 2)).map(|name| written(&name))
                }
            }
        };
        if let Some(here) = here {
            made.push_str(&text[copied..range.start]);
            made.push_str(&here);
            copied = end;
        }
        place = last + 1;
    }
    made.push_str(&text[copied..]);
    made
}

fn is_truth(word: &str) -> bool {
    ["true", "false"].iter().any(|truth| word.eq_ignore_ascii_case(truth))
}

/// A name as it is typed: between quotes where it is no word.
fn written(name: &str) -> String {
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !is_reserved(name);
    if is_word { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The text with numbers that stand in quotes without them.
fn without_quotes(text: &str) -> String {
    let Ok(tokens) = spans(text) else { return text.to_string() };
    let (mut made, mut copied) = (String::new(), 0);
    for (range, token) in tokens {
        if let Token::Text(number) = token
            && reads_as_number(&number)
        {
            made.push_str(&text[copied..range.start]);
            made.push_str(number.trim());
            copied = range.end;
        }
    }
    made.push_str(&text[copied..]);
    made
}

/// The text with `is null` for a comparison with null, which nothing passes.
fn with_null(text: &str) -> String {
    let Ok(tokens) = spans(text) else { return text.to_string() };
    let (mut made, mut copied) = (String::new(), 0);
    for pair in tokens.windows(2) {
        let [(sign_at, Token::Sign(sign)), (null_at, Token::Word(word))] = pair else { continue };
        let none = word.eq_ignore_ascii_case("null") || word == "None";
        let is = match *sign {
            "=" if none => "is null",
            "<>" | "!=" if none => "is not null",
            _ => continue,
        };
        made.push_str(text[copied..sign_at.start].trim_end());
        made.push(' ');
        made.push_str(is);
        copied = null_at.end;
    }
    made.push_str(&text[copied..]);
    made
}

/// The text with what an error says to write for a part of it: `write cast(x as float)`, `write if(x, 1, 0)`.
fn with_hint(text: &str, hint: &str) -> Option<String> {
    let write = hint.strip_prefix("write ")?.split(", or ").next()?;
    let inner = match write.strip_prefix("cast(") {
        Some(rest) => rest.rsplit_once(" as ")?.0,
        None => write.strip_prefix("if(")?.strip_suffix(", 1, 0)")?,
    };
    text.contains(inner).then(|| text.replacen(inner, write, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 6] = ["dep_delay", "arr_delay", "carrier", "year", "origin", "air time"];

    /// The nearest of names by letters that differ in place, which is enough here.
    fn near(typed: &str, names: &[&str], most: usize) -> Option<String> {
        let slips = |name: &str| {
            let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), name.chars().collect());
            let same = a.iter().filter(|letter| b.contains(letter)).count();
            a.len().max(b.len()) - same.min(a.len().min(b.len()))
        };
        names
            .iter()
            .filter(|name| slips(name) <= most)
            .min_by_key(|name| slips(name))
            .map(ToString::to_string)
    }

    fn first(text: &str) -> String {
        respelled(text, None, &COLUMNS, &near).into_iter().next().unwrap_or_default()
    }

    #[test]
    fn names_are_those_of_columns_and_words_are_texts() {
        for (typed, meant) in [
            ("dep_dely > 60", "dep_delay > 60"),
            ("Carrier = 'UA'", "carrier = 'UA'"),
            ("carrier = UA", "carrier = 'UA'"),
            // Two slips from `year`, and no column is meant.
            ("origin = EWR", "origin = 'EWR'"),
            ("carrier = \"UA\"", "carrier = 'UA'"),
            ("origin = New York and year = 2013", "origin = 'New York' and year = 2013"),
            ("carrier in (UA, AA) and dep_delay > 5", "carrier in ('UA', 'AA') and dep_delay > 5"),
            ("lowr(carrier) = 'ua'", "lower(carrier) = 'ua'"),
            ("air_time > 5", "\"air time\" > 5"),
            ("carrier = D'Arc", "carrier = 'D''Arc'"),
        ] {
            assert_eq!(first(typed), meant, "{typed}");
        }
    }

    #[test]
    fn signs_of_other_languages_are_those_of_here() {
        for (typed, meant) in [
            ("dep_delay => 60", "dep_delay >= 60"),
            ("dep_delay ≥ 60 && carrier == 'UA'", "dep_delay >= 60 and carrier == 'UA'"),
            ("(dep_delay > 60) & (carrier = 'A & B')", "(dep_delay > 60) and (carrier = 'A & B')"),
            ("carrier = ‘UA’", "carrier = 'UA'"),
            ("!(dep_delay > 6)", "not (dep_delay > 6)"),
            ("carrier != 'UA' and dep_dely <= 6", "carrier != 'UA' and dep_delay <= 6"),
        ] {
            assert_eq!(first(typed), meant, "{typed}");
        }
        let among = |text: &str, meant: &str| {
            assert!(respelled(text, None, &COLUMNS, &near).iter().any(|one| one == meant), "{text}");
        };
        among("dep_delay > 60 || arr_delay > 60", "dep_delay > 60 or arr_delay > 60");
        among("dep_delay > '60'", "dep_delay > 60");
        among("carrier = 'UA", "carrier = 'UA'");
        among("carrier = null", "carrier is null");
        among("carrier != None", "carrier is not null");
        let cast = respelled(
            "carrier * 2 > 5",
            Some("write cast(carrier as float), or || to join texts"),
            &COLUMNS,
            &near,
        );
        assert_eq!(cast, ["cast(carrier as float) * 2 > 5"]);
    }

    /// Whatever is typed, it ends, and what comes out is no longer than a few times what went in.
    #[test]
    fn odd_texts_are_respelled_without_a_panic() {
        for text in [
            "",
            "'",
            "\"",
            "&&&&",
            "!!!",
            "((((",
            "= = =",
            "é ≥ ≥",
            "in (",
            "cast(",
            "a as b",
            "x = = y z",
            "💥 > 1",
        ] {
            for one in respelled(text, Some("write "), &COLUMNS, &near) {
                assert!(one.len() <= 8 * text.len() + 16, "{text}: {one}");
            }
        }
    }
}
