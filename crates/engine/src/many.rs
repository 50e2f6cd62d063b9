//! Several files as one data set.

use crate::{
    open::{OpenOptions, open_file},
    problem::{OpenError, Problem},
};
use equipoise_session::source::{ColumnRead, ColumnType, Lost, Source, Visitor};
use std::path::PathBuf;

/// Files whose columns have the same names, in whatever order.
pub(crate) struct Many {
    files: Vec<PathBuf>,
    options: OpenOptions,
    columns: Vec<String>,
    declared: Vec<Option<ColumnType>>,
    unreadable: Vec<Option<String>>,
    /// By their places.
    only_text: Vec<bool>,
    wholes: Vec<bool>,
}

impl Many {
    /// Read every header or schema. Files are opened again one by one to be scanned, because many cannot be open at once.
    pub fn new(files: Vec<PathBuf>, options: &OpenOptions) -> Result<Self, OpenError> {
        let (first, rest) = files.split_first().expect("there is a file");
        let source = open_file(first, options)?;
        let columns = source.columns().to_vec();
        let places = 0..columns.len();
        let mut declared: Vec<Option<ColumnType>> =
            places.clone().map(|column| source.declared(column)).collect();
        let mut wholes: Vec<bool> = places.clone().map(|column| source.texts_are_wholes(column)).collect();
        let mut only_text: Vec<bool> = places.clone().map(|column| source.is_only_text(column)).collect();
        let mut unreadable: Vec<Option<String>> = places.map(|column| source.unreadable(column)).collect();
        for path in rest {
            let source = open_file(path, options)?;
            let there = places_in(&*source, &columns).map_err(|(column, missing)| OpenError {
                path: Some(path.clone()),
                problem: Problem::OtherColumns { column, missing, first: first.clone() },
            })?;
            for (column, &place) in there.iter().enumerate() {
                if source.declared(place) != declared[column] {
                    declared[column] = None;
                }
                wholes[column] &= source.texts_are_wholes(place);
                only_text[column] |= source.is_only_text(place);
                unreadable[column] = unreadable[column].take().or_else(|| source.unreadable(place));
            }
        }
        Ok(Self { options: options.clone(), columns, declared, unreadable, only_text, wholes, files })
    }
}

/// The place of each column in another source, or a name that only one of them has and whether the other lacks it.
fn places_in(source: &dyn Source, columns: &[String]) -> Result<Vec<usize>, (String, bool)> {
    let there = source.columns();
    let place =
        |name: &String| there.iter().position(|column| column == name).ok_or_else(|| (name.clone(), true));
    let places = columns.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    match there.iter().find(|name| !columns.contains(name)) {
        Some(more) => Err((more.clone(), false)),
        None => Ok(places),
    }
}

impl Source for Many {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        *self.declared.get(column)?
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.only_text.get(column) == Some(&true)
    }

    fn texts_are_wholes(&self, column: usize) -> bool {
        self.wholes.get(column) == Some(&true)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.unreadable.get(column)?.clone()
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        for path in &self.files {
            let source = open_file(path, &self.options).map_err(|_| Lost)?;
            let places = places_in(&*source, &self.columns).map_err(|_| Lost)?;
            let wanted: Vec<ColumnRead> =
                wanted.iter().map(|wanted| ColumnRead { column: places[wanted.column], ..*wanted }).collect();
            source.scan(&wanted, visitors)?;
        }
        Ok(())
    }
}
