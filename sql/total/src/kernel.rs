//! What a total form computes with: DataFusion's own kernels, which may fail.

use arrow::{
    array::{RecordBatch, RecordBatchOptions},
    compute::{
        CastOptions,
        kernels::{cmp::eq, nullif::nullif, numeric::neg},
    },
    datatypes::{DataType, Field, Schema},
    util::display::FormatOptions,
};
use datafusion::{
    common::{Result, exec_err},
    logical_expr::{
        ColumnarValue, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, binary::BinaryTypeCoercer,
    },
    physical_expr::{
        PhysicalExpr,
        expressions::{BinaryExpr, Column, Literal},
    },
    scalar::ScalarValue,
};
use std::sync::Arc;

/// Operators that have a total form, with the end of its name.
pub const OPERATORS: [(Operator, &str); 19] = [
    (Operator::Plus, "plus"),
    (Operator::Minus, "minus"),
    (Operator::Multiply, "multiply"),
    (Operator::Divide, "divide"),
    (Operator::Modulo, "modulo"),
    (Operator::BitwiseAnd, "bit_and"),
    (Operator::BitwiseOr, "bit_or"),
    (Operator::BitwiseXor, "bit_xor"),
    (Operator::BitwiseShiftLeft, "shift_left"),
    (Operator::BitwiseShiftRight, "shift_right"),
    (Operator::StringConcat, "concatenate"),
    (Operator::LikeMatch, "like"),
    (Operator::NotLikeMatch, "not_like"),
    (Operator::ILikeMatch, "ilike"),
    (Operator::NotILikeMatch, "not_ilike"),
    (Operator::RegexMatch, "matches"),
    (Operator::RegexIMatch, "imatches"),
    (Operator::RegexNotMatch, "not_matches"),
    (Operator::RegexNotIMatch, "not_imatches"),
];

/// How a value is computed from the values of its row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// A float of a table as it enters the plan: NaN is null, zero has one sign.
    Normal,
    /// The first argument in the type of the second, which is a literal null.
    Cast,
    /// The first argument with the other sign.
    Negative,
    Operator(Operator),
    Function(Arc<ScalarUDF>),
}

impl Kernel {
    pub fn return_type(&self, args: &ReturnFieldArgs) -> Result<DataType> {
        let kind = |place: usize| {
            let Some(field) = args.arg_fields.get(place) else { return exec_err!("an argument is missing") };
            Ok(field.data_type())
        };
        match self {
            Self::Normal | Self::Negative => kind(0).cloned(),
            Self::Cast => kind(1).cloned(),
            Self::Operator(operator) => {
                BinaryTypeCoercer::new(kind(0)?, operator, kind(1)?).get_result_type()
            }
            Self::Function(function) => {
                let args =
                    ReturnFieldArgs { arg_fields: args.arg_fields, scalar_arguments: args.scalar_arguments };
                Ok(function.return_field_from_args(args)?.data_type().clone())
            }
        }
    }

    /// The values, or the kernel's error, which may quote a cell and must not leave this crate.
    pub fn run(&self, call: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match self {
            Self::Normal => Ok(call.args[0].clone()),
            Self::Cast => {
                // The kind of cast that has null for what it cannot read; some of its kernels fail all the same.
                let options = CastOptions { safe: true, format_options: FormatOptions::default() };
                call.args[0].cast_to(call.return_field.data_type(), Some(&options))
            }
            Self::Negative => {
                let values = call.args[0].to_array(call.number_rows)?;
                Ok(ColumnarValue::Array(neg(&values)?))
            }
            Self::Operator(operator) => binary(*operator, &call),
            Self::Function(function) => function.invoke_with_args(call),
        }
    }
}

/// The divisor with null in place of 0: what is divided by it is null, as it would be if the kernel failed there, and not so slow where
/// zeros are many.
fn divisor(value: &ColumnarValue) -> Result<ColumnarValue> {
    match value {
        ColumnarValue::Array(array) if array.data_type().is_integer() || array.data_type().is_decimal() => {
            let zero = ScalarValue::new_zero(array.data_type())?.to_scalar()?;
            Ok(ColumnarValue::Array(nullif(array, &eq(array, &zero)?)?))
        }
        other => Ok(other.clone()),
    }
}

fn binary(operator: Operator, call: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let right = match operator {
        Operator::Divide | Operator::Modulo => &divisor(&call.args[1])?,
        _ => &call.args[1],
    };
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    let mut side = |value: &ColumnarValue| -> Arc<dyn PhysicalExpr> {
        match value {
            ColumnarValue::Scalar(scalar) => Arc::new(Literal::new(scalar.clone())),
            ColumnarValue::Array(array) => {
                fields.push(Field::new("side", array.data_type().clone(), true));
                columns.push(Arc::clone(array));
                Arc::new(Column::new("side", columns.len() - 1))
            }
        }
    };
    let expression = BinaryExpr::new(side(&call.args[0]), operator, side(right));
    let rows = RecordBatchOptions::new().with_row_count(Some(call.number_rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &rows)?;
    // Plain DataFusion wraps around; here a result that leaves its type is an error, and so null.
    expression.with_fail_on_overflow(true).evaluate(&batch)
}
