//! The statistics of the Python package are written by the table of statistics: `EQUIPOISE_WRITE_DOCS=1 cargo test --workspace --test
//! tidy python` writes them anew.

use super::{read, root};
use equipoise_session::statistic::{Argument, Heading, Statistic, Value};
use std::{fmt::Write as _, fs};

const FUNCTIONS: &str = "python/package/equipoise/_statistics.py";
const METHODS: &str = "python/package/equipoise/_methods.py";

/// What functions take besides the arguments of questions: where the charge is written down.
const BOOKS: &str = "    ledger: Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    apart: bool = False,
    request_id: str | None = None,
    anyway: bool = False,
";

/// What is said of them.
const BOOKS_HELP: &str = "    ``alpha``
        One minus the confidence, for who is used to that.
    ``ledger``, ``name``, ``analyst``, ``request_id``
        A file in which the charge is written down, the name that the budget of the data belongs to, who asks, and a
        name for this request: asking again under it gives the same answer for free, whatever rows data of that name has by
        now. Without a ledger an odometer of this process counts (:func:`spent`), and data in memory has no name to ask again
        about; questions about a file use the ledger beside it.
    ``apart``
        A limit beside or above a file covers it under whatever name, and is not walked around by another ledger, a link or a
        move. With ``apart=True`` it is counted apart, and both ledgers write that down.
    ``anyway``
        Ask although an earlier count of the same file, or in the same session, shows that there are too few rows, which is
        otherwise an error before the charge.
";

/// The type of a keyword.
fn annotation(argument: Argument) -> &'static str {
    match (argument.value(), argument) {
        (Value::Text, _) => "str",
        (Value::Number, _) => "Number",
        (Value::Numbers, Argument::Range | Argument::RangeY) => "tuple[Number, Number] | str",
        (Value::Numbers, _) => "Number | Sequence[Number]",
        (Value::Flag, _) => "bool",
        (Value::Texts, Argument::GroupBy) => "Sequence[str] | str",
        (Value::Texts, _) => "Sequence[str]",
        (Value::ByColumn, _) => "Mapping[str, str]",
    }
}

/// The keywords that a statistic takes, its price first; its column and its quantiles stand before them.
fn keywords(statistic: Statistic) -> Vec<Argument> {
    let mut keywords: Vec<Argument> =
        statistic.arguments().filter(|argument| argument.heading() != Heading::Asked).collect();
    keywords.sort_by_key(|argument| argument.heading() != Heading::Privacy);
    keywords
}

/// What stands before the column: which quantiles, how many values.
fn asked(statistic: Statistic) -> impl Iterator<Item = Argument> {
    let behind = [Argument::Column, Argument::Y];
    let asked = move |argument: &Argument| argument.heading() == Heading::Asked && !behind.contains(argument);
    statistic.arguments().filter(asked)
}

/// The keyword of an argument, and the name of the command line where that is another one.
fn spellings(argument: Argument) -> Vec<&'static str> {
    let other = match argument {
        Argument::Unit => Some("unit"),
        Argument::Types => Some("type"),
        _ => None,
    };
    std::iter::once(argument.keyword()).chain(other).collect()
}

/// The signature between the brackets, and what a session leaves out of it.
fn signature(statistic: Statistic, first: &str, left_out: &[Argument], books: &str) -> String {
    let mut text = format!("    {first},\n");
    for argument in asked(statistic) {
        writeln!(text, "    {}: {},", argument.keyword(), annotation(argument)).unwrap();
    }
    // Quantiles, and how many values, may stand behind the column, as on the command line.
    let swapped = match statistic {
        _ if statistic.takes(Argument::Fraction) => " | Number | Sequence[Number]",
        Statistic::Top => " | Number",
        _ => "",
    };
    writeln!(text, "    column: str{swapped} | None = None,").unwrap();
    // A second column stands behind the first.
    text.push_str(if statistic.takes(Argument::Y) {
        "    y: str | None = None,\n    *,\n"
    } else {
        "    *,\n"
    });
    for argument in keywords(statistic).into_iter().filter(|argument| !left_out.contains(argument)) {
        for name in spellings(argument) {
            writeln!(text, "    {name}: {} | None = None,", annotation(argument)).unwrap();
        }
    }
    text + "    alpha: Number | None = None,\n" + books
}

/// A help text that names arguments in backticks, as keywords.
fn with_keywords(text: &str) -> String {
    Argument::ALL.iter().fold(text.to_string(), |text, argument| {
        text.replace(&format!("`{}`", argument.name()), &format!("``{}``", argument.keyword()))
    })
}

/// A paragraph in lines of at most so many characters, each after the indent.
fn wrapped(text: &str, indent: &str) -> String {
    const WIDTH: usize = 118;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("a line");
        if !last.is_empty() && indent.len() + last.len() + 1 + word.len() > WIDTH {
            lines.push(word.to_string());
        } else {
            *last = if last.is_empty() { word.to_string() } else { format!("{last} {word}") };
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("{indent}{line}")).collect();
    lines.join("\n") + "\n"
}

fn documentation(statistic: Statistic) -> String {
    let spec = statistic.spec();
    let mut text = format!("    \"\"\"{}.\n\n", spec.about);
    for line in spec.python.lines() {
        let indent = if line.is_empty() { "" } else { "    " };
        writeln!(text, "{indent}{line}").unwrap();
    }
    text.push_str("\n    Keywords:\n\n");
    let second = statistic.takes(Argument::Y).then_some(Argument::Y);
    for argument in asked(statistic).chain(second).chain(keywords(statistic)) {
        let names: Vec<String> = spellings(argument).iter().map(|name| format!("``{name}``")).collect();
        writeln!(text, "    {}", names.join(", ")).unwrap();
        text.push_str(&wrapped(&format!("{}.", with_keywords(argument.help())), "        "));
    }
    text + BOOKS_HELP + "    \"\"\"\n"
}

fn functions() -> String {
    let names = Statistic::names().into_iter().chain(["quantiles"]);
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let mut text = String::from(
        "\"\"\"The statistics: one function each, on any kind of data. Written by the table of statistics; do not edit.

Every function takes a column of numbers (numpy, pandas, Polars, pyarrow, a list, anything that speaks Arrow) or a table
or the path of a file with the name of a column. All share their keywords.
\"\"\"

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ._ask import ask
from ._release import Release

Number = Union[float, int, str]
Path = Union[str, \"os.PathLike[str]\"]

__all__ = [{}]

#: Keywords as the words of a request, and what they are.
WORDS: dict[str, tuple[str, str]] = {
",
    )
    .replace("[{}]", &format!("[{}]", names.join(", ")));
    for argument in Argument::ALL.into_iter().filter(|argument| *argument != Argument::Column) {
        let kind = match argument.value() {
            Value::Text => "text",
            Value::Number => "number",
            Value::Numbers => "numbers",
            Value::Flag => "flag",
            Value::Texts => "texts",
            Value::ByColumn => "by column",
        };
        writeln!(text, "    \"{}\": (\"{}\", \"{kind}\"),", argument.keyword(), argument.name()).unwrap();
    }
    text.push_str("}\n");
    for statistic in Statistic::ALL {
        let name = statistic.name();
        let signature = signature(statistic, "data: Any", &[], BOOKS);
        let documentation = documentation(statistic);
        write!(
            text,
            "\n\ndef {name}(\n{signature}) -> Release:\n{documentation}    return ask(\"{name}\", locals())\n"
        )
        .unwrap();
    }
    text + "\n\nquantiles = quantile\n"
}

fn methods() -> String {
    let mut text = String::from(
        "\"\"\"The statistics as methods that plan. Written by the table of statistics; do not edit.\"\"\"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._session import Query
    from ._statistics import Number
",
    );
    let classes: [(&str, &str, &[Argument]); 2] = [
        ("Statistics", "Questions about all rows.", &[]),
        ("GroupStatistics", "Questions about each group.", &[Argument::GroupBy, Argument::Keys]),
    ];
    for (class, about, left_out) in classes {
        write!(
            text,
            "\n\nclass {class}:\n    \"\"\"{about}\"\"\"\n\n    def _plan(self, statistic: str, said: dict[str, Any]) -> Query:\n        \
             raise NotImplementedError\n"
        )
        .unwrap();
        for statistic in Statistic::ALL {
            if !left_out.iter().all(|&argument| statistic.takes(argument)) {
                continue;
            }
            let (name, spec) = (statistic.name(), statistic.spec());
            let signature = signature(statistic, "self", left_out, "");
            let signature: Vec<String> = signature.lines().map(|line| format!("    {line}")).collect();
            let signature = signature.join("\n") + "\n";
            write!(
                text,
                "\n    def {name}(\n{signature}    ) -> Query:\n        \"\"\"{}; keywords as of :func:`equipoise.{name}`.\"\"\"\n        \
                 return self._plan(\"{name}\", locals())\n",
                spec.about
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn python_has_every_argument_of_every_statistic() {
    for (path, wanted) in [(FUNCTIONS, functions()), (METHODS, methods())] {
        if std::env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
            fs::write(root().join(path), &wanted).expect("written");
        }
        assert!(
            read(path) == wanted,
            "{path} is not what the table of statistics says: EQUIPOISE_WRITE_DOCS=1 cargo test --workspace --test tidy python"
        );
    }
}
