//! The names of options, and how each surface writes them.
//!
//! A text of the libraries names an option by its one name in backticks, alone or with a value: `` `range` ``,
//! `` `delta=1e-6` ``. Documents of JSON keep that; the command line and Python write it with [`on`], each as it is typed
//! there.

use super::MARK_SHOWN;
use std::borrow::Cow;

/// Where a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The `equipoise` command: `--range`, `--delta 1e-6`.
    CommandLine,
    /// The Python package: `range=`, `delta=1e-6`.
    Python,
}

/// How the value of an option is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Number,
    /// Some numbers with commas between them; a tuple in Python.
    Numbers,
    /// In quotes where a shell, or Python, needs them.
    Text,
    /// Always in quotes.
    Path,
    /// Some texts with commas between them; a list in Python.
    Texts,
    /// It has none; in Python it is `True`.
    Yes,
    /// It has none; in Python what it takes away is `False`.
    No,
    /// The command line knows it by its place, not by a flag.
    Place,
}

/// An option, by its one name and by what it is called where that differs.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionName {
    /// Its name in texts of the libraries and in documents of JSON.
    pub name: &'static str,
    /// Its flag without the two dashes.
    pub flag: &'static str,
    /// Its keyword in Python.
    pub keyword: &'static str,
    /// How its value is written.
    pub form: Form,
}

/// An option that is called the same everywhere.
const fn same(name: &'static str, form: Form) -> OptionName {
    OptionName { name, flag: name, keyword: name, form }
}

/// An option of several words.
const fn words(name: &'static str, flag: &'static str, form: Form) -> OptionName {
    OptionName { name, flag, keyword: name, form }
}

/// Every option that a text of the libraries may name.
pub const OPTIONS: &[OptionName] = &[
    // What a question takes.
    same("column", Form::Place),
    same("y", Form::Place),
    OptionName { name: "fraction", flag: "fraction", keyword: "q", form: Form::Place },
    same("k", Form::Place),
    same("where", Form::Text),
    same("window", Form::Text),
    OptionName { name: "unit", flag: "unit", keyword: "privacy_unit", form: Form::Text },
    words("max_rows_per_unit", "max-rows-per-unit", Form::Number),
    words("max_degree", "max-degree", Form::Number),
    same("columns", Form::Text),
    same("nodes", Form::Number),
    words("max_groups_per_unit", "max-groups-per-unit", Form::Number),
    words("per_unit", "per-unit", Form::Yes),
    same("epsilon", Form::Number),
    same("delta", Form::Number),
    same("adjacency", Form::Text),
    same("mechanism", Form::Text),
    words("target_error", "target-error", Form::Number),
    same("confidence", Form::Number),
    same("range", Form::Numbers),
    words("range_y", "range-y", Form::Numbers),
    same("on", Form::Texts),
    words("range_on", "range-on", Form::Numbers),
    same("resolution", Form::Number),
    same("bound", Form::Number),
    same("base", Form::Number),
    same("interval", Form::Yes),
    same("population", Form::Yes),
    words("no_quantiles", "no-quantiles", Form::Yes),
    same("rows", Form::Number),
    same("bins", Form::Number),
    words("quantile_bins", "quantile-bins", Form::Number),
    same("width", Form::Number),
    same("at", Form::Numbers),
    same("among", Form::Texts),
    words("group_by", "group-by", Form::Texts),
    same("keys", Form::Texts),
    // One column a time on the command line.
    OptionName { name: "types", flag: "type", keyword: "types", form: Form::Text },
    same("weight", Form::Number),
    // How data is read.
    same("delimiter", Form::Text),
    OptionName { name: "no_header", flag: "no-header", keyword: "header", form: Form::No },
    // Where it is charged.
    same("ledger", Form::Path),
    same("name", Form::Text),
    same("analyst", Form::Text),
    same("apart", Form::Yes),
    same("anew", Form::Yes),
    same("every", Form::Text),
    same("day", Form::Text),
    words("adds_up", "adds-up", Form::Yes),
    words("request_id", "request-id", Form::Text),
    // What is shown.
    words("dry_run", "dry-run", Form::Yes),
    same("anyway", Form::Yes),
    words("leave_out", "leave-out", Form::Numbers),
    // Monitors.
    words("budget_per_unit", "budget-per-unit", Form::Number),
    same("sums", Form::Yes),
    same("state", Form::Path),
    // Programs.
    same("output", Form::Text),
    same("options", Form::Texts),
    same("default", Form::Text),
    same("blocks", Form::Number),
    same("trim", Form::Number),
    same("rate", Form::Number),
    same("size", Form::Number),
    same("then", Form::Text),
    words("block_time", "block-time", Form::Number),
    words("allow_read", "allow-read", Form::Texts),
    words("unsafe_no_sandbox", "unsafe-no-sandbox", Form::Yes),
    // Mechanisms by themselves.
    same("form", Form::Text),
    same("steps", Form::Number),
    same("rho", Form::Number),
];

impl OptionName {
    /// The option of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// A text as one word of a shell.
    pub fn for_a_shell(text: &str) -> String {
        for_a_shell(text, Form::Text).into_owned()
    }

    /// A text as Python writes it.
    pub fn for_python(text: &str) -> String {
        quoted(text)
    }

    /// As it is typed on a surface, without a value or with one.
    pub fn written(&self, surface: Surface, value: Option<&str>) -> String {
        match (surface, self.form) {
            (Surface::CommandLine, Form::Place) => self.name.to_uppercase(),
            (Surface::CommandLine, form) => match value {
                Some(value) => format!("--{} {}", self.flag, for_a_shell(value, form)),
                None => format!("--{}", self.flag),
            },
            (Surface::Python, Form::Yes) => format!("{}=True", self.keyword),
            (Surface::Python, Form::No) => format!("{}=False", self.keyword),
            (Surface::Python, form) => {
                format!("{}={}", self.keyword, value.map_or(String::new(), |value| for_python(value, form)))
            }
        }
    }
}

/// A value as a shell takes it as one word.
fn for_a_shell(value: &str, form: Form) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_-.,:/=+%@".contains(c);
    if form != Form::Path && !value.is_empty() && value.chars().all(plain) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("'{}'", value.replace('\'', r"'\''")))
}

/// A value as an expression of Python.
fn for_python(value: &str, form: Form) -> String {
    match form {
        Form::Numbers => format!("({})", value.split(',').collect::<Vec<_>>().join(", ")),
        Form::Texts => format!("[{}]", value.split(',').map(quoted).collect::<Vec<_>>().join(", ")),
        Form::Text | Form::Path | Form::Place => quoted(value),
        Form::Number | Form::Yes | Form::No => value.to_string(),
    }
}

/// A text of Python, in the quotes that need the least escaping.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut quoted = String::from(quote);
    for c in text.chars() {
        if c == quote {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push(quote);
    quoted
}

/// A text of ours as it is read on a surface: options in backticks are written as they are typed there. Whatever else is in
/// backticks stays as it is.
pub fn on(surface: Surface, text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let (before, marked) = (&rest[..at], &rest[at + 1..]);
        written.push_str(before);
        let known = marked.find('`').and_then(|end| Some((option_in(&marked[..end])?, end)));
        if let Some(((option, value), end)) = known {
            written.push_str(&option.written(surface, value));
            rest = &marked[end + 1..];
        } else {
            // One backtick alone: the next may begin a name.
            written.push('`');
            rest = marked;
        }
    }
    written.push_str(rest);
    written
}

/// The options that a text of ours names, and their values.
pub fn options_in(text: &str) -> Vec<(&'static OptionName, Option<&str>)> {
    // What stands between backticks is every second piece; one that is alone changes which, and then no name fits.
    text.split('`').filter_map(option_in).collect()
}

/// The option between two backticks, and its value.
fn option_in(token: &str) -> Option<(&'static OptionName, Option<&str>)> {
    let (name, value) = match token.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (token, None),
    };
    OptionName::named(name).map(|option| (option, value))
}

/// An option with a value for a text of ours; the value is somebody else's, so that a backtick in it ends nothing.
pub fn option_with(name: &'static str, value: &str) -> String {
    format!("`{name}={}`", value.replace('`', MARK_SHOWN))
}

/// A problem and what to do about it, as one line.
pub fn with_hint(problem: &str, hint: &str) -> String {
    // A question, or a sentence, is at its end already; and a sentence that begins ends the one before.
    let between = match hint.starts_with("There are: ") {
        _ if problem.ends_with(['.', '?', ':']) => " ",
        true => ". ",
        false => "; ",
    };
    [problem, hint].join(between)
}

/// A message of somebody else's without a backtick that could be taken for one of ours: names are in plain quotes.
pub fn unmarked(text: &str) -> Cow<'_, str> {
    if text.contains('`') { Cow::Owned(text.replace('`', "'")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_written_as_it_is_typed() {
        for (text, command_line, python) in [
            (
                "declare `range` and `resolution`",
                "declare --range and --resolution",
                "declare range= and resolution=",
            ),
            (
                "give `delta=1e-6`, or `mechanism=stable`",
                "give --delta 1e-6, or --mechanism stable",
                "give delta=1e-6, or mechanism='stable'",
            ),
            ("leave out `unit`", "leave out --unit", "leave out privacy_unit="),
            ("`unit=the person`", "--unit 'the person'", "privacy_unit='the person'"),
            ("`unit=it's`", r"--unit 'it'\''s'", "privacy_unit=\"it's\""),
            ("`unit='\"`", r#"--unit ''\''"'"#, r#"privacy_unit='\'"'"#),
            ("or say `no_header`", "or say --no-header", "or say header=False"),
            ("`unsafe_no_sandbox` runs", "--unsafe-no-sandbox runs", "unsafe_no_sandbox=True runs"),
            ("say `anew`", "say --anew", "say anew=True"),
            ("`types`: no column", "--type: no column", "types=: no column"),
            ("`range=LO,HI`", "--range LO,HI", "range=(LO, HI)"),
            ("`among=a,b`", "--among a,b", "among=['a', 'b']"),
            ("`ledger=a.ledger`", "--ledger 'a.ledger'", "ledger='a.ledger'"),
            ("`fraction` is missing", "FRACTION is missing", "q= is missing"),
        ] {
            assert_eq!(on(Surface::CommandLine, text), command_line);
            assert_eq!(on(Surface::Python, text), python);
        }
    }

    #[test]
    fn what_is_no_option_stays_as_it_is() {
        for text in [
            "",
            "plain",
            "`",
            "``",
            "a `seed` b",
            "`equipoise calibrate`",
            "`ranges`",
            "`Range`",
            "`range",
            "`=1`",
            "` range`",
        ] {
            assert_eq!(on(Surface::CommandLine, text), text);
            assert_eq!(on(Surface::Python, text), text);
        }
        // A backtick that ends nothing does not hide the option behind it.
        assert_eq!(on(Surface::CommandLine, "a ` b `range`"), "a ` b --range");
        // What was written is not read again.
        assert_eq!(on(Surface::Python, &on(Surface::CommandLine, "`range`")), "--range");
    }

    #[test]
    fn a_backtick_of_somebody_else_is_no_mark() {
        assert_eq!(option_with("unit", "a`keys`"), r"`unit=a\u{60}keys\u{60}`");
        assert_eq!(on(Surface::CommandLine, &option_with("unit", "a`keys`")), r"--unit 'a\u{60}keys\u{60}'");
        assert_eq!(unmarked("unknown field `epsilon`"), "unknown field 'epsilon'");
        for name in ["`range`", "x`epsilon`y", "`"] {
            let text =
                format!("'{}' and '{}'", crate::wording::shown(name), crate::wording::visible_name(name));
            assert!(!text.contains('`') && on(Surface::CommandLine, &text) == text, "{text}");
        }
    }

    #[test]
    fn every_option_has_one_name() {
        let mut names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), OPTIONS.len());
        for option in OPTIONS {
            assert!(option.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{option:?}");
            assert!(option.flag.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{option:?}");
        }
    }
}
