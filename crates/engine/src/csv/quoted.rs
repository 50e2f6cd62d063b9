//! Lines with quotes.
//!
//! Quotes stand around a whole field, and inside it a doubled quote is one quote. A quote anywhere else makes the
//! line malformed, so that the rest of a field that was meant to run over several lines is not taken for a
//! record of its own.

use memchr::memchr;

/// One field: where its text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// In the line, at this place.
    Plain { begin: usize, end: usize },
    /// In the buffer of unescaped text, at this place.
    Unescaped { begin: usize, end: usize },
}

/// Split a line without its line end. `offset` is added to places in the line. False if the line is malformed; then
/// some of its fields may have been pushed.
pub fn split(
    line: &[u8],
    offset: usize,
    delimiter: u8,
    fields: &mut Vec<Field>,
    unescaped: &mut Vec<u8>,
) -> bool {
    let mut begin = 0;
    loop {
        let end = if line.get(begin) == Some(&b'"') {
            let Some((field, end)) = quoted_field(line, begin, offset, unescaped) else { return false };
            fields.push(field);
            end
        } else {
            let end = memchr(delimiter, &line[begin..]).map_or(line.len(), |at| begin + at);
            if memchr(b'"', &line[begin..end]).is_some() {
                return false;
            }
            fields.push(Field::Plain { begin: offset + begin, end: offset + end });
            end
        };
        match line.get(end) {
            None => return true,
            Some(&byte) if byte == delimiter => begin = end + 1,
            Some(_) => return false,
        }
    }
}

/// The field whose opening quote is at `begin`, and the place after its closing quote.
fn quoted_field(line: &[u8], begin: usize, offset: usize, unescaped: &mut Vec<u8>) -> Option<(Field, usize)> {
    let text = begin + 1;
    let first = text + memchr(b'"', &line[text..])?;
    if line.get(first + 1) != Some(&b'"') {
        return Some((Field::Plain { begin: offset + text, end: offset + first }, first + 1));
    }
    let start = unescaped.len();
    let (mut from, mut quote) = (text, first);
    while line.get(quote + 1) == Some(&b'"') {
        unescaped.extend_from_slice(&line[from..=quote]);
        from = quote + 2;
        quote = from + memchr(b'"', &line[from..])?;
    }
    unescaped.extend_from_slice(&line[from..quote]);
    Some((Field::Unescaped { begin: start, end: unescaped.len() }, quote + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Option<Vec<String>> {
        let (mut fields, mut unescaped) = (Vec::new(), b"earlier".to_vec());
        split(line.as_bytes(), 0, b',', &mut fields, &mut unescaped).then(|| {
            let text = |field: &Field| match *field {
                Field::Plain { begin, end } => line[begin..end].to_string(),
                Field::Unescaped { begin, end } => {
                    String::from_utf8(unescaped[begin..end].to_vec()).expect("text")
                }
            };
            fields.iter().map(text).collect()
        })
    }

    #[test]
    fn lines_by_hand() {
        // Written with ' for ", which reads better.
        let table: [(&str, Option<&[&str]>); 19] = [
            ("", Some(&[""])),
            ("a", Some(&["a"])),
            (",", Some(&["", ""])),
            ("'a'", Some(&["a"])),
            ("'a,b',c", Some(&["a,b", "c"])),
            ("''", Some(&[""])),
            ("'',''", Some(&["", ""])),
            ("''''", Some(&["'"])),
            ("'''',',',x", Some(&["'", ",", "x"])),
            ("'a''b''c',d", Some(&["a'b'c", "d"])),
            ("'',,'''''x'", Some(&["", "", "''x"])),
            ("'''", None),
            ("'a", None),
            ("a'", None),
            ("a'b", None),
            ("'a'b", None),
            ("'a' ,b", None),
            (" 'a',b", None),
            ("x,'", None),
        ];
        for (line, fields) in table {
            let quotes = |text: &&str| text.replace('\'', "\"");
            let fields = fields.map(|fields| fields.iter().map(quotes).collect::<Vec<_>>());
            assert_eq!(texts(&quotes(&line)), fields, "{line}");
        }
    }
}
