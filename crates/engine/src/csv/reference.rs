//! The rules of CSV in the simplest words, one byte after another. Tests and fuzzing compare with it.

/// All records after the header: a null record is `None`, an empty field too. `width` is the number of fields that a
/// record must have, if it must.
pub fn records(
    mut body: &[u8],
    delimiter: u8,
    width: Option<usize>,
    longest_line: usize,
) -> Vec<Option<Vec<Option<String>>>> {
    let mut records = Vec::new();
    while !body.is_empty() {
        let end = body.iter().position(|&byte| byte == b'\n').unwrap_or(body.len());
        records.push(record(&body[..end], delimiter, width, longest_line));
        body = &body[body.len().min(end + 1)..];
    }
    records
}

fn record(
    line: &[u8],
    delimiter: u8,
    width: Option<usize>,
    longest_line: usize,
) -> Option<Vec<Option<String>>> {
    if line.len() > longest_line {
        return None;
    }
    let line = String::from_utf8(line.to_vec()).ok()?;
    let line = line.strip_suffix('\r').unwrap_or(&line);
    let fields = fields(line, char::from(delimiter))?;
    width.is_none_or(|width| width == fields.len()).then_some(fields)
}

fn fields(line: &str, delimiter: char) -> Option<Vec<Option<String>>> {
    #[derive(PartialEq)]
    enum State {
        Start,
        Plain,
        Quoted,
        AfterQuote,
    }
    let (mut fields, mut field, mut state) = (Vec::new(), String::new(), State::Start);
    for character in line.chars() {
        state = match (state, character) {
            (State::Start, '"') => State::Quoted,
            (State::Quoted, '"') => State::AfterQuote,
            (State::AfterQuote, '"') => {
                field.push('"');
                State::Quoted
            }
            (State::Plain, '"') => return None,
            (State::Quoted, other) => {
                field.push(other);
                State::Quoted
            }
            (_, other) if other == delimiter => {
                fields.push(std::mem::take(&mut field));
                State::Start
            }
            (State::AfterQuote, _) => return None,
            (State::Start | State::Plain, other) => {
                field.push(other);
                State::Plain
            }
        };
    }
    fields.push(field);
    let done = state != State::Quoted;
    done.then(|| fields.into_iter().map(|field| Some(field).filter(|field| !field.is_empty())).collect())
}
