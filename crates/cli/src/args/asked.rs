//! The verbs of the command line that ask about a file: one for each row of the table of statistics.

use super::{Books, Reading, Showing, column_and_type};
use crate::typed;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, value_parser};
use equipoise_session::{
    request::Request,
    statistic::{Argument, Column, Heading, Statistic, Value},
};
use std::{collections::BTreeMap, path::PathBuf};

/// A question about a file, and how it is read, charged and shown.
#[derive(Debug)]
pub(crate) struct QuestionCommand {
    /// What was asked.
    pub request: Request,
    /// CSV, Parquet or Arrow: a file, a folder, a pattern, or - for standard input.
    pub file: PathBuf,
    pub books: Books,
    pub showing: Showing,
}

const FILE: &str = "file";
/// Quantiles are named by their place or by this flag.
const FRACTION_FLAG: &str = "fraction-flag";

impl Subcommand for QuestionCommand {
    fn augment_subcommands(command: Command) -> Command {
        Statistic::ALL.into_iter().fold(command, |command, statistic| command.subcommand(verb(statistic)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Statistic::named(name).is_some()
    }
}

impl FromArgMatches for QuestionCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, given) = matches.subcommand().ok_or_else(missing)?;
        let statistic = Statistic::named(name).ok_or_else(missing)?;
        let reading = Reading::from_arg_matches(given)?;
        let request = Request {
            delimiter: reading.delimiter,
            header: reading.no_header.then_some(false),
            ..said(statistic, given)
        };
        Ok(Self {
            request,
            file: given.get_one::<PathBuf>(FILE).cloned().ok_or_else(missing)?,
            books: Books::from_arg_matches(given)?,
            showing: Showing::from_arg_matches(given)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The verb of a statistic, with its arguments and its help.
fn verb(statistic: Statistic) -> Command {
    let spec = statistic.spec();
    let file = Arg::new(FILE).value_name("FILE").required(true).value_parser(value_parser!(PathBuf)).help(
        "CSV (plain, .gz or .zst), Parquet or Arrow: a file, a folder, a pattern in quotes, or - for standard input; a table of SQLite: 'sqlite:FILE?table=NAME'",
    );
    let command = statistic.arguments().fold(Command::new(spec.name).arg(file), |command, argument| {
        let has_flag = argument == Argument::Range && statistic.takes(Argument::Fraction);
        let command = if has_flag { command.arg(fraction_flag()) } else { command };
        command.arg(option(statistic, argument))
    });
    // The groups of options bring a description of their own.
    let command = Showing::augment_args(Books::augment_args(Reading::augment_args(command)));
    command.about(spec.about).after_help(spec.examples)
}

/// An argument: by its place, or as a flag under its heading.
fn option(statistic: Statistic, argument: Argument) -> Arg {
    let help = match (argument, statistic.spec().column) {
        (Argument::Column, Column::Optional) => {
            "Count the fields of this column that are not empty, instead of all records"
        }
        (Argument::Column, Column::Keys) => "The column, or several as town,year",
        (argument, _) => argument.help(),
    };
    let arg = Arg::new(argument.name()).help(typed(help)).value_name(argument.placeholder());
    let heading = match argument.heading() {
        Heading::Asked => return arg,
        Heading::Rows => "Rows",
        Heading::Privacy => "Privacy",
        Heading::Values => "Values",
        Heading::Groups => "Groups",
        Heading::Reading => "Reading",
    };
    let arg = arg.long(argument.flag()).help_heading(heading);
    match argument.value() {
        // A condition may begin with a minus.
        Value::Text if argument == Argument::Where => arg.allow_hyphen_values(true),
        Value::Text => arg,
        // What is grouped by is one text, which may be the name of a column with a comma in it.
        Value::Texts if argument == Argument::GroupBy => arg,
        Value::Number | Value::Numbers => arg.allow_hyphen_values(true),
        Value::Flag => arg.action(ArgAction::SetTrue).value_name(None::<&str>),
        Value::Texts => arg.allow_hyphen_values(true).value_delimiter(',').action(ArgAction::Append),
        Value::ByColumn => arg.value_parser(column_and_type).action(ArgAction::Append),
    }
}

fn fraction_flag() -> Arg {
    Arg::new(FRACTION_FLAG)
        .long("fraction")
        .aliases(["quantile", "q"])
        .value_name("P")
        .conflicts_with(Argument::Fraction.name())
        .allow_hyphen_values(true)
        .help("The same as a flag")
        .help_heading("Values")
}

/// What was given, as a request.
fn said(statistic: Statistic, given: &ArgMatches) -> Request {
    let mut request = Request::new(statistic.name());
    for argument in statistic.arguments() {
        let text = || given.get_one::<String>(argument.name()).cloned();
        let texts = || given.get_many::<String>(argument.name()).into_iter().flatten().cloned().collect();
        match argument.value() {
            Value::Flag => request.set_flag(argument, given.get_flag(argument.name())),
            Value::ByColumn => {
                let types = given.get_many::<(String, String)>(argument.name());
                request.types = by_column(types.into_iter().flatten());
            }
            Value::Texts => request.set_texts(argument, texts()),
            Value::Numbers if argument == Argument::Fraction => {
                let flag = given.get_one::<String>(FRACTION_FLAG).cloned();
                request.set_text(argument, text().or(flag));
            }
            Value::Text | Value::Number | Value::Numbers => request.set_text(argument, text()),
        }
    }
    // The columns of a histogram are its group keys, the first ones where it has others.
    if statistic.spec().column == Column::Keys && request.group_by.is_empty() {
        request.group_by = request.column.take().into_iter().collect();
    }
    request
}

/// Types by column. A column with two types has none that there is.
pub(crate) fn by_column<'a>(
    types: impl IntoIterator<Item = &'a (String, String)>,
) -> BTreeMap<String, String> {
    let mut by_column: BTreeMap<String, String> = BTreeMap::new();
    for (column, name) in types {
        by_column
            .entry(column.clone())
            .and_modify(|known| *known = format!("{known} and {name}"))
            .or_insert_with(|| name.clone());
    }
    by_column
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every argument of every statistic can be given, and arrives where a request has it.
    #[test]
    fn every_argument_of_every_statistic_is_taken_by_its_verb() {
        let program = QuestionCommand::augment_subcommands(Command::new("equipoise"));
        for statistic in Statistic::ALL {
            for argument in statistic.arguments() {
                let mut line =
                    vec!["equipoise".to_string(), statistic.name().to_string(), "data.csv".to_string()];
                match argument {
                    Argument::Column => line.push("c".to_string()),
                    Argument::Y => line.extend(["c".to_string(), "d".to_string()]),
                    Argument::Fraction => line.extend(["c".to_string(), "0.5".to_string()]),
                    Argument::K => line.extend(["c".to_string(), "3".to_string()]),
                    argument => line.push(format!("--{}", argument.flag())),
                }
                match argument.value() {
                    Value::ByColumn => line.push("c=date".to_string()),
                    Value::Flag => {}
                    _ if argument.heading() == Heading::Asked => {}
                    _ => line.push("1".to_string()),
                }
                let matches = program.clone().try_get_matches_from(&line);
                let matches = matches.unwrap_or_else(|error| panic!("{line:?}: {error}"));
                let asked = QuestionCommand::from_arg_matches(&matches).expect("a question");
                let is_key = argument == Argument::Column && statistic.spec().column == Column::Keys;
                let arrived = if is_key { Argument::GroupBy } else { argument };
                assert!(asked.request.says(arrived), "{statistic} {}", argument.name());
            }
        }
    }
}
