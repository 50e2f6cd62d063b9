//! The picture of a simulation: what was answered how often, how often nothing was, and what is true.

use super::{
    AXIS, BINS, Failed, GREY, INK, LINE, Line, MOST_LINES, Picture, TITLE, around, bars, text, write,
};
use crate::show;
use equipoise_session::simulate::{Series, Simulation};
use plotters::prelude::*;
use std::path::Path;

/// Texts that few trials gave are not drawn.
const MOST_TEXTS: usize = 12;
const CAPTION: u32 = 26;

/// Lines that share an axis.
struct Panel {
    caption: String,
    lines: Vec<Line>,
}

/// Draw the answers of a simulation: a single number as a histogram, several as boxes that hold nine answers of ten, texts
/// as bars; with what is true, and how many were refused.
pub(crate) fn simulation(title: &str, simulation: &Simulation, path: &Path) -> Result<(), Failed> {
    let said = trials(simulation);
    let numbers = match &simulation.series[..] {
        [one] if one.key.is_none() && !one.frequent => one.numbers(),
        _ => Vec::new(),
    };
    if !numbers.is_empty() {
        let truth = simulation.series[0].truth().map(|truth| simulation.series[0].number(&truth));
        return write(path, 380, |area| {
            let (head, body) = area.split_vertically(TITLE);
            head_words(&head, title, &said)?;
            histogram(&body, &numbers, truth.filter(|truth| truth.is_finite()))
        });
    }
    let (panels, left_out) = panels(simulation);
    if panels.is_empty() {
        return write(path, TITLE + 60, |area| {
            let (head, body) = area.split_vertically(TITLE);
            head_words(&head, title, &said)?;
            text(&body, "no trial had an answer", 15, (20, 10), GREY)
        });
    }
    let more = if left_out > 0 { format!("; {left_out} more lines are not drawn") } else { String::new() };
    let heights: Vec<u32> = panels
        .iter()
        .map(|panel| u32::try_from(panel.lines.len()).map(|lines| CAPTION + LINE * lines + AXIS))
        .collect::<Result<_, _>>()?;
    write(path, TITLE + heights.iter().sum::<u32>(), |area| {
        let (head, mut rest) = area.split_vertically(TITLE);
        head_words(&head, title, &format!("{said}{more}"))?;
        for (panel, height) in panels.iter().zip(heights) {
            let (this, below) = rest.split_vertically(height);
            let (caption, body) = this.split_vertically(CAPTION);
            text(&caption, &panel.caption, 13, (20, 8), INK)?;
            bars(&body, &panel.lines)?;
            rest = below;
        }
        Ok(())
    })
}

fn trials(simulation: &Simulation) -> String {
    let many = simulation.trials.len();
    let refused = simulation.trials.iter().filter(|trial| !trial.is_released()).count();
    let share = 100.0 * refused as f64 / many.max(1) as f64;
    format!("{many} trials, {refused} refused ({share:.1} %); simulated, not released")
}

fn head_words(head: &Picture<'_>, title: &str, said: &str) -> Result<(), Failed> {
    text(head, title, 20, (20, 12), BLACK)?;
    text(head, said, 13, (20, 42), GREY)
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
            _ => panels.push(Panel { caption, lines }),
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
    Line {
        label: if series.name.starts_with("quantile") { series.label(false) } else { series.label(true) },
        value: spread.as_ref().and_then(|spread| number(&spread.median)),
        bar: spread.as_ref().and_then(|spread| number(&spread.low).zip(number(&spread.high))),
        truth: series.truth().as_ref().and_then(number),
        note,
    }
}

/// The most frequent texts as bars of trials.
fn texts(series: &Series, many: usize) -> Vec<Line> {
    let truth = series.truth();
    let line = |label: String, trials: usize| Line {
        label,
        value: None,
        bar: Some((0.0, trials as f64)),
        truth: None,
        note: format!("{trials} of {many} trials"),
    };
    let answers = series.frequent().into_iter().take(MOST_TEXTS);
    let mut lines: Vec<Line> = answers
        .map(|(value, trials)| {
            let is_true = if Some(&value) == truth.as_ref() { " (true)" } else { "" };
            line(format!("{}{is_true}", show::value(&value)), trials)
        })
        .collect();
    if series.refused > 0 {
        lines.push(line("refused".to_string(), series.refused));
    }
    lines
}

fn histogram(body: &Picture<'_>, answers: &[f64], truth: Option<f64>) -> Result<(), Failed> {
    let (low, high) = around(answers.iter().copied().chain(truth));
    let step = (high - low) / BINS as f64;
    let mut counts = [0u32; BINS];
    for answer in answers {
        // Compared instead of converted: the last edge that is not above the answer.
        let bin = (0..BINS).rev().find(|&bin| low + step * bin as f64 <= *answer).unwrap_or_default();
        counts[bin] += 1;
    }
    let most = f64::from(counts.iter().copied().max().unwrap_or(1));
    let mut chart = ChartBuilder::on(body)
        .margin(16)
        .x_label_area_size(34)
        .y_label_area_size(48)
        .build_cartesian_2d(low..high, 0.0..most * 1.05)?;
    chart.configure_mesh().disable_x_mesh().light_line_style(WHITE).x_labels(7).y_labels(5).draw()?;
    chart.draw_series(counts.iter().enumerate().map(|(bin, &count)| {
        let left = low + step * bin as f64;
        Rectangle::new([(left, 0.0), (left + step * 0.92, f64::from(count))], INK.filled())
    }))?;
    if let Some(truth) = truth {
        let style = RED.stroke_width(2);
        chart.draw_series([PathElement::new(vec![(truth, 0.0), (truth, most * 1.05)], style)])?;
    }
    Ok(())
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
