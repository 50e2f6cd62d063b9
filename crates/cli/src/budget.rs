//! `equipoise budget`: what was spent, limits, and whether the ledger holds together.

use crate::{
    Exit,
    args::{
        BooksOptions, BudgetCommand, ClockOptions, InitOptions, LimitOptions, ShowOptions, VerifyOptions,
    },
    ask::{internal, ledger, open, unopened, usage},
    elsewhere, fail,
    pages::{Listed, Pages},
    report::{self, analyst_cells, window_cells},
    show::{amount, left_words, printable, width},
    standing,
};
use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Delta, Zcdp},
};
use equipoise_engine::{
    STANDARD_INPUT,
    books::{Account, LookupError, content_of, data_name, ledger_path},
};
use equipoise_session::{
    columns,
    ledger::{
        Accountant, Balance, DataSet, DayColumn, Earlier, Elsewhere, Every, Head, InWindow, Ledger,
        LedgerError, Limit, Renewing, Standing, VerifyError, Windows, check_analyst,
    },
    log,
    meaning::graph_unit,
    release::{Remaining, Spent, WindowStanding},
    windows,
};
use serde_json::{Value, json};
use std::{io::Read, path::Path};

pub(crate) fn run(command: &BudgetCommand) -> Exit {
    let done = |()| Exit::Done;
    let outcome = match command {
        BudgetCommand::Show(options) => show(options).map(done),
        BudgetCommand::Set(options) => set(options).map(done),
        BudgetCommand::Report(options) => report::report(options),
        BudgetCommand::Log(options) => log(options),
        BudgetCommand::Clock(options) => clock(options).map(done),
        BudgetCommand::Verify(options) => verify(options).map(done),
        BudgetCommand::Export(options) => export(options),
        BudgetCommand::Init(options) => init(options).map(done),
    };
    outcome.unwrap_or_else(|exit| exit)
}

/// A ledger in a database, and who may charge it.
fn init(options: &InitOptions) -> Result<(), Exit> {
    Ledger::make_on_server(&options.ledger, &options.role).map_err(ledger)?;
    println!(
        "made; charge it as {} with --ledger, for which its address names that role",
        printable(&options.role)
    );
    Ok(())
}

/// A word of the steward: the clock is right.
fn clock(options: &ClockOptions) -> Result<(), Exit> {
    let path = ledger_path(options.ledger.as_deref(), None);
    drop(Ledger::open_read_only(&path).map_err(ledger)?);
    let mut opened = Ledger::open(&path).map_err(unopened)?;
    let time = opened.confirm_clock(&options.is, None).map_err(|error| fail(&error, error.exit_code()))?;
    println!("written down at {time}; charges count in the windows of this time");
    Ok(())
}

/// The ledger for looking, and the name of the file if one was given.
fn look(options: &BooksOptions) -> Result<(Ledger, Option<String>), Exit> {
    let path = ledger_path(options.ledger.as_deref(), options.file.as_deref());
    let opened = Ledger::open_read_only(&path).map_err(ledger)?;
    let name = match &options.file {
        Some(file) if elsewhere::is_address(file) => {
            Some(elsewhere::account(file, options.name.as_deref(), Some(&path))?.name)
        }
        Some(file) => Some(data_name(file, options.name.as_deref(), &path).map_err(usage)?),
        None => None,
    };
    Ok((opened, name))
}

/// So many charges are looked at one by one without being asked to; sums stand in the last of any number.
const FEW: u32 = 10_000;

/// How an account stands under each accountant, or under those whose sums stand in its last charge.
fn standing_of(
    opened: &Ledger,
    data_set: &DataSet,
    balance: &Balance,
    all: bool,
) -> Result<Standing, LedgerError> {
    // A limit at an order of Renyi is read from all charges anyway.
    let at_order = matches!(balance.data_set.limit, Some(Limit::Renyi(_)));
    if !all && !at_order && opened.has_more_charges(&data_set.name, FEW)? {
        return Ok(Standing::of_sums(&balance.data_set));
    }
    Ok(Standing::new(&balance.data_set, &opened.charges(&data_set.name, None)?))
}

fn show(options: &ShowOptions) -> Result<(), Exit> {
    let (all, options) = (options.accountants, &options.books);
    let (opened, name) = look(options)?;
    let registered = opened.data_sets().map_err(ledger)?;
    let chosen = registered.iter().filter(|data_set| name.as_ref().is_none_or(|name| *name == data_set.name));
    let mut rows = Vec::new();
    for data_set in chosen {
        let balance = opened.balance(&data_set.name, None).map_err(ledger)?;
        let standing = standing_of(&opened, data_set, &balance, all).map_err(ledger)?;
        let earlier = opened.earlier(Some(&data_set.name)).map_err(ledger)?;
        let mut analysts = Vec::new();
        for analyst in opened.analysts(&data_set.name).map_err(ledger)? {
            let balance = opened.balance(&data_set.name, Some(&analyst)).map_err(ledger)?;
            analysts.push((analyst, balance));
        }
        let renewing = opened.renewing(&data_set.name).map_err(ledger)?;
        let windows = match renewing {
            Some(renewing) => Some((renewing, opened.windows(&data_set.name).map_err(ledger)?)),
            None => None,
        };
        rows.push(Shown { data_set, standing, balance, earlier, analysts, windows });
    }
    if let Some(name) = name.filter(|_| rows.is_empty()) {
        return Err(usage(format!(
            "{} is not in this ledger yet; its first answer or 'budget set' enters it",
            printable(&name)
        )));
    }
    if options.json {
        let all: Vec<Value> = rows
            .iter()
            .map(|Shown { data_set, standing, balance, earlier, analysts, windows }| {
                json!({
                    "data": data_set.name,
                    "adjacency": data_set.adjacency.to_string(),
                    "unit": data_set.unit.to_string(),
                    "spent": Spent::from(balance.spent()),
                    "limit": balance.limit().as_ref().map(Remaining::from),
                    "remaining": balance.remaining().as_ref().map(Remaining::from),
                    "analysts": analysts.iter().map(analyst_json).collect::<Vec<_>>(),
                    "renewing": windows.as_ref().map(|(renewing, _)| log::renewing_json(renewing)),
                    "windows": windows.iter().flat_map(|(_, all)| all).map(WindowStanding::from).collect::<Vec<_>>(),
                    "accountants": standing::to_json(standing),
                    "earlier": log::earlier_json(earlier),
                })
            })
            .collect();
        println!("{:#}", Value::Array(all));
        return Ok(());
    }
    show_table(&rows);
    for Shown { data_set, standing, earlier, analysts, windows, .. } in &rows {
        if let Some((renewing, windows)) = windows {
            println!("\n{}: {}", printable(&data_set.name), log::renewing_words(renewing));
            if !windows.is_empty() {
                let mut table = table(&["window", "spent", "left"]);
                for one in windows {
                    table.add_row(window_cells(one));
                }
                println!("{table}");
            }
        }
        if !analysts.is_empty() {
            let mut table = table(&["analyst", "spent", "limit", "left"]);
            for (analyst, balance) in analysts {
                table.add_row(analyst_cells(analyst, balance));
            }
            println!("\n{}, by analyst:\n{table}", printable(&data_set.name));
        }
        println!("\n{}", standing::words(standing, &data_set.name));
        for earlier in earlier {
            println!("{}", log::earlier_words(earlier, data_set));
        }
    }
    Ok(())
}

/// A data set, how it stands, what was spent on it for another unit or adjacency, its analysts, and its calendar windows.
struct Shown<'a> {
    data_set: &'a DataSet,
    standing: Standing,
    balance: Balance,
    earlier: Vec<Earlier>,
    analysts: Vec<(String, Balance)>,
    windows: Option<(Renewing, Vec<InWindow>)>,
}

/// What one analyst spent, may spend and has left.
fn analyst_json((analyst, balance): &(String, Balance)) -> Value {
    let own = balance.analyst.as_ref();
    json!({
        "analyst": analyst,
        "spent": own.map(|own| Spent::from(&own.spent.approx)),
        "limit": own.and_then(|own| own.limit.as_ref()).map(Remaining::from),
        "remaining": balance.remaining().as_ref().map(Remaining::from),
    })
}

fn show_table(rows: &[Shown<'_>]) {
    let mut table = table(&["data", "adjacency", "unit", "spent", "limit", "left"]);
    for Shown { data_set, balance, .. } in rows {
        let or_none =
            |limit: Option<Limit>| limit.map_or("none".to_string(), |limit| left_words(&(&limit).into()));
        table.add_row([
            printable(&data_set.name),
            data_set.adjacency.to_string(),
            printable(&data_set.unit.to_string()),
            amount(&balance.spent().into()),
            or_none(balance.limit()),
            balance.remaining().map_or("no limit".to_string(), |left| left_words(&(&left).into())),
        ]);
    }
    println!("{table}");
}

fn set(options: &LimitOptions) -> Result<(), Exit> {
    let every = options.every.as_deref().map(every).transpose()?;
    if every == Some(None) {
        return lift(options);
    }
    let limit = limit_of(options)?;
    let asked: Option<Adjacency> = options.adjacency.as_deref().map(str::parse).transpose().map_err(usage)?;
    let named = options.unit.as_ref().map(|unit| named_in_header(unit, &options.file)).transpose()?;
    if let Some(analyst) = &options.analyst {
        check_analyst(analyst).map_err(usage)?;
    }
    let file = &*options.file;
    let (given, ledger_file) = (options.name.as_deref(), options.ledger.as_deref());
    // The rows of a table in an engine are not read to be recognised.
    let in_engine = elsewhere::is_address(file);
    let account = if in_engine {
        elsewhere::account(file, given, ledger_file)?
    } else {
        Account::registered(file, given, ledger_file).map_err(|error| looking(&error))?
    };
    let name = account.name.clone();
    let mut content = if in_engine { None } else { content_of(file).map_err(usage)? };
    // Before anything is entered: what covers the same files is for the steward to know.
    let elsewhere = if in_engine { Vec::new() } else { counted_elsewhere(&account, file)? };
    let renewing = renewing_of(options, every.flatten(), (&name, asked), &limit)?;
    let mut opened = account.open().map_err(unopened)?;
    let known = opened.data_set(&name).map_err(ledger)?;
    let adjacency = asked.or(known.as_ref().map(|known| known.adjacency)).unwrap_or_default();
    let unit = named.or(known.as_ref().map(|known| known.unit.clone())).unwrap_or_default();
    let data_set = DataSet { name: name.clone(), unit, adjacency };
    if let Some(renewing) = &renewing {
        // Before anything is entered.
        renewing.check(&data_set, options.adds_up).map_err(usage)?;
    }
    let earlier = match &known {
        Some(_) => {
            opened.begin_anew(&data_set, options.anew).map_err(|error| fail(&error, error.exit_code()))?
        }
        None => None,
    };
    if options.anew && earlier.is_none() {
        eprintln!(
            "equipoise: note: {} counts for {} already; nothing begins anew",
            printable(&name),
            data_set.words()
        );
    }
    let registration = opened
        .register(&data_set, content.as_mut().map(|content| content as &mut dyn Read))
        .map_err(|error| fail(&error, error.exit_code()))?;
    match &renewing {
        Some(_) => opened.set_renewing(&name, renewing.as_ref(), options.adds_up, None),
        None => opened.set_limit(&name, options.analyst.as_deref(), Some(&limit)).map(|_| ()),
    }
    .map_err(|error| fail(&error, error.exit_code()))?;
    let same =
        registration.same_content.iter().map(|other| format!("{} has the same content", printable(other)));
    for what in same.chain(elsewhere.iter().cloned()) {
        eprintln!("equipoise: warning: {what}; what is spent there is spent on the same people");
    }
    let balance = opened.balance(&name, options.analyst.as_deref()).map_err(ledger)?;
    // As it was written down, which may be a little less than what was said.
    let own = balance.analyst.as_ref().unwrap_or(&balance.data_set);
    if let (Some(limit), Some(spent)) = (&own.limit, own.spent_of_limit())
        && !limit.allows(&spent)
    {
        let spent = left_words(&(&spent).into());
        eprintln!(
            "equipoise: warning: {spent} is spent already, more than this limit, so that no question fits; set a larger one"
        );
    }
    if options.json {
        let left = balance.remaining().as_ref().map(Remaining::from);
        let document = json!({
            "data": name, "analyst": options.analyst, "limit": own.limit.as_ref().map(Remaining::from),
            "spent": Spent::from(balance.spent()), "remaining": left, "same_content": registration.same_content,
            "elsewhere": elsewhere,
            "renewing": renewing.as_ref().map(log::renewing_json),
            "earlier": log::earlier_json(&opened.earlier(Some(&name)).map_err(ledger)?),
        });
        println!("{document:#}");
    } else {
        let whose = options.analyst.as_ref().map_or(String::new(), |analyst| format!(" for {analyst}"));
        let left = balance.remaining().map_or("no limit".to_string(), |left| left_words(&(&left).into()));
        match &renewing {
            Some(renewing) => println!("{}: {}", printable(&name), log::renewing_words(renewing)),
            None => {
                println!("{}{whose}: limit {}, {left} left", printable(&name), left_words(&(&limit).into()));
            }
        }
        if let Some(earlier) = earlier.filter(|earlier| earlier.charges > 0) {
            println!("{}", log::earlier_words(&earlier, &data_set));
        }
    }
    Ok(())
}

/// What may be spent.
fn limit_of(options: &LimitOptions) -> Result<Limit, Exit> {
    let delta: Delta = options.delta.as_deref().map_or(Ok(Delta::zero()), str::parse).map_err(usage)?;
    match (&options.epsilon, &options.rho) {
        (Some(eps), None) => {
            let accountant = accountant(options.accountant.as_deref())?;
            Limit::within(&eps.parse().map_err(usage)?, &delta, accountant).map_err(usage)
        }
        (None, Some(rho)) => {
            let delta = Approx::new(&"1".parse().map_err(usage)?, &delta).delta;
            Ok(Limit::Zcdp(Zcdp { delta, ..Zcdp::new(&rho.parse().map_err(usage)?) }))
        }
        _ => Err(usage("a limit is in epsilon or in rho; give --epsilon or --rho")),
    }
}

/// The limit for each window, where one was asked for, looked at before there is a ledger; what is registered is looked at later.
fn renewing_of(
    options: &LimitOptions,
    every: Option<Every>,
    (name, adjacency): (&str, Option<Adjacency>),
    limit: &Limit,
) -> Result<Option<Renewing>, Exit> {
    let Some(every) = every else { return Ok(None) };
    let renewing = Renewing { windows: Windows { every, day: day(options)? }, limit: limit.clone() };
    let said = DataSet { name: name.to_string(), unit: Unit::Row, adjacency: adjacency.unwrap_or_default() };
    renewing.check(&said, options.adds_up).map_err(usage)?;
    Ok(Some(renewing))
}

/// How long windows are, or never.
fn every(word: &str) -> Result<Option<Every>, Exit> {
    match word {
        "never" => Ok(None),
        word => word.parse().map(Some).map_err(|()| {
            let shown = equipoise_core::wording::shown(word);
            usage(format!("no window is called '{shown}'; give --every day, week, month, quarter or year, or never to lift it"))
        }),
    }
}

/// The column of days, where one was named. It holds for long, so a slip is caught here.
fn day(options: &LimitOptions) -> Result<Option<DayColumn>, Exit> {
    let Some(said) = &options.day else { return Ok(None) };
    if elsewhere::is_address(&options.file) {
        return Err(usage(
            "a limit by a column of days is for tables that are read here; extract the table to a file first",
        ));
    }
    let source = open(&options.file, None, None)?;
    let found = windows::day_column(said, source.columns(), |column| source.declared(column));
    found.map(Some).map_err(usage)
}

/// No limit for each window any more; the one in total stays.
fn lift(options: &LimitOptions) -> Result<(), Exit> {
    if options.epsilon.is_some() || options.rho.is_some() {
        return Err(usage(
            "--every never lifts the limit for each window; leave --epsilon and --rho out, and set one in total by itself",
        ));
    }
    let (given, ledger_file) = (options.name.as_deref(), options.ledger.as_deref());
    let account = if elsewhere::is_address(&options.file) {
        elsewhere::account(&options.file, given, ledger_file)?
    } else {
        Account::registered(&options.file, given, ledger_file).map_err(|error| looking(&error))?
    };
    drop(Ledger::open_read_only(&account.ledger).map_err(ledger)?);
    let mut opened = account.open().map_err(unopened)?;
    opened.set_renewing(&account.name, None, false, None).map_err(|error| fail(&error, error.exit_code()))?;
    println!(
        "{}: no limit for each window any more; what was spent in each stays spent",
        printable(&account.name)
    );
    Ok(())
}

/// For the steward alone: who else counts what is spent on the same files, or on the same content, in one line each.
fn counted_elsewhere(account: &Account, file: &Path) -> Result<Vec<String>, Exit> {
    let mut told = Vec::new();
    for covering in account.known_elsewhere(file).map_err(|error| looking(&error))? {
        told.push(covering.to_string());
    }
    for Elsewhere { ledger, data_set } in account.content_elsewhere(file).map_err(|error| looking(&error))? {
        let (ledger, data_set) = (printable(&ledger.to_string_lossy()), printable(&data_set));
        let same = format!("'{data_set}' in the ledger '{ledger}' has the same content");
        told.push(same);
    }
    Ok(told)
}

fn looking(error: &LookupError) -> Exit {
    fail(error, error.exit_code())
}

/// The accountant of this name.
fn accountant(name: Option<&str>) -> Result<Accountant, Exit> {
    let Some(name) = name else { return Ok(Accountant::Basic) };
    Accountant::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
        let shown = equipoise_core::wording::shown(name);
        usage(format!("there is no accountant '{shown}'; give basic, zcdp or renyi"))
    })
}

/// The unit of this name. It holds for long, so a slip is caught here. How fields are separated is not known yet.
fn named_in_header(unit: &str, file: &Path) -> Result<Unit, Exit> {
    let column = Unit::Column(unit.to_string());
    // Standard input is read when it is asked about, not now.
    if file == Path::new(STANDARD_INPUT) {
        return Ok(if unit == "row" { Unit::Row } else { column });
    }
    let columns = if elsewhere::is_address(file) {
        elsewhere::Table::open(file)?.columns.clone()
    } else {
        open(file, None, None)?.columns().to_vec()
    };
    // Counts of a graph are charged by edge or by node: what those are called has both columns in it.
    if let Some((_, ends)) = graph_unit(unit)
        && !columns.iter().any(|column| column == unit)
    {
        return match ends.split(',').find_map(|end| columns::place(&columns, end).err()) {
            None => Ok(column),
            Some(error) => Err(usage(error)),
        };
    }
    let is_word = |column: &String| column.split(|c: char| !c.is_alphanumeric()).any(|word| word == unit);
    if unit == "row" && !columns.iter().any(is_word) {
        return Ok(Unit::Row);
    }
    if columns.iter().any(|column| column.contains(unit)) {
        return Ok(column);
    }
    Err(usage(columns::place(&columns, unit).expect_err("it is not among them")))
}

/// Every entry, as it is read: a ledger may have millions.
fn log(options: &BooksOptions) -> Result<Exit, Exit> {
    let (opened, name) = look(options)?;
    let mut pages = Pages::new();
    if options.json {
        let mut listed = Listed::new();
        opened
            .each_entry(name.as_deref(), &mut |entry| pages.put(&listed.next(&log::entry_json(entry))))
            .map_err(ledger)?;
        // Where nobody reads on this is not read either.
        let _ = pages.put(listed.end());
        return Ok(pages.end());
    }
    let names = opened.data_sets().map_err(ledger)?;
    let longest = names.iter().map(|data_set| printable(&data_set.name).chars().count()).max().unwrap_or(0);
    let number = opened.head().map_err(ledger)?.entries.to_string().len().max(5);
    let (data, analyst) = (longest.max(4), opened.longest_analyst().map_err(ledger)?.max(7));
    // What happened is as long as it is, so it comes last.
    let line = |parts: [&str; 6]| {
        let [entry, time, receipt, name, who, what] = parts;
        format!("{entry:>number$}  {time:<20}  {receipt:<12}  {name:<data$}  {who:<analyst$}  {what}\n")
    };
    let mut flow = pages.put(&line(["entry", "time", "receipt", "data", "analyst", "what"]));
    opened
        .each_entry(name.as_deref(), &mut |entry| {
            if flow.is_continue() {
                let id: String = entry.id.chars().take(12).collect();
                let [name, who] = [&entry.data_set, &entry.analyst]
                    .map(|text| printable(text.as_deref().unwrap_or_default()));
                let (entry_number, what) = (entry.number.to_string(), log::happened(&entry.event));
                flow = pages.put(&line([&entry_number, &entry.time, &id, &name, &who, &what]));
            }
            flow
        })
        .map_err(ledger)?;
    Ok(pages.end())
}

fn verify(options: &VerifyOptions) -> Result<(), Exit> {
    let typed = options.head.as_deref().map(str::trim);
    // A receipt knows the hash of its entry only, not the place of it.
    let receipt = typed.filter(|text| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let head: Option<Head> =
        typed.filter(|_| receipt.is_none()).map(str::parse).transpose().map_err(usage)?;
    let (opened, _) = look(&options.books)?;
    let verified = opened.verify(head.as_ref()).map_err(|error| match error {
        VerifyError::Ledger(error) => ledger(error),
        broken @ VerifyError::Broken { .. } => internal(broken),
    })?;
    if let Some(hash) = receipt
        && !opened.has_hash(hash).map_err(ledger)?
    {
        return Err(internal(
            "the ledger does not verify: it lacks the entry of this receipt; is it an older copy, or another ledger?",
        ));
    }
    if options.books.json {
        let document = log::verified_json(&verified);
        println!("{document:#}");
    } else {
        println!(
            "the ledger holds together: {} charges, {} answers recorded, {} lost",
            verified.charges, verified.recorded, verified.lost
        );
        for earlier in &verified.earlier {
            if let Some(now) = opened.data_set(&earlier.data_set.name).map_err(ledger)? {
                println!("{}", log::earlier_words(earlier, &now));
            }
        }
        println!("head {}", verified.head);
    }
    Ok(())
}

fn export(options: &BooksOptions) -> Result<Exit, Exit> {
    let (opened, _) = look(options)?;
    let mut pages = Pages::new();
    opened.export(&mut |piece| pages.put(piece)).map_err(ledger)?;
    // Where nobody reads on this is not read either.
    let _ = pages.put("\n");
    Ok(pages.end())
}

fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    // Cells are broken into lines, in a pipe too.
    table.set_width(u16::try_from(width()).unwrap_or(u16::MAX));
    table.set_header(headings.iter().copied());
    table
}
