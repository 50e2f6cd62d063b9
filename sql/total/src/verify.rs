//! Which expressions, aggregates and nodes cannot fail on a row nor look at another: asked when a plan is made total and of the last plan.

use crate::{
    NotTotal,
    aggregate::{Exact, Kind},
    allowed::REFUSED,
    clean::is_clean,
    kernel::Kernel,
    size::whole_literal,
    total::Total,
    types::{is_lossless, is_plain},
};
use arrow::datatypes::DataType;
use datafusion::{
    common::{DFSchema, DataFusionError, Result},
    logical_expr::{
        Distinct, Expr, ExprSchemable, LogicalPlan, Operator, expr::AggregateFunction, utils::merge_schema,
    },
    scalar::ScalarValue,
};

const OUTSIDE: &str = "leave it out, or compute it from the released rows";

/// Aggregates of DataFusion whose result does not depend on order, and whether they may be of distinct values.
pub const NATIVE: [(&str, bool); 8] = [
    ("count", true),
    ("min", true),
    ("max", true),
    ("bool_and", false),
    ("bool_or", false),
    ("bit_and", false),
    ("bit_or", false),
    ("bit_xor", false),
];

/// Whether a comparison stays as it is.
pub fn is_comparison(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

/// The fields that a node's expressions are about.
pub fn input_schema(node: &LogicalPlan) -> Result<DFSchema> {
    match node {
        LogicalPlan::TableScan(scan) => {
            DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())
        }
        _ => Ok(merge_schema(&node.inputs())),
    }
}

/// One step of an expression, whose parts are asked by themselves.
pub fn expression(expr: &Expr, schema: &DFSchema) -> Result<()> {
    match expr {
        Expr::Column(_)
        | Expr::OuterReferenceColumn(..)
        | Expr::Alias(_)
        | Expr::Not(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::Exists(_) => Ok(()),
        Expr::Literal(value, _) if is_clean(value) => Ok(()),
        Expr::Literal(..) => {
            Err(NotTotal::refuse("a literal", "it is NaN or a negative zero", "write NULL or 0"))
        }
        Expr::BinaryExpr(binary) if matches!(binary.op, Operator::And | Operator::Or) => Ok(()),
        Expr::BinaryExpr(binary) if is_comparison(binary.op) => {
            comparable(&format!("operator {}", binary.op), &binary.left, &[&binary.right], schema)
        }
        Expr::Between(between) => {
            comparable("BETWEEN", &between.expr, &[&between.low, &between.high], schema)
        }
        Expr::InList(list) => comparable("IN", &list.expr, &list.list.iter().collect::<Vec<_>>(), schema),
        Expr::InSubquery(within) => {
            let mine = within.expr.get_type(schema)?;
            same("IN", &mine, within.subquery.subquery.schema().field(0).data_type())
        }
        Expr::Case(case) => match &case.expr {
            Some(base) => {
                let whens: Vec<&Expr> = case.when_then_expr.iter().map(|(when, _)| when.as_ref()).collect();
                comparable("CASE", base, &whens, schema)
            }
            None => Ok(()),
        },
        Expr::Cast(cast) => lossless(&cast.expr, cast.field.data_type(), schema),
        Expr::TryCast(cast) => lossless(&cast.expr, cast.field.data_type(), schema),
        Expr::ScalarFunction(call) => match Total::of(&call.func) {
            Some(total) => admit(total, &call.args, schema, false),
            None => Err(function_refused(call.func.name())),
        },
        Expr::AggregateFunction(call) => aggregate(call, schema),
        Expr::ScalarSubquery(scalar) if scalar.subquery.max_rows() == Some(1) => Ok(()),
        Expr::ScalarSubquery(_) => Err(NotTotal::refuse(
            "a subquery in place of a value",
            "it may have several rows, and then fails",
            "aggregate it: (SELECT max(x) FROM ..)",
        )),
        other => Err(step_refused(other)),
    }
}

fn step_refused(expr: &Expr) -> DataFusionError {
    let (what, why, rewrite) = match expr {
        Expr::BinaryExpr(binary) => (format!("operator {}", binary.op), "it has no total form", OUTSIDE),
        Expr::Like(_) => ("LIKE".into(), "it is not in its total form", OUTSIDE),
        Expr::SimilarTo(_) => (
            "SIMILAR TO".into(),
            "its patterns have no total form",
            "write LIKE or regexp_like(x, 'pattern')",
        ),
        Expr::Negative(_) => ("the sign -".into(), "it is not in its total form", OUTSIDE),
        Expr::WindowFunction(_) => {
            ("a window function".into(), "it looks at other rows", "aggregate with GROUP BY and join")
        }
        Expr::SetComparison(_) => (
            "ANY or ALL with a subquery".into(),
            "it has no total form",
            "write IN, EXISTS, or compare with max or min",
        ),
        Expr::GroupingSet(_) => (
            "GROUPING SETS, ROLLUP or CUBE".into(),
            "a row would count in several groups",
            "write one GROUP BY for each, joined by UNION ALL",
        ),
        Expr::Unnest(_) => ("unnest".into(), "a row would decide how many rows there are", OUTSIDE),
        other => (format!("an expression {}", other.variant_name()), "it has no total form", OUTSIDE),
    };
    NotTotal::refuse(what, why, rewrite)
}

/// Why there is no such function here.
pub fn function_refused(name: &str) -> DataFusionError {
    let what = format!("function {name}");
    match REFUSED.iter().find(|(known, ..)| *known == name) {
        Some((_, why, rewrite)) => NotTotal::refuse(what, *why, *rewrite),
        None => NotTotal::refuse(what, "it is not on the list of total functions", OUTSIDE),
    }
}

/// Whether this call of a total form is one that rows cannot fail; `probed`: and whether its kernel knows the types at all.
pub fn admit(total: &Total, args: &[Expr], schema: &DFSchema, probed: bool) -> Result<()> {
    let what = words(total);
    let kinds = args.iter().map(|arg| arg.get_type(schema)).collect::<Result<Vec<_>>>()?;
    if let Some(kind) = kinds.iter().find(|kind| !is_plain(kind)) {
        return Err(nested(&what, kind));
    }
    let literals: Vec<Option<ScalarValue>> = args.iter().map(literal).collect();
    let rule = total.rule();
    if let Some(place) = rule.literals.iter().find(|&&place| literals.get(place).is_some_and(Option::is_none))
    {
        let why = format!("argument {} must be a literal, so that no row decides it", place + 1);
        return Err(NotTotal::refuse(what, why, "write it as a constant"));
    }
    if let (Some(most), Some(Some(size))) = (rule.size.largest_literal(), literals.get(1))
        && !size.is_null()
        && whole_literal(size).is_none_or(|size| size > most)
    {
        let why = format!("a size of {size} is more than {most}");
        return Err(NotTotal::refuse(what, why, "write a smaller one"));
    }
    if !probed {
        return Ok(());
    }
    match total.probe(&kinds, &literals) {
        Ok(kind) if is_plain(&kind) => Ok(()),
        Ok(kind) => Err(nested(&what, &kind)),
        Err(why) => Err(NotTotal::refuse(what, why, "write arguments that it takes")),
    }
}

fn literal(expr: &Expr) -> Option<ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value.clone()),
        _ => None,
    }
}

fn words(total: &Total) -> String {
    match total.kernel() {
        Kernel::Cast => "CAST".into(),
        Kernel::Negative => "the sign -".into(),
        Kernel::Operator(Operator::LikeMatch | Operator::NotLikeMatch) => "LIKE".into(),
        Kernel::Operator(Operator::ILikeMatch | Operator::NotILikeMatch) => "ILIKE".into(),
        Kernel::Operator(operator) => format!("operator {operator}"),
        Kernel::Normal | Kernel::Function(_) => format!("function {}", total.rule().name),
    }
}

fn nested(what: &str, kind: &DataType) -> DataFusionError {
    let why = format!("it would be about {kind}, which is not one plain value a row");
    NotTotal::refuse(what, why, "use columns of numbers, texts, times or truths")
}

fn same(what: &str, mine: &DataType, other: &DataType) -> Result<()> {
    if let Some(kind) = [mine, other].into_iter().find(|kind| !is_plain(kind)) {
        return Err(nested(what, kind));
    }
    if mine != other && *mine != DataType::Null && *other != DataType::Null {
        let why = format!("it would compare {mine} with {other}");
        return Err(NotTotal::refuse(
            what,
            why,
            format!("write CAST(.. AS ..) so that both sides are {mine}"),
        ));
    }
    Ok(())
}

fn comparable(what: &str, one: &Expr, others: &[&Expr], schema: &DFSchema) -> Result<()> {
    let mine = one.get_type(schema)?;
    others.iter().try_for_each(|other| same(what, &mine, &other.get_type(schema)?))
}

fn lossless(expr: &Expr, to: &DataType, schema: &DFSchema) -> Result<()> {
    let from = expr.get_type(schema)?;
    if is_lossless(&from, to) {
        return Ok(());
    }
    Err(NotTotal::refuse(format!("CAST from {from} to {to}"), "it is not in its total form", OUTSIDE))
}

/// An aggregate whose result is a function of the multiset of values in the group.
fn aggregate(call: &AggregateFunction, schema: &DFSchema) -> Result<()> {
    let name = call.func.name();
    let what = format!("aggregate {}", name.trim_start_matches("total_"));
    let params = &call.params;
    if !params.order_by.is_empty() || params.null_treatment.is_some() {
        return Err(NotTotal::refuse(
            what,
            "it is asked to depend on the order of rows",
            "leave ORDER BY and NULLS out",
        ));
    }
    for arg in &params.args {
        let kind = arg.get_type(schema)?;
        if !is_plain(&kind) {
            return Err(nested(&what, &kind));
        }
    }
    let native = NATIVE.iter().find(|(known, _)| *known == name);
    let distinct = native.is_some_and(|(_, distinct)| *distinct);
    if native.is_none() && !Exact::is(&call.func) {
        let rewrite = format!("use {}, sum, avg, var or stddev", NATIVE.map(|(name, _)| name).join(", "));
        return Err(NotTotal::refuse(
            what,
            "it is not on the list of aggregates that no order of rows shows in",
            rewrite,
        ));
    }
    if params.distinct && !distinct {
        let rewrite = "aggregate a subquery SELECT DISTINCT";
        return Err(NotTotal::refuse(format!("{what} of DISTINCT"), "it has no exact form", rewrite));
    }
    Ok(())
}

/// The exact form of an aggregate of this name, for this type.
pub fn exact(name: &str, kind: &DataType) -> Result<Option<Kind>> {
    let Some(exact) = Kind::ALL.into_iter().find(|exact| exact.name() == name) else { return Ok(None) };
    if exact.result(kind).is_some() {
        return Ok(Some(exact));
    }
    let why = format!("it has no exact form for {kind}");
    Err(NotTotal::refuse(format!("aggregate {name}"), why, "cast to DOUBLE, BIGINT or DECIMAL(38, s)"))
}

/// One node, whose inputs and expressions are asked by themselves.
pub fn node(node: &LogicalPlan, schema: &DFSchema) -> Result<()> {
    let plain = |what: &str, kind: &DataType| if is_plain(kind) { Ok(()) } else { Err(nested(what, kind)) };
    let refuse = |what: &str, why: &str, rewrite: &str| Err(NotTotal::refuse(what, why, rewrite));
    match node {
        LogicalPlan::Aggregate(aggregate) => {
            aggregate.group_expr.iter().try_for_each(|key| plain("GROUP BY", &key.get_type(schema)?))
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            input.schema().fields().iter().try_for_each(|field| plain("DISTINCT", field.data_type()))
        }
        LogicalPlan::Join(join) => join
            .on
            .iter()
            .try_for_each(|(left, right)| same("JOIN", &left.get_type(schema)?, &right.get_type(schema)?)),
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Union(_)
        | LogicalPlan::TableScan(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Subquery(_)
        | LogicalPlan::EmptyRelation(_)
        | LogicalPlan::Values(_) => Ok(()),
        LogicalPlan::Window(_) => {
            refuse("a window function", "it looks at other rows", "aggregate with GROUP BY and join")
        }
        LogicalPlan::Distinct(Distinct::On(_)) => refuse(
            "DISTINCT ON",
            "the order of rows decides which one stays",
            "write GROUP BY with min or max",
        ),
        LogicalPlan::RecursiveQuery(_) => refuse("WITH RECURSIVE", "a row decides how long it runs", OUTSIDE),
        LogicalPlan::Unnest(_) => refuse("unnest", "a row decides how many rows there are", OUTSIDE),
        other => {
            let what = other.display().to_string();
            refuse(what.split([':', ' ']).next().unwrap_or("the plan"), "it is no question", "write SELECT")
        }
    }
}
