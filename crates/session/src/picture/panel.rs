//! Lines that share an axis, and how they are drawn: bars for amounts, dots for values, boxes for where many answers lie.

use super::{
    axis::Axis,
    svg::{Anchor, Class, Svg, WIDTH, shortened, wrapped},
};

/// Where names end and the axis begins.
const NAMES: f64 = 20.0;
const LEFT: f64 = 264.0;
const RIGHT: f64 = WIDTH - 36.0;
/// How high one line is, and what stands around all lines.
const LINE: f64 = 34.0;
const CAPTION: f64 = 24.0;
const TICKS: f64 = 26.0;
const WORDS: f64 = 16.0;
/// So many letters fit: of a name, of what stands below it, of words below the axis.
const LONGEST_NAME: usize = 34;
const LONGEST_NOTE: usize = 40;
const LONGEST_WORDS: usize = 116;

/// How the lines of a panel are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Amounts: bars from zero, with the ends of their errors.
    Bars,
    /// Values: dots, with the ends of their errors.
    Dots,
    /// Where nine answers of ten lie: boxes, with a dot in the middle.
    Boxes,
}

/// A number and the ends of its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// The number, where there is one.
    pub value: Option<f64>,
    /// Both ends, where they are known.
    pub ends: Option<[f64; 2]>,
}

/// One answer: its name, what it says in words, and its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// What it says, in words.
    pub note: String,
    /// Its numbers; a list has several.
    pub marks: Vec<Mark>,
    /// What is true, where that is known.
    pub truth: Option<f64>,
    /// Was there no answer?
    pub refused: bool,
}

/// Lines that share an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What stands above them; nothing where the title says it.
    pub caption: String,
    /// How they are drawn.
    pub style: Style,
    /// What their numbers are, where they are no plain ones.
    pub value_type: Option<String>,
    /// The answers.
    pub lines: Vec<Line>,
    /// What is true of all of them, below the axis.
    pub words: Vec<String>,
}

impl Panel {
    /// Draw it below this place; gives where it ends.
    pub fn draw(&self, svg: &mut Svg, top: f64) -> f64 {
        let mut y = top;
        if !self.caption.is_empty() {
            svg.text(Class::Ink, 14, (NAMES, y + 14.0), Anchor::Start, &shortened(&self.caption, 90));
            svg.say(&self.caption);
            y += CAPTION;
        }
        let values = self.lines.iter().flat_map(|line| {
            let marks = line
                .marks
                .iter()
                .flat_map(|mark| mark.value.into_iter().chain(mark.ends.into_iter().flatten()));
            marks.chain(line.truth)
        });
        let axis = Axis::around(values, self.style == Style::Bars, self.value_type.as_deref(), (LEFT, RIGHT));
        let bottom = y + LINE * self.lines.len() as f64;
        if let Some(axis) = &axis {
            for (value, label) in axis.ticks() {
                let x = axis.place(value);
                svg.line(Class::Grid, (x, y), (x, bottom + 4.0));
                svg.text(Class::Grey, 11, (x, bottom + 18.0), Anchor::Middle, &label);
            }
        }
        for (place, line) in self.lines.iter().enumerate() {
            let middle = y + LINE * (place as f64 + 0.5);
            let said = format!("{}: {}", line.name, line.note);
            svg.saying(&said, |svg| self.line(svg, line, axis.as_ref(), middle));
        }
        y = bottom;
        if axis.is_some() {
            svg.line(Class::Axis, (LEFT, bottom + 4.0), (RIGHT, bottom + 4.0));
            y += TICKS;
        }
        for words in &self.words {
            svg.say(words);
            for part in wrapped(words, LONGEST_WORDS) {
                svg.text(Class::Grey, 11, (NAMES, y + 12.0), Anchor::Start, &part);
                y += WORDS;
            }
        }
        y + 14.0
    }

    fn line(&self, svg: &mut Svg, line: &Line, axis: Option<&Axis>, middle: f64) {
        let name = shortened(&line.name, LONGEST_NAME);
        svg.text(Class::Ink, 13, (NAMES, middle - 2.0), Anchor::Start, &name);
        let class = if line.refused { Class::No } else { Class::Grey };
        // Without an axis there is room for all of it.
        let most = if axis.is_some() { LONGEST_NOTE } else { LONGEST_WORDS };
        svg.text(class, 11, (NAMES, middle + 12.0), Anchor::Start, &whole_words(&line.note, most));
        let Some(axis) = axis else { return };
        if let [first, .., last] = &line.marks[..]
            && let (Some(first), Some(last)) = (first.value, last.value)
        {
            svg.line(Class::Axis, (axis.place(first), middle), (axis.place(last), middle));
        }
        for mark in &line.marks {
            self.mark(svg, mark, axis, middle);
        }
        if let Some(truth) = line.truth {
            let x = axis.place(truth);
            svg.line(Class::Truth, (x, middle - 11.0), (x, middle + 11.0));
        }
    }

    fn mark(&self, svg: &mut Svg, mark: &Mark, axis: &Axis, middle: f64) {
        if let (Style::Bars, Some(value)) = (self.style, mark.value) {
            let (zero, end) = (axis.place(0.0), axis.place(value));
            svg.rectangle(Class::Bar, [zero.min(end), middle - 10.0, (end - zero).abs(), 20.0]);
        }
        if let Some([low, high]) = mark.ends {
            let (low, high) = (axis.place(low), axis.place(high));
            if self.style == Style::Boxes {
                svg.rectangle(Class::Pale, [low, middle - 7.0, (high - low).max(1.0), 14.0]);
            } else {
                svg.line(Class::Tick, (low, middle), (high, middle));
                for end in [low, high] {
                    svg.line(Class::Tick, (end, middle - 6.0), (end, middle + 6.0));
                }
            }
        }
        if let (Style::Dots | Style::Boxes, Some(value)) = (self.style, mark.value) {
            svg.circle(Class::Dot, (axis.place(value), middle), 4.5);
        }
    }
}

/// As many whole words of a note as fit: half a number is another number.
fn whole_words(note: &str, most: usize) -> String {
    if note.chars().count() <= most {
        return note.to_string();
    }
    // A bar that is not all there is left out.
    let values = note.split_once(" (").map_or(note, |(values, _)| values);
    if values.chars().count() <= most {
        return values.to_string();
    }
    match &wrapped(values, most - 2)[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first, ..] => format!("{first} …"),
    }
}

#[cfg(test)]
mod tests {
    use super::whole_words;

    #[test]
    fn no_number_is_cut() {
        assert_eq!(whole_words("1234.5, 5678.9 (1 to 2, 3 to 4)", 40), "1234.5, 5678.9 (1 to 2, 3 to 4)");
        assert_eq!(whole_words("1234.5, 5678.9 (1 to 2, 3 to 4)", 20), "1234.5, 5678.9");
        assert_eq!(whole_words("1234.5, 5678.9, 8888.8", 18), "1234.5, 5678.9, …");
    }
}
