//! From a query in the dialect to a plan that may run: subqueries made joins, everything total, its owner known, twice.
//!
//! 1. DataFusion names and types the query.
//! 2. The pinned rules of [`decorrelating`] make joins of subqueries and of conditions.
//! 3. `equipoise_sql_total` makes every expression total; the walker tells who owns each row.
//! 4. The pinned rules of [`improving`] make it quick.
//! 5. The walker and the check of total forms look at what is left, which is what runs.
//!
//! All of it sees the query and public schemas alone, so that every error here is free and may say what is wrong.

use crate::{
    dialect::{self, Accepted},
    refusal::Refusal,
    rules::Rules,
    table::{Ended, Table},
    walk::{self, Owner},
};
use datafusion::{
    common::{
        Column, DataFusionError,
        tree_node::{TreeNode as _, TreeNodeRecursion},
    },
    execution::{
        SessionState, SessionStateBuilder, TaskContext,
        memory_pool::FairSpillPool,
        runtime_env::{RuntimeEnv, RuntimeEnvBuilder},
    },
    logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder},
    optimizer::{
        Optimizer, OptimizerRule, common_subexpr_eliminate::CommonSubexprEliminate,
        decorrelate_predicate_subquery::DecorrelatePredicateSubquery,
        eliminate_cross_join::EliminateCrossJoin, eliminate_duplicated_expr::EliminateDuplicatedExpr,
        eliminate_filter::EliminateFilter, eliminate_outer_join::EliminateOuterJoin,
        extract_equijoin_predicate::ExtractEquijoinPredicate, filter_null_join_keys::FilterNullJoinKeys,
        optimize_projections::OptimizeProjections, optimize_unions::OptimizeUnions,
        push_down_filter::PushDownFilter, replace_distinct_aggregate::ReplaceDistinctWithAggregate,
        rewrite_set_comparison::RewriteSetComparison, scalar_subquery_to_join::ScalarSubqueryToJoin,
        simplify_expressions::SimplifyExpressions,
    },
    physical_plan::ExecutionPlan,
    prelude::{SessionConfig, SessionContext},
    sql::{parser::Statement, sqlparser::ast},
};
use std::{collections::BTreeSet, sync::Arc};

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The rules that make joins of subqueries, and inner joins of conditions behind WHERE. No other one runs before the first walk.
pub(crate) fn decorrelating() -> Vec<Rule> {
    vec![
        Arc::new(RewriteSetComparison::new()),
        Arc::new(OptimizeUnions::new()),
        Arc::new(ReplaceDistinctWithAggregate::new()),
        Arc::new(DecorrelatePredicateSubquery::new()),
        Arc::new(ScalarSubqueryToJoin::new()),
        Arc::new(ExtractEquijoinPredicate::new()),
        Arc::new(EliminateCrossJoin::new()),
        Arc::new(PushDownFilter::new()),
    ]
}

/// The rules that make a plan quick. None of them looks at how many rows there are.
pub(crate) fn improving() -> Vec<Rule> {
    vec![
        Arc::new(SimplifyExpressions::new()),
        Arc::new(ExtractEquijoinPredicate::new()),
        Arc::new(EliminateDuplicatedExpr::new()),
        Arc::new(EliminateFilter::new()),
        Arc::new(EliminateCrossJoin::new()),
        Arc::new(FilterNullJoinKeys::default()),
        Arc::new(EliminateOuterJoin::new()),
        Arc::new(PushDownFilter::new()),
        Arc::new(CommonSubexprEliminate::new()),
        Arc::new(OptimizeProjections::new()),
    ]
}

/// What the engine may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of memory; what does not fit is spilled where it can be, and else the answer is lost.
    pub memory: usize,
    /// How many parts work side by side.
    pub threads: usize,
}

/// An engine for one query, with these tables and nothing else.
pub(crate) fn context(tables: &[Arc<Table>], limits: Limits) -> Result<SessionContext, Refusal> {
    let mut config =
        SessionConfig::new().with_information_schema(false).with_target_partitions(limits.threads);
    config = config.with_extension(Arc::new(Ended::default()));
    let options = config.options_mut();
    options.sql_parser.enable_ident_normalization = false;
    options.sql_parser.map_string_types_to_utf8view = false;
    options.optimizer.enable_physical_uncorrelated_scalar_subquery = false;
    // The first of them is only a word for the other three where it is set by its name.
    options.optimizer.enable_dynamic_filter_pushdown = false;
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    options.optimizer.enable_topk_dynamic_filter_pushdown = false;
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    options.optimizer.skip_failed_rules = false;
    let builder = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(limits.memory)));
    let runtime: Arc<RuntimeEnv> = builder.build_arc().map_err(|error| unplanned(&error))?;
    let state =
        SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features();
    let context = SessionContext::new_with_state(state.build());
    equipoise_sql_total::register(&context);
    for (number, table) in tables.iter().enumerate() {
        let name = datafusion::common::TableReference::bare(dialect::registered(number));
        context.register_table(name, table.clone()).map_err(|error| unplanned(&error))?;
    }
    Ok(context)
}

/// So much of what DataFusion says is told, in characters.
const LONGEST: usize = 200;

/// What DataFusion says of a query and public schemas, in one line.
fn unplanned(error: &DataFusionError) -> Refusal {
    let said = error.find_root().strip_backtrace();
    if let Some(name) = mistyped(&said) {
        return Refusal::new(
            format!("{name} of these"),
            "it does not take values of their types",
            "declare the types of texts, as in --type cost=number, or write CAST(cost AS DOUBLE)",
        );
    }
    let line = said.lines().next().unwrap_or_default().replace('\u{1}', "");
    let prefixes =
        ["Error during planning: ", "Schema error: ", "This feature is not implemented: ", "SQL error: "];
    let line = prefixes.iter().fold(line.as_str(), |line, prefix| line.trim_start_matches(prefix));
    let line: String = line.trim_end_matches('.').chars().take(LONGEST).collect();
    Refusal::new("the query", line, "check its names and types")
}

/// The function that has no form for the types that it is given.
fn mistyped(said: &str) -> Option<&str> {
    let (before, _) = said
        .split_once("failed to match any signature")
        .or_else(|| said.split_once("No function matches"))?;
    let name = before.split('\'').nth(1)?;
    Some(name).filter(|name| !name.is_empty())
}

/// The relation as DataFusion understands it.
pub(crate) async fn named(context: &SessionContext, accepted: &Accepted) -> Result<LogicalPlan, Refusal> {
    let statement: ast::Statement = accepted.statement.clone();
    let state = context.state();
    let plan = state.statement_to_plan(Statement::Statement(Box::new(statement))).await;
    plan.map_err(|error| unplanned(&error))
}

/// What a query asks of its relation: the unit first, then these columns under these names.
pub(crate) fn projected(plan: LogicalPlan, columns: &[(Column, String)]) -> Result<LogicalPlan, Refusal> {
    let list = columns.iter().map(|(column, name)| Expr::Column(column.clone()).alias(name));
    let built = LogicalPlanBuilder::from(plan).project(list).and_then(LogicalPlanBuilder::build);
    built.map_err(|error| unplanned(&error))
}

/// A plan that may run.
#[derive(Debug)]
pub(crate) struct Proved {
    pub plan: LogicalPlan,
    /// The columns that hold the unit of every row.
    pub units: BTreeSet<usize>,
}

/// Steps 2 to 5.
pub(crate) fn proved(state: &SessionState, plan: LogicalPlan) -> Result<Proved, Refusal> {
    proved_by(state, plan, &Rules::ALL)
}

/// The same by other rules: what tests try.
pub(crate) fn proved_by(state: &SessionState, plan: LogicalPlan, rules: &Rules) -> Result<Proved, Refusal> {
    let first = decorrelated(state, plan)?;
    let first = equipoise_sql_total::make_total(first)?;
    walk::owner(&first, rules)?;
    let last = optimized(state, improving(), first)?;
    equipoise_sql_total::check(&last)?;
    match walk::owner(&last, rules)? {
        Owner::Unit(units) => Ok(Proved { plan: last, units }),
        Owner::Public => Err(Refusal::new(
            "a query about public tables alone",
            "nobody's privacy is at stake",
            "name the private tables and their units: OPTIONS(privacy_unit_column=[orders.person])",
        )),
    }
}

/// Step 2, for a plan that is named and typed.
pub(crate) fn decorrelated(state: &SessionState, plan: LogicalPlan) -> Result<LogicalPlan, Refusal> {
    let config = state.config_options();
    let typed =
        state.analyzer().execute_and_check(plan, config, |_, _| {}).map_err(|error| unplanned(&error))?;
    one_row_each(&typed)?;
    optimized(state, decorrelating(), typed)
}

fn optimized(state: &SessionState, rules: Vec<Rule>, plan: LogicalPlan) -> Result<LogicalPlan, Refusal> {
    Optimizer::with_rules(rules).optimize(plan, state, |_, _| {}).map_err(|error| unplanned(&error))
}

/// A subquery that stands for a value must have one row by how it is written: made a join, a second row would double what it is joined to.
fn one_row_each(plan: &LogicalPlan) -> Result<(), Refusal> {
    let mut outcome = Ok(());
    let walked = plan.apply_with_subqueries(|node| {
        for expression in node.expressions() {
            expression.apply(|part| {
                if let Expr::ScalarSubquery(subquery) = part
                    && !is_one_row(&subquery.subquery)
                {
                    outcome = Err(Refusal::new(
                        "a subquery that stands for a value",
                        "it may have several rows",
                        "make it one aggregate without GROUP BY, as in (SELECT AVG(x) FROM t)",
                    ));
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    });
    walked.map_err(|error| unplanned(&error))?;
    outcome
}

fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_one_row(&alias.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}

/// How a proved plan runs. No row is read yet.
pub(crate) async fn physical(
    context: &SessionContext,
    plan: &LogicalPlan,
) -> Result<(Arc<dyn ExecutionPlan>, Arc<TaskContext>), Refusal> {
    let state = context.state();
    let planned = state.query_planner().create_physical_plan(plan, &state).await;
    Ok((planned.map_err(|error| unplanned(&error))?, context.task_ctx()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule that is added or taken away changes what the walker sees; its audit is to be looked at first.
    #[test]
    fn the_rules_of_the_optimizer_are_these() {
        let names = |rules: Vec<Rule>| rules.iter().map(|rule| rule.name().to_string()).collect::<Vec<_>>();
        assert_eq!(
            names(decorrelating()),
            [
                "rewrite_set_comparison",
                "optimize_unions",
                "replace_distinct_aggregate",
                "decorrelate_predicate_subquery",
                "scalar_subquery_to_join",
                "extract_equijoin_predicate",
                "eliminate_cross_join",
                "push_down_filter",
            ]
        );
        assert_eq!(
            names(improving()),
            [
                "simplify_expressions",
                "extract_equijoin_predicate",
                "eliminate_duplicated_expr",
                "eliminate_filter",
                "eliminate_cross_join",
                "filter_null_join_keys",
                "eliminate_outer_join",
                "push_down_filter",
                "common_sub_expression_eliminate",
                "optimize_projections",
            ]
        );
    }

    #[test]
    fn the_engine_knows_no_table_and_no_schema_of_its_own() {
        let context = context(&[], Limits { memory: 1 << 20, threads: 1 }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for query in ["SELECT * FROM information_schema.tables", "SELECT * FROM 'Cargo.toml'", "SHOW TABLES"]
        {
            let planned = runtime.block_on(async { context.state().create_logical_plan(query).await });
            assert!(planned.is_err(), "{query}");
        }
    }
}
