//! A file with all its changes written into it, each behind a question that is answered when a program starts.

use crate::points::{Form, Point};
use std::ops::Range;

/// What a file became, and where each change stands in it.
pub struct Rewritten {
    pub text: String,
    /// The changed words, by number.
    pub changed: Vec<(usize, Range<usize>)>,
    /// Everything that was written for a place, by the numbers that stand there.
    pub places: Vec<(Vec<usize>, Range<usize>)>,
}

/// All changes of one place of the file.
struct Place<'a> {
    range: Range<usize>,
    form: Form,
    changes: Vec<(usize, &'a Point)>,
}

/// `points` with their numbers; those of equal places come out as one question after another.
pub fn rewrite(text: &str, points: &[(usize, &Point)]) -> Rewritten {
    let mut places: Vec<Place> = Vec::new();
    let mut sorted = points.to_vec();
    sorted.sort_by_key(|(number, point)| {
        (point.range.start, usize::MAX - point.range.end, point.form != Form::Statement, *number)
    });
    for (number, point) in sorted {
        match places.last_mut() {
            Some(last) if last.range == point.range && last.form == point.form => {
                last.changes.push((number, point))
            }
            _ => places.push(Place {
                range: point.range.clone(),
                form: point.form,
                changes: vec![(number, point)],
            }),
        }
    }
    let mut written =
        Rewritten { text: String::with_capacity(text.len() * 3), changed: Vec::new(), places: Vec::new() };
    let mut rest = &places[..];
    let mut at = 0;
    while let Some(place) = rest.first() {
        written.text.push_str(&text[at..place.range.start]);
        at = place.range.end;
        rest = emit(text, rest, &mut written);
    }
    written.text.push_str(&text[at..]);
    written
}

/// Writes the first place with all that lies within it, and returns the places after it.
fn emit<'a, 'b>(text: &str, places: &'b [Place<'a>], written: &mut Rewritten) -> &'b [Place<'a>] {
    let (place, mut rest) = places.split_first().expect("somebody asked for a place");
    let from = written.text.len();
    written.text.push_str(match place.form {
        Form::Expression => "(",
        Form::Statement | Form::Body => " ",
    });
    for (number, point) in &place.changes {
        written.text.push_str(&format!("if ::equipoise_mutant::on({number}) {{ "));
        let start = written.text.len();
        written.text.push_str(&point.changed);
        written.changed.push((*number, start..written.text.len()));
        written.text.push_str(if place.form == Form::Body { " } " } else { " } else " });
    }
    if place.form != Form::Body {
        written.text.push_str("{ ");
        let mut at = place.range.start;
        while let Some(next) = rest.first().filter(|next| next.range.start < place.range.end) {
            written.text.push_str(&text[at..next.range.start]);
            at = next.range.end;
            rest = emit(text, rest, written);
        }
        written.text.push_str(&text[at..place.range.end]);
        written.text.push_str(match place.form {
            Form::Expression => " })",
            _ => " }",
        });
    }
    let numbers = place.changes.iter().map(|(number, _)| *number).collect();
    written.places.push((numbers, from..written.text.len()));
    rest
}
