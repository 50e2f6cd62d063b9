//! Aggregates of a group that depend on the values in it and on nothing else: not on their order, batches or partitions.

mod exact_sum;
mod running;

use arrow::{
    array::{Array, ArrayRef, AsArray, BooleanArray, LargeBinaryBuilder, new_empty_array},
    datatypes::{DataType, Field, FieldRef},
};
use datafusion::{
    common::{Result, exec_err},
    logical_expr::{
        Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::format_state_name,
    },
    scalar::ScalarValue,
};
use running::{Running, Values};
use std::{iter, sync::Arc};

/// Aggregates that DataFusion computes from floats in the order of rows, or from integers that wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Sum,
    Avg,
    VarSamp,
    VarPop,
    StdSamp,
    StdPop,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Sum, Self::Avg, Self::VarSamp, Self::VarPop, Self::StdSamp, Self::StdPop];

    /// DataFusion's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::VarSamp => "var",
            Self::VarPop => "var_pop",
            Self::StdSamp => "stddev",
            Self::StdPop => "stddev_pop",
        }
    }

    fn total_name(self) -> &'static str {
        match self {
            Self::Sum => "total_sum",
            Self::Avg => "total_avg",
            Self::VarSamp => "total_var",
            Self::VarPop => "total_var_pop",
            Self::StdSamp => "total_stddev",
            Self::StdPop => "total_stddev_pop",
        }
    }

    fn is_sample(self) -> bool {
        matches!(self, Self::VarSamp | Self::StdSamp)
    }

    fn is_root(self) -> bool {
        matches!(self, Self::StdSamp | Self::StdPop)
    }

    /// The type of the result; none of a type that has no exact aggregate.
    pub fn result(self, input: &DataType) -> Option<DataType> {
        match (self, input) {
            (Self::Sum, DataType::Int64 | DataType::UInt64 | DataType::Float64) => Some(input.clone()),
            (Self::Sum, DataType::Decimal128(precision, scale)) => {
                Some(DataType::Decimal128(38.min(precision + 10), *scale))
            }
            (Self::Avg, DataType::Decimal128(precision, scale)) => {
                Some(DataType::Decimal128(38.min(precision + 4), 38.min(scale + 4)))
            }
            (Self::Sum, _) => None,
            (_, DataType::Float64) => Some(DataType::Float64),
            _ => None,
        }
    }
}

/// One of them as an aggregate of DataFusion.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Exact {
    kind: Kind,
    signature: Signature,
}

impl Exact {
    pub fn udaf(kind: Kind) -> AggregateUDF {
        AggregateUDF::new_from_impl(Self { kind, signature: Signature::any(1, Volatility::Immutable) })
    }

    pub fn is(function: &AggregateUDF) -> bool {
        function.inner().is::<Self>()
    }

    fn groups(&self, args: &AccumulatorArgs) -> Result<Groups> {
        if args.is_distinct {
            return exec_err!("{} of distinct values is not offered", self.kind.name());
        }
        let input = args.expr_fields[0].data_type().clone();
        Ok(Groups::new(self.kind, input, args.return_field.data_type().clone()))
    }
}

impl AggregateUDFImpl for Exact {
    fn name(&self) -> &str {
        self.kind.total_name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, kinds: &[DataType]) -> Result<DataType> {
        let Some(result) = self.kind.result(&kinds[0]) else {
            return exec_err!("{} of {} has no exact form", self.kind.name(), kinds[0]);
        };
        Ok(result)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let name = format_state_name(args.name, "running");
        Ok(vec![Arc::new(Field::new(name, DataType::LargeBinary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One(self.groups(&args)?)))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }

    fn order_sensitivity(&self) -> datafusion::logical_expr::utils::AggregateOrderSensitivity {
        datafusion::logical_expr::utils::AggregateOrderSensitivity::Insensitive
    }
}

/// The groups of a partition so far.
#[derive(Debug)]
struct Groups {
    kind: Kind,
    input: DataType,
    result: DataType,
    running: Vec<Running>,
    /// What the groups hold, counted as it grows: DataFusion asks after every batch.
    bytes: usize,
}

impl Groups {
    fn new(kind: Kind, input: DataType, result: DataType) -> Self {
        Self { kind, input, result, running: Vec::new(), bytes: 0 }
    }

    fn fresh(&self) -> Running {
        Running::new(self.kind, &self.input)
    }

    fn reach(&mut self, groups: usize) {
        let more = groups.saturating_sub(self.running.len());
        let fresh = self.fresh();
        self.bytes += more * fresh.bytes();
        self.running.extend(iter::repeat_n(fresh, more));
    }

    /// One group after a change.
    fn changed<T>(&mut self, group: usize, change: impl FnOnce(&mut Running) -> T) -> T {
        let running = &mut self.running[group];
        let before = running.bytes();
        let result = change(running);
        self.bytes += running.bytes().saturating_sub(before);
        result
    }

    fn emitted(&mut self, emit_to: EmitTo) -> Vec<Running> {
        let groups = emit_to.take_needed(&mut self.running);
        self.bytes = self.bytes.saturating_sub(groups.iter().map(Running::bytes).sum());
        groups
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.reach(total_num_groups);
        let values = Values::new(&values[0])?;
        for (row, &group) in group_indices.iter().enumerate() {
            if kept(opt_filter, row)
                && let Some(value) = values.at(row)
            {
                self.changed(group, |running| running.add(value));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let groups = self.emitted(emit_to);
        if groups.is_empty() {
            return Ok(new_empty_array(&self.result));
        }
        let finish = |running: &Running| running.finish(self.kind, &self.input, &self.result);
        ScalarValue::iter_to_array(groups.iter().map(finish).collect::<Result<Vec<_>>>()?)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut states = LargeBinaryBuilder::new();
        for running in self.emitted(emit_to) {
            states.append_value(running.write());
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.reach(total_num_groups);
        let states = values[0].as_binary::<i64>();
        for (row, &group) in group_indices.iter().enumerate() {
            if states.is_valid(row) && !self.changed(group, |running| running.merge(states.value(row))) {
                return exec_err!("a part of {} was damaged on its way", self.kind.name());
            }
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values[0].len();
        let values = Values::new(&values[0])?;
        let mut states = LargeBinaryBuilder::new();
        for row in 0..rows {
            let value = kept(opt_filter, row).then(|| values.at(row)).flatten();
            states.append_option(value.map(|value| {
                let mut running = self.fresh();
                running.add(value);
                running.write()
            }));
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes
    }
}

fn kept(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

/// One group: an aggregate without GROUP BY.
#[derive(Debug)]
struct One(Groups);

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let groups: Vec<usize> = iter::repeat_n(0, values[0].len()).collect();
        self.0.update_batch(values, &groups, None, 1)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.reach(1);
        self.0.running[0].finish(self.0.kind, &self.0.input, &self.0.result)
    }

    fn size(&self) -> usize {
        GroupsAccumulator::size(&self.0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.reach(1);
        Ok(vec![ScalarValue::LargeBinary(Some(self.0.running[0].write()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let groups: Vec<usize> = iter::repeat_n(0, states[0].len()).collect();
        self.0.merge_batch(states, &groups, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Float64Array, Int64Array};

    fn groups(kind: Kind, input: &DataType) -> Groups {
        Groups::new(kind, input.clone(), kind.result(input).unwrap())
    }

    /// Parts of a group, or single rows that skip the first stage, come to what all rows at once come to.
    #[test]
    fn parts_come_to_the_whole() {
        let numbers =
            [Some(0.1), None, Some(1e300), Some(-1e300), Some(0.2), Some(5e-324), Some(-7.25), Some(3.0)];
        let whole =
            [Some(i64::MAX), Some(i64::MAX), None, Some(i64::MIN), Some(-5), Some(3), Some(0), Some(1)];
        let decimals = Decimal128Array::from_iter(whole.map(|value| value.map(i128::from)));
        let columns: [ArrayRef; 3] = [
            Arc::new(Float64Array::from_iter(numbers)),
            Arc::new(Int64Array::from_iter(whole)),
            Arc::new(decimals.with_precision_and_scale(25, 2).unwrap()),
        ];
        let filter = BooleanArray::from(vec![true, true, true, true, true, true, true, false]);
        let of = [0, 1, 0, 0, 1, 0, 1, 1];
        for column in columns {
            for kind in Kind::ALL.into_iter().filter(|kind| kind.result(column.data_type()).is_some()) {
                let fresh = || groups(kind, column.data_type());
                let mut all = fresh();
                all.update_batch(&[Arc::clone(&column)], &of, Some(&filter), 2).unwrap();
                assert_eq!(all.bytes, all.running.iter().map(Running::bytes).sum::<usize>(), "{kind:?}");
                let all = all.evaluate(EmitTo::All).unwrap();
                let single = fresh().convert_to_state(&[Arc::clone(&column)], Some(&filter)).unwrap();
                let mut merged = fresh();
                merged.merge_batch(&single, &of, 2).unwrap();
                assert_eq!(&merged.evaluate(EmitTo::All).unwrap(), &all, "{kind:?} of rows");
                let mut merged = fresh();
                for (start, length) in [(5, 3), (0, 2), (2, 3)] {
                    let mut part = fresh();
                    let filter = filter.slice(start, length);
                    part.update_batch(
                        &[column.slice(start, length)],
                        &of[start..start + length],
                        Some(&filter),
                        2,
                    )
                    .unwrap();
                    let first = part.state(EmitTo::First(1)).unwrap();
                    merged.merge_batch(&first, &[0], 2).unwrap();
                    let rest = part.state(EmitTo::All).unwrap();
                    merged.merge_batch(&rest, &[1], 2).unwrap();
                    assert_eq!(part.bytes, 0, "{kind:?}");
                }
                assert_eq!(&merged.evaluate(EmitTo::All).unwrap(), &all, "{kind:?} of parts");
            }
        }
    }

    #[test]
    fn damaged_parts_are_not_added() {
        for (kind, input) in
            [(Kind::Sum, DataType::Float64), (Kind::Sum, DataType::Int64), (Kind::VarPop, DataType::Float64)]
        {
            let mut states = LargeBinaryBuilder::new();
            states.append_value([1, 2, 3]);
            let states: ArrayRef = Arc::new(states.finish());
            assert!(groups(kind, &input).merge_batch(&[states], &[0], 1).is_err());
        }
    }
}
