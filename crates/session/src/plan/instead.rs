//! What would do where a question was refused, or where a request cannot be planned.
//!
//! Everything here is made of what was typed, of public facts, and of numbers that a release has paid for.

use super::{DataFacts, Part, Plan, PlanError};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    next::NextStep,
    promise::{Outcome, Spent},
    request::Request,
    statistic::{Argument, Statistic, Value},
    task::{Answering, DOUBT},
};
use equipoise_core::{ratio::Ratio, solve, wording};
use equipoise_expression::respelled as respell;

/// Nobody is advised to spend more.
const MOST_EPSILON: u64 = 10;
/// Epsilons from ten to this power on are tried.
const LEAST_POWER: i64 = -4;

/// How many rows there are, by a noisy number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldRows {
    pub about: u64,
    /// How far off it may be, as often as its bar holds.
    pub off: u64,
}

/// The same question with more epsilon.
pub(crate) struct MoreEpsilon {
    pub step: NextStep,
    /// It is enough for the fewest rows that there may be.
    pub is_sure: bool,
}

impl Plan {
    /// A question that would do where this one was refused, as far as the answer tells; of several, where the first of them was.
    pub(crate) fn instead(&self, answers: &[Answer]) -> Option<NextStep> {
        self.parts.iter().zip(answers).find_map(|(part, answer)| instead(part, answer))
    }

    /// The same summary without quantiles, for the same epsilon.
    pub(crate) fn without_quantiles(&self) -> Option<NextStep> {
        let part = &self.parts[0];
        // What is for the quantiles alone goes with them.
        let request =
            Request { no_quantiles: Some(true), interval: None, resolution: None, ..part.request.clone() };
        priced(request, part, "all of epsilon is for what can be answered".to_string())
    }

    /// The same list without these quantiles, for the same epsilon.
    pub(crate) fn without_fractions(&self, without: &[String]) -> Option<NextStep> {
        let part = &self.parts[0];
        let same = |one: &str, other: &String| match (one.parse::<Ratio>(), other.parse::<Ratio>()) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        };
        let each = part.request.fraction.as_deref()?.split(',').map(str::trim);
        let others: Vec<&str> = each.filter(|one| !without.iter().any(|other| same(one, other))).collect();
        let request = Request { fraction: Some(others.join(",")), ..part.request.clone() };
        priced(request, part, "all of epsilon is for what can be answered".to_string())
    }

    /// The same question with the least epsilon for which the rows that were told of are enough.
    pub(crate) fn with_more_epsilon(&self, told: ToldRows) -> Option<MoreEpsilon> {
        with_more_epsilon(&self.parts[0], told)
    }

    /// The request that is meant where this one cannot be planned, if what the error says to do makes it a plan.
    pub fn mended(request: &Request, facts: &DataFacts, error: &PlanError) -> Option<NextStep> {
        Self::mended_once_or_twice(request, facts, error, true)
    }

    /// The same where something else may be wrong besides.
    fn mended_once_or_twice(
        request: &Request,
        facts: &DataFacts,
        error: &PlanError,
        twice: bool,
    ) -> Option<NextStep> {
        let planned = |request: Request| match Plan::new(&request, facts) {
            Ok(plan) => Some(NextStep { why: String::new(), request, charge: Spent::from(plan.charge()) }),
            Err(other) if twice && other.argument() != error.argument() => {
                Self::mended_once_or_twice(&request, facts, &other, false)
            }
            Err(_) => None,
        };
        if let (true, Some(column), Some(epsilon)) = (error.is_of_texts(), &request.column, &request.epsilon)
        {
            return planned(histogram_of(request, column, epsilon));
        }
        let unnamed = |argument: Argument| error.argument().is_some_and(|own| own.name == argument.name());
        if unnamed(Argument::Column) && request.column.is_none() && request.group_by.is_empty() {
            let named = |column: &String| Request { column: Some(column.clone()), ..request.clone() };
            // Where no schema says which columns hold numbers, the first of them may be refused for its texts.
            let fits = |place: &usize| facts.kind(*place).is_some() || takes_any_column(request);
            let mut fitting = (0..facts.columns.len()).filter(fits);
            return fitting.find_map(|place| planned(named(&facts.columns[place])));
        }
        if let Some(step) = respelled(request, facts, error).into_iter().find_map(planned) {
            return Some(step);
        }
        // A mechanism is no part of the question: without its name the best one that there is answers.
        if unnamed(Argument::Mechanism)
            && request.mechanism.is_some()
            && error.meant().is_none_or(|(_, near)| {
                planned(Request { mechanism: Some(near.to_string()), ..request.clone() }).is_none()
            })
        {
            return planned(Request { mechanism: None, ..request.clone() });
        }
        if let Some(step) = turned(request, error).and_then(planned) {
            return Some(step);
        }
        let fixed = error.fixes().into_iter().find_map(|(argument, value)| {
            let mut mended = request.clone();
            match argument.value() {
                Value::Texts | Value::Flag | Value::ByColumn => return None,
                _ => mended.set_text(argument, Some(value)),
            }
            planned(mended)
        });
        fixed
            .or_else(|| planned(in_order(request)?))
            .or_else(|| larger(request, error).into_iter().find_map(planned))
            .or_else(|| planned(left_out(request, error)?))
    }
}

/// Does a question take texts as well as numbers?
fn takes_any_column(request: &Request) -> bool {
    use Statistic::{Distinct, Histogram, Mode, Select, Top};
    let statistic = Statistic::named(&request.statistic);
    statistic.is_some_and(|statistic| [Distinct, Histogram, Mode, Select, Top].contains(&statistic))
}

/// The same list of quantiles in rising order, each once.
fn in_order(request: &Request) -> Option<Request> {
    let each: Option<Vec<Ratio>> =
        request.fraction.as_deref()?.split(',').map(|one| one.trim().parse().ok()).collect();
    let mut each = each?;
    each.sort();
    each.dedup();
    let texts: Vec<String> = each.iter().map(Ratio::to_string).collect();
    let text = Some(texts.join(","));
    (text != request.fraction).then(|| Request { fraction: text, ..request.clone() })
}

/// The same with more epsilon, where a stated number of rows is too few.
fn larger(request: &Request, error: &PlanError) -> Vec<Request> {
    let is_epsilon = error.argument().is_some_and(|own| own.name == Argument::Epsilon.name());
    let before = request.epsilon.as_deref().and_then(|text| text.parse::<Ratio>().ok());
    let (Some(before), true) = (before, is_epsilon && request.rows.is_some()) else { return Vec::new() };
    let more =
        ["2", "5", "10"].into_iter().filter(|more| more.parse::<Ratio>().is_ok_and(|more| more > before));
    more.map(|more| Request { epsilon: Some(more.to_string()), ..request.clone() }).collect()
}

/// The same without a wrong argument that only makes the answer nearer or says more of it: another is never left out.
fn left_out(request: &Request, error: &PlanError) -> Option<Request> {
    use Argument::{At, Confidence, Range, RangeY, Resolution, Rows};
    let argument = error.argument().and_then(|own| Argument::named(own.name))?;
    if ![At, Range, RangeY, Resolution, Rows, Confidence].contains(&argument) {
        return None;
    }
    let mut without = request.clone();
    without.set_text(argument, None);
    (without != *request).then_some(without)
}

/// The same request with the ends of its range turned around.
fn turned(request: &Request, error: &PlanError) -> Option<Request> {
    let argument = error.argument().and_then(|own| Argument::named(own.name))?;
    let text = match argument {
        Argument::Range => request.range.as_deref()?,
        Argument::RangeY => request.range_y.as_deref()?,
        _ => return None,
    };
    let (low, high) = text.split_once(',')?;
    let mut turned = request.clone();
    turned.set_text(argument, Some(format!("{},{}", high.trim(), low.trim())));
    Some(turned)
}

/// The same request with other spellings of the expression that an error is about.
fn respelled(request: &Request, facts: &DataFacts, error: &PlanError) -> Vec<Request> {
    let Some(argument) = error.argument().and_then(|own| Argument::named(own.name)) else {
        return Vec::new();
    };
    let columns: Vec<&str> = facts.columns.iter().map(String::as_str).collect();
    let nearest = |typed: &str, names: &[&str], most: usize| {
        wording::nearest_within(typed, names, most).map(str::to_string)
    };
    let spellings = |text: &str| respell(text, error.next_step(), &columns, &nearest);
    let one = |text: &Option<String>, set: &dyn Fn(String) -> Request| {
        text.iter().flat_map(|text| spellings(text)).map(set).collect()
    };
    let each = |texts: &[String], set: &dyn Fn(Vec<String>) -> Request| {
        let changed = |(place, text): (usize, &String)| {
            let with = move |other: String| {
                let mut texts = texts.to_vec();
                texts[place] = other;
                set(texts)
            };
            spellings(text).into_iter().map(with).collect::<Vec<_>>()
        };
        texts.iter().enumerate().flat_map(changed).collect()
    };
    match argument {
        Argument::Where => one(&request.filter, &|text| Request { filter: Some(text), ..request.clone() }),
        Argument::Column => one(&request.column, &|text| Request { column: Some(text), ..request.clone() }),
        Argument::Y => one(&request.y, &|text| Request { y: Some(text), ..request.clone() }),
        Argument::GroupBy => each(&request.group_by, &|texts| Request { group_by: texts, ..request.clone() }),
        Argument::On => each(&request.on, &|texts| Request { on: texts, ..request.clone() }),
        _ => Vec::new(),
    }
}

fn instead(part: &Part, answer: &Answer) -> Option<NextStep> {
    let rows = refused_rows(answer);
    let (doubted, refused) = (is_doubted(answer), answer.outcome() == Outcome::Refused);
    if rows.is_none() && !refused && !doubted {
        return None;
    }
    // Where the column holds texts, more epsilon helps nobody.
    let told = rows.filter(|_| !doubted).map(|about| ToldRows { about, off: part.task.rows_within() });
    let more = || told.and_then(|told| with_more_epsilon(part, told)).map(|more| more.step);
    let advised = || with_advised_epsilon(part, answer).filter(|_| refused && !doubted);
    let other = || by_other_means(part, answer).filter(|_| refused || doubted);
    more().or_else(advised).or_else(other).or_else(|| plainer(part).filter(|_| refused))
}

/// The same with the epsilon that its advice worked out of what was drawn, where anybody would spend it.
fn with_advised_epsilon(part: &Part, answer: &Answer) -> Option<NextStep> {
    let is_epsilon = |(option, value): (&wording::OptionName, Option<&str>)| {
        value.filter(|_| option.name == Argument::Epsilon.name()).map(str::to_string)
    };
    let epsilon = wording::options_in(answer.advice.as_deref()?).into_iter().find_map(is_epsilon)?;
    if epsilon.parse::<Ratio>().ok()? > Ratio::from(MOST_EPSILON) {
        return None;
    }
    let request = Request { epsilon: Some(epsilon), ..part.request.clone() };
    priced(request, part, "noise is that much smaller then, as far as this answer tells".to_string())
}

/// About how many rows there are where an answer was refused for having too few: of groups, what half of the refused ones have.
fn refused_rows(answer: &Answer) -> Option<u64> {
    let count = |rows: Option<i64>| Some(u64::try_from(rows?.max(0)).unwrap_or(0));
    if let Some(groups) = &answer.groups {
        let refused = groups.iter().filter(|group| group.outcome == Outcome::Refused);
        let mut rows: Vec<u64> = refused.filter_map(|group| count(group.rows)).collect();
        rows.sort_unstable();
        return rows.get(rows.len() / 2).copied();
    }
    if let Some(several) = &answer.several {
        let refused = several.iter().map(|named| &named.answer);
        return refused
            .filter(|one| one.outcome() == Outcome::Refused)
            .filter_map(|one| count(one.rows))
            .min();
    }
    // Of a list some quantiles may be there.
    let some_missing =
        || answer.value.as_ref().and_then(serde_json::Value::as_array)?.iter().find(|one| one.is_null());
    count(answer.rows).filter(|_| answer.outcome() == Outcome::Refused || some_missing().is_some())
}

/// The same with the least epsilon of one digit for which the rows are enough: the fewest that there may be, and where no epsilon will do
/// for so few, as many as there seem to be. What is enough is so for the noise of the next answer too, as often as its bar holds; of what
/// hangs on more than rows it is only known how many it takes.
fn with_more_epsilon(part: &Part, told: ToldRows) -> Option<MoreEpsilon> {
    let ToldRows { about, off } = told;
    let least = |rows: u64, takes: &dyn Fn(&Part) -> Option<u64>| -> Option<(Ratio, u64)> {
        let taken = |eps: &Ratio| {
            let request = Request { epsilon: Some(eps.to_string()), ..part.request.clone() };
            let (part, _) = Part::new(&request, &part.facts).ok()?;
            takes(&part)
        };
        let enough = |eps: &Ratio| taken(eps).is_some_and(|taken| taken <= rows);
        let eps = solve::smallest_of_digits(1, LEAST_POWER..1, enough)?;
        // What is asked for already was not enough.
        let before: Ratio = part.request.epsilon.as_deref()?.parse().ok()?;
        let rows = taken(&eps)?;
        (eps > before && eps <= Ratio::from(MOST_EPSILON)).then_some((eps, rows))
    };
    let assured = |part: &Part| part.task.rows_assured();
    let surely = least(about.saturating_sub(off), &assured);
    let is_sure = surely.is_some();
    let (eps, taken, word) = match surely.or_else(|| least(about, &assured)) {
        Some((eps, taken)) => (eps, taken, "enough"),
        None if assured(part).is_none() => {
            let (eps, taken) = least(about, &|part| part.task.rows_needed())?;
            (eps, taken, "needed")
        }
        None => return None,
    };
    let request = Request { epsilon: Some(eps.to_string()), ..part.request.clone() };
    let there =
        if part.group_by.is_empty() { "there are" } else { "the middle one of the refused groups has" };
    let give_or_take = if off > 0 { format!(", give or take {off}") } else { String::new() };
    let why = format!("{there} about {about} rows{give_or_take}, and {taken} are {word} at this epsilon");
    Some(MoreEpsilon { step: priced(request, part, why)?, is_sure })
}

/// Did hardly any row hold a value?
fn is_doubted(answer: &Answer) -> bool {
    let parts = answer.several.iter().flatten().filter_map(|named| named.answer.advice.as_ref());
    let groups = answer.groups.iter().flatten().filter_map(|group| group.advice.as_ref());
    let mut advice = answer.advice.iter().chain(parts).chain(groups);
    // A sum is released all the same, with what is to be known of its column.
    let bars = answer.groups.iter().flatten().filter_map(|group| group.error.as_ref()).chain(&answer.error);
    let given = |bar: &ErrorBar| {
        let clause =
            |condition: &Condition| matches!(condition, Condition::Given(text) if text.contains(DOUBT));
        bar.conditions().iter().any(clause)
    };
    advice.any(|advice| advice.contains(DOUBT)) || bars.into_iter().any(given)
}

/// What takes texts as they are, about the same rows.
fn histogram_of(request: &Request, column: &str, epsilon: &str) -> Request {
    Request {
        group_by: if request.group_by.iter().any(|by| by == column) {
            request.group_by.clone()
        } else {
            [request.group_by.clone(), vec![column.to_string()]].concat()
        },
        epsilon: Some(epsilon.to_string()),
        delta: Some(request.delta.clone().unwrap_or_else(|| "1e-6".to_string())),
        filter: request.filter.clone(),
        window: request.window.clone(),
        unit: request.unit.clone(),
        adjacency: request.adjacency.clone(),
        max_rows_per_unit: request.max_rows_per_unit.clone(),
        types: request.types.clone(),
        delimiter: request.delimiter.clone(),
        header: request.header,
        ..Request::new(Statistic::Histogram.name())
    }
}

/// Another question or mechanism, for the same epsilon.
fn by_other_means(part: &Part, answer: &Answer) -> Option<NextStep> {
    let request = &part.request;
    let statistic = Statistic::named(&request.statistic)?;
    // The column of an ecdf is the first that it groups by.
    let column =
        request.column.as_ref().or(request.group_by.first().filter(|_| statistic == Statistic::Ecdf));
    // What a schema or an expression makes a number is no text, even where it is missing in every row.
    let may_be_text = |column: &&String| {
        let place = part.facts.columns.iter().position(|one| one == *column);
        place.is_none_or(|place| part.facts.kind(place).is_none())
    };
    if let (Some(column), Some(epsilon), true) =
        (column.filter(may_be_text), &request.epsilon, is_doubted(answer))
    {
        let request = histogram_of(request, column, epsilon);
        return priced(request, part, "it counts the values, texts too".to_string());
    }
    match (statistic, part.mechanism()) {
        (Statistic::Mode, _) => {
            let request = Request {
                statistic: Statistic::Select.name().to_string(),
                mechanism: None,
                ..request.clone()
            };
            priced(request, part, "it names a value that nearly most rows have".to_string())
        }
        (Statistic::Top, _) => {
            let (column, epsilon) = (request.column.as_ref()?, request.epsilon.as_ref()?);
            let request = histogram_of(request, column, epsilon);
            priced(request, part, "it counts each value that enough rows have".to_string())
        }
        // Of so few rows a covariance tells nothing either.
        (Statistic::Correlation, _)
            if refused_rows(answer)
                .is_none_or(|rows| part.rows_needed().is_none_or(|needed| rows >= needed)) =>
        {
            let request = Request { statistic: Statistic::Covariance.name().to_string(), ..request.clone() };
            priced(request, part, "it takes no spread, only rows".to_string())
        }
        (Statistic::Median | Statistic::Quantile, "stable") => {
            let request = Request { mechanism: None, delta: None, ..request.clone() };
            priced(request, part, "it needs no rows that agree, only enough of them".to_string())
        }
        _ => None,
    }
}

/// A question that fewer rows answer: about all groups together, or how many rows there are, which is never refused.
fn plainer(part: &Part) -> Option<NextStep> {
    let request = &part.request;
    let own_keys = matches!(Statistic::named(&request.statistic)?, Statistic::Histogram | Statistic::Ecdf);
    if !request.group_by.is_empty() && !own_keys {
        let whole =
            Request { group_by: Vec::new(), keys: Vec::new(), max_groups_per_unit: None, ..request.clone() };
        let why = || "it is about the rows of all groups together".to_string();
        let without_delta = Request { delta: None, ..whole.clone() };
        return priced(without_delta, part, why()).or_else(|| priced(whole, part, why()));
    }
    let count = Request {
        filter: request.filter.clone(),
        window: request.window.clone(),
        epsilon: request.epsilon.clone(),
        unit: request.unit.clone(),
        adjacency: request.adjacency.clone(),
        types: request.types.clone(),
        delimiter: request.delimiter.clone(),
        header: request.header,
        ..Request::new(Statistic::Count.name())
    };
    priced(
        count,
        part,
        "it is never refused, and what takes more rows than it finds is then told for free".to_string(),
    )
}

fn priced(request: Request, part: &Part, why: String) -> Option<NextStep> {
    let plan = Plan::new(&request, &part.facts).ok()?;
    Some(NextStep { why, request, charge: Spent::from(plan.charge()) })
}

impl PlanError {
    /// The arguments that its hint says to give, each with a value that can be typed as it stands; what was probably meant first.
    pub(crate) fn fixes(&self) -> Vec<(Argument, String)> {
        let meant = self.meant().map(|(argument, value)| (argument, value.to_string()));
        let hinted = wording::options_in(self.next_step().unwrap_or_default());
        let hinted = hinted.into_iter().filter_map(|(option, value)| {
            let value = value.filter(|value| !value.contains(|c: char| c.is_ascii_uppercase()))?;
            Some((Argument::named(option.name)?, value.to_string()))
        });
        meant.into_iter().chain(hinted).chain(self.example()).collect()
    }

    /// The example that its hint gives of a number whose meaning hangs on no column: `such as 1 or 0.5`.
    fn example(&self) -> Option<(Argument, String)> {
        let free =
            [Argument::Epsilon, Argument::Delta, Argument::Confidence, Argument::Fraction, Argument::K];
        let argument =
            free.into_iter().find(|one| self.argument().is_some_and(|own| own.name == one.name()))?;
        let text = self.to_string();
        let (_, example) = text.split_once("such as ").or_else(|| text.split_once("a decimal like "))?;
        let value = example.split(' ').next()?.trim_end_matches([',', ';', '.']);
        Some((argument, value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ColumnType;
    use serde_json::json;

    fn facts() -> DataFacts {
        let columns = ["salary", "town"].map(String::from).to_vec();
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
    }

    fn asked(statistic: &str, epsilon: &str) -> Request {
        Request { column: Some("salary".into()), epsilon: Some(epsilon.into()), ..Request::new(statistic) }
    }

    fn refused(rows: i64) -> Answer {
        Answer::refused("too few rows").with_rows(Some(rows))
    }

    #[test]
    fn what_is_advised_after_a_refusal_takes_fewer_rows_than_there_are() {
        for (statistic, epsilon) in
            [("median", "0.01"), ("iqr", "0.02"), ("mean", "0.01"), ("sum", "0.01"), ("summary", "0.05")]
        {
            let plan = Plan::new(&asked(statistic, epsilon), &facts()).unwrap();
            assert!(plan.parts[0].rows_needed().unwrap() > 2000, "{statistic}");
            let step = plan.instead(&[refused(2000)]).unwrap_or_else(|| panic!("{statistic}"));
            let better = Plan::new(&step.request, &facts()).unwrap();
            // The number of rows that was told is off, and so is the one that decides next time.
            let off = plan.parts[0].task.rows_within();
            let more = plan.with_more_epsilon(ToldRows { about: 2000, off }).unwrap();
            assert_eq!(more.step, step, "{statistic}");
            let assured = better.parts[0].task.rows_assured().unwrap();
            assert!(better.parts[0].rows_needed().unwrap() < assured, "{statistic}: {step:?}");
            let fewest = if more.is_sure { 2000_u64.saturating_sub(off) } else { 2000 };
            assert!(assured <= fewest, "{statistic}: {off}, {step:?}");
            assert_eq!(step.charge, Spent::from(better.charge()));
            let step = plan.instead(&[refused(1)]).unwrap_or_else(|| panic!("{statistic}"));
            assert_eq!(step.request.statistic, "count", "{statistic}: nothing else helps a single row");
            let answered = Answer::released(json!(1), crate::bar::ErrorBar::exact()).with_rows(Some(2000));
            assert_eq!(plan.instead(&[answered]), None, "{statistic}");
        }
    }

    #[test]
    fn a_column_of_texts_is_counted_and_no_epsilon_is_advised() {
        let plan = Plan::new(&asked("mean", "0.5"), &facts()).unwrap();
        let texts = Answer::refused(format!(
            "too few rows (about 9 of about 5000 rows hold a number in 'salary': {DOUBT})"
        ));
        let step = plan.instead(&[texts.clone().with_rows(Some(9))]).unwrap();
        assert_eq!(
            (step.request.statistic.as_str(), step.request.group_by),
            ("histogram", vec!["salary".to_string()])
        );
        // "it counts the values of a column of texts" stood below `salary / 0`.
        let computed = Request { column: Some("salary / 0".into()), ..asked("mean", "0.5") };
        let computed = Plan::new(&computed, &facts()).unwrap();
        assert_eq!(computed.instead(&[texts.with_rows(Some(9))]).unwrap().request.statistic, "count");
        assert_eq!((step.charge.epsilon.as_str(), step.charge.delta.as_str()), ("0.5", "0.000001"));
    }

    #[test]
    fn other_means_are_named_where_rows_do_not_tell() {
        let mode = Request { delta: Some("1e-6".into()), ..asked("mode", "1") };
        let step = Plan::new(&mode, &facts()).unwrap().instead(&[Answer::refused("no value leads")]).unwrap();
        assert_eq!(
            (step.request.statistic.as_str(), step.request.delta.as_deref()),
            ("select", Some("1e-6"))
        );
        let stable =
            Request { delta: Some("1e-6".into()), mechanism: Some("stable".into()), ..asked("median", "1") };
        let step = Plan::new(&stable, &facts()).unwrap().instead(&[Answer::refused("too few")]).unwrap();
        assert_eq!(
            (step.request.mechanism, step.request.delta, step.charge.delta.as_str()),
            (None, None, "0")
        );
    }

    #[test]
    fn whatever_was_refused_has_a_next_step() {
        let step = |request: &Request| {
            let plan = Plan::new(request, &facts()).unwrap();
            plan.instead(&[Answer::refused("none found")]).unwrap().request
        };
        let groups =
            Request { group_by: vec!["town".into()], delta: Some("1e-6".into()), ..asked("mean", "1") };
        assert_eq!(step(&groups), asked("mean", "1"));
        let share = Request { column: Some("salary > 5".into()), ..asked("share", "1") };
        let filtered = Request { filter: Some("salary > 1".into()), ..share };
        assert_eq!(step(&filtered).filter.as_deref(), Some("salary > 1"));
        assert_eq!(step(&filtered).statistic, "count");
        let top = Request { k: Some("3".into()), delta: Some("1e-6".into()), ..asked("top", "1") };
        assert_eq!(step(&top).statistic, "histogram");
        // A summary that counted no row of a column of texts.
        let texts = Answer::refused(format!(
            "too few rows (about 3 of about 900 rows hold a number in 'salary': {DOUBT})"
        ));
        let part = |statistic, answer| crate::answer::Named {
            statistic,
            column: None,
            mechanism: "laplace",
            answer,
        };
        let count = Answer::released(json!(3), crate::bar::ErrorBar::exact()).with_rows(Some(3));
        let summary = Answer::summary(vec![part("count", count), part("mean", texts.with_rows(Some(3)))]);
        let plan = Plan::new(&asked("summary", "1"), &facts()).unwrap();
        assert_eq!(plan.instead(&[summary]).unwrap().request.statistic, "histogram");
    }

    #[test]
    fn a_wrong_request_is_mended_by_what_its_error_says_if_that_makes_a_plan() {
        let mended = |request: Request| {
            let error = Plan::new(&request, &facts()).unwrap_err();
            Plan::mended(&request, &facts(), &error).map(|step| step.request)
        };
        let column = Request { column: Some("salry".into()), ..asked("median", "1") };
        assert_eq!(mended(column), Some(asked("median", "1")));
        let no_delta = asked("mode", "1");
        assert_eq!(mended(no_delta.clone()), Some(Request { delta: Some("1e-6".into()), ..no_delta }));
        let no_epsilon = Request { epsilon: None, ..asked("median", "1") };
        assert_eq!(mended(no_epsilon), Some(asked("median", "1")));
        assert_eq!(mended(asked("median", "1e-9")).unwrap().epsilon.as_deref(), Some("0.0002"));
        assert_eq!(mended(asked("median", "-1")), Some(asked("median", "1")));
        let unnamed =
            |statistic: &str| Request { column: None, delta: Some("1e-6".into()), ..asked(statistic, "1") };
        assert_eq!(mended(unnamed("median")), None, "nobody knows which column holds numbers");
        assert_eq!(mended(unnamed("mode")).unwrap().column.as_deref(), Some("salary"), "the first column");
        let neither = Request { epsilon: None, ..unnamed("mode") };
        assert_eq!(mended(neither).unwrap().epsilon.as_deref(), Some("1"), "two things are missing");
        let typed = DataFacts { kinds: vec![Some(ColumnType::Float)], ..facts() };
        let error = Plan::new(&unnamed("median"), &typed).unwrap_err();
        let step = Plan::mended(&unnamed("median"), &typed, &error).unwrap();
        assert_eq!(step.request.column.as_deref(), Some("salary"), "the schema says that it holds numbers");
        assert_eq!(mended(asked("median", "much")).unwrap().epsilon.as_deref(), Some("0.5"));
        let list = Request { fraction: Some("0.5,0.25,0.5".into()), ..asked("quantile", "1") };
        assert_eq!(mended(list).unwrap().fraction.as_deref(), Some("0.25,0.5"));
        let few = Request { rows: Some("20".into()), ..asked("median", "1") };
        assert_eq!(mended(few).unwrap().epsilon.as_deref(), Some("5"));
        let coarse = Request { resolution: Some("0".into()), ..asked("median", "1") };
        assert_eq!(mended(coarse), Some(asked("median", "1")));
        let beyond = Request { fraction: Some("1.5".into()), ..asked("quantile", "1") };
        assert_eq!(mended(beyond).unwrap().fraction.as_deref(), Some("0.9"));
        // Placeholders are not values, and a mechanism that would fail for another reason is not advised.
        let range = |text: &str| Request { range: Some(text.into()), ..asked("median", "1") };
        assert_eq!(mended(range("9,1")), Some(range("1,9")));
        assert_eq!(mended(range("low,high")), Some(asked("median", "1")), "which takes none");
        let smooth = Request { mechanism: Some("smoth".into()), ..asked("median", "1") };
        assert_eq!(mended(smooth), Some(asked("median", "1")), "by the best one");
    }

    /// `quantile 0.1,0.5,0.9` of 342 rows read "too few rows, 4006, too few rows", and nothing said what would do.
    #[test]
    fn a_list_that_is_there_in_part_says_what_the_rest_takes() {
        let list = Request { fraction: Some("0.1,0.5".into()), ..asked("quantile", "1") };
        let plan = Plan::new(&list, &facts()).unwrap();
        let bar = || ErrorBar::ranks(0.95, &[100, 90]);
        let part = Answer::released(json!([null, 40]), bar()).with_rows(Some(400));
        let step = plan.instead(&[part]).expect("more epsilon");
        let better = Plan::new(&step.request, &facts()).unwrap();
        assert!(better.parts[0].task.rows_assured().unwrap() <= 400, "{step:?}");
        assert_eq!(plan.instead(&[Answer::released(json!([30, 40]), bar()).with_rows(Some(400))]), None);
    }

    #[test]
    fn an_epsilon_that_an_answer_worked_out_is_a_command() {
        let request = Request { y: Some("town".into()), ..asked("correlation", "1") };
        let plan = Plan::new(&request, &facts()).unwrap();
        let step = |advice: &str| plan.instead(&[Answer::refused(advice)]).unwrap().request;
        let more = step(
            "the values may all be the same: about 900 rows would do, or `epsilon=2.7`; a covariance takes less",
        );
        assert_eq!((more.statistic.as_str(), more.epsilon.as_deref()), ("correlation", Some("2.7")));
        for none in ["about 90000 rows would do, or `epsilon=270`", "raise epsilon, or declare `range`"] {
            assert_eq!(step(none).statistic, "covariance");
        }
    }

    /// The question that was typed, as it is written here; never another one.
    #[test]
    fn a_wrong_expression_is_mended_by_other_spellings_of_it() {
        let filtered = |filter: &str| Request { filter: Some(filter.into()), ..asked("mean", "1") };
        let mended = |request: Request| {
            let error = Plan::new(&request, &facts()).unwrap_err();
            Plan::mended(&request, &facts(), &error).map(|step| step.request)
        };
        for (typed, meant) in [
            ("salry > 5", Some("salary > 5")),
            ("salary > '60'", Some("salary > 60")),
            ("town = Ayr", Some("town = 'Ayr'")),
            ("town = \"Ayr\" && salary => 5", Some("town = 'Ayr' and salary >= 5")),
            ("lowr(town) = 'ayr'", Some("lower(town) = 'ayr'")),
            ("salary > 5 or", None),
            ("5 > 3", None),
            ("zzzzz > 5", None),
        ] {
            assert_eq!(mended(filtered(typed)), meant.map(filtered), "{typed}");
        }
        let column = |column: &str| Request { column: Some(column.into()), ..asked("mean", "1") };
        assert_eq!(mended(column("salry / 12")), Some(column("salary / 12")));
        let by = |key: &str| Request {
            group_by: vec!["town".into(), key.into()],
            delta: Some("1e-6".into()),
            ..asked("mean", "1")
        };
        assert_eq!(mended(by("rond(salary)")), Some(by("round(salary)")));
    }
}
