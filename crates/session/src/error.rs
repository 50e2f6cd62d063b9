//! Why a request cannot be planned: about which argument, what is wrong, and what to do.

use crate::{columns::UnknownColumn, statistic::Argument};
use equipoise_core::{
    loss::ParameterError,
    wording::{self, OptionName},
};
use std::fmt;

/// A request that cannot be planned. Free, because it depends on public facts only. `Display` is one line, in which options
/// are named for no surface yet: [`wording::on`] writes them as they are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    argument: Option<&'static OptionName>,
    problem: String,
    hint: Option<String>,
    /// Did a mechanism get too little of epsilon? Then the text names a share that nobody typed.
    of_a_share: bool,
    /// Line and column of what was typed.
    position: Option<(usize, usize)>,
    /// What was probably meant.
    meant: Option<Box<(Argument, String)>>,
}

/// How a line ends that says of a column that its schema makes it texts.
pub(crate) const HOLDS_TEXT: &str = "holds text";

impl PlanError {
    /// What is wrong with no argument in particular.
    pub(crate) fn line(problem: impl Into<String>) -> Self {
        Self {
            argument: None,
            problem: problem.into(),
            hint: None,
            of_a_share: false,
            position: None,
            meant: None,
        }
    }

    /// What is wrong with an argument of a question, or with its absence.
    pub(crate) fn about(argument: Argument, problem: impl Into<String>) -> Self {
        Self { argument: Some(argument.option()), ..Self::line(problem) }
    }

    /// The same for an option that is no argument of questions.
    pub(crate) fn about_option(name: &'static str, problem: impl Into<String>) -> Self {
        let argument = OptionName::named(name);
        debug_assert!(argument.is_some(), "no option is called {name}");
        Self { argument, ..Self::line(problem) }
    }

    /// What to do about it.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// At this line and column of what was typed.
    #[must_use]
    pub(crate) fn at(self, position: Option<(usize, usize)>) -> Self {
        Self { position, ..self }
    }

    /// An argument with this value is probably what was meant, or would do.
    #[must_use]
    pub(crate) fn meaning(self, argument: Argument, value: Option<impl Into<String>>) -> Self {
        Self { meant: value.map(|value| Box::new((argument, value.into()))), ..self }
    }

    /// What was probably meant.
    pub(crate) fn meant(&self) -> Option<(Argument, &str)> {
        self.meant.as_deref().map(|(argument, value)| (*argument, value.as_str()))
    }

    /// The line and column, each from one on, of an expression where it is wrong.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.position
    }

    /// The column that an argument names is not there, or there twice.
    pub(crate) fn no_column(argument: Argument, error: &UnknownColumn) -> Self {
        let (problem, hint) = error.parts();
        Self::about(argument, problem).hint(hint).meaning(argument, error.nearest())
    }

    /// A name that is not among those known.
    pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let nearest = wording::nearest(name, known);
        let problem = format!("no {what} is called '{}'", wording::shown(name));
        let (problem, meant) = wording::and_nearest(&problem, &nearest);
        let names: Vec<String> = known.iter().map(ToString::to_string).collect();
        let error = Self { argument: OptionName::named(what), ..Self::line(problem) }
            .hint(format!("{meant}There are: {}", list(&names)));
        match Argument::named(what) {
            Some(argument) => error.meaning(argument, wording::nearest_of(name, known)),
            None => error,
        }
    }

    /// The same error, found in what this text names.
    #[must_use]
    pub(crate) fn within(self, place: impl fmt::Display) -> Self {
        Self { problem: format!("{place}: {}", self.problem), ..self }
    }

    /// The same error, found in an argument of a question.
    #[must_use]
    pub(crate) fn within_argument(self, argument: Argument) -> Self {
        let within = self.within(format_args!("`{}`", argument.name()));
        Self { argument: Some(argument.option()), ..within }
    }

    /// Is a column of texts asked for numbers, by its schema?
    pub(crate) fn is_of_texts(&self) -> bool {
        self.problem.ends_with(HOLDS_TEXT)
    }

    /// Did a mechanism get too little of epsilon?
    pub(crate) fn is_of_a_share(&self) -> bool {
        self.of_a_share
    }

    /// The option that it is about, where it is about one.
    pub fn argument(&self) -> Option<&'static OptionName> {
        self.argument
    }

    /// What to do, where there is one thing; it may name options for [`wording::on`].
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => f.write_str(&wording::with_hint(&self.problem, hint)),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for PlanError {}

impl From<ParameterError> for PlanError {
    fn from(error: ParameterError) -> Self {
        const SHARED: [&str; 3] = ["epsilon", "noise scale", "noise variance"];
        let of_a_share = matches!(&error, ParameterError::OutOfRange { name, .. } if SHARED.contains(name));
        let argument = match error.name() {
            "quantile" => OptionName::named(Argument::Fraction.name()),
            name => OptionName::named(&name.replace(' ', "_")),
        };
        let (problem, hint) = error.parts();
        Self { argument, hint: Some(hint), of_a_share, ..Self::line(problem) }
    }
}

/// Some names in a line.
pub(crate) fn list(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut text = names.iter().take(MOST).map(|name| wording::shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(", ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_its_parts_and_one_line() {
        let error = PlanError::about(Argument::Range, "the range is empty").hint("give `range=LO,HI`");
        assert_eq!(error.to_string(), "the range is empty; give `range=LO,HI`");
        assert_eq!(error.argument().map(|option| option.name), Some("range"));
        assert_eq!(error.next_step(), Some("give `range=LO,HI`"));
        let inside = error.within("question 2");
        assert_eq!(inside.to_string(), "question 2: the range is empty; give `range=LO,HI`");
        assert_eq!(inside.next_step(), Some("give `range=LO,HI`"));
        let asked = PlanError::line("how much?").hint("Give `epsilon`");
        assert_eq!((asked.to_string().as_str(), asked.argument()), ("how much? Give `epsilon`", None));
    }

    #[test]
    fn parameters_and_names_say_which_argument_they_are() {
        let eps = "0".parse::<equipoise_core::loss::Eps>().unwrap_err();
        let line = eps.to_string();
        let error = PlanError::from(eps);
        assert_eq!((error.to_string(), error.argument().map(|option| option.name)), (line, Some("epsilon")));
        assert!(error.next_step().unwrap().starts_with("give a number above 0"), "{error}");
        for (typed, line) in [
            ("stabel", "no mechanism is called 'stabel'; did you mean 'stable'? There are: laplace, stable"),
            ("x", "no mechanism is called 'x'. There are: laplace, stable"),
        ] {
            let error = PlanError::unknown("mechanism", typed, &["laplace", "stable"]);
            assert_eq!(error.to_string(), line);
            assert_eq!(error.argument().map(|option| option.name), Some("mechanism"));
            assert!(error.next_step().unwrap().ends_with("There are: laplace, stable"));
        }
    }
}
