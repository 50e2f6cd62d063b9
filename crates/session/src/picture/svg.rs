//! A writer of SVG: shapes with classes, words that are never markup, light and dark by the reader's own setting.

use crate::bar::printable;
use std::fmt::Write as _;

/// How wide every picture is.
pub const WIDTH: f64 = 760.0;

/// Light by default, dark where the reader's system is. Every name begins alike, so that pages keep their own styles.
const STYLE: &str = "\
.eq-paper{fill:#fff}.eq-ink{fill:#17212b}.eq-grey{fill:#59646f}.eq-bar{fill:#9dbbdc}.eq-pale{fill:#d5e1ef}.eq-dot{fill:#1f4a7c}\
.eq-no{fill:#a3282c}.eq-tick{stroke:#1f4a7c;stroke-width:1.6}.eq-grid{stroke:#e3e7eb}.eq-axis{stroke:#8b96a1}\
.eq-truth{stroke:#c62f2f;stroke-width:2}\
@media (prefers-color-scheme:dark){\
.eq-paper{fill:#14181d}.eq-ink{fill:#e8edf2}.eq-grey{fill:#a3afba}.eq-bar{fill:#3f6ea3}.eq-pale{fill:#2b3f57}.eq-dot{fill:#9cc4f2}\
.eq-no{fill:#f08a8a}.eq-tick{stroke:#cfe3fa}.eq-grid{stroke:#2a323a}.eq-axis{stroke:#75818d}.eq-truth{stroke:#ff7b7b}}";

/// What a shape looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Words that matter.
    Ink,
    /// Words beside them.
    Grey,
    /// A bar of an amount.
    Bar,
    /// Where something lies.
    Pale,
    /// An answer.
    Dot,
    /// A refusal.
    No,
    /// An error.
    Tick,
    /// A line of the axis through the picture.
    Grid,
    /// The axis.
    Axis,
    /// What is true.
    Truth,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Ink => "eq-ink",
            Self::Grey => "eq-grey",
            Self::Bar => "eq-bar",
            Self::Pale => "eq-pale",
            Self::Dot => "eq-dot",
            Self::No => "eq-no",
            Self::Tick => "eq-tick",
            Self::Grid => "eq-grid",
            Self::Axis => "eq-axis",
            Self::Truth => "eq-truth",
        }
    }
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its first letter.
    Start,
    /// Its middle.
    Middle,
    /// Its last letter.
    End,
}

/// A picture that grows downwards.
#[derive(Debug, Default)]
pub struct Svg {
    shapes: String,
    /// What the picture says, for whoever cannot see it.
    spoken: Vec<String>,
}

impl Svg {
    /// Words of this size in pixels; what they are made of is never markup.
    pub fn text(&mut self, class: Class, size: u32, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.put(&format!(
            "<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{size}\"{anchor}>{}</text>",
            class.name(),
            at(x),
            at(y),
            escaped(words)
        ));
    }

    /// A rectangle by its left, top, width and height.
    pub fn rectangle(&mut self, class: Class, [left, top, width, height]: [f64; 4]) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        self.put(&format!(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            class.name(),
            at(left),
            at(top),
            at(width),
            at(height)
        ));
    }

    /// A straight line.
    pub fn line(&mut self, class: Class, from: (f64, f64), to: (f64, f64)) {
        self.put(&format!(
            "<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            class.name(),
            at(from.0),
            at(from.1),
            at(to.0),
            at(to.1)
        ));
    }

    /// A dot.
    pub fn circle(&mut self, class: Class, (x, y): (f64, f64), radius: f64) {
        self.put(&format!(
            "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            class.name(),
            at(x),
            at(y),
            at(radius)
        ));
    }

    /// Shapes that belong together and say this to whoever points at them, or cannot see them.
    pub fn saying(&mut self, words: &str, draw: impl FnOnce(&mut Self)) {
        self.put(&format!("<g><title>{}</title>", escaped(words)));
        draw(self);
        self.put("</g>");
        self.say(words);
    }

    /// Add this to what the picture says.
    pub fn say(&mut self, words: &str) {
        self.spoken.push(words.to_string());
    }

    /// The whole document, so high, under this title.
    pub fn finish(self, height: f64, title: &str) -> String {
        let (title, spoken) = (escaped(title), escaped(&self.spoken.join("\n")));
        let (width, height) = (at(WIDTH), at(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\">\n\
             <title>{title}</title>\n<desc>{spoken}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"eq-paper\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.shapes
        )
    }

    fn put(&mut self, shape: &str) {
        let _ = writeln!(self.shapes, "{shape}");
    }
}

/// A place in pixels, always a number.
fn at(place: f64) -> String {
    let place = if place.is_finite() { place.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{place:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// A text of anybody's as the content of an element or an attribute: what nobody would see is written out, what would be markup
/// is not, and what no XML may hold is left out.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for line in text.lines() {
        if !safe.is_empty() {
            safe.push('\n');
        }
        for letter in printable(line).chars() {
            match letter {
                '&' => safe.push_str("&amp;"),
                '<' => safe.push_str("&lt;"),
                '>' => safe.push_str("&gt;"),
                '"' => safe.push_str("&quot;"),
                '\'' => safe.push_str("&#39;"),
                '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
                letter if letter.is_control() && letter != '\t' => safe.push('\u{fffd}'),
                letter => safe.push(letter),
            }
        }
    }
    safe
}

/// The beginning of a text that is longer than so many letters, and "…".
pub fn shortened(text: &str, most: usize) -> String {
    let text = printable(text);
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A text in lines of at most so many letters, apart at spaces where there are any.
pub fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shortened(word, most);
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_never_markup() {
        let mut svg = Svg::default();
        let hostile = "</text><script>alert(1)</script>\u{1b}[31m\" onload='x' &amp; \u{0}\u{ffff}]]>";
        svg.text(Class::Ink, 13, (f64::NAN, f64::INFINITY), Anchor::End, hostile);
        svg.saying(hostile, |svg| svg.circle(Class::Dot, (1.0, 2.0), 3.0));
        let text = svg.finish(100.0, hostile);
        for part in
            ["<script", "</script", "\u{1b}", "onload='", "\" onload", "\u{0}", "\u{ffff}", "NaN", "inf"]
        {
            assert!(!text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.matches("</text>").count(), 1);
        assert_eq!(text.matches("&lt;script&gt;").count(), 5, "{text}");
        assert!(
            text.contains("&amp;amp;")
                && text.contains("role=\"img\"")
                && text.contains("prefers-color-scheme")
        );
        // A picture asks for nothing from elsewhere.
        assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("http") && !text.contains("url("));
    }

    #[test]
    fn long_texts_are_cut_and_wrapped() {
        assert_eq!((shortened("abcdef", 4), shortened("abc", 4)), ("abc…".to_string(), "abc".to_string()));
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abc…"]);
    }
}
