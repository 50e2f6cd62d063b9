//! Releases as pictures: one drawing of the command line and of Python.
//!
//! A picture shows what a release says and nothing else, so it needs no privacy of its own. Numbers are rounded as in words,
//! every line says in a title what it is, and the whole picture says it in its description.

mod axis;
mod lines;
mod panel;
mod svg;

pub use axis::Axis;
pub use panel::{Line, Mark, Panel, Style};
pub use svg::{Anchor, Class, Svg, WIDTH, escaped, shortened};

use crate::{
    meaning::amount,
    release::{Release, Remaining, Spent},
};
use equipoise_core::{ratio::Ratio, wording::Surface};
use std::fmt::Write as _;

/// More lines than this are not drawn; the picture says how many are left out.
pub const MOST_LINES: usize = 60;
const TITLE: f64 = 30.0;
const UNDER: f64 = 18.0;
const SIDE: f64 = 20.0;

/// A release as SVG. `fractions` are the quantiles that each of its questions asked for, where somebody knows them; `surface`
/// is how options are typed where advice names some.
pub fn release(release: &Release, fractions: &[Vec<String>], surface: Surface) -> String {
    let asked = lines::question(&release.statistic, release.column.as_deref(), &release.group_by);
    let title = format!("{asked}, {}", release.data);
    let promise = &release.guarantee;
    let price = amount(&Spent { epsilon: promise.epsilon.clone(), delta: promise.delta.clone() });
    let mut under =
        vec![format!("{price} for one {} ({}); {}", promise.unit, promise.adjacency, release.mechanism)];
    under.extend(release.filter.as_ref().map(|filter| format!("rows where {filter}")));
    let mut panels = lines::panels(release, fractions, surface);
    let left_out = keep(&mut panels);
    if left_out > 0 {
        under.push(format!("{left_out} more lines are not drawn"));
    }
    let mut svg = Svg::default();
    let mut y = head(&mut svg, &title, &under);
    for panel in &panels {
        y = panel.draw(&mut svg, y);
    }
    let bottom = budget(&mut svg, y, &release.spent, release.remaining.as_ref());
    svg.finish(bottom, &title)
}

/// The title of a picture and what stands below it; gives where that ends.
pub fn head(svg: &mut Svg, title: &str, under: &[String]) -> f64 {
    svg.text(Class::Ink, 19, (SIDE, TITLE), Anchor::Start, &shortened(title, 66));
    let mut y = TITLE;
    for words in under {
        y += UNDER;
        svg.text(Class::Grey, 12, (SIDE, y), Anchor::Start, &shortened(words, 108));
        svg.say(words);
    }
    y + UNDER
}

/// Keep as many lines as are drawn; gives how many are not. What asks for little keeps all of it.
pub fn keep(panels: &mut Vec<Panel>) -> usize {
    let (mut room, mut left_out) = (MOST_LINES, 0);
    let each = (MOST_LINES / panels.len().max(1)).max(4);
    for panel in panels.iter_mut() {
        let most = if panel.lines.len() <= each { panel.lines.len() } else { each };
        let most = most.min(room);
        left_out += panel.lines.len() - most;
        panel.lines.truncate(most);
        room -= most;
    }
    panels.retain(|panel| !panel.lines.is_empty());
    left_out
}

/// What was spent of the limit; gives where the picture ends.
fn budget(svg: &mut Svg, top: f64, spent: &Spent, left: Option<&Remaining>) -> f64 {
    let number = |text: &str| text.parse::<Ratio>().ok();
    let mut words = format!("budget: {} spent", amount(spent));
    let Some(left) = left else {
        words.push_str(", no limit");
        svg.text(Class::Grey, 12, (SIDE, top + 12.0), Anchor::Start, &words);
        svg.say(&words);
        return top + 28.0;
    };
    let loss = left.epsilon.as_ref().or(left.rho.as_ref()).or(left.divergence.as_ref());
    let kind = match left {
        Remaining { epsilon: Some(_), .. } => "epsilon",
        Remaining { rho: Some(_), .. } => "rho",
        _ => "divergence",
    };
    let rest = loss.and_then(|loss| number(loss)).map_or(String::new(), |left| left.to_short_down(6, 12));
    let _ = write!(words, ", {kind} {rest} left");
    svg.text(Class::Grey, 12, (SIDE, top + 12.0), Anchor::Start, &words);
    svg.say(&words);
    let (Some(spent), Some(left)) =
        (number(&spent.epsilon), left.epsilon.as_ref().and_then(|left| number(left)))
    else {
        return top + 28.0;
    };
    let whole = (&spent + &left).to_f64();
    let share = if whole > 0.0 { (spent.to_f64() / whole).clamp(0.0, 1.0) } else { 0.0 };
    let width = WIDTH - 2.0 * SIDE;
    svg.rectangle(Class::Pale, [SIDE, top + 20.0, width, 8.0]);
    svg.rectangle(Class::Dot, [SIDE, top + 20.0, width * share, 8.0]);
    top + 44.0
}

#[cfg(test)]
mod tests;
