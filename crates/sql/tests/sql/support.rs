//! Tables in memory, of which the true answers are known.

use equipoise_session::{
    plan::DataFacts,
    source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor},
};

/// A table whose rows have a text for every column.
pub struct Texts {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Texts {
    /// Rows with these columns.
    pub fn new(columns: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { columns: columns.iter().map(ToString::to_string).collect(), rows }
    }
}

/// 3000 people with two rows each.
pub struct People;

const COLUMNS: [&str; 8] = ["id", "town", "salary", "age", "hired", "remote", "note", "odd name"];

impl People {
    /// In Ayr 1500 people earn 1000, 1100 or 1200, in Bern 1000 earn 1300 or 1400, in Cork 500 earn 1500. One row is of a town of its own.
    pub fn table() -> Texts {
        let row = |row: usize| {
            let person = row % 3000;
            let town = match person % 6 {
                _ if row == 1 => "Rare",
                0..=2 => "Ayr",
                3 | 4 => "Bern",
                _ => "Cork",
            };
            let note = if row.is_multiple_of(4) { "" } else { "new" };
            vec![
                format!("p{person}"),
                town.to_string(),
                (1000 + person % 6 * 100).to_string(),
                (20 + person % 50).to_string(),
                format!("{}-05-01", 2020 + person % 3),
                if person.is_multiple_of(2) { "yes" } else { "no" }.to_string(),
                note.to_string(),
                "1".to_string(),
            ]
        };
        Texts::new(&COLUMNS, (0..6000).map(row).collect())
    }

    /// What is public of it.
    pub fn facts() -> DataFacts {
        let kind = |name: &str| match name {
            "salary" | "age" | "odd name" => Some(ColumnType::Integer),
            "hired" => Some(ColumnType::Date),
            "remote" => Some(ColumnType::Boolean),
            _ => Some(ColumnType::Text),
        };
        DataFacts {
            name: "people".into(),
            columns: COLUMNS.map(String::from).to_vec(),
            registered: None,
            kinds: COLUMNS.map(kind).to_vec(),
            windows: None,
        }
    }
}

impl Source for Texts {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let many = visitors.len();
        for (start, visitor) in visitors.iter_mut().enumerate() {
            for row in self.rows.iter().skip(start).step_by(many) {
                let text = |column: usize| Some(row[column].as_str()).filter(|text| !text.is_empty());
                let floats: Vec<[f64; 1]> = wanted
                    .iter()
                    .map(|one| [text(one.column).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)])
                    .collect();
                let wholes: Vec<[Option<i64>; 1]> = wanted
                    .iter()
                    .map(|one| [text(one.column).and_then(|text| one.kind.read(text))])
                    .collect();
                let texts: Vec<[Option<&str>; 1]> = wanted.iter().map(|one| [text(one.column)]).collect();
                let cells: Vec<Cells<'_>> = wanted
                    .iter()
                    .enumerate()
                    .map(|(place, one)| match one.kind {
                        ColumnType::Float => Cells::Floats(&floats[place]),
                        ColumnType::Text => Cells::Texts(&texts[place]),
                        _ => Cells::Integers(&wholes[place]),
                    })
                    .collect();
                visitor.batch(Batch { rows: 1, cells: &cells });
            }
        }
        Ok(())
    }
}
