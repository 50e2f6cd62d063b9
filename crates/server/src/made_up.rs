//! Rows that nobody has: made from the names and declared types of columns alone, for rehearsal.

use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};

/// So many rows.
pub const ROWS: usize = 2000;
/// So many different texts a column has.
const TEXTS: u64 = 20;

/// Columns as they are declared, with rows that follow from a row's number.
pub struct MadeUp {
    columns: Vec<String>,
    declared: Vec<Option<ColumnType>>,
    only_text: Vec<bool>,
    unreadable: Vec<Option<String>>,
    /// The column that names people: two rows each.
    unit: Option<usize>,
}

impl MadeUp {
    /// With the columns of this source, of which no row is read.
    pub fn like(source: &dyn Source, unit: Option<&str>) -> Self {
        let columns = source.columns().to_vec();
        let places = 0..columns.len();
        Self {
            declared: places.clone().map(|place| source.declared(place)).collect(),
            only_text: places.clone().map(|place| source.is_only_text(place)).collect(),
            unreadable: places.map(|place| source.unreadable(place)).collect(),
            unit: unit.and_then(|unit| columns.iter().position(|name| name == unit)),
            columns,
        }
    }

    /// A number below `below` for this row of this column, spread evenly.
    fn number(column: usize, row: usize, below: u64) -> u64 {
        let mut word = (row as u64).wrapping_add((column as u64) << 32).wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % below
    }

    fn whole(&self, wanted: ColumnRead, row: usize) -> i64 {
        if self.unit == Some(wanted.column) {
            return i64::try_from(row / 2).unwrap_or_default();
        }
        let number = |below: u64| i64::try_from(Self::number(wanted.column, row, below)).unwrap_or_default();
        match wanted.kind {
            ColumnType::Boolean => number(2),
            // Days and moments of the year 2020.
            ColumnType::Date => 18_262 + number(366),
            ColumnType::Timestamp => (18_262 + number(366)) * 86_400_000_000 + number(86_400) * 1_000_000,
            ColumnType::Decimal { digits } => number(1000) * 10i64.saturating_pow(u32::from(digits)),
            _ => number(1000),
        }
    }
}

impl Source for MadeUp {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let texts: Vec<String> = (0..ROWS as u64).map(|number| format!("made up {number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let rows = 0..ROWS;
        let mut floats: Vec<Vec<f64>> = Vec::new();
        let mut wholes: Vec<Vec<Option<i64>>> = Vec::new();
        let mut coded: Vec<Vec<Option<u32>>> = Vec::new();
        for read in wanted {
            let of_rows = rows.clone().map(|row| self.whole(*read, row));
            match read.kind {
                ColumnType::Float => floats.push(of_rows.map(|whole| whole as f64).collect()),
                ColumnType::Text => {
                    let below = if self.unit == Some(read.column) { ROWS as u64 } else { TEXTS };
                    coded.push(
                        of_rows.map(|whole| u32::try_from(whole.unsigned_abs() % below).ok()).collect(),
                    );
                }
                _ => wholes.push(of_rows.map(Some).collect()),
            }
        }
        let (mut floats, mut wholes, mut coded) = (floats.iter(), wholes.iter(), coded.iter());
        let cells: Option<Vec<Cells<'_>>> = wanted
            .iter()
            .map(|read| match read.kind {
                ColumnType::Float => floats.next().map(|cells| Cells::Floats(cells)),
                ColumnType::Text => coded.next().map(|codes| Cells::Coded { texts: &texts, codes }),
                _ => wholes.next().map(|cells| Cells::Integers(cells)),
            })
            .collect();
        let cells = cells.ok_or(Lost)?;
        if let Some(visitor) = visitors.first_mut() {
            visitor.batch(Batch { rows: ROWS, cells: &cells });
        }
        Ok(())
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.declared.get(column).copied().flatten()
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.only_text.get(column).copied().unwrap_or_default()
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.unreadable.get(column).cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names(Vec<String>);

    impl Source for Names {
        fn columns(&self) -> &[String] {
            &self.0
        }

        fn scan(&self, _: &[ColumnRead], _: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
            panic!("no row is read")
        }
    }

    #[derive(Default)]
    struct Seen(usize, Vec<String>);

    impl Visitor for Seen {
        fn batch(&mut self, batch: Batch<'_>) {
            self.0 += batch.rows;
            self.1.extend(batch.cells.iter().map(|cells| format!("{cells:?}")));
        }
    }

    #[test]
    fn made_up_rows_follow_from_the_names_alone() {
        let names = Names(vec!["person".into(), "x".into()]);
        let made_up = MadeUp::like(&names, Some("person"));
        let kinds = [
            ColumnType::Float,
            ColumnType::Integer,
            ColumnType::Date,
            ColumnType::Timestamp,
            ColumnType::Boolean,
            ColumnType::Text,
            ColumnType::Decimal { digits: 2 },
        ];
        let wanted: Vec<ColumnRead> =
            kinds.into_iter().flat_map(|kind| [0, 1].map(|column| ColumnRead { column, kind })).collect();
        let (mut one, mut two) = (Seen::default(), Seen::default());
        made_up.scan(&wanted, &mut [&mut one]).unwrap();
        MadeUp::like(&names, Some("person")).scan(&wanted, &mut [&mut two]).unwrap();
        assert_eq!((one.0, one.1.len(), one.1 == two.1), (ROWS, wanted.len(), true));
        assert!(one.1[0].starts_with("Floats([0.0, 0.0, 1.0, 1.0"), "two rows for each person");
    }
}
