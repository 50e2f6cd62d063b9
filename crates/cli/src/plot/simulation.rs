//! The picture of a simulation: what was answered how often, how often nothing was, and what is true.

use super::{Failed, write};
use crate::show;
use equipoise_session::{
    picture::{Anchor, Axis, Class, Line, MOST_LINES, Mark, Panel, Style, Svg, WIDTH, head},
    simulate::{Series, Simulation},
};
use std::path::Path;

/// Texts that few trials gave are not drawn.
const MOST_TEXTS: usize = 12;
/// The line of trials without an answer.
const REFUSED: &str = "refused";
/// Bins of the histogram of a simulation.
const BINS: usize = 40;
/// The histogram in pixels: from left to right, and how high.
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 32.0;
const HIGH: f64 = 240.0;

/// Draw the answers of a simulation: a single number as a histogram, several as boxes that hold nine answers of ten, texts
/// as bars; with what is true, and how many were refused.
pub(crate) fn simulation(title: &str, simulation: &Simulation, path: &Path) -> Result<(), Failed> {
    let mut svg = Svg::default();
    let said = trials(simulation);
    let numbers = match &simulation.series[..] {
        [one] if one.key.is_none() && !one.frequent => one.numbers(),
        _ => Vec::new(),
    };
    if !numbers.is_empty() {
        let series = &simulation.series[0];
        let truth = series.truth().map(|truth| series.number(&truth)).filter(|truth| truth.is_finite());
        let top = head(&mut svg, title, &[said]);
        let bottom = histogram(&mut svg, top, series, &numbers, truth);
        return write(path, &svg.finish(bottom, title));
    }
    let (panels, left_out) = panels(simulation);
    let mut under = vec![said];
    if panels.is_empty() {
        under.push("no trial had an answer".to_string());
    }
    if left_out > 0 {
        under.push(format!("{left_out} more lines are not drawn"));
    }
    let mut bottom = head(&mut svg, title, &under);
    for panel in &panels {
        bottom = panel.draw(&mut svg, bottom);
    }
    write(path, &svg.finish(bottom + 8.0, title))
}

fn trials(simulation: &Simulation) -> String {
    let many = simulation.trials.len();
    let refused = simulation.trials.iter().filter(|trial| !trial.is_released()).count();
    let share = 100.0 * refused as f64 / many.max(1) as f64;
    format!("{many} trials, {refused} refused ({share:.1} %); simulated, not released")
}

/// Series of one scale side by side, and how many lines there is no room for.
fn panels(simulation: &Simulation) -> (Vec<Panel>, usize) {
    let many = simulation.trials.len();
    let mut panels: Vec<Panel> = Vec::new();
    let (mut drawn, mut left_out) = (0, 0);
    for series in &simulation.series {
        let lines = if series.frequent { texts(series, many) } else { vec![one(series, many)] };
        if drawn + lines.len() > MOST_LINES {
            left_out += lines.len();
            continue;
        }
        drawn += lines.len();
        let caption = caption(series);
        match panels.last_mut() {
            Some(panel) if panel.caption == caption => panel.lines.extend(lines),
            _ => panels.push(Panel {
                caption,
                style: if series.frequent { Style::Bars } else { Style::Boxes },
                value_type: series.value_type.clone().filter(|_| !series.frequent),
                lines,
                words: Vec::new(),
            }),
        }
    }
    panels.retain(|panel| !panel.lines.is_empty());
    (panels, left_out)
}

/// What stands above a panel: its series share a scale.
fn caption(series: &Series) -> String {
    let what = if series.name.starts_with("quantile") { "quantiles" } else { &series.name };
    let number =
        if series.question > 0 { format!("question {}: ", series.question + 1) } else { String::new() };
    match (&series.key, series.frequent) {
        (Some(_), true) => format!("{number}{what} of {}, trials", series.label(true)),
        (None, true) => format!("{number}{what}, trials"),
        _ => format!("{number}{what}: nine answers of ten, their median (dot), the truth (red)"),
    }
}

fn one(series: &Series, many: usize) -> Line {
    let number = |value| Some(series.number(value)).filter(|number| number.is_finite());
    let spread = series.spread();
    let told = series.values.len();
    let note = match series.refused {
        0 => format!("released in {told} of {many}"),
        refused => format!("released {told}, refused {refused} of {many}"),
    };
    let mark = spread.as_ref().map(|spread| Mark {
        value: number(&spread.median),
        ends: number(&spread.low).zip(number(&spread.high)).map(|(low, high)| [low, high]),
    });
    Line {
        name: if series.name.starts_with("quantile") { series.label(false) } else { series.label(true) },
        note,
        marks: mark.into_iter().collect(),
        truth: series.truth().as_ref().and_then(number),
        refused: told == 0,
    }
}

/// The most frequent texts as bars of trials.
fn texts(series: &Series, many: usize) -> Vec<Line> {
    let truth = series.truth();
    let line = |name: String, trials: usize| Line {
        note: format!("{trials} of {many} trials"),
        marks: vec![Mark { value: Some(trials as f64), ends: None }],
        truth: None,
        refused: name == REFUSED,
        name,
    };
    let answers = series.frequent().into_iter().take(MOST_TEXTS);
    let mut lines: Vec<Line> = answers
        .map(|(value, trials)| {
            let is_true = if Some(&value) == truth.as_ref() { " (true)" } else { "" };
            line(format!("{}{is_true}", show::value(&value)), trials)
        })
        .collect();
    if series.refused > 0 {
        lines.push(line(REFUSED.to_string(), series.refused));
    }
    lines
}

/// How often answers lay where, and what is true; gives where it ends.
fn histogram(svg: &mut Svg, top: f64, series: &Series, answers: &[f64], truth: Option<f64>) -> f64 {
    let kind = series.value_type.as_deref();
    let Some(axis) = Axis::around(answers.iter().copied().chain(truth), false, kind, (LEFT, RIGHT)) else {
        return top;
    };
    let mut counts = [0u32; BINS];
    let step = (RIGHT - LEFT) / BINS as f64;
    for answer in answers {
        // Compared instead of converted: the last edge that is not right of the answer.
        let x = axis.place(*answer);
        let bin = (0..BINS).rev().find(|&bin| LEFT + step * bin as f64 <= x).unwrap_or_default();
        counts[bin] += 1;
    }
    let most = f64::from(counts.iter().copied().max().unwrap_or(1));
    let bottom = top + HIGH;
    // Upwards, so from the bottom to the top.
    let height = Axis::around([most], true, None, (bottom, top));
    for (value, label) in height.iter().flat_map(Axis::ticks).filter(|(value, _)| value.fract() == 0.0) {
        let y = height.map_or(bottom, |height| height.place(value));
        svg.line(Class::Grid, (LEFT, y), (RIGHT, y));
        svg.text(Class::Grey, 11, (LEFT - 8.0, y + 4.0), Anchor::End, &label);
    }
    for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let y = height.map_or(bottom, |height| height.place(f64::from(count)));
        svg.rectangle(Class::Bar, [LEFT + step * bin as f64 + 0.6, y, step - 1.2, bottom - y]);
    }
    svg.line(Class::Axis, (LEFT, bottom), (RIGHT, bottom));
    for (value, label) in axis.ticks() {
        svg.text(Class::Grey, 11, (axis.place(value), bottom + 16.0), Anchor::Middle, &label);
    }
    let mut words = format!("how many of the trials answered what: {}", series.label(true));
    if let Some(truth) = truth {
        let x = axis.place(truth);
        svg.line(Class::Truth, (x, top), (x, bottom));
        let truth = series.truth().map_or(String::new(), |truth| show::value(&truth));
        words = format!("{words}; the truth ({truth}) in red");
    }
    svg.text(Class::Grey, 12, (20.0, bottom + 38.0), Anchor::Start, &words);
    svg.say(&words);
    bottom + 56.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_session::simulate::Simulation;
    use serde_json::{Value, json};
    use std::fs;

    fn series(name: &str, key: Option<Value>, values: Vec<Value>) -> Series {
        Series { name: name.into(), key, values, ..Series::default() }
    }

    fn drawn(series: Vec<Series>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.svg");
        let simulated = Simulation { series, ..Simulation::default() };
        simulation("a title", &simulated, &path).unwrap();
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_number_is_a_histogram_and_several_are_boxes() {
        let svg = drawn(vec![series("median", None, vec![json!(1.0), json!(2.0)])]);
        assert!(svg.contains("simulated, not released") && !svg.contains("nine answers of ten"), "{svg}");
        let groups = ["Ayr", "Bath"].map(|key| series("count", Some(json!(key)), vec![json!(5), json!(9)]));
        let svg = drawn(groups.to_vec());
        for part in ["Ayr", "Bath", "count: nine answers of ten", "released in 2 of", "circle"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(drawn(Vec::new()).contains("no trial had an answer"));
    }

    #[test]
    fn texts_are_bars_and_hostile_ones_harmless() {
        let values = vec![json!("Ayr"), json!("Ayr"), json!("<script>\u{1b}[31m")];
        let one = Series { frequent: true, refused: 4, ..series("mode", None, values) };
        let svg = drawn(vec![one]);
        for part in ["Ayr", "2 of", "refused", "4 of", "mode, trials"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("<script>") && !svg.contains('\u{1b}'));
        let many = |key: usize| series("count", Some(json!(key.to_string())), vec![json!(key)]);
        assert!(drawn((0..500).map(many).collect()).contains("440 more lines are not drawn"));
    }
}
