//! What must hold of the last plan: only total forms, and floats of tables only through theirs.

use crate::{NotTotal, kernel::Kernel, total::Total, types::is_float, verify};
use datafusion::{
    common::{
        DFSchema, Result,
        tree_node::{TreeNode, TreeNodeRecursion},
    },
    logical_expr::{Distinct, Expr, LogicalPlan},
};

pub fn plan(plan: &LogicalPlan) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        let schema = verify::input_schema(node)?;
        verify::node(node, &schema)?;
        node.apply_expressions(|expr| {
            expr.apply(|step| verify::expression(step, &schema).map(|()| TreeNodeRecursion::Continue))
        })
    })?;
    entered(plan)?;
    plan.apply_with_subqueries(|node| {
        node.apply_subqueries(|inner| entered(inner).map(|()| TreeNodeRecursion::Continue))
    })?;
    Ok(())
}

/// Every float that leaves the plan has passed its total form.
fn entered(plan: &LogicalPlan) -> Result<()> {
    refuse_if(raw(plan)?.contains(&true))
}

fn refuse_if(raw: bool) -> Result<()> {
    if raw {
        let why = "a float of a table is used as it is, with NaN and two zeros";
        return Err(NotTotal::refuse("the plan", why, "make the plan total before it is optimized"));
    }
    Ok(())
}

/// For each column of a plan whether it is a float as the table has it.
fn raw(plan: &LogicalPlan) -> Result<Vec<bool>> {
    let inputs = plan.inputs().into_iter().map(raw).collect::<Result<Vec<_>>>()?;
    let known: Vec<(&DFSchema, &[bool])> = plan
        .inputs()
        .into_iter()
        .zip(&inputs)
        .map(|(input, raw)| (input.schema().as_ref(), raw.as_slice()))
        .collect();
    match plan {
        LogicalPlan::TableScan(scan) => {
            let schema = verify::input_schema(plan)?;
            let floats = floats_in(&schema);
            scan.filters.iter().try_for_each(|filter| sound(filter, &[(&schema, &floats)]))?;
            return Ok(floats_in(scan.projected_schema.as_ref()));
        }
        LogicalPlan::Projection(projection) => {
            return projection
                .expr
                .iter()
                .map(|expr| match expr.clone().unalias_nested().data {
                    Expr::Column(column) => Ok(is_raw(&column, &known)),
                    _ => sound(expr, &known).map(|()| false),
                })
                .collect();
        }
        _ => {}
    }
    plan.apply_expressions(|expr| sound(expr, &known).map(|()| TreeNodeRecursion::Continue))?;
    match plan {
        LogicalPlan::Distinct(Distinct::All(_)) => {
            refuse_if(inputs[0].contains(&true))?;
            Ok(inputs[0].clone())
        }
        LogicalPlan::Union(_) => {
            let columns = plan.schema().fields().len();
            Ok((0..columns).map(|place| inputs.iter().any(|input| input.get(place) == Some(&true))).collect())
        }
        LogicalPlan::Join(_) => {
            Ok(plan.schema().columns().iter().map(|column| is_raw(column, &known)).collect())
        }
        LogicalPlan::Aggregate(_) | LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => {
            Ok(vec![false; plan.schema().fields().len()])
        }
        _ => Ok(inputs.into_iter().next().unwrap_or_default()),
    }
}

fn floats_in(schema: &DFSchema) -> Vec<bool> {
    schema.fields().iter().map(|field| is_float(field.data_type())).collect()
}

fn is_raw(column: &datafusion::common::Column, known: &[(&DFSchema, &[bool])]) -> bool {
    known.iter().any(|(schema, raw)| {
        schema.maybe_index_of_column(column).is_some_and(|place| raw.get(place) == Some(&true))
    })
}

/// No float of a table in an expression but directly in its total form.
fn sound(expr: &Expr, known: &[(&DFSchema, &[bool])]) -> Result<()> {
    expr.apply(|step| match step {
        Expr::ScalarFunction(call)
            if Total::of(&call.func).is_some_and(|total| *total.kernel() == Kernel::Normal)
                && matches!(call.args.as_slice(), [Expr::Column(_)]) =>
        {
            Ok(TreeNodeRecursion::Jump)
        }
        Expr::Column(column) => refuse_if(is_raw(column, known)).map(|()| TreeNodeRecursion::Continue),
        _ => Ok(TreeNodeRecursion::Continue),
    })
    .map(|_| ())
}
