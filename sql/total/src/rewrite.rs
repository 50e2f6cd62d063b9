//! A plan in its total form, from the leaves up, with its names and types as they were.

use crate::{
    NotTotal,
    aggregate::Exact,
    allowed,
    clean::{clean_scalar, is_clean},
    kernel::Kernel,
    total::Total,
    types::{is_float, is_lossless, is_plain},
    verify,
};
use arrow::datatypes::DataType;
use datafusion::{
    common::{
        Column, DFSchema, Result,
        tree_node::{Transformed, TreeNode, TreeNodeRewriter},
    },
    logical_expr::{
        BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, Projection, Union, cast, col,
        expr::{AggregateFunction, Between, Like, ScalarFunction},
        expr_rewriter::NamePreserver,
        lit, when,
    },
    scalar::ScalarValue,
};
use std::sync::Arc;

pub fn plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|each| node(each).map(Transformed::yes)).map(|done| done.data)
}

fn node(node: LogicalPlan) -> Result<LogicalPlan> {
    let schema = verify::input_schema(&node)?;
    verify::node(&node, &schema)?;
    let names = NamePreserver::new(&node);
    let done = node.map_expressions(|each| {
        let name = names.save(&each);
        let total = each.rewrite(&mut Steps { schema: &schema, kinds: Vec::new() })?;
        Ok(total.update_data(|each| name.restore(each)))
    })?;
    normal(with_schema(done.data)?)
}

/// The schema that follows from the expressions: what was computed may now be null.
fn with_schema(node: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Union(Union { inputs, schema }) = node else { return node.recompute_schema() };
    let nullable = |place: usize| inputs.iter().any(|input| input.schema().field(place).is_nullable());
    let fields = schema.iter().enumerate().map(|(place, (qualifier, field))| {
        (
            qualifier.cloned(),
            Arc::new(field.as_ref().clone().with_nullable(field.is_nullable() || nullable(place))),
        )
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), schema.metadata().clone())?;
    Ok(LogicalPlan::Union(Union { inputs, schema: Arc::new(schema) }))
}

/// Floats of a table enter through their total form.
fn normal(node: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::TableScan(scan) = &node else { return Ok(node) };
    if !scan
        .projected_schema
        .fields()
        .iter()
        .any(|field| is_float(field.data_type()) && is_plain(field.data_type()))
    {
        return Ok(node);
    }
    let columns = scan.projected_schema.iter().map(|(qualifier, field)| {
        let column = col(Column::from((qualifier, field)));
        if is_float(field.data_type()) && is_plain(field.data_type()) {
            allowed::normal().call(vec![column]).alias_qualified(qualifier.cloned(), field.name())
        } else {
            column
        }
    });
    let columns = columns.collect();
    Projection::try_new(columns, Arc::new(node)).map(LogicalPlan::Projection)
}

/// The steps of an expression, from the leaves up, each in the type that it had.
struct Steps<'a> {
    schema: &'a DFSchema,
    kinds: Vec<Option<DataType>>,
}

impl TreeNodeRewriter for Steps<'_> {
    type Node = Expr;

    fn f_down(&mut self, step: Expr) -> Result<Transformed<Expr>> {
        self.kinds.push(step.get_type(self.schema).ok());
        Ok(Transformed::no(step))
    }

    fn f_up(&mut self, step: Expr) -> Result<Transformed<Expr>> {
        let done = expression(step, self.schema)?;
        // A literal that was the cast of one may give a function another type (`round(d, 1)` of a decimal), and others were coerced to
        // the type before.
        match self.kinds.pop().flatten() {
            Some(kind) if done.get_type(self.schema).is_ok_and(|now| now != kind) => {
                cast_to(done, &kind, self.schema).map(Transformed::yes)
            }
            _ => Ok(Transformed::yes(done)),
        }
    }
}

/// One step, whose parts are total already.
fn expression(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let done = match expr {
        Expr::Literal(value, metadata) if !is_clean(&value) => Expr::Literal(clean_scalar(value), metadata),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if allowed::operator(op).is_some() => {
            let total = allowed::operator(op).expect("it was just there");
            call(total, vec![*left, *right], schema)?
        }
        Expr::Like(like) => matches(like, schema)?,
        Expr::Negative(inner) => call(allowed::negative(), vec![*inner], schema)?,
        Expr::Between(each) => between(each, schema)?,
        Expr::Cast(each) => cast_to(*each.expr, each.field.data_type(), schema)?,
        Expr::TryCast(each) => cast_to(*each.expr, each.field.data_type(), schema)?,
        Expr::ScalarFunction(each) => function(each, schema)?,
        Expr::AggregateFunction(each) => aggregate(each, schema)?,
        other => other,
    };
    verify::expression(&done, schema)?;
    Ok(done)
}

/// A call of a total form, or its value where all arguments are literals.
fn call(total: Total, args: Vec<Expr>, schema: &DFSchema) -> Result<Expr> {
    verify::admit(&total, &args, schema, true)?;
    let literals: Option<Vec<ScalarValue>> = args
        .iter()
        .map(|arg| match arg {
            Expr::Literal(value, _) => Some(value.clone()),
            _ => None,
        })
        .collect();
    match (total.kernel(), literals) {
        // Functions may look at settings of the session, which are not known here; the optimizer folds them.
        (Kernel::Function(_), _) | (_, None) => Ok(total.call(args)),
        (_, Some(literals)) => Ok(lit(total.fold(literals)?)),
    }
}

fn matches(like: Like, schema: &DFSchema) -> Result<Expr> {
    if like.escape_char.is_some_and(|escape| escape != '\\') {
        return Err(NotTotal::refuse(
            "LIKE with ESCAPE",
            "it has no total form",
            "escape with \\ and leave ESCAPE out",
        ));
    }
    let operator = match (like.negated, like.case_insensitive) {
        (false, false) => Operator::LikeMatch,
        (true, false) => Operator::NotLikeMatch,
        (false, true) => Operator::ILikeMatch,
        (true, true) => Operator::NotILikeMatch,
    };
    let total = allowed::operator(operator).expect("all four are on the list");
    call(total, vec![*like.expr, *like.pattern], schema)
}

fn between(between: Between, schema: &DFSchema) -> Result<Expr> {
    verify::expression(&Expr::Between(between.clone()), schema)?;
    let (value, low, high) = (*between.expr, *between.low, *between.high);
    Ok(if between.negated {
        value.clone().lt(low).or(value.gt(high))
    } else {
        value.clone().gt_eq(low).and(value.lt_eq(high))
    })
}

fn cast_to(expr: Expr, kind: &DataType, schema: &DFSchema) -> Result<Expr> {
    let from = expr.get_type(schema)?;
    if from == *kind {
        return Ok(expr);
    }
    if is_lossless(&from, kind) {
        return match expr {
            Expr::Literal(value, _) => Ok(lit(value.cast_to(kind)?)),
            other => Ok(cast(other, kind.clone())),
        };
    }
    if !is_plain(kind) {
        let why = "it is not one plain value a row";
        return Err(NotTotal::refuse(
            format!("CAST to {kind}"),
            why,
            "cast to a number, text, time or truth",
        ));
    }
    call(allowed::cast(), vec![expr, lit(ScalarValue::try_from(kind)?)], schema)
}

fn function(each: ScalarFunction, schema: &DFSchema) -> Result<Expr> {
    if let Some(total) = Total::of(&each.func) {
        verify::admit(total, &each.args, schema, true)?;
        return Ok(Expr::ScalarFunction(each));
    }
    if let Some(total) = allowed::function(&each.func) {
        return call(total, each.args, schema);
    }
    // These are choices among values, which CASE makes row by row.
    match (each.func.name(), each.args.as_slice()) {
        ("coalesce" | "nvl", [rest @ .., last]) => {
            rest.iter().rev().try_fold(last.clone(), |other, first| {
                when(first.clone().is_not_null(), first.clone()).otherwise(other)
            })
        }
        ("nvl2", [asked, there, missing]) => {
            when(asked.clone().is_not_null(), there.clone()).otherwise(missing.clone())
        }
        ("nullif", [value, other]) => {
            let same = value.clone().eq(other.clone());
            verify::expression(&same, schema)?;
            when(same, lit(ScalarValue::try_from(value.get_type(schema)?)?)).otherwise(value.clone())
        }
        ("pi", []) => Ok(lit(std::f64::consts::PI)),
        (name, _) => Err(verify::function_refused(name)),
    }
}

fn aggregate(mut each: AggregateFunction, schema: &DFSchema) -> Result<Expr> {
    if let [arg] = each.params.args.as_slice()
        && let Some(kind) = verify::exact(each.func.name(), &arg.get_type(schema)?)?
    {
        // Asked by its own name first, so that what is refused is called as it was written.
        each.func = Arc::new(Exact::udaf(kind));
    }
    Ok(Expr::AggregateFunction(each))
}
