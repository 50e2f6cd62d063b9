//! How many rows there are and what they hold, whatever their order: the sum of a keyed hash of each row, modulo 2^128.
//!
//! Two multisets of rows with one digest are equal but for a chance of about 2^-128 that nobody can raise who does not know the key, which
//! is drawn for each question. A row that is lost, doubled or changed on the way changes the digest.

use arrow::{
    array::{Array, ArrayRef, AsArray, RecordBatch},
    datatypes::{DataType, Field, FieldRef, Schema, UInt64Type},
    row::{RowConverter, SortField},
};
use datafusion::{
    common::{Result, exec_err},
    logical_expr::{
        Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::{AggregateOrderSensitivity, format_state_name},
    },
    scalar::ScalarValue,
};
use std::sync::Arc;

/// What the hashes of one question are keyed with.
#[derive(Clone, Copy, Debug)]
pub struct Key(pub [u64; 2]);

/// The digest of a multiset of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// How many rows.
    pub rows: u64,
    /// The sum of their hashes, modulo 2^128.
    pub sum: u128,
}

impl Digest {
    /// With what another holds.
    pub fn with(self, other: Self) -> Self {
        Self { rows: self.rows.wrapping_add(other.rows), sum: self.sum.wrapping_add(other.sum) }
    }

    fn parts(self) -> [u64; 3] {
        let bytes = self.sum.to_le_bytes();
        let half = |from: usize| {
            let mut half = [0; 8];
            half.copy_from_slice(&bytes[from..from + 8]);
            u64::from_le_bytes(half)
        };
        let [low, high] = [half(0), half(8)];
        [self.rows, low, high]
    }

    fn of_parts([rows, low, high]: [u64; 3]) -> Self {
        Self { rows, sum: u128::from(high) << 64 | u128::from(low) }
    }

    /// As bytes of a fixed length.
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (to, part) in bytes.chunks_exact_mut(8).zip(self.parts()) {
            to.copy_from_slice(&part.to_le_bytes());
        }
        bytes
    }

    /// What [`Self::to_bytes`] wrote.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 24] = bytes.try_into().ok()?;
        let part = |place: usize| {
            let mut part = [0; 8];
            part.copy_from_slice(&bytes[8 * place..8 * place + 8]);
            u64::from_le_bytes(part)
        };
        Some(Self::of_parts([part(0), part(1), part(2)]))
    }
}

/// Makes the digest of columns of these types.
pub struct Digester {
    key: [u8; 32],
    converter: RowConverter,
}

impl Digester {
    /// For rows of a schema.
    pub fn of_schema(key: Key, schema: &Schema) -> Result<Self> {
        Self::new(key, schema.fields().iter().map(|field| field.data_type().clone()))
    }

    fn new(key: Key, types: impl Iterator<Item = DataType>) -> Result<Self> {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&key.0[0].to_le_bytes());
        bytes[8..16].copy_from_slice(&key.0[1].to_le_bytes());
        Ok(Self { key: bytes, converter: RowConverter::new(types.map(SortField::new).collect())? })
    }

    /// The digest of some rows.
    pub fn of_columns(&self, columns: &[ArrayRef]) -> Result<Digest> {
        let rows = self.converter.convert_columns(columns)?;
        let mut digest = Digest::default();
        for row in &rows {
            let hash = blake3::keyed_hash(&self.key, row.data());
            let mut sum = [0; 16];
            sum.copy_from_slice(&hash.as_bytes()[..16]);
            digest = digest.with(Digest { rows: 1, sum: u128::from_le_bytes(sum) });
        }
        Ok(digest)
    }

    /// The digest of a batch.
    pub fn of_batch(&self, batch: &RecordBatch) -> Result<Digest> {
        if batch.num_columns() == 0 {
            return Ok(Digest { rows: batch.num_rows() as u64, sum: 0 });
        }
        self.of_columns(batch.columns())
    }
}

/// The digest as an aggregate: two words of the key, then the columns.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct DigestOf {
    signature: Signature,
}

/// The aggregate.
pub fn udaf() -> AggregateUDF {
    AggregateUDF::new_from_impl(DigestOf { signature: Signature::variadic_any(Volatility::Immutable) })
}

impl AggregateUDFImpl for DigestOf {
    fn name(&self) -> &'static str {
        "equipoise_digest"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |part| Field::new(format_state_name(args.name, part), DataType::UInt64, false);
        Ok(["rows", "low", "high"].map(|part| Arc::new(field(part))).into())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let types = args.expr_fields.iter().skip(2).map(|field| field.data_type().clone());
        Ok(Box::new(Running { types: types.collect(), digester: None, digest: Digest::default() }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

struct Running {
    types: Vec<DataType>,
    digester: Option<Digester>,
    digest: Digest,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

fn word(array: &ArrayRef, row: usize) -> Result<u64> {
    match array.as_primitive_opt::<UInt64Type>() {
        Some(words) if words.is_valid(row) => Ok(words.value(row)),
        _ => exec_err!("a part of a digest is missing"),
    }
}

impl Accumulator for Running {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [first, second, columns @ ..] = values else { return exec_err!("a digest has a key") };
        if first.is_empty() {
            return Ok(());
        }
        let digester = match &mut self.digester {
            Some(digester) => digester,
            none => {
                let key = Key([word(first, 0)?, word(second, 0)?]);
                none.insert(Digester::new(key, self.types.iter().cloned())?)
            }
        };
        self.digest = self.digest.with(digester.of_columns(columns)?);
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [rows, low, high] = states else { return exec_err!("a part of a digest is missing") };
        for row in 0..rows.len() {
            let parts = [word(rows, row)?, word(low, row)?, word(high, row)?];
            self.digest = self.digest.with(Digest::of_parts(parts));
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(self.digest.parts().map(|part| ScalarValue::UInt64(Some(part))).into())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Binary(Some(self.digest.to_bytes().to_vec())))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.digester.as_ref().map_or(0, |digester| digester.converter.size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, StringArray};

    fn batch(rows: &[(Option<&str>, Option<f64>)]) -> RecordBatch {
        let texts: StringArray = rows.iter().map(|(text, _)| *text).collect();
        let numbers: Float64Array = rows.iter().map(|(_, number)| *number).collect();
        RecordBatch::try_from_iter_with_nullable([
            ("text", Arc::new(texts) as ArrayRef, true),
            ("number", Arc::new(numbers) as ArrayRef, true),
        ])
        .unwrap()
    }

    fn digest(rows: &[(Option<&str>, Option<f64>)]) -> Digest {
        let batch = batch(rows);
        Digester::of_schema(Key([1, 2]), &batch.schema()).unwrap().of_batch(&batch).unwrap()
    }

    /// Order and batches do not show; a row that is lost, doubled or changed does.
    #[test]
    fn a_digest_is_of_the_multiset_of_rows() {
        let (a, b, c) = ((Some("a"), Some(1.0)), (Some("b"), None), (None, Some(1.0)));
        let whole = digest(&[a, b, c]);
        assert_eq!(whole, digest(&[c, a, b]));
        assert_eq!(whole, digest(&[c]).with(digest(&[b, a])));
        assert_eq!(whole.rows, 3);
        assert_eq!(Digest::of_bytes(&whole.to_bytes()), Some(whole));
        for other in [&[a, b][..], &[a, b, c, c], &[a, a, c], &[a, c, (Some("b"), Some(0.0))], &[]] {
            assert_ne!(whole, digest(other), "{other:?}");
        }
        // A column's cells may not move to another column.
        assert_ne!(digest(&[(Some("ab"), None)]), digest(&[(Some("a"), None)]));
        let batch = batch(&[a, b, c]);
        let other = Digester::of_schema(Key([1, 3]), &batch.schema()).unwrap().of_batch(&batch).unwrap();
        assert_ne!(whole, other, "another key");
    }

    /// What executors sum in parts is what the coordinator sums at once.
    #[test]
    fn parts_of_the_aggregate_come_to_the_digest() {
        let rows = [(Some("a"), Some(1.0)), (Some("b"), None), (None, Some(1.0))];
        let types = vec![DataType::Utf8, DataType::Float64];
        let fresh = || Running { types: types.clone(), digester: None, digest: Digest::default() };
        let mut whole = fresh();
        for part in [&rows[..1], &rows[1..], &[]] {
            let batch = batch(part);
            let key = |word| Arc::new(arrow::array::UInt64Array::from(vec![word; part.len()])) as ArrayRef;
            let mut running = fresh();
            running
                .update_batch(&[key(1), key(2), batch.column(0).clone(), batch.column(1).clone()])
                .unwrap();
            let state = running.state().unwrap();
            let state: Vec<ArrayRef> = state.iter().map(|part| part.to_array().unwrap()).collect();
            whole.merge_batch(&state).unwrap();
        }
        let ScalarValue::Binary(Some(bytes)) = whole.evaluate().unwrap() else { panic!() };
        assert_eq!(Digest::of_bytes(&bytes), Some(digest(&rows)));
    }
}
