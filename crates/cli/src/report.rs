//! `equipoise budget report`: one page for a privacy board, in Markdown or HTML, from the ledger alone.

mod page;

use crate::{
    Exit,
    args::{ReportFormat, ReportOptions},
    ask::{internal, ledger, usage},
    plot,
    show::{amount, left_words, printable},
};
use equipoise_engine::books::{data_name, ledger_path};
use equipoise_session::{
    ledger::{Account, Balance, DataSet, Entry, Event, InWindow, Ledger},
    log::{earlier_words, happened, renewing_words},
    meaning::{self, percent_of},
    release::{Promise, Release, Spent},
};
use page::{Block, Page};
use serde_json::Value;
use std::{collections::HashMap, ops::ControlFlow, path::Path};

/// Write the report, to a file or to standard output.
pub(crate) fn report(options: &ReportOptions) -> Result<Exit, Exit> {
    let path = ledger_path(options.ledger.as_deref(), options.file.as_deref());
    let format = options.out.as_deref().map(|out| format_of(out, options)).transpose()?;
    let format = format.or(options.format).unwrap_or(ReportFormat::Md);
    if let Some(out) = &options.out {
        plot::can_be_written("the report", out, &[&path, options.file.as_deref().unwrap_or(&path)])
            .map_err(usage)?;
    }
    let opened = Ledger::open_read_only(&path).map_err(ledger)?;
    let name = match &options.file {
        Some(file) => Some(data_name(file, options.name.as_deref(), &path).map_err(usage)?),
        None => None,
    };
    let page = page_of(&opened, name.as_deref())?;
    let text = match format {
        ReportFormat::Md => page.to_markdown(),
        ReportFormat::Html => page.to_html(),
    };
    match &options.out {
        None => print!("{text}"),
        Some(out) => plot::write(out, &text)
            .map_err(|error| internal(format!("the report could not be written: {error}")))?,
    }
    Ok(Exit::Done)
}

/// The format that the ending of a file says; it must not say another one than was asked for.
fn format_of(out: &Path, options: &ReportOptions) -> Result<ReportFormat, Exit> {
    let ending = out.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let format = match ending.as_deref() {
        Some("md" | "markdown") => ReportFormat::Md,
        Some("html" | "htm") => ReportFormat::Html,
        _ => return Err(usage("give --out a name that ends in .md or .html")),
    };
    if options.format.is_some_and(|asked| asked != format) {
        return Err(usage("--out ends in another format than --format asks for; leave --format out"));
    }
    Ok(format)
}

/// One charge, as a line of the page.
struct Charge {
    id: String,
    time: String,
    analyst: String,
    question: String,
    cost: Spent,
    total: Spent,
    /// Is it a part of the sum in force?
    counts: bool,
}

/// What the ledger says of each data set.
#[derive(Default)]
struct Read {
    charges: HashMap<String, Vec<Charge>>,
    /// What became of a charge, by its id.
    outcomes: HashMap<String, String>,
    /// What else happened to the limits of a data set.
    apart: HashMap<String, Vec<String>>,
    last: Option<(u64, String)>,
}

fn page_of(opened: &Ledger, name: Option<&str>) -> Result<Page, Exit> {
    let mut read = Read::default();
    opened
        .each_entry(name, &mut |entry| {
            read.take(entry);
            ControlFlow::Continue(())
        })
        .map_err(ledger)?;
    let known = opened.data_sets().map_err(ledger)?;
    let chosen: Vec<&DataSet> =
        known.iter().filter(|known| name.is_none_or(|name| name == known.name)).collect();
    if let Some(name) = name.filter(|_| chosen.is_empty()) {
        let name = printable(name);
        return Err(usage(format!(
            "{name} is not in this ledger yet; its first answer or 'budget set' enters it"
        )));
    }
    let mut page = Page::new("What was released, and what it tells about any one person");
    let (last, time) = read.last.clone().unwrap_or_default();
    page.push(Block::Words(format!(
        "Made from a ledger of {} data set{}, up to its entry {last} of {time}. It holds for what this ledger was charged: \
         copies of the data and other ledgers are not in it.",
        chosen.len(),
        if chosen.len() == 1 { "" } else { "s" }
    )));
    for data_set in chosen {
        section(&mut page, opened, data_set, &mut read).map_err(ledger)?;
    }
    page.push(Block::Head("How to check this page".to_string()));
    let head = opened.head().map_err(ledger)?;
    page.push(Block::Words(
        "'equipoise budget verify' recomputes the chain of entries, the sums and the limits; with the line below as --head it also \
         finds out whether the ledger is an older copy. 'equipoise explain' with a receipt has a paragraph about that release."
            .to_string(),
    ));
    page.push(Block::Words(format!("head {head}")));
    Ok(page)
}

impl Read {
    fn take(&mut self, entry: &Entry) {
        self.last = Some((entry.number, entry.time.clone()));
        let name = entry.data_set.clone().unwrap_or_default();
        match &entry.event {
            Event::Charged { cost, question, spent, .. } => {
                let charge = Charge {
                    id: entry.id.clone(),
                    time: entry.time.clone(),
                    analyst: entry.analyst.clone().unwrap_or_default(),
                    question: asked(question),
                    cost: Spent::from(&cost.approx),
                    total: Spent::from(&spent.approx),
                    counts: true,
                };
                self.charges.entry(name).or_default().push(charge);
            }
            Event::Recorded { release } => {
                let outcome = serde_json::from_str::<Release>(release)
                    .map_or("recorded by another version".to_string(), |release| meaning::outcome(&release));
                self.outcomes.insert(entry.id.clone(), outcome);
            }
            Event::Anew { .. } => {
                for charge in self.charges.entry(name.clone()).or_default() {
                    charge.counts = false;
                }
                self.apart.entry(name).or_default().push(format!(
                    "{}: {}",
                    entry.time,
                    happened(&entry.event)
                ));
            }
            Event::Limited { .. }
            | Event::Renews { .. }
            | Event::Apart(_)
            | Event::Gap { .. }
            | Event::Seen { .. } => {
                let whose = entry.analyst.as_ref().filter(|analyst| !analyst.is_empty());
                let whose =
                    whose.map_or(String::new(), |analyst| format!(" (analyst {})", printable(analyst)));
                let line = format!("{}: {}{whose}", entry.time, happened(&entry.event));
                self.apart.entry(name).or_default().push(line);
            }
            _ => {}
        }
    }
}

/// What was asked, in short.
fn asked(question: &str) -> String {
    let question: Value = serde_json::from_str(question).unwrap_or_default();
    let text = |name: &str| question[name].as_str();
    let of = text("column").map_or(String::new(), |column| format!(" of {}", printable(column)));
    let names = question["group_by"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let by: Vec<String> = names.map(printable).collect();
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
    let filter = text("where").map_or(String::new(), |filter| format!(", where {}", printable(filter)));
    let names = question["guarantee"]["windows"]["names"].as_array();
    let names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    let windows = if names.is_empty() { String::new() } else { format!(", in {}", names.join(", ")) };
    let filter = filter + &windows;
    format!("{}{of}{by}{filter}", printable(text("statistic").unwrap_or("a question of another version")))
}

fn section(
    page: &mut Page,
    opened: &Ledger,
    data_set: &DataSet,
    read: &mut Read,
) -> Result<(), equipoise_session::ledger::LedgerError> {
    let name = &data_set.name;
    let balance = opened.balance(name, None)?;
    let charges = read.charges.remove(name).unwrap_or_default();
    page.push(Block::Head(printable(name)));
    page.push(Block::Words(total(data_set, &balance, charges.iter().filter(|charge| charge.counts).count())));
    for earlier in opened.earlier(Some(name))? {
        page.push(Block::Words(earlier_words(&earlier, data_set)));
    }
    page.push(Block::Words(limits(&balance.data_set)));
    if let Some(renewing) = opened.renewing(name)? {
        let windows = opened.windows(name)?;
        page.push(Block::Words(format!("There is a {}.", renewing_words(&renewing))));
        if !windows.is_empty() {
            let rows = windows.iter().map(window_cells).collect();
            page.push(Block::Table { heads: vec!["window", "spent", "left"], rows });
        }
    }
    let mut analysts = Vec::new();
    for analyst in opened.analysts(name)? {
        let balance = opened.balance(name, Some(&analyst))?;
        analysts.push(analyst_cells(&analyst, &balance));
    }
    if !analysts.is_empty() {
        page.push(Block::Table { heads: vec!["analyst", "spent", "limit", "left"], rows: analysts });
    }
    page.push(Block::Table {
        heads: vec!["when", "who", "what", "outcome", "price", "in all", "receipt"],
        rows: charges.iter().map(|charge| cells(charge, &read.outcomes)).collect(),
    });
    let changes = read.apart.remove(name).unwrap_or_default();
    if !changes.is_empty() {
        page.push(Block::Words("Limits, and what was counted apart from them:".to_string()));
        page.push(Block::List(changes));
    }
    Ok(())
}

/// What all answers so far tell about one person, in plain words.
fn total(data_set: &DataSet, balance: &Balance, charges: usize) -> String {
    let spent = Spent::from(balance.spent());
    let promise = Promise {
        epsilon: spent.epsilon.clone(),
        delta: spent.delta.clone(),
        adjacency: data_set.adjacency.to_string(),
        unit: data_set.unit.to_string(),
        max_rows_per_unit: None,
        max_groups_per_unit: None,
        once_for_each_value: false,
        per_unit: false,
        composition: None,
        windows: None,
    };
    format!(
        "Protected is {}. All releases together, {charges} so far, cost {}. {}",
        meaning::protected_by(&promise),
        amount(&spent),
        meaning::surer(&promise)
            .replace("sees this", "sees all answers so far")
            .replace("from this", "from all answers so far")
    )
}

fn limits(account: &Account) -> String {
    match (&account.limit, account.remaining()) {
        (Some(limit), Some(left)) => {
            let share = share(account).map_or(String::new(), |share| format!("; {share} of it is spent"));
            format!(
                "The limit is {}{share}; left is {}.",
                left_words(&limit.into()),
                left_words(&(&left).into())
            )
        }
        _ => "There is no limit: nothing but the people who ask ends what is spent.".to_string(),
    }
}

/// How much of a limit is spent, in its first currency, in percent rounded up.
fn share(account: &Account) -> Option<String> {
    let (limit, spent) = (account.limit.as_ref()?, account.spent_of_limit()?);
    percent_of(spent.parts()[0].ratio().to_f64(), limit.parts()[0].ratio().to_f64())
}

/// A calendar window, what was spent in it and is left.
pub(crate) fn window_cells(one: &InWindow) -> Vec<String> {
    vec![
        one.window.to_string(),
        amount(&(&one.account.spent.approx).into()),
        one.account.remaining().map_or("no limit".to_string(), |left| left_words(&(&left).into())),
    ]
}

/// An analyst, and what was spent, is allowed and is left.
pub(crate) fn analyst_cells(analyst: &str, balance: &Balance) -> Vec<String> {
    let own = balance.analyst.as_ref();
    let limit = own.and_then(|own| own.limit.as_ref());
    vec![
        printable(analyst),
        own.map_or(String::new(), |own| amount(&(&own.spent.approx).into())),
        limit.map_or("none".to_string(), |limit| left_words(&limit.into())),
        balance.remaining().map_or("no limit".to_string(), |left| left_words(&(&left).into())),
    ]
}

fn cells(charge: &Charge, outcomes: &HashMap<String, String>) -> Vec<String> {
    let total = if charge.counts { amount(&charge.total) } else { "not counted any more".to_string() };
    vec![
        charge.time.clone(),
        printable(&charge.analyst),
        charge.question.clone(),
        outcomes.get(&charge.id).cloned().unwrap_or_else(|| "lost; the charge stands".to_string()),
        amount(&charge.cost),
        total,
        charge.id.chars().take(12).collect(),
    ]
}
