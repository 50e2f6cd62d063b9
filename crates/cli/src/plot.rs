//! Pictures as SVG: an answer with its error bar and what the budget has left, and the answers of a simulation.
//!
//! A picture shows what the release or the simulation says and nothing else, so it needs no privacy of its own.

mod simulation;

pub(crate) use simulation::simulation;

use crate::show;
use equipoise_core::{ratio::Ratio, wording};
use equipoise_engine::expand;
use plotters::{
    coord::{Shift, types::RangedCoordf64},
    prelude::*,
};
use serde_json::Value;
use std::{
    fs,
    io::Write as _,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process,
};

const WIDTH: u32 = 760;
const TITLE: u32 = 76;
const AXIS: u32 = 64;
const LINE: u32 = 34;
const BUDGET: u32 = 46;
const INK: RGBColor = RGBColor(38, 70, 110);
const PALE: RGBColor = RGBColor(200, 214, 232);
const GREY: RGBColor = RGBColor(110, 110, 110);
/// More lines than this are not drawn; the picture says how many are left out.
const MOST_LINES: usize = 60;
/// Bins of the histogram of a simulation.
const BINS: usize = 40;

type Failed = Box<dyn std::error::Error>;
type Picture<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One answer: its label, its value and the ends of its bar.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    label: String,
    value: Option<f64>,
    bar: Option<(f64, f64)>,
    /// What is true, where that is known.
    truth: Option<f64>,
    note: String,
}

/// Can a picture be written here, without the loss of any file that is kept, under whatever name? A pattern or a folder stands for
/// its files, and a ledger for what lies beside it. Asked before anything is charged.
pub(crate) fn check(path: &Path, kept: &[&Path]) -> Result<(), String> {
    let shown = wording::shown(&path.to_string_lossy());
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Err(format!("a picture is an SVG file; give --plot a name that ends in .svg, not '{shown}'"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(format!("there is no folder for the picture '{shown}'; make it, or name another"));
    }
    let identity = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let beside = |path: &Path, ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let kept = kept.iter().flat_map(|kept| {
        let files = expand(kept).unwrap_or_default().into_iter();
        files.chain([beside(kept, "-wal"), beside(kept, "-shm")])
    });
    let picture = identity(path);
    if path.is_dir() || kept.filter_map(|kept| identity(&kept)).any(|kept| Some(kept) == picture) {
        return Err(format!("the picture would take the place of '{shown}'; name another file"));
    }
    Ok(())
}

/// Draw a release, given as its JSON.
pub(crate) fn release(document: &Value, path: &Path) -> Result<(), Failed> {
    let mut lines = lines(document);
    let left_out = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let height = TITLE + LINE * u32::try_from(lines.len().max(1))? + AXIS + BUDGET;
    write(path, height, |area| {
        let (head, rest) = area.split_vertically(TITLE);
        let budget_top = height - TITLE - BUDGET;
        let (body, foot) = rest.split_vertically(budget_top);
        title(&head, document, left_out)?;
        bars(&body, &lines)?;
        budget(&foot, document)
    })
}

/// Draw into memory first, so that a picture that fails leaves no half a file.
fn write(
    path: &Path,
    height: u32,
    draw: impl FnOnce(&Picture<'_>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        area.present()?;
    }
    // Whole or not at all, and through no link that lies in the way.
    let unfinished = path.with_extension(format!("svg.{}.unfinished", process::id()));
    let _ = fs::remove_file(&unfinished);
    fs::OpenOptions::new().write(true).create_new(true).open(&unfinished)?.write_all(svg.as_bytes())?;
    Ok(fs::rename(&unfinished, path)?)
}

fn text(area: &Picture<'_>, words: &str, size: u32, at: (i32, i32), color: RGBColor) -> Result<(), Failed> {
    let style = TextStyle::from(("sans-serif", size).into_font()).color(&color);
    Ok(area.draw_text(&show::printable(words), &style, at)?)
}

fn title(head: &Picture<'_>, document: &Value, left_out: usize) -> Result<(), Failed> {
    let word = |name: &str| document[name].as_str().unwrap_or_default();
    let question = match word("column") {
        "" => word("statistic").to_string(),
        column => format!("{} of {column}", word("statistic")),
    };
    text(head, &format!("{question}, {}", word("data")), 20, (20, 12), BLACK)?;
    let promise = &document["guarantee"];
    let part = |name: &str| promise[name].as_str().unwrap_or_default();
    let more = if left_out > 0 { format!("; {left_out} more lines are not drawn") } else { String::new() };
    let said = format!(
        "epsilon {}, delta {} for one {} ({}); {}{more}",
        show::short_up(part("epsilon")),
        show::short_up(part("delta")),
        part("unit"),
        part("adjacency"),
        word("mechanism")
    );
    text(head, &said, 13, (20, 42), GREY)
}

fn bars(body: &Picture<'_>, lines: &[Line]) -> Result<(), Failed> {
    let ends = lines.iter().flat_map(|line| line.value.into_iter().chain(line.truth).chain(ends(line)));
    let (low, high) = around(ends);
    let many = lines.len().max(1) as f64;
    let mut chart = ChartBuilder::on(body)
        .margin(12)
        .margin_right(24)
        .x_label_area_size(30)
        .margin_left(180)
        .build_cartesian_2d(low..high, 0.0..many)?;
    chart.configure_mesh().disable_y_mesh().disable_y_axis().light_line_style(WHITE).x_labels(6).draw()?;
    for (place, line) in lines.iter().enumerate() {
        let y = many - place as f64 - 0.5;
        if let Some((low, high)) = line.bar {
            chart.draw_series([Rectangle::new([(low, y - 0.16), (high, y + 0.16)], PALE.filled())])?;
        }
        if let Some(value) = line.value {
            chart.draw_series([Circle::new((value, y), 5, INK.filled())])?;
        }
        if let Some(truth) = line.truth {
            let style = RED.stroke_width(2);
            chart.draw_series([PathElement::new(vec![(truth, y - 0.3), (truth, y + 0.3)], style)])?;
        }
        label(body, &chart, line, y)?;
    }
    Ok(())
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The name of a line and what its dot stands for, left of the axis.
fn label(body: &Picture<'_>, chart: &Chart<'_, '_>, line: &Line, y: f64) -> Result<(), Failed> {
    let (_, top) = chart.backend_coord(&(chart.x_range().start, y));
    let (_, offset) = body.get_base_pixel();
    let y = top - offset;
    let short: String = line.label.chars().take(24).collect();
    text(body, &short, 13, (20, y - 14), BLACK)?;
    let note: String = line.note.chars().take(30).collect();
    text(body, &note, 11, (20, y + 1), GREY)
}

/// What was spent of the limit.
fn budget(foot: &Picture<'_>, document: &Value) -> Result<(), Failed> {
    let number = |value: &Value| value.as_str()?.parse::<Ratio>().ok();
    let (spent, left) = (&document["spent"]["epsilon"], &document["remaining"]["epsilon"]);
    let said = match (number(spent), number(left)) {
        (Some(spent), Some(left)) => {
            let share = (spent.to_f64() / (&spent + &left).to_f64()).clamp(0.0, 1.0);
            let (spent, left) = (spent.to_short_up(6, 12), left.to_short_down(6, 12));
            let end = (20..=720).find(|&x| f64::from(x - 20) >= share * 700.0).unwrap_or(720);
            foot.draw(&Rectangle::new([(20, 24), (720, 34)], PALE.filled()))?;
            foot.draw(&Rectangle::new([(20, 24), (end, 34)], INK.filled()))?;
            format!("budget: epsilon {spent} spent, {left} left")
        }
        (Some(spent), None) => {
            format!("budget: epsilon {} spent, no limit in epsilon", spent.to_short_up(6, 12))
        }
        _ => "budget: unknown".to_string(),
    };
    text(foot, &said, 12, (20, 4), GREY)
}

fn ends(line: &Line) -> impl Iterator<Item = f64> {
    line.bar.into_iter().flat_map(|(low, high)| [low, high])
}

/// A range with a little room around all of them.
fn around(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) =
        finite.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.08).max(high.abs().max(low.abs()) * 1e-3).max(1e-9);
    // The ends of the floats have no room beyond them.
    ((low - room).max(f64::MIN / 4.0), (high + room).min(f64::MAX / 4.0))
}

/// The answers of a release of any shape: one, a list, groups, or several questions.
fn lines(document: &Value) -> Vec<Line> {
    if let Some(answers) = document["answers"].as_array() {
        return answers.iter().flat_map(lines).collect();
    }
    if let Some(groups) = document["groups"].as_array() {
        return groups.iter().flat_map(of_group).collect();
    }
    let name = document["statistic"].as_str().unwrap_or_default();
    let error = &document["error"];
    match document["value"].as_array() {
        None => vec![one(name, document)],
        Some(values) => {
            let each = |(place, value): (usize, &Value)| Line {
                label: format!("{name} {}", place + 1),
                value: value.as_f64(),
                bar: error["low"][place].as_f64().zip(error["high"][place].as_f64()),
                truth: None,
                note: show::value(value),
            };
            values.iter().enumerate().map(each).collect()
        }
    }
}

/// The one answer of a group, or those of its summary.
fn of_group(group: &Value) -> Vec<Line> {
    let key = label_of(&group["key"]);
    if group["answers"].is_null() {
        return vec![one(&key, group)];
    }
    lines(group).into_iter().map(|line| Line { label: format!("{key}: {}", line.label), ..line }).collect()
}

fn one(label: &str, answer: &Value) -> Line {
    let refused = answer["outcome"] == "refused";
    let error = &answer["error"];
    let bar = error["low"].as_f64().zip(error["high"].as_f64());
    let note = if refused { "refused".to_string() } else { show::value(&answer["value"]) };
    Line { label: label.to_string(), value: answer["value"].as_f64(), bar, truth: None, note }
}

fn label_of(key: &Value) -> String {
    match key {
        Value::Array(parts) => parts.iter().map(label_of).collect::<Vec<_>>().join(", "),
        Value::Null => "(empty)".to_string(),
        other => show::value(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn drawn(document: &Value) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.svg");
        release(document, &path).unwrap();
        fs::read_to_string(path).unwrap()
    }

    fn document(value: &Value) -> Value {
        json!({
            "outcome": "released", "value": value, "statistic": "mean", "column": "salary", "data": "s.csv",
            "mechanism": "laplace", "error": { "low": 40_000.0, "high": 44_000.0, "confidence": 0.95 },
            "guarantee": { "epsilon": "1", "delta": "0", "unit": "row", "adjacency": "add-remove" },
            "spent": { "epsilon": "2", "delta": "0" }, "remaining": { "epsilon": "3", "delta": "0" },
        })
    }

    #[test]
    fn a_release_shows_value_bar_promise_and_budget() {
        let svg = drawn(&document(&json!(42_000.0)));
        for part in
            ["mean of salary, s.csv", "epsilon 1, delta 0", "42000", "epsilon 2 spent, 3 left", "circle"]
        {
            assert!(svg.contains(part), "{part}");
        }
    }

    #[test]
    fn groups_lists_and_refusals_are_lines() {
        let mut groups = document(&Value::Null);
        groups["groups"] = json!([
            { "key": "Ayr", "outcome": "released", "value": 5, "error": { "low": 1.0, "high": 9.0 } },
            { "key": ["Bath", "north"], "outcome": "refused", "value": null, "error": null },
        ]);
        let svg = drawn(&groups);
        assert!(svg.contains("Ayr") && svg.contains("Bath, north") && svg.contains("refused"));
        assert_eq!(lines(&document(&json!([1, 2, 3]))).len(), 3);
        let mut intervals = document(&json!([1, 2]));
        intervals["error"] = json!({ "low": [0.5, null], "high": [1.5, null] });
        assert_eq!(
            lines(&intervals).iter().map(|line| line.bar).collect::<Vec<_>>(),
            [Some((0.5, 1.5)), None]
        );
        groups["groups"] = json!([{ "key": "Ayr", "outcome": "released", "value": {}, "answers": [
            { "statistic": "count", "outcome": "released", "value": 5 },
            { "statistic": "quantiles", "outcome": "released", "value": [1, 2] },
        ] }]);
        let labels: Vec<String> = lines(&groups).into_iter().map(|line| line.label).collect();
        assert_eq!(labels, ["Ayr: count", "Ayr: quantiles 1", "Ayr: quantiles 2"]);
    }

    #[test]
    fn nothing_that_can_be_released_breaks_a_picture() {
        let wild = [
            json!(null),
            json!("<script>\u{1b}[31m"),
            json!(1e308),
            json!(-1e308),
            json!([1e308, -1e308, 0]),
            json!([]),
        ];
        for value in wild {
            let mut document = document(&value);
            document["error"] = Value::Null;
            document["data"] = json!("<a&b>");
            let svg = drawn(&document);
            assert!(!svg.contains("<script>") && !svg.contains('\u{1b}') && !svg.contains("<a&b>"));
        }
        let many =
            json!((0..500).map(|row| json!({ "key": row.to_string(), "value": row })).collect::<Vec<_>>());
        let mut groups = document(&Value::Null);
        groups["groups"] = many;
        assert!(drawn(&groups).contains("440 more lines are not drawn"));
    }
}
