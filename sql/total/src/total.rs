//! A scalar function that has a value or null for every row, whatever its kernel does.
//!
//! # Guarantee
//!
//! The value of a row is a function of the arguments of that row. No error and no panic leaves, and no text of one.
//!
//! # Why
//!
//! 1. The kernel is tried on the whole batch. Each kernel of the list computes row by row, which the tests hold it to: what it gives for a
//!    batch is what it gives for each row alone.
//! 2. If it fails or panics on a batch, it is tried on both halves, down to single rows; a row on which it fails alone is null. So whether
//!    a row is null does not depend on which others are near it.
//! 3. Rows whose text could get too long are null before the kernel sees them, by a bound that looks at that row alone.

use crate::{
    allowed::Rule,
    clean::{Infinity, clean, short_texts},
    kernel::Kernel,
    quiet::caught,
    size::Size,
};
use arrow::{
    array::{Array, ArrayRef, new_null_array},
    compute::concat,
    datatypes::{DataType, Field, FieldRef},
};
use datafusion::{
    common::Result,
    config::ConfigOptions,
    logical_expr::{
        ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
        Volatility,
    },
    scalar::ScalarValue,
};
use std::{ops::Range, sync::Arc};

/// The total form of a kernel. Its name says which kernel it is, so that a plan can be sent by names.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Total {
    name: String,
    kernel: Kernel,
    rule: Rule,
    signature: Signature,
}

impl Total {
    pub fn new(name: &str, kernel: Kernel, rule: Rule) -> Self {
        // Any types: they were decided before, and must not be decided again. Immutable: the same arguments give the same value, also
        // when the optimizer computes it from literals, where a failure is null as it is in rows.
        let signature = Signature::variadic_any(Volatility::Immutable);
        Self { name: format!("total_{name}"), kernel, rule, signature }
    }

    pub fn call(self, args: Vec<Expr>) -> Expr {
        ScalarUDF::new_from_impl(self).call(args)
    }

    pub fn of(function: &ScalarUDF) -> Option<&Self> {
        function.inner().downcast_ref::<Self>()
    }

    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What it is of literals alone.
    pub fn fold(&self, literals: Vec<ScalarValue>) -> Result<ScalarValue> {
        let fields: Vec<FieldRef> = literals.iter().map(|value| field(value.data_type())).collect();
        let known: Vec<Option<&ScalarValue>> = literals.iter().map(Some).collect();
        let return_field =
            self.return_field_from_args(ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &known })?;
        let call = ScalarFunctionArgs {
            args: literals.into_iter().map(ColumnarValue::Scalar).collect(),
            arg_fields: fields,
            number_rows: 1,
            return_field,
            config_options: Arc::new(ConfigOptions::default()),
        };
        match self.invoke_with_args(call)? {
            ColumnarValue::Scalar(value) => Ok(value),
            ColumnarValue::Array(values) => ScalarValue::try_from_array(&values, 0),
        }
    }

    /// Whether the kernel knows these types and literals at all: if not, every row would be null. Looks at no table.
    pub fn probe(&self, kinds: &[DataType], literals: &[Option<ScalarValue>]) -> Result<DataType, String> {
        let fields: Vec<FieldRef> = kinds.iter().map(|kind| field(kind.clone())).collect();
        let known: Vec<Option<&ScalarValue>> = literals.iter().map(Option::as_ref).collect();
        let args = ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &known };
        let return_field = caught(|| self.return_field_from_args(args))
            .ok_or_else(|| "its type cannot be told".to_owned())?
            .map_err(|error| first_line(&error.strip_backtrace()))?;
        let mut said = None;
        // Literals as they are, then as columns, for which a division by the literal 0 is no reason to refuse: it is null. No rows, then one,
        // because a kernel may look at its first row without asking whether there is one.
        for (as_written, rows) in [(true, 0), (true, 1), (false, 0), (false, 1)] {
            let args = kinds.iter().zip(literals).enumerate().map(|(place, (kind, literal))| match literal {
                Some(value) if as_written || self.rule.literals.contains(&place) => {
                    ColumnarValue::Scalar(value.clone())
                }
                _ => ColumnarValue::Array(new_null_array(kind, rows)),
            });
            let call = ScalarFunctionArgs {
                args: args.collect(),
                arg_fields: fields.clone(),
                number_rows: rows,
                return_field: Arc::clone(&return_field),
                config_options: Arc::new(ConfigOptions::default()),
            };
            let wanted = return_field.data_type();
            let why = match caught(|| self.kernel.run(call).and_then(|values| values.into_array(rows))) {
                Some(Ok(values)) if values.data_type() == wanted => return Ok(wanted.clone()),
                Some(Ok(values)) => format!("it gives {} in place of {wanted}", values.data_type()),
                Some(Err(error)) => first_line(&error.strip_backtrace()),
                None => "it fails".to_owned(),
            };
            said.get_or_insert(why);
        }
        Err(said.unwrap_or_default())
    }

    /// The values of all rows.
    fn rows(&self, call: &ScalarFunctionArgs) -> ArrayRef {
        let kind = call.return_field.data_type();
        let mut pieces = Vec::new();
        for (range, tried) in self.rule.size.parts(&call.args, call.number_rows) {
            if tried {
                self.piece(call, range, &mut pieces);
            } else {
                pieces.push(new_null_array(kind, range.len()));
            }
        }
        if pieces.len() == 1 {
            return pieces.swap_remove(0);
        }
        let parts: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
        // Pieces are of one type and short; were they ever not joined, no value is the safe answer.
        concat(&parts).unwrap_or_else(|_| new_null_array(kind, call.number_rows))
    }

    fn piece(&self, call: &ScalarFunctionArgs, range: Range<usize>, pieces: &mut Vec<ArrayRef>) {
        if let Some(values) = self.tried(call, &range) {
            pieces.push(values);
        } else if range.len() <= 1 {
            pieces.push(new_null_array(call.return_field.data_type(), range.len()));
        } else {
            let middle = range.start + range.len() / 2;
            self.piece(call, range.start..middle, pieces);
            self.piece(call, middle..range.end, pieces);
        }
    }

    /// The kernel's values for these rows, unless it fails on any of them.
    fn tried(&self, call: &ScalarFunctionArgs, range: &Range<usize>) -> Option<ArrayRef> {
        let slice = |value: &ColumnarValue| match value {
            ColumnarValue::Array(array) => ColumnarValue::Array(array.slice(range.start, range.len())),
            ColumnarValue::Scalar(scalar) => ColumnarValue::Scalar(scalar.clone()),
        };
        let part = ScalarFunctionArgs {
            args: call.args.iter().map(slice).collect(),
            arg_fields: call.arg_fields.clone(),
            number_rows: range.len(),
            return_field: Arc::clone(&call.return_field),
            config_options: Arc::clone(&call.config_options),
        };
        let values =
            caught(|| self.kernel.run(part).and_then(|values| values.into_array(range.len())))?.ok()?;
        let infinity = if self.kernel == Kernel::Normal { Infinity::Kept } else { Infinity::Null };
        let values = clean(values, infinity);
        let values = if self.rule.size == Size::Small { values } else { short_texts(values) };
        // DataFusion fails on a result of another length or type, so it must not see one.
        (values.len() == range.len() && values.data_type() == call.return_field.data_type()).then_some(values)
    }
}

impl ScalarUDFImpl for Total {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, kinds: &[DataType]) -> Result<DataType> {
        let fields: Vec<FieldRef> = kinds.iter().map(|kind| field(kind.clone())).collect();
        let known = vec![None; kinds.len()];
        self.kernel.return_type(&ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &known })
    }

    /// Nullable always: whatever the kernel promises, a row that it fails on is null.
    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(&self.name, self.kernel.return_type(&args)?, true)))
    }

    fn invoke_with_args(&self, mut call: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = call.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        if !constant {
            return Ok(ColumnarValue::Array(self.rows(&call)));
        }
        // Literals take the way of rows: kernels for two literals are others than those for rows, and have other faults.
        call.number_rows = 1;
        for (place, value) in call.args.iter_mut().enumerate() {
            if !self.rule.literals.contains(&place) {
                *value = ColumnarValue::Array(value.to_array(1)?);
            }
        }
        Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&self.rows(&call), 0)?))
    }
}

fn field(kind: DataType) -> FieldRef {
    Arc::new(Field::new("argument", kind, true))
}

/// The first line of what DataFusion says about a plan.
pub fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    // DataFusion says first which of its parts speaks, once or twice.
    let said = line.rsplit("rror: ").next().unwrap_or(line);
    said.split("planning: ")
        .last()
        .unwrap_or(said)
        .trim_end_matches(": Syntax(")
        .trim()
        .trim_end_matches('.')
        .to_owned()
}
