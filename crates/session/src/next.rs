//! The next step after a refusal, or after a request that cannot be planned: a whole question that would do, with its price.

use crate::{
    promise::{Remaining, Spent},
    request::Request,
    statistic::{Argument, Column, Statistic, Value},
};
use equipoise_core::{
    ratio::Ratio,
    wording::{OptionName, Surface},
};
use serde::{Deserialize, Serialize};

/// A question that can be asked instead, made of public facts and of what was released.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    /// Why it would do, as a clause.
    pub why: String,
    /// The whole question.
    pub request: Request,
    /// What the ledger would be charged.
    pub charge: Spent,
}

impl NextStep {
    /// The same; where a limit leaves less than it costs, it says so.
    pub(crate) fn under(self, left: Option<&Remaining>) -> Self {
        let parse = |text: &str| text.parse::<Ratio>().ok();
        let more = |price: &str, left: Option<&String>| {
            let (price, left) = (parse(price)?, parse(left?)?);
            (price > left).then(|| left.to_short_down(6, 12))
        };
        let Some(left) = left else { return self };
        let short = match more(&self.charge.epsilon, left.epsilon.as_ref()) {
            Some(epsilon) => format!("epsilon {epsilon}"),
            None => match more(&self.charge.delta, Some(&left.delta)) {
                Some(delta) => format!("delta {delta}"),
                None => return self,
            },
        };
        Self { why: format!("{}; the limit leaves {short}", self.why), ..self }
    }

    /// As it is typed: a command line, or a call of Python. `data` is what the data is called there; the rest of a command line
    /// (which ledger, whose question) is for whoever knows it.
    pub fn written(&self, surface: Surface, data: &str) -> String {
        let request = &self.request;
        let name = &request.statistic;
        let places = by_place(request);
        let options = Argument::ALL.into_iter().filter_map(|argument| option(request, argument, surface));
        let reading = reading(request, surface);
        match surface {
            Surface::CommandLine => {
                let places = places.iter().map(|(_, place)| OptionName::for_a_shell(place));
                let data = OptionName::for_a_shell(data);
                let words = ["equipoise".to_string(), name.clone(), data].into_iter();
                words.chain(places).chain(options).chain(reading).collect::<Vec<_>>().join(" ")
            }
            Surface::Python => {
                let place = |(argument, text): &(Argument, String)| match argument {
                    Argument::Fraction => format!("[{text}]"),
                    Argument::K => text.clone(),
                    _ => OptionName::for_python(text),
                };
                let words = [data.to_string()].into_iter().chain(places.iter().map(place));
                format!("eq.{name}({})", words.chain(options).chain(reading).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The columns of a histogram or an ecdf, which are its keys, and by what it is grouped apart from them.
fn own_keys(request: &Request) -> Option<(&[String], &[String])> {
    let spec = Statistic::named(&request.statistic)?.spec();
    if spec.column != Column::Keys || request.column.is_some() {
        return None;
    }
    let binned = [Argument::Bins, Argument::Width, Argument::QuantileBins];
    let one = spec.statistic == Statistic::Ecdf || binned.iter().any(|&argument| request.says(argument));
    let own = if one { request.group_by.len().min(1) } else { request.group_by.len() };
    Some(request.group_by.split_at(own))
}

/// What the command line and Python know by its place: the column, and which quantiles.
fn by_place(request: &Request) -> Vec<(Argument, String)> {
    let column = match own_keys(request) {
        Some((own, _)) => Some(own.join(",")),
        None => request.column.clone(),
    };
    let (y, fraction, k) = (request.y.clone(), request.fraction.clone(), request.k.clone());
    let places =
        [(Argument::Column, column), (Argument::Y, y), (Argument::Fraction, fraction), (Argument::K, k)];
    places.into_iter().filter_map(|(argument, text)| Some((argument, text?))).collect()
}

/// An option that was given, as it is typed.
fn option(request: &Request, argument: Argument, surface: Surface) -> Option<String> {
    let by_place = [Argument::Column, Argument::Y, Argument::Fraction, Argument::K];
    if by_place.contains(&argument) || !request.says(argument) {
        return None;
    }
    let option = argument.option();
    if argument == Argument::GroupBy
        && let Some((_, others)) = own_keys(request)
    {
        return (!others.is_empty()).then(|| option.written(surface, Some(&others.join(","))));
    }
    match argument.value() {
        Value::Flag => Some(option.written(surface, None)),
        Value::ByColumn => Some(match surface {
            Surface::CommandLine => {
                let each = |(column, kind): (&String, &String)| {
                    option.written(surface, Some(&format!("{column}={kind}")))
                };
                request.types.iter().map(each).collect::<Vec<_>>().join(" ")
            }
            Surface::Python => {
                let each = |(column, kind): (&String, &String)| {
                    format!("{}: {}", OptionName::for_python(column), OptionName::for_python(kind))
                };
                let types = request.types.iter().map(each).collect::<Vec<_>>().join(", ");
                format!("{}={{{types}}}", option.keyword)
            }
        }),
        _ => Some(option.written(surface, Some(&request.text(argument)?))),
    }
}

/// How a file of text is read, where that was said; Python reads data that is there.
fn reading(request: &Request, surface: Surface) -> Vec<String> {
    if surface == Surface::Python {
        return Vec::new();
    }
    let option = |name| OptionName::named(name).expect("an option of reading");
    let delimiter = request.delimiter.as_deref().map(|text| option("delimiter").written(surface, Some(text)));
    let header = (request.header == Some(false)).then(|| option("no_header").written(surface, None));
    delimiter.into_iter().chain(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn step(request: Request) -> NextStep {
        let charge = Spent { epsilon: "1".to_string(), delta: "0".to_string() };
        NextStep { why: String::new(), request, charge }
    }

    #[test]
    fn a_step_that_no_limit_leaves_room_for_says_so() {
        let left = |epsilon: &str| Remaining {
            epsilon: Some(epsilon.into()),
            rho: None,
            order: None,
            divergence: None,
            delta: "0".into(),
        };
        let why = |left: Option<&Remaining>, delta: &str| {
            let charge = Spent { epsilon: "1".into(), delta: delta.into() };
            let step = NextStep { why: "it counts".into(), charge, ..step(Request::new("count")) };
            step.under(left).why
        };
        assert_eq!(why(None, "0.1"), "it counts");
        assert_eq!(why(Some(&left("1")), "0"), "it counts");
        assert_eq!(why(Some(&left("0.75")), "0"), "it counts; the limit leaves epsilon 0.75");
        assert_eq!(why(Some(&left("1")), "0.1"), "it counts; the limit leaves delta 0");
    }

    #[test]
    fn a_whole_question_is_written_as_it_is_typed() {
        let request = Request {
            column: Some("gross pay".into()),
            fraction: Some("0.1,0.9".into()),
            filter: Some("town = 'Ayr'".into()),
            range: Some("0,500".into()),
            interval: Some(true),
            group_by: vec!["town".into(), "year".into()],
            types: BTreeMap::from([("hired".to_string(), "date".to_string())]),
            epsilon: Some("2".into()),
            delimiter: Some(";".into()),
            header: Some(false),
            unit: Some("person".into()),
            ..Request::new("quantile")
        };
        assert_eq!(
            step(request.clone()).written(Surface::CommandLine, "my pay.csv"),
            r"equipoise quantile 'my pay.csv' 'gross pay' 0.1,0.9 --where 'town = '\''Ayr'\''' --unit person --epsilon 2 --range 0,500 --interval --group-by town,year --type hired=date --delimiter ';' --no-header"
        );
        assert_eq!(
            step(request).written(Surface::Python, "data"),
            r#"eq.quantile(data, 'gross pay', [0.1,0.9], where="town = 'Ayr'", privacy_unit='person', epsilon=2, range=(0, 500), interval=True, group_by=['town', 'year'], types={'hired': 'date'})"#
        );
        let keys =
            Request { group_by: vec!["town".into()], epsilon: Some("1".into()), ..Request::new("histogram") };
        assert_eq!(
            step(keys.clone()).written(Surface::CommandLine, "a.csv"),
            "equipoise histogram a.csv town --epsilon 1"
        );
        assert_eq!(step(keys).written(Surface::Python, "data"), "eq.histogram(data, 'town', epsilon=1)");
    }
}
