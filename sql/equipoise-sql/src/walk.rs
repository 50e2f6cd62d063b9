//! Walks a logical plan and tells whose rows every node has, or why that cannot be told.

use crate::{
    refusal::Refusal,
    rules::{self, JoinFacts, Kept, Rules, Side, Why},
    table::Table,
};
use datafusion::{
    common::{
        DFSchema, JoinType,
        tree_node::{TreeNode as _, TreeNodeRecursion},
    },
    datasource::source_as_provider,
    logical_expr::{
        Aggregate, BinaryExpr, Distinct, Expr, Join, LogicalPlan, Operator, Projection, TableScan, Union,
        Volatility,
    },
};
use std::collections::BTreeSet;

/// Whose rows a relation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Nobody's: they are public.
    Public,
    /// Each row is its unit's, which every one of these columns holds.
    Unit(BTreeSet<usize>),
}

impl Owner {
    fn side(&self) -> Side {
        match self {
            Self::Public => Side::Public,
            Self::Unit(_) => Side::Private,
        }
    }

    fn columns(&self) -> BTreeSet<usize> {
        match self {
            Self::Public => BTreeSet::new(),
            Self::Unit(columns) => columns.clone(),
        }
    }
}

/// Whose rows a plan has, by these rules.
pub(crate) fn owner(plan: &LogicalPlan, rules: &Rules) -> Result<Owner, Refusal> {
    plan.expressions().iter().try_for_each(is_about_one_row)?;
    let owner = of_node(plan, rules)?;
    if owner == Owner::Unit(BTreeSet::new()) {
        (rules.without_unit)().map_err(|why| refused(called(plan), why))?;
    }
    Ok(owner)
}

fn refused(what: &str, (why, rewrite): Why) -> Refusal {
    Refusal::new(what, why, rewrite)
}

fn of_node(plan: &LogicalPlan, rules: &Rules) -> Result<Owner, Refusal> {
    match plan {
        LogicalPlan::TableScan(scan) => of_scan(scan, rules),
        LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => Ok(Owner::Public),
        LogicalPlan::Filter(filter) => owner(&filter.input, rules),
        LogicalPlan::SubqueryAlias(alias) => owner(&alias.input, rules),
        LogicalPlan::Projection(projection) => of_projection(projection, rules),
        LogicalPlan::Join(join) => of_join(join, rules),
        LogicalPlan::Aggregate(aggregate) => of_aggregate(aggregate, rules),
        LogicalPlan::Distinct(Distinct::All(input)) => owner(input, rules),
        LogicalPlan::Union(union) => of_union(union, rules),
        LogicalPlan::Limit(limit) => cut(&limit.input, rules),
        LogicalPlan::Sort(sort) if sort.fetch.is_some() => cut(&sort.input, rules),
        LogicalPlan::Window(_) => Err(refused(
            "a window",
            ("a row must not see others", "aggregate by GROUP BY with the privacy unit, and join that"),
        )),
        LogicalPlan::RecursiveQuery(_) => {
            Err(refused("WITH RECURSIVE", ("it can run for ever", "write the steps out")))
        }
        LogicalPlan::Distinct(Distinct::On(_)) => Err(refused(
            "DISTINCT ON",
            ("which row it keeps depends on their order", "write MIN or MAX with GROUP BY"),
        )),
        LogicalPlan::Unnest(_) => {
            Err(refused("UNNEST", ("lists are not read", "store one row for each element")))
        }
        other => Err(refused(
            called(other),
            ("it is not among what was proved safe", "write it with joins, GROUP BY and set operations"),
        )),
    }
}

/// What people call a node.
fn called(plan: &LogicalPlan) -> &'static str {
    match plan {
        LogicalPlan::TableScan(_) => "a private table",
        LogicalPlan::Projection(_) => "this list behind SELECT",
        LogicalPlan::Aggregate(_) => "GROUP BY over private rows",
        LogicalPlan::Union(_) => "UNION",
        LogicalPlan::Sort(_) => "ORDER BY inside",
        LogicalPlan::Limit(_) => "LIMIT inside",
        LogicalPlan::Join(_) => "this join",
        LogicalPlan::Filter(_) => "WHERE",
        LogicalPlan::Subquery(_) => "this subquery",
        _ => "this query",
    }
}

/// The unit of a private table is the column that was declared; its rows without one are never read.
fn of_scan(scan: &TableScan, rules: &Rules) -> Result<Owner, Refusal> {
    let unknown =
        || refused("a table of another kind", ("it is not read by this program", "name a file or a table"));
    let provider = source_as_provider(&scan.source).map_err(|_| unknown())?;
    let Some(table) = provider.downcast_ref::<Table>() else { return Err(unknown()) };
    let side = if table.unit().is_some() { Side::Private } else { Side::Public };
    if scan.fetch.is_some() {
        (rules.limit)(side).map_err(|why| refused("LIMIT inside", why))?;
    }
    if !scan.filters.is_empty() {
        return Err(refused("a filter inside a reader", ("tables are read whole", "write it in WHERE")));
    }
    let Some(unit) = table.unit() else { return Ok(Owner::Public) };
    let place = match &scan.projection {
        None => Some(unit),
        Some(columns) => columns.iter().position(|&column| column == unit),
    };
    Ok(Owner::Unit(place.into_iter().collect()))
}

/// The place of an expression among these columns, where it is nothing but a column.
fn bare(expression: &Expr, schema: &DFSchema) -> Option<usize> {
    match expression {
        Expr::Column(column) => schema.maybe_index_of_column(column),
        Expr::Alias(alias) => bare(&alias.expr, schema),
        _ => None,
    }
}

fn of_projection(projection: &Projection, rules: &Rules) -> Result<Owner, Refusal> {
    let input = owner(&projection.input, rules)?;
    let Owner::Unit(units) = input else { return Ok(Owner::Public) };
    let schema = projection.input.schema();
    let is_unit = |expression: &Expr| match bare(expression, schema) {
        Some(column) => units.contains(&column) && (rules.stays_unit)(true),
        // A rule that takes more than bare columns takes whatever is made of a unit.
        None => {
            (rules.stays_unit)(false)
                && expression.column_refs().iter().any(|column| {
                    schema.maybe_index_of_column(column).is_some_and(|column| units.contains(&column))
                })
        }
    };
    let kept = (0..).zip(&projection.expr).filter(|(_, expression)| is_unit(expression));
    Ok(Owner::Unit(kept.map(|(place, _)| place).collect()))
}

fn of_join(join: &Join, rules: &Rules) -> Result<Owner, Refusal> {
    if join.null_aware && (join.on.len() != 1 || join.filter.is_some()) {
        return Err(refused(
            "NOT IN with other conditions",
            ("the engine has it for one column", "write NOT EXISTS"),
        ));
    }
    let inside = |refusal: Refusal| lost_inside(join, refusal);
    let (left, right) = (owner(&join.left, rules)?, owner(&join.right, rules).map_err(inside)?);
    let facts = JoinFacts {
        kind: join.join_type,
        left: left.side(),
        right: right.side(),
        on_unit: is_on_unit(join, &left.columns(), &right.columns()),
        null_aware: join.null_aware,
    };
    let kept = (rules.join)(facts).map_err(|why| refused(&join_called(join), why))?;
    // Where rows of the right side are put out, they stand behind those of the left.
    let outputs_left =
        !matches!(join.join_type, JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark);
    let before = if outputs_left { join.left.schema().fields().len() } else { 0 };
    let moved = |columns: BTreeSet<usize>| columns.into_iter().map(|column| column + before).collect();
    Ok(match kept {
        Kept::Nobody => Owner::Public,
        Kept::Left => Owner::Unit(left.columns()),
        Kept::Right => Owner::Unit(moved(right.columns())),
        Kept::Both => {
            let right: BTreeSet<usize> = moved(right.columns());
            Owner::Unit(left.columns().union(&right).copied().collect())
        }
    })
}

/// A subquery without its unit is not what is wrong: that the rows outside depend on it is.
fn lost_inside(join: &Join, refusal: Refusal) -> Refusal {
    let subquery = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark);
    if !subquery || refusal.why != rules::WITHOUT_UNIT.0 {
        return refusal;
    }
    let why = "whether a row stays depends on other units' rows";
    refused(
        &join_called(join),
        (why, "compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)"),
    )
}

fn join_called(join: &Join) -> String {
    use JoinType as Kind;
    match join.join_type {
        Kind::LeftAnti | Kind::RightAnti if join.null_aware => "NOT IN".to_string(),
        Kind::LeftSemi | Kind::RightSemi => "IN, EXISTS or INTERSECT".to_string(),
        Kind::LeftAnti | Kind::RightAnti => "NOT EXISTS or EXCEPT".to_string(),
        Kind::LeftMark | Kind::RightMark => "IN or EXISTS among other conditions".to_string(),
        Kind::Inner => "this join".to_string(),
        Kind::Left => "this LEFT JOIN".to_string(),
        Kind::Right => "this RIGHT JOIN".to_string(),
        Kind::Full => "this FULL JOIN".to_string(),
    }
}

/// Is one of the conditions that must all hold that two units are equal? Both are bare columns, so of one type and without a cast.
fn is_on_unit(join: &Join, left: &BTreeSet<usize>, right: &BTreeSet<usize>) -> bool {
    let (left_schema, right_schema) = (join.left.schema(), join.right.schema());
    let is = |expression: &Expr, schema: &DFSchema, units: &BTreeSet<usize>| {
        bare(expression, schema).is_some_and(|column| units.contains(&column))
    };
    let fits = |a: &Expr, b: &Expr| is(a, left_schema, left) && is(b, right_schema, right);
    let keys = join.on.iter().any(|(a, b)| fits(a, b) || fits(b, a));
    keys || join.filter.as_ref().is_some_and(|filter| {
        conjuncts(filter).into_iter().any(|part| match part {
            Expr::BinaryExpr(BinaryExpr { left: a, op: Operator::Eq, right: b }) => fits(a, b) || fits(b, a),
            _ => false,
        })
    })
}

/// The parts of a condition that must all hold.
fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        other => vec![other],
    }
}

fn of_aggregate(aggregate: &Aggregate, rules: &Rules) -> Result<Owner, Refusal> {
    if aggregate.group_expr.iter().any(|key| matches!(key, Expr::GroupingSet(_))) {
        return Err(refused(
            "GROUPING SETS, ROLLUP or CUBE",
            (
                "some of its rows have no unit",
                "write one GROUP BY for each and put them together by UNION ALL",
            ),
        ));
    }
    let input = owner(&aggregate.input, rules)?;
    let Owner::Unit(units) = input else { return Ok(Owner::Public) };
    let schema = aggregate.input.schema();
    let is_unit = |key: &Expr| bare(key, schema).is_some_and(|column| units.contains(&column));
    let keys = (0..).zip(&aggregate.group_expr).filter(|(_, key)| is_unit(key));
    let keys: BTreeSet<usize> = keys.map(|(place, _)| place).collect();
    (rules.group)(!keys.is_empty()).map_err(|why| refused("GROUP BY over private rows", why))?;
    Ok(Owner::Unit(keys))
}

fn of_union(union: &Union, rules: &Rules) -> Result<Owner, Refusal> {
    let owners = union.inputs.iter().map(|input| owner(input, rules)).collect::<Result<Vec<_>, _>>()?;
    let sides: Vec<Side> = owners.iter().map(Owner::side).collect();
    let private = owners.iter().filter(|owner| owner.side() == Side::Private).map(Owner::columns);
    let common = private.reduce(|one, other| one.intersection(&other).copied().collect());
    let same_place = common.as_ref().is_none_or(|common| !common.is_empty());
    (rules.union)(&sides, same_place).map_err(|why| refused("UNION", why))?;
    Ok(common.map_or(Owner::Public, Owner::Unit))
}

fn cut(input: &LogicalPlan, rules: &Rules) -> Result<Owner, Refusal> {
    let input = owner(input, rules)?;
    (rules.limit)(input.side()).map_err(|why| refused("LIMIT inside", why))?;
    Ok(input)
}

/// Everything in an expression looks at one row, without a clock and without chance. Subqueries were made joins before.
fn is_about_one_row(expression: &Expr) -> Result<(), Refusal> {
    let mut outcome = Ok(());
    let walked = expression.apply(|part| {
        outcome = one(part);
        Ok(if outcome.is_ok() { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    match walked {
        Ok(_) => outcome,
        Err(_) => Err(refused("this expression", ("it cannot be walked", "write it in parts"))),
    }
}

fn one(part: &Expr) -> Result<(), Refusal> {
    let subquery =
        ("it could not be made a join", "write a join, or a subquery with an equality of units inside");
    match part {
        Expr::ScalarFunction(call) if call.func.signature().volatility != Volatility::Immutable => {
            let name = call.func.name();
            Err(Refusal::new(
                format!("{name}()"),
                "it has another value every time",
                "write a constant in its place",
            ))
        }
        Expr::Exists(_)
        | Expr::InSubquery(_)
        | Expr::SetComparison(_)
        | Expr::ScalarSubquery(_)
        | Expr::OuterReferenceColumn(..) => Err(refused("this subquery", subquery)),
        Expr::WindowFunction(_) => Err(refused(
            "a window",
            ("a row must not see others", "aggregate by GROUP BY with the privacy unit, and join that"),
        )),
        Expr::AggregateFunction(call) if !call.params.order_by.is_empty() => Err(refused(
            "ORDER BY in an aggregate",
            ("its result depends on an order", "leave the order out"),
        )),
        Expr::Unnest(_)
        | Expr::HigherOrderFunction(_)
        | Expr::Lambda(_)
        | Expr::LambdaVariable(_)
        | Expr::Placeholder(_)
        | Expr::ScalarVariable(..) => Err(refused(
            "this expression",
            ("it is not among what was proved safe", "write it with operators and functions of one row"),
        )),
        _ => Ok(()),
    }
}
