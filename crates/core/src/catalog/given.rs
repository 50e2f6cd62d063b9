//! Parameters as they were given: names checked against a mechanism's list, values read one at a time.

use super::{ALL, Entry, names::FORMER};
use crate::{
    adjacency::Adjacency,
    loss::{Delta, Eps, ParameterError},
    ratio::Ratio,
    stability::Range,
    wording,
};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// Why a mechanism could not be calibrated. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// A value is not accepted.
    Parameter(ParameterError),
    /// A name is not known, missing or given twice.
    Name(String),
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(error) => error.fmt(f),
            Self::Name(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for CatalogError {}

impl From<ParameterError> for CatalogError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

impl CatalogError {
    pub(super) fn unknown_mechanism(name: &str) -> Self {
        let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        let (shown, all) = (wording::shown(name), "`equipoise calibrate --list` shows all names");
        if let Some((_, now)) = FORMER.iter().find(|(former, _)| *former == name) {
            return Self::Name(format!("the mechanism '{shown}' is called {now}; {all}"));
        }
        let hint = wording::nearest(name, &names);
        Self::Name(format!("no mechanism is called '{shown}'{hint} {all}"))
    }
}

/// The range as two whole numbers; `None` where nothing was said.
pub(super) fn optional_whole_range(given: &Given) -> Result<Option<Range>, CatalogError> {
    let text = given.text("range");
    if text.is_empty() {
        return Ok(None);
    }
    let ends = text.split_once(',').and_then(|(lo, hi)| lo.trim().parse().ok().zip(hi.trim().parse().ok()));
    let accepted = "give LO,HI as two whole numbers, counted in steps of the rows' own grid";
    let (lo, hi) = ends.ok_or_else(|| ParameterError::out_of_range("range", text, accepted))?;
    Ok(Some(Range::new(lo, hi)?))
}

/// The same where it must be said.
pub(super) fn whole_range(given: &Given) -> Result<Range, CatalogError> {
    let accepted = "give LO,HI as two whole numbers";
    optional_whole_range(given)?.ok_or_else(|| ParameterError::out_of_range("range", "''", accepted).into())
}

/// The epsilon for something wanted, or that there is none.
pub(super) fn required(name: &'static str, wanted: &Ratio, eps: Option<Eps>) -> Result<Eps, CatalogError> {
    let accepted = "no epsilon up to 1000 is that accurate; allow more";
    eps.ok_or_else(|| ParameterError::out_of_range(name, wanted, accepted).into())
}

/// What was given for a mechanism, defaults filled in.
#[derive(Clone, Debug)]
pub struct Given {
    values: BTreeMap<&'static str, String>,
}

impl Given {
    /// Match names with the entry's parameters. Between words stand hyphens, or underscores as in Python.
    pub fn new(
        entry: &Entry,
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, CatalogError> {
        let mut values = BTreeMap::new();
        let names: Vec<&str> = entry.parameters.iter().map(|parameter| parameter.name).collect();
        for (name, value) in pairs {
            let hyphens = name.replace('_', "-");
            let Some(parameter) = entry.parameters.iter().find(|parameter| parameter.name == hyphens) else {
                let shown = wording::shown(&name);
                let hint = wording::nearest(&name, &names);
                let taken = names.join(", ");
                let text = format!("{} takes no parameter '{shown}'{hint} It takes {taken}", entry.name);
                return Err(CatalogError::Name(text));
            };
            if values.insert(parameter.name, value).is_some() {
                return Err(CatalogError::Name(format!("{} was given '{hyphens}' twice", entry.name)));
            }
        }
        for parameter in entry.parameters {
            if values.contains_key(parameter.name) {
                continue;
            }
            let Some(default) = parameter.default else {
                let text = format!("{} needs {} ({})", entry.name, parameter.name, parameter.about);
                return Err(CatalogError::Name(text));
            };
            values.insert(parameter.name, default.to_string());
        }
        Ok(Self { values })
    }

    /// The text of a parameter; empty means that nothing was said.
    pub fn text(&self, name: &'static str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Was anything said?
    pub fn said(&self, name: &'static str) -> bool {
        !self.text(name).is_empty()
    }

    /// A parameter that reads itself.
    pub fn read<T: FromStr<Err = ParameterError>>(&self, name: &'static str) -> Result<T, CatalogError> {
        Ok(self.text(name).parse()?)
    }

    /// Epsilon.
    pub fn eps(&self) -> Result<Eps, CatalogError> {
        self.read("epsilon")
    }

    /// Delta.
    pub fn delta(&self) -> Result<Delta, CatalogError> {
        self.read("delta")
    }

    /// Any exact number.
    pub fn ratio(&self, name: &'static str) -> Result<Ratio, CatalogError> {
        self.text(name).parse().map_err(|reason| ParameterError::NotANumber { name, reason }.into())
    }

    /// A whole number of at least one.
    pub fn count(&self, name: &'static str) -> Result<u64, CatalogError> {
        let refused =
            || ParameterError::out_of_range(name, self.text(name), "give a whole number of at least 1");
        self.text(name).parse().ok().filter(|&count| count > 0).ok_or_else(|| refused().into())
    }

    /// One of a few words.
    pub fn choice<T: Copy>(
        &self,
        name: &'static str,
        options: &[(&str, T)],
        accepted: &'static str,
    ) -> Result<T, CatalogError> {
        let found = options.iter().find(|(word, _)| *word == self.text(name));
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| ParameterError::out_of_range(name, self.text(name), accepted).into())
    }

    /// Yes or no.
    pub fn flag(&self, name: &'static str) -> Result<bool, CatalogError> {
        self.choice(name, &[("true", true), ("false", false)], "write true or false")
    }

    /// The adjacency.
    pub fn adjacency(&self) -> Result<Adjacency, CatalogError> {
        let options = [("add-remove", Adjacency::AddRemove), ("replace", Adjacency::Replace)];
        self.choice("adjacency", &options, "write add-remove or replace")
    }

    /// A part of a whole: above zero and below one.
    pub fn share(&self, name: &'static str) -> Result<Ratio, CatalogError> {
        let share = self.ratio(name)?;
        if share.is_positive() && share < Ratio::one() {
            return Ok(share);
        }
        Err(ParameterError::out_of_range(name, share, "give a number between 0 and 1, such as 1/2").into())
    }

    /// This part of epsilon.
    pub fn part(&self, share: &Ratio) -> Result<Eps, CatalogError> {
        Ok(Eps::new(self.eps()?.ratio() * share)?)
    }

    /// The part of epsilon that this parameter names, and the rest.
    pub fn split(&self, name: &'static str) -> Result<(Eps, Eps), CatalogError> {
        let share = self.share(name)?;
        Ok((self.part(&share)?, self.part(&(Ratio::one() - share))?))
    }

    /// One minus the confidence.
    pub fn beta(&self) -> Result<Ratio, CatalogError> {
        let confidence = self.ratio("confidence")?;
        if confidence.is_positive() && confidence < Ratio::one() {
            return Ok(Ratio::one() - confidence);
        }
        let accepted = "give a number between 0 and 1, such as 0.95";
        Err(ParameterError::out_of_range("confidence", confidence, accepted).into())
    }
}
