//! Calendar windows of rows: which ones a question is about, and the filter that takes every other row out.
//!
//! # Guarantee
//!
//! Where a limit renews by a column of days, a plan without stated windows is an error, and a plan with them sees no row whose day
//! lies in no stated window: the filter is made of the ledger's words alone, beside whatever whoever asks says in `where`. A row whose
//! day is missing or cannot be read lies in no window, and is taken out by itself.

use crate::{
    columns,
    error::PlanError,
    facts::DataFacts,
    request::Request,
    source::{ColumnRead, ColumnType},
    statistic::Argument,
    types::can_read,
};
use equipoise_core::wording;
use equipoise_ledger::{AskedWindows, DayColumn, Every, MOST_WINDOWS, Window, WindowFault, Windows};
use serde::{Deserialize, Serialize};

/// Calendar windows of rows, by a column of days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromisedWindows {
    /// How long each is: day, week, month, quarter or year, in UTC.
    pub every: String,
    /// The column of days.
    pub day: String,
    /// Their names, in order.
    pub names: Vec<String>,
}

const MICROSECONDS_OF_A_DAY: i64 = 86_400_000_000;

/// The windows that a question is about, where its data set has some.
pub(crate) fn asked(request: &Request, facts: &DataFacts) -> Result<Option<AskedWindows>, PlanError> {
    let about = |problem: String| PlanError::about(Argument::Window, problem);
    match (&facts.windows, request.window.as_deref()) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(about(format!(
            "'{}' has no limit that renews by a column of days, and so no windows:",
            wording::shown(&facts.name)
        ))
        .hint("leave out `window`, and say with `where` which rows take part")),
        (Some(windows), None) => {
            let (every, name) = (windows.every, wording::shown(&facts.name));
            let day = windows.day.as_ref().map_or(String::new(), |day| wording::shown(&day.name));
            let each = every.name();
            let problem =
                format!("'{name}' has a limit for each {each} of '{day}'; which of them is this about?");
            Err(about(problem).hint(format!("Give `window`, such as {}", every.example())))
        }
        (Some(windows), Some(text)) => {
            let asked = read(windows.every, text).ok_or_else(|| {
                let (every, shown) = (windows.every, wording::shown(text));
                about(format!("`window={shown}` is not accepted: '{}' has a limit for each {}", facts.name, every.name()))
                    .hint(format!(
                        "give one as {0}, several with commas, or from one to another as {0}..{1}, at most {MOST_WINDOWS}",
                        every.example(),
                        Window::named(every, every.example()).map_or(String::new(), |one| one.next().name())
                    ))
            })?;
            Ok(Some(AskedWindows { windows: windows.clone(), asked }))
        }
    }
}

/// The windows of a text, each once and in order: `2026-09,2026-11`, or `2026-07..2026-09`.
fn read(every: Every, text: &str) -> Option<Vec<Window>> {
    let mut found = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let (mut one, last) = (Window::named(every, first)?, Window::named(every, last)?);
        if one > last {
            return None;
        }
        loop {
            found.push(one);
            if found.len() > MOST_WINDOWS {
                return None;
            }
            // The last window that there is has none after it.
            if one == last {
                break;
            }
            one = one.next();
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// The cell that says in which window a row lies.
pub(crate) fn cell(windows: &Windows, facts: &DataFacts) -> Result<ColumnRead, PlanError> {
    let Some(day) = &windows.day else { unreachable!("only windows of rows are asked about") };
    let about = |problem: String| PlanError::about(Argument::Window, problem);
    let column = columns::place(&facts.columns, &day.name)
        .map_err(|error| about(format!("the limit renews by a column of days: {error}")))?;
    let kind = if day.moments { ColumnType::Timestamp } else { ColumnType::Date };
    if let Some(schema) = facts.kind(column).filter(|&schema| !can_read(schema, kind)) {
        let name = wording::shown(&day.name);
        return Err(about(format!(
            "the limit renews by '{name}' read as {kind}, and the schema says that it is of the type {schema};"
        ))
        .hint(format!("have its steward set the limit again with `day={name}`")));
    }
    Ok(ColumnRead { column, kind })
}

/// From which value to which a cell lies in one of the windows, both included.
pub(crate) fn ranges(asked: &AskedWindows) -> Vec<(i64, i64)> {
    let mut days: Vec<(i64, i64)> = Vec::new();
    for (first, last) in asked.asked.iter().map(|window| window.days()) {
        match days.last_mut() {
            Some(before) if before.1 + 1 == first => before.1 = last,
            _ => days.push((first, last)),
        }
    }
    let moments = asked.windows.day.as_ref().is_some_and(|day| day.moments);
    let of = |(first, last): (i64, i64)| {
        if moments {
            (first * MICROSECONDS_OF_A_DAY, (last + 1) * MICROSECONDS_OF_A_DAY - 1)
        } else {
            (first, last)
        }
    };
    days.into_iter().map(of).collect()
}

/// The same where nothing but a statistic is asked about windows of rows.
pub(crate) fn none(facts: &DataFacts) -> Result<(), PlanError> {
    let Some(Windows { every, day: Some(day) }) = &facts.windows else { return Ok(()) };
    let (name, every, day) = (facts.name.clone(), *every, day.name.clone());
    Err(PlanError::line(WindowFault::NotOfWindows { name, every, day }.to_string()))
}

/// For whom an answer about windows promises what it promises.
pub(crate) fn promised(asked: &AskedWindows) -> PromisedWindows {
    PromisedWindows {
        every: asked.windows.every.name().to_string(),
        day: asked.windows.day.as_ref().map_or(String::new(), |day| day.name.clone()),
        names: asked.asked.iter().map(|window| window.name()).collect(),
    }
}

impl PromisedWindows {
    /// In words: "the month 2026-11 of 'visited' (UTC)".
    pub fn words(&self) -> String {
        let (every, day) = (&self.every, wording::shown(&self.day));
        match self.names.as_slice() {
            [one] => format!("the {every} {one} of '{day}' (UTC)"),
            [few @ .., last] if few.len() < 6 => {
                format!("the {every}s {} and {last} of '{day}' (UTC)", few.join(", "))
            }
            many => {
                let ends = many.first().zip(many.last());
                let (first, last) = ends.map_or(("", ""), |(first, last)| (first, last));
                format!("{} {every}s of '{day}', {first} to {last} (UTC)", many.len())
            }
        }
    }

    /// What it leaves to whoever has rows in several windows.
    pub fn adds_up(&self) -> String {
        format!("whoever has rows in n {}s may lose n times the limit of one", self.every)
    }
}

/// The column of days that a steward names, alone or with what it holds as `visited=timestamp`; by the schema, and days otherwise.
pub fn day_column(
    said: &str,
    columns: &[String],
    declared: impl Fn(usize) -> Option<ColumnType>,
) -> Result<DayColumn, PlanError> {
    let (name, word) = match said.rsplit_once('=') {
        Some((name, word)) if !columns.iter().any(|column| column == said) => (name, Some(word)),
        _ => (said, None),
    };
    let about = |problem: String| PlanError::about_option("day", problem);
    let column = columns::place(columns, name).map_err(|error| about(error.to_string()))?;
    let said = match word {
        None => None,
        Some("date") => Some(ColumnType::Date),
        Some("timestamp") => Some(ColumnType::Timestamp),
        Some(word) => {
            return Err(about(format!(
                "a column of days holds date or timestamp, not {};",
                wording::shown(word)
            ))
            .hint(format!("give `day={}=timestamp`", wording::shown(name))));
        }
    };
    let schema = declared(column);
    let kind = said.or(schema.filter(|kind| kind.is_time())).unwrap_or(ColumnType::Date);
    if let Some(schema) = schema.filter(|&schema| !can_read(schema, kind)) {
        let problem =
            format!("the column '{}' is of the type {schema}, which is no {kind};", wording::shown(name));
        return Err(about(problem).hint("name a column of days or moments"));
    }
    Ok(DayColumn { name: name.to_string(), moments: kind == ColumnType::Timestamp })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(every: Every, moments: bool) -> Windows {
        Windows { every, day: Some(DayColumn { name: "visited".into(), moments }) }
    }

    fn facts(windows: Option<Windows>) -> DataFacts {
        let columns = ["visited", "person"].map(String::from).to_vec();
        DataFacts { name: "visits".into(), columns, registered: None, kinds: Vec::new(), windows }
    }

    fn names(every: Every, text: &str) -> Option<Vec<String>> {
        Some(read(every, text)?.into_iter().map(Window::name).collect())
    }

    #[test]
    fn windows_are_read_each_once_and_in_order() {
        let months = |text: &str| names(Every::Month, text);
        assert_eq!(months("2026-11").unwrap(), ["2026-11"]);
        assert_eq!(months("2026-11, 2026-09,2026-11").unwrap(), ["2026-09", "2026-11"]);
        assert_eq!(months("2025-12..2026-02,2026-01").unwrap(), ["2025-12", "2026-01", "2026-02"]);
        assert_eq!(names(Every::Quarter, "2026-Q4..2027-Q1").unwrap(), ["2026-Q4", "2027-Q1"]);
        for wrong in
            ["", "2026-13", "2026-11-01", "2026-11,", "2026-11..2026-09", "2026-11..", "1900-01..2026-01"]
        {
            assert_eq!(months(wrong), None, "{wrong}");
        }
        // The last window that there is ends the list.
        assert_eq!(names(Every::Year, "9998..9999").unwrap(), ["9998", "9999"]);
    }

    #[test]
    fn windows_are_asked_about_where_there_are_some_and_nowhere_else() {
        let request =
            |window: Option<&str>| Request { window: window.map(String::from), ..Request::new("count") };
        let month = facts(Some(windows(Every::Month, false)));
        let error = |request: &Request, facts: &DataFacts| asked(request, facts).unwrap_err().to_string();
        assert_eq!(asked(&request(None), &facts(None)), Ok(None));
        assert!(error(&request(None), &month).contains("such as 2026-11"));
        assert!(error(&request(Some("2026-11")), &facts(None)).contains("leave out `window`"));
        assert!(error(&request(Some("november")), &month).contains("2026-11..2026-12"));
        let two = asked(&request(Some("2026-11,2026-09")), &month).unwrap().unwrap();
        assert_eq!(ranges(&two), [(20_697, 20_726), (20_758, 20_787)]);
        assert_eq!(promised(&two).words(), "the months 2026-09 and 2026-11 of 'visited' (UTC)");
        let whole = asked(&request(Some("2026-01..2026-12")), &month).unwrap().unwrap();
        assert_eq!(ranges(&whole).len(), 1, "neighbours are one range");
        assert_eq!(promised(&whole).words(), "12 months of 'visited', 2026-01 to 2026-12 (UTC)");
        let day = facts(Some(windows(Every::Day, true)));
        let one = asked(&request(Some("1970-01-02")), &day).unwrap().unwrap();
        assert_eq!(ranges(&one), [(MICROSECONDS_OF_A_DAY, 2 * MICROSECONDS_OF_A_DAY - 1)]);
        assert!(none(&day).is_err() && none(&facts(None)).is_ok());
    }

    #[test]
    fn what_the_column_holds_is_said_or_declared() {
        let columns = ["visited", "a=b"].map(String::from);
        let of = |said: &str, kind: Option<ColumnType>| day_column(said, &columns, |_| kind);
        let read = |name: &str, moments: bool| Ok(DayColumn { name: name.into(), moments });
        assert_eq!(of("visited", None), read("visited", false));
        assert_eq!(of("visited", Some(ColumnType::Timestamp)), read("visited", true));
        assert_eq!(of("visited=timestamp", None), read("visited", true));
        assert_eq!(of("visited=timestamp", Some(ColumnType::Date)), read("visited", true));
        assert_eq!(of("a=b", None), read("a=b", false));
        for (wrong, kind) in [
            ("visit", None),
            ("visited=month", None),
            ("visited=date", Some(ColumnType::Timestamp)),
            ("visited", Some(ColumnType::Integer)),
        ] {
            assert!(of(wrong, kind).is_err(), "{wrong}");
        }
    }
}
