//! Small files in memory, for audits and tests.

use crate::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};

/// Rows of two columns in memory, one of numbers and one of texts.
pub(crate) struct Memory {
    columns: Vec<String>,
    numbers: Vec<f64>,
    texts: Vec<Option<String>>,
    pub readable: bool,
}

impl Memory {
    pub fn new(numbers: Vec<f64>, texts: &[&str]) -> Self {
        let text = |row: usize| texts.get(row % texts.len().max(1)).filter(|text| !text.is_empty());
        let texts = (0..numbers.len()).map(|row| text(row).map(ToString::to_string)).collect();
        Self { columns: vec!["salary".into(), "town".into()], numbers, texts, readable: true }
    }
}

impl Source for Memory {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        if !self.readable {
            return Err(Lost);
        }
        let texts: Vec<Option<&str>> = self.texts.iter().map(Option::as_deref).collect();
        let spelt = |number: &f64| if number.is_nan() { None } else { Some(number.to_string()) };
        let spelt: Vec<Option<String>> = self.numbers.iter().map(spelt).collect();
        let spelt: Vec<Option<&str>> = spelt.iter().map(Option::as_deref).collect();
        let whole = |wanted: &ColumnRead| -> Vec<Option<i64>> {
            #[expect(clippy::cast_possible_truncation, reason = "stops at the ends of 64 bits")]
            let whole = |number: &f64| (*number * wanted.kind.units() as f64) as i64;
            let whole = |number: &f64| (!number.is_nan()).then(|| whole(number));
            self.numbers.iter().map(whole).collect()
        };
        let wholes: Vec<Vec<Option<i64>>> = wanted.iter().map(whole).collect();
        let many = visitors.len();
        for (start, visitor) in visitors.iter_mut().enumerate() {
            for row in (start..self.numbers.len()).step_by(many) {
                let cells: Vec<Cells> = wanted
                    .iter()
                    .zip(&wholes)
                    .map(|(wanted, wholes)| match wanted.kind {
                        ColumnType::Float => Cells::Floats(&self.numbers[row..=row]),
                        kind if kind.is_whole() => Cells::Integers(&wholes[row..=row]),
                        _ if wanted.column == 0 => Cells::Texts(&spelt[row..=row]),
                        _ => Cells::Texts(&texts[row..=row]),
                    })
                    .collect();
                visitor.batch(Batch { rows: 1, cells: &cells });
            }
        }
        Ok(())
    }
}
