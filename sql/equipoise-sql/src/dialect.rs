//! Which SQL is accepted inside: an allow-list over the syntax tree. What is not in it is an error with its place, because DataFusion
//! silently ignores some of what it does not do (TABLESAMPLE, FOR UPDATE, hints).

use crate::refusal::Refusal;
use datafusion::sql::sqlparser::{
    ast::{
        BinaryOperator, CaseWhen, Cte, Distinct, Expr, Function, FunctionArg, FunctionArgExpr,
        FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator,
        ObjectName, ObjectNamePart, Query, Select, SelectFlavor, SelectItem, SetExpr, SetOperator,
        SetQuantifier, Spanned, Statement, TableAlias, TableFactor, TableWithJoins, UnaryOperator,
        WildcardAdditionalOptions, With,
    },
    dialect::GenericDialect,
    parser::Parser,
    tokenizer::Span,
};

/// So deep queries and parentheses may be nested, and so long may chains of operators be: whoever walks them does not run out of stack.
const DEEPEST: usize = 50;
const LONGEST_CHAIN: usize = 300;

/// A table that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTable {
    /// As it was typed.
    pub name: String,
    /// Line and column.
    pub place: Option<(usize, usize)>,
}

/// A query that is in the dialect, its tables numbered.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub statement: Statement,
    /// Each table once. In the statement they are called as [`registered`] says.
    pub tables: Vec<NamedTable>,
}

/// What a table is called in a statement. Nobody can type it: names of files have no such sign in front.
pub(crate) fn registered(number: usize) -> String {
    format!("\u{1}table{number}")
}

type Checked = Result<(), Refusal>;

/// Read a query.
pub(crate) fn read(text: &str) -> Result<Accepted, Refusal> {
    let parser = Parser::new(&GenericDialect {}).with_recursion_limit(DEEPEST);
    let parsed = parser.try_with_sql(text).and_then(|mut parser| parser.parse_statements());
    let statements = parsed.map_err(|error| unparsed(&error.to_string()))?;
    let Ok([Statement::Query(query)]) = <[Statement; 1]>::try_from(statements) else {
        return Err(Refusal::new("this", "one query is expected", "write SELECT .. FROM .."));
    };
    let mut query = query;
    let mut checker = Checker { tables: Vec::new(), named: Vec::new(), depth: 0 };
    checker.query(&mut query)?;
    Ok(Accepted { statement: Statement::Query(query), tables: checker.tables })
}

/// What the parser says, in our form: `sql parser error: Expected: .., found: .. at Line: 1, Column: 5`.
fn unparsed(line: &str) -> Refusal {
    let said = line.trim_start_matches("sql parser error: ").lines().next().unwrap_or_default();
    let (said, place) = match said.rsplit_once(" at Line: ") {
        Some((said, place)) => (said, place.split_once(", Column: ")),
        None => (said, None),
    };
    let place =
        place.and_then(|(line, column)| Some((line.trim().parse().ok()?, column.trim().parse().ok()?)));
    let said = said.trim_end_matches('.');
    Refusal { place, ..Refusal::new("this", said, "write SELECT .. FROM .. JOIN .. ON .. WHERE ..") }
}

fn place(span: Span) -> Option<(usize, usize)> {
    let (line, column) = (usize::try_from(span.start.line).ok()?, usize::try_from(span.start.column).ok()?);
    (line > 0).then_some((line, column))
}

fn not(what: &str, why: &str, rewrite: &str, span: Span) -> Refusal {
    Refusal { place: place(span), ..Refusal::new(what, why, rewrite) }
}

const SAFE: &str = "it is not among what was proved safe";

/// Where something is there that is not in the dialect.
fn none(is_there: bool, what: &str, rewrite: &str, span: Span) -> Checked {
    if is_there { Err(not(what, SAFE, rewrite, span)) } else { Ok(()) }
}

struct Checker {
    tables: Vec<NamedTable>,
    /// What WITH names.
    named: Vec<String>,
    depth: usize,
}

impl Checker {
    fn deeper(&mut self, span: Span) -> Checked {
        self.depth += 1;
        if self.depth > LONGEST_CHAIN {
            return Err(not("this nesting", "it is too deep", "write it flatter, with WITH", span));
        }
        Ok(())
    }

    fn query(&mut self, query: &mut Query) -> Checked {
        let span = query.span();
        self.deeper(span)?;
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        let outside = "put it behind the outer query, where it is about released rows";
        if order_by.is_some() {
            return Err(not("ORDER BY inside", "rows of a relation have no order", outside, span));
        }
        if limit_clause.is_some() || fetch.is_some() {
            return Err(not("LIMIT inside", "which rows are within it depends on all others", outside, span));
        }
        none(!locks.is_empty(), "FOR UPDATE", "leave it out", span)?;
        none(
            for_clause.is_some() || settings.is_some() || format_clause.is_some(),
            "this clause",
            "leave it out",
            span,
        )?;
        none(!pipe_operators.is_empty(), "|>", "write WHERE, GROUP BY and so on", span)?;
        if let Some(with) = with {
            self.with(with)?;
        }
        self.body(body)?;
        self.depth -= 1;
        Ok(())
    }

    fn with(&mut self, with: &mut With) -> Checked {
        let With { with_token, recursive, cte_tables } = with;
        let span = with_token.0.span;
        if *recursive {
            return Err(not("WITH RECURSIVE", "it can run for ever", "write the steps out", span));
        }
        for cte in cte_tables {
            let Cte { alias, query, from, materialized, closing_paren_token: _ } = cte;
            none(from.is_some() || materialized.is_some(), "MATERIALIZED", "leave it out", span)?;
            Self::alias(alias)?;
            // A name stands for one query in the whole text, so that nobody has to know which one is meant where.
            let name = alias.name.value.clone();
            if self.named.contains(&name) {
                let what = format!("a second WITH query called '{name}'");
                return Err(not(
                    &what,
                    "it would hide the first one",
                    "give it another name",
                    alias.name.span,
                ));
            }
            self.query(query)?;
            self.named.push(name);
        }
        Ok(())
    }

    fn alias(alias: &TableAlias) -> Checked {
        let TableAlias { explicit: _, name, columns, at } = alias;
        let typed = columns.iter().any(|column| column.data_type.is_some());
        none(typed || at.is_some(), "this alias", "write AS name or AS name(a, b)", name.span)
    }

    fn body(&mut self, body: &mut SetExpr) -> Checked {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let span = left.span();
                self.deeper(span)?;
                let by_name = !matches!(
                    set_quantifier,
                    SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None
                );
                none(by_name, "BY NAME", "list the columns in one order", span)?;
                if *set_quantifier == SetQuantifier::All && *op != SetOperator::Union {
                    let why = "the engine does not count copies there";
                    return Err(not(
                        &format!("{op} ALL"),
                        why,
                        "leave ALL out, or write NOT EXISTS or EXISTS",
                        span,
                    ));
                }
                self.body(left)?;
                self.body(right)?;
                self.depth -= 1;
                Ok(())
            }
            SetExpr::Values(values) => {
                for row in &mut values.rows {
                    self.expressions(&mut row.content)?;
                }
                Ok(())
            }
            other => Err(not("this statement", SAFE, "write SELECT", other.span())),
        }
    }

    fn select(&mut self, select: &mut Select) -> Checked {
        let span = select.select_token.0.span;
        let Select {
            select_token: _,
            optimizer_hints,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        if matches!(distinct, Some(Distinct::On(_))) {
            let why = "which row it keeps depends on their order";
            return Err(not("DISTINCT ON", why, "write MIN or MAX with GROUP BY", span));
        }
        none(!optimizer_hints.is_empty() || select_modifiers.is_some(), "a hint", "leave it out", span)?;
        none(top.is_some(), "TOP", "put LIMIT behind the outer query", span)?;
        none(exclude.is_some(), "EXCLUDE", "list the columns", span)?;
        none(into.is_some(), "INTO", "leave it out", span)?;
        none(!lateral_views.is_empty() || !connect_by.is_empty(), "this clause", "write a join", span)?;
        none(prewhere.is_some(), "PREWHERE", "write WHERE", span)?;
        let sorted = !cluster_by.is_empty() || !distribute_by.is_empty() || !sort_by.is_empty();
        none(sorted, "an order inside", "leave it out", span)?;
        let windows = !named_window.is_empty() || qualify.is_some();
        if windows {
            return Err(not(
                "a window",
                "a row must not see others",
                "aggregate by GROUP BY with the privacy unit, and join that",
                span,
            ));
        }
        none(value_table_mode.is_some(), "SELECT AS", "list the columns", span)?;
        none(*flavor != SelectFlavor::Standard, "FROM without SELECT", "write SELECT .. FROM", span)?;
        for item in projection {
            self.item(item)?;
        }
        for table in from {
            self.joined(table)?;
        }
        match group_by {
            GroupByExpr::Expressions(keys, modifiers) => {
                none(!modifiers.is_empty(), "ROLLUP or CUBE", "write one GROUP BY for each", span)?;
                self.expressions(keys)?;
            }
            GroupByExpr::All(_) => return Err(not("GROUP BY ALL", SAFE, "list the keys", span)),
        }
        for condition in [selection, having].into_iter().flatten() {
            self.expression(condition)?;
        }
        Ok(())
    }

    fn item(&mut self, item: &mut SelectItem) -> Checked {
        match item {
            SelectItem::UnnamedExpr(expression)
            | SelectItem::ExprWithAlias { expr: expression, alias: _ } => self.expression(expression),
            SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => {
                let WildcardAdditionalOptions {
                    wildcard_token,
                    opt_ilike,
                    opt_exclude,
                    opt_except,
                    opt_replace,
                    opt_rename,
                    opt_alias,
                } = options;
                let more = opt_ilike.is_some()
                    || opt_exclude.is_some()
                    || opt_except.is_some()
                    || opt_replace.is_some()
                    || opt_rename.is_some()
                    || opt_alias.is_some();
                none(more, "this behind *", "list the columns", wildcard_token.0.span)
            }
            SelectItem::ExprWithAliases { expr, .. } => {
                Err(not("several names for one column", SAFE, "give it one", expr.span()))
            }
        }
    }

    fn joined(&mut self, table: &mut TableWithJoins) -> Checked {
        self.factor(&mut table.relation)?;
        for Join { relation, global, join_operator } in &mut table.joins {
            self.factor(relation)?;
            let span = relation.span();
            none(*global, "GLOBAL", "leave it out", span)?;
            match join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint)
                | JoinOperator::CrossJoin(constraint)
                | JoinOperator::Semi(constraint)
                | JoinOperator::LeftSemi(constraint)
                | JoinOperator::RightSemi(constraint)
                | JoinOperator::Anti(constraint)
                | JoinOperator::LeftAnti(constraint)
                | JoinOperator::RightAnti(constraint) => match constraint {
                    JoinConstraint::On(condition) => self.expression(condition)?,
                    JoinConstraint::Using(_) | JoinConstraint::None => {}
                    JoinConstraint::Natural => {
                        let why = "which columns it compares depends on what tables happen to have";
                        return Err(not("NATURAL JOIN", why, "write ON or USING", span));
                    }
                },
                _ => return Err(not("this kind of join", SAFE, "write JOIN .. ON", span)),
            }
        }
        Ok(())
    }

    fn factor(&mut self, factor: &mut TableFactor) -> Checked {
        let span = factor.span();
        self.deeper(span)?;
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                if sample.is_some() {
                    return Err(not(
                        "TABLESAMPLE",
                        "it draws other rows every time",
                        "leave it out; bounding draws rows privately",
                        span,
                    ));
                }
                none(args.is_some(), "a table function", "name a table", span)?;
                none(!with_hints.is_empty() || !index_hints.is_empty(), "a hint", "leave it out", span)?;
                none(version.is_some(), "a version of a table", "name the table as it is", span)?;
                let more = *with_ordinality || !partitions.is_empty() || json_path.is_some();
                none(more, "this behind a table", "leave it out", span)?;
                self.table(name, alias, span)?;
            }
            TableFactor::Derived { lateral, subquery, alias, sample } => {
                none(*lateral, "LATERAL", "write a join", span)?;
                none(sample.is_some(), "TABLESAMPLE", "leave it out", span)?;
                if let Some(alias) = alias {
                    Self::alias(alias)?;
                }
                self.query(subquery)?;
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                none(alias.is_some(), "a name for a join", "name its tables", span)?;
                self.joined(table_with_joins)?;
            }
            _ => return Err(not("this in FROM", SAFE, "name a table or write a subquery", span)),
        }
        self.depth -= 1;
        Ok(())
    }

    /// Give a table its number, unless WITH names it; how it may be called in the query stays as it was typed.
    fn table(&mut self, name: &mut ObjectName, alias: &mut Option<TableAlias>, span: Span) -> Checked {
        let mut parts = Vec::new();
        for part in &name.0 {
            match part {
                ObjectNamePart::Identifier(part) => parts.push(part.value.clone()),
                ObjectNamePart::Function(_) => {
                    return Err(not("a function in FROM", SAFE, "name a table", span));
                }
            }
        }
        if let Some(alias) = alias {
            Self::alias(alias)?;
        }
        if let [only] = parts.as_slice()
            && self.named.contains(only)
        {
            return Ok(());
        }
        let typed = parts.join(".");
        let known = self.tables.iter().position(|table| table.name == typed);
        let number = known.unwrap_or_else(|| {
            self.tables.push(NamedTable { name: typed.clone(), place: place(span) });
            self.tables.len() - 1
        });
        let plain = |name: &str| Ident::with_quote('"', name);
        *name = ObjectName(vec![ObjectNamePart::Identifier(plain(&registered(number)))]);
        if alias.is_none() {
            let called = called(&typed);
            *alias = Some(TableAlias { explicit: true, name: plain(&called), columns: Vec::new(), at: None });
        }
        Ok(())
    }

    fn expressions(&mut self, list: &mut [Expr]) -> Checked {
        list.iter_mut().try_for_each(|expression| self.expression(expression))
    }

    fn both(&mut self, one: &mut Expr, other: &mut Expr) -> Checked {
        self.expression(one)?;
        self.expression(other)
    }

    #[expect(clippy::too_many_lines, reason = "one list of what is accepted, a line or two each")]
    fn expression(&mut self, expression: &mut Expr) -> Checked {
        let span = expression.span();
        self.deeper(span)?;
        match expression {
            Expr::Identifier(_)
            | Expr::CompoundIdentifier(_)
            | Expr::Value(_)
            | Expr::TypedString(_)
            | Expr::Interval(_) => Ok(()),
            Expr::IsFalse(one)
            | Expr::IsNotFalse(one)
            | Expr::IsTrue(one)
            | Expr::IsNotTrue(one)
            | Expr::IsNull(one)
            | Expr::IsNotNull(one)
            | Expr::IsUnknown(one)
            | Expr::IsNotUnknown(one)
            | Expr::Nested(one) => self.expression(one),
            Expr::IsDistinctFrom(one, other) | Expr::IsNotDistinctFrom(one, other) => self.both(one, other),
            Expr::InList { expr, list, negated: _ } => {
                self.expression(expr)?;
                self.expressions(list)
            }
            Expr::InSubquery { expr, subquery, negated: _ } => {
                self.expression(expr)?;
                self.query(subquery)
            }
            Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => self.query(subquery),
            Expr::Between { expr, negated: _, low, high } => {
                self.expression(expr)?;
                self.both(low, high)
            }
            Expr::BinaryOp { left, op, right } => {
                let known = matches!(
                    op,
                    BinaryOperator::Plus
                        | BinaryOperator::Minus
                        | BinaryOperator::Multiply
                        | BinaryOperator::Divide
                        | BinaryOperator::Modulo
                        | BinaryOperator::StringConcat
                        | BinaryOperator::Gt
                        | BinaryOperator::Lt
                        | BinaryOperator::GtEq
                        | BinaryOperator::LtEq
                        | BinaryOperator::Eq
                        | BinaryOperator::NotEq
                        | BinaryOperator::And
                        | BinaryOperator::Or
                );
                none(
                    !known,
                    &format!("the operator {op}"),
                    "write comparisons, arithmetic, AND and OR",
                    span,
                )?;
                self.both(left, right)
            }
            Expr::UnaryOp { op, expr } => {
                let known = matches!(op, UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not);
                none(!known, &format!("the operator {op}"), "write + - or NOT", span)?;
                self.expression(expr)
            }
            Expr::Like { negated: _, any, expr, pattern, escape_char }
            | Expr::ILike { negated: _, any, expr, pattern, escape_char } => {
                none(
                    *any || escape_char.is_some(),
                    "ANY or ESCAPE behind LIKE",
                    "write LIKE 'pattern'",
                    span,
                )?;
                self.both(expr, pattern)
            }
            Expr::Cast { kind: _, expr, data_type: _, array, format } => {
                none(*array || format.is_some(), "this CAST", "write CAST(x AS type)", span)?;
                self.expression(expr)
            }
            Expr::Extract { field: _, syntax: _, expr }
            | Expr::Ceil { expr, field: _ }
            | Expr::Floor { expr, field: _ } => self.expression(expr),
            Expr::Position { expr, r#in } => self.both(expr, r#in),
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
                self.expression(expr)?;
                for part in [substring_from, substring_for].into_iter().flatten() {
                    self.expression(part)?;
                }
                Ok(())
            }
            Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
                none(
                    trim_what.is_some() || trim_characters.is_some(),
                    "TRIM of given characters",
                    "write TRIM(x)",
                    span,
                )?;
                self.expression(expr)
            }
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                for part in [operand, else_result].into_iter().flatten() {
                    self.expression(part)?;
                }
                for CaseWhen { condition, result } in conditions {
                    self.both(condition, result)?;
                }
                Ok(())
            }
            Expr::Function(function) => self.function(function, span),
            _ => Err(not(
                "this expression",
                SAFE,
                "write it with comparisons, arithmetic, CASE and functions",
                span,
            )),
        }?;
        self.depth -= 1;
        Ok(())
    }

    fn function(&mut self, function: &mut Function, span: Span) -> Checked {
        let Function { name, uses_odbc_syntax, parameters, args, filter, null_treatment, over, within_group } =
            function;
        if over.is_some() {
            return Err(not(
                "a window",
                "a row must not see others",
                "aggregate by GROUP BY with the privacy unit, and join that",
                span,
            ));
        }
        let more = *uses_odbc_syntax
            || !matches!(parameters, FunctionArguments::None)
            || null_treatment.is_some()
            || !within_group.is_empty();
        none(more, &format!("this call of {name}"), "write name(arguments)", span)?;
        if let Some(filter) = filter {
            self.expression(filter)?;
        }
        match args {
            FunctionArguments::None => Ok(()),
            FunctionArguments::Subquery(_) => {
                Err(not("a subquery as an argument", SAFE, "write a join", span))
            }
            FunctionArguments::List(FunctionArgumentList { duplicate_treatment: _, args, clauses }) => {
                none(!clauses.is_empty(), &format!("an order or limit inside {name}"), "leave it out", span)?;
                for arg in args {
                    match arg {
                        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => {
                            self.expression(expression)?;
                        }
                        FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => {}
                        _ => {
                            return Err(not(
                                "a named argument inside",
                                SAFE,
                                "write the arguments in their order",
                                span,
                            ));
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

/// What a table without an alias is called: the name of its file up to the first point, of a table in a database its name.
pub(crate) fn called(typed: &str) -> String {
    let table = typed.rsplit_once("table=").map(|(_, table)| table.split('&').next().unwrap_or(table));
    let name = table.unwrap_or_else(|| typed.rsplit('/').next().unwrap_or(typed));
    let stem =
        if table.is_some() { name } else { name.split('.').find(|part| !part.is_empty()).unwrap_or(name) };
    stem.to_string()
}
