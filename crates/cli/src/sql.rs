//! SQL queries: read, planned, paid for, answered, recorded, shown as rows.

use crate::{
    Exit,
    args::{Showing, SqlOptions},
    ask::{self, Asked, Words, usage},
    hand_over, joined, prompt, told, typed, typed_words,
};
use equipoise_engine::{OpenOptions, books, csv::Header, on_disk, remote};
use equipoise_session::{plan::DataFacts, request::Request};
use equipoise_sql_front::{
    Query, SqlError,
    apart::{self, Beside, NoTable, TableColumn, TableRead},
    several::{self, Cluster, Joined, Several},
};
use std::{path::Path, sync::Arc};

/// Answer a query, or those of a prompt.
pub(crate) fn run(options: &SqlOptions) -> Exit {
    if options.showing.picks_groups() {
        return ask::usage(
            "the rows of a query are sorted by ORDER BY and cut by LIMIT; leave --sort and --show out",
        );
    }
    match &options.query {
        Some(text) => one(text, options, &options.showing),
        None => prompt::run(options),
    }
}

/// Answer one query and show it so.
pub(crate) fn one(text: &str, options: &SqlOptions, showing: &Showing) -> Exit {
    answer(text, options, showing).unwrap_or_else(|exit| exit)
}

/// The query of a command that has one.
pub(crate) fn read(options: &SqlOptions) -> Result<Query, Exit> {
    match &options.query {
        Some(text) => understood(text, options),
        None => Err(ask::usage("which query? Give one, such as \"SELECT COUNT(*) FROM 'people.csv'\"")),
    }
}

/// A query about a file that is there.
fn understood(text: &str, options: &SqlOptions) -> Result<Query, Exit> {
    let query = Query::read(text, &given(options)).map_err(|error| wrong(&error))?;
    if is_data(Path::new(&query.table().name)) {
        return Ok(query);
    }
    let problem = format!("there is no file '{}'", query.table().shown());
    Err(wrong(&query.wrong_table(problem + "; name one, as in FROM 'people.csv'")))
}

fn answer(text: &str, options: &SqlOptions, showing: &Showing) -> Result<Exit, Exit> {
    if let Err(error) = Query::read(text, &given(options))
        && error.is_about_several()
    {
        return about_several(text, options, showing, &error);
    }
    let query = understood(text, options)?;
    if options.on.cluster.is_some() {
        return Err(ask::usage("a query about one table is answered on this host; leave --cluster out"));
    }
    let file = Path::new(&query.table().name);
    let asked =
        Asked { file, books: &options.books, showing, questions: None, query: Some(&query), joined: None };
    let plan = |facts: &DataFacts| query.plan(facts).map_err(|error| wrong(&error));
    ask::answer(&asked, &words_of(&query), plan)
}

/// What a query says.
fn words_of(query: &Query) -> Words<'_> {
    let batch = query.batch();
    Words {
        text: batch.to_json(),
        delimiter: batch.shared.delimiter.as_deref(),
        header: batch.shared.header,
        fractions: batch.questions.iter().map(ask::fractions).collect(),
    }
}

/// Answer a query about several tables, here or by the program that joins them.
fn about_several(
    text: &str,
    options: &SqlOptions,
    showing: &Showing,
    error: &SqlError,
) -> Result<Exit, Exit> {
    let relation = if let Some(joins) = several::installed() {
        let on = &options.on;
        let cluster =
            on.cluster.clone().map(|scheduler| Cluster { scheduler, certificates: on.certificates.clone() });
        Several::read(text)
            .and_then(|several| joins.open(&several, &given(options), cluster.as_ref()))
            .map_err(|error| wrong(&error))?
    } else {
        // A prompt stays where it is: another program would not know what was typed there.
        if options.query.is_some() {
            hand_over::to_joins(&typed_words()[1..]);
        }
        let server = remote::installed() && hand_over::names_a_server(&typed_words()[1..]);
        let Some(program) = hand_over::joins().filter(|_| server) else { return Err(wrong(error)) };
        handed_over(text, options, &program)?
    };
    let query = &relation.query;
    let file = Path::new(&relation.private[0].name);
    let asked = Asked {
        file,
        books: &options.books,
        showing,
        questions: None,
        query: Some(query),
        joined: Some(&relation),
    };
    joined::check_public(&relation, &options.books)?;
    let plan = |facts: &DataFacts| query.plan(facts).map_err(|error| wrong(&error));
    ask::answer(&asked, &words_of(query), plan)
}

/// The relation by a program that joins what it is handed: tables and the ledger stay with this one.
fn handed_over(text: &str, options: &SqlOptions, program: &Path) -> Result<Joined, Exit> {
    let given = given(options);
    let open = |name: &str| ask::open(Path::new(name), given.delimiter.as_deref(), given.header);
    let reading = reading(&given)?;
    let columns = |name: &str| {
        let source = equipoise_engine::open(&[name], &reading);
        source.map(|source| TableColumn::of(&*source)).map_err(|error| NoTable {
            problem: error.to_string(),
            hint: "name a file, as in FROM 'people.csv' AS p".to_string(),
        })
    };
    let agreed = Several::read(text)
        .and_then(|several| apart::open(program, &several, &given, &Beside::default(), &columns))
        .map_err(|error| wrong(&error))?;
    let share = |one: &str, other: &str| books::share_rows(Path::new(one), Path::new(other));
    if let Some(problem) = agreed.two_owners(&share) {
        return Err(usage(problem));
    }
    let agreed = Arc::new(agreed);
    // Once for each scan: none waits for another.
    let table = |read: &TableRead| (0..read.scans.max(1)).map(|_| open(&read.name)).collect();
    let tables = agreed.reads.iter().map(table).collect::<Result<_, Exit>>()?;
    Ok(Joined {
        query: agreed.query.clone(),
        source: Box::new(agreed.handed(tables)),
        private: agreed.private.clone(),
        public: agreed.public.clone(),
    })
}

/// How CSV is read.
fn reading(given: &Request) -> Result<OpenOptions, Exit> {
    Ok(OpenOptions {
        delimiter: given.delimiter.as_deref().map(ask::delimiter).transpose()?,
        header: (given.header == Some(false)).then_some(Header::Numbered),
    })
}

/// Could it be opened? Patterns, folders and standard input are data too.
fn is_data(file: &Path) -> bool {
    let text = file.to_string_lossy();
    text == "-" || text.contains(['*', '?', '[']) || on_disk(file).exists()
}

/// What flags say, as words.
pub(crate) fn given(options: &SqlOptions) -> Request {
    let price = &options.price;
    Request {
        epsilon: price.epsilon.clone(),
        delta: price.delta.clone(),
        window: price.window.clone(),
        unit: price.unit.clone(),
        max_rows_per_unit: price.max_rows_per_unit.clone(),
        max_groups_per_unit: price.max_groups_per_unit.clone(),
        adjacency: price.adjacency.clone(),
        confidence: price.confidence.clone(),
        delimiter: options.reading.delimiter.clone(),
        header: options.reading.no_header.then_some(false),
        types: options.types.types.iter().cloned().collect(),
        ..Request::default()
    }
}

/// Say what is wrong with a query; JSON has the place and the next step as fields too.
pub(crate) fn wrong(error: &SqlError) -> Exit {
    let mut fields = serde_json::Map::new();
    if let Some((line, column)) = error.position() {
        fields.insert("line".to_string(), line.into());
        fields.insert("column".to_string(), column.into());
    }
    if let Some(hint) = error.next_step() {
        fields.insert("hint".to_string(), typed(hint).into());
    }
    told(&typed(&error.to_string()), Exit::Usage as u8, fields)
}
