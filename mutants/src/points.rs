//! Where a file can be changed, and into what: one small change at a time, each of the kind that people make by mistake.
//!
//! Left out: tests, constants and patterns (nothing there can be chosen at run time), arguments of macros, `Debug` and
//! `Display` (words, not promises), sizes that are asked for in advance, and what other features or systems compile.

use syn::{
    Attribute, BinOp, Block, Expr, Item, ItemMod, Lit, ReturnType, Stmt, Type, UnOp,
    spanned::Spanned,
    visit::{self, Visit},
};

/// A place in a file with everything that can stand there instead.
#[derive(Clone, Debug)]
pub struct Point {
    /// Bytes of the file.
    pub range: std::ops::Range<usize>,
    pub form: Form,
    /// What stands there when this is the chosen change.
    pub changed: String,
    /// For people, and for the list of equivalents: what became what.
    pub change: String,
    /// The function that it stands in.
    pub function: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An expression: `(if chosen { changed } else { as it is })`.
    Expression,
    /// A statement that is left out.
    Statement,
    /// The first words of a function's body.
    Body,
}

/// Every point of a file, and the modules in files of their own that are tests or not compiled here, seen from the folder of
/// the file's own modules.
pub fn find(text: &str) -> Result<(Vec<Point>, Vec<String>), String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut finder = Finder { text, points: Vec::new(), left_out: Vec::new(), functions: Vec::new() };
    finder.visit_file(&file);
    Ok((finder.points, finder.left_out))
}

struct Finder<'a> {
    text: &'a str,
    points: Vec<Point>,
    left_out: Vec<String>,
    /// Around what is looked at, the innermost last.
    functions: Vec<String>,
}

/// Whether an item is a test, or not compiled by a plain `cargo test` here.
fn not_here(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let tokens = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        path.is_ident("test")
            || path.is_ident("cfg") && ["test", "feature", "not"].iter().any(|word| tokens.starts_with(word))
    })
}

/// Names of which one half rounds or chooses the other way.
const TURNED: [(&str, &str); 19] = [
    ("max", "min"),
    ("floor", "ceil"),
    ("floor_big", "ceil_big"),
    ("floor_div", "ceil_div"),
    ("floor_shift", "ceil_shift"),
    ("next_up", "next_down"),
    ("upper", "lower"),
    ("first", "last"),
    ("any", "all"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("is_some_and", "is_none_or"),
    ("saturating_add", "saturating_sub"),
    ("wrapping_add", "wrapping_sub"),
    ("checked_add", "checked_sub"),
    ("checked_mul", "checked_add"),
    ("saturating_mul", "saturating_add"),
    ("certainly_above", "certainly_below"),
    ("take", "skip"),
];

/// The other direction of a name, where it has one.
fn turned(name: &str) -> Option<String> {
    for (one, other) in TURNED {
        if name == one {
            return Some(other.into());
        }
        if name == other && !matches!(other, "checked_add" | "saturating_add" | "skip") {
            return Some(one.into());
        }
    }
    for (one, other) in [("_up", "_down"), ("_upper", "_lower"), ("_above", "_below")] {
        if let Some(stem) = name.strip_suffix(one) {
            return Some(format!("{stem}{other}"));
        }
        if let Some(stem) = name.strip_suffix(other) {
            return Some(format!("{stem}{one}"));
        }
    }
    (name == "div_ceil").then(|| "div_euclid".into())
}

fn turned_operator(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::Eq(_) => "!=",
        BinOp::Ne(_) => "==",
        BinOp::Add(_) | BinOp::Rem(_) => "-",
        BinOp::Sub(_) | BinOp::Mul(_) => "+",
        BinOp::Div(_) => "*",
        BinOp::And(_) => "||",
        BinOp::Or(_) => "&&",
        BinOp::BitAnd(_) => "|",
        BinOp::BitOr(_) | BinOp::BitXor(_) => "&",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => "+=",
        BinOp::DivAssign(_) => "*=",
        BinOp::BitAndAssign(_) => "|=",
        BinOp::BitOrAssign(_) | BinOp::BitXorAssign(_) => "&=",
        BinOp::ShlAssign(_) => ">>=",
        BinOp::ShrAssign(_) => "<<=",
        _ => return None,
    })
}

/// Whether a condition binds names, so that it cannot stand in an expression.
fn binds(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => binds(&both.left) || binds(&both.right),
        _ => false,
    }
}

/// Text on one line, short enough for a table.
fn short(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(60) {
        None => words,
        Some((cut, _)) => format!("{}..", &words[..cut]),
    }
}

impl Finder<'_> {
    fn of(&self, node: &impl Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    fn add(&mut self, range: std::ops::Range<usize>, form: Form, changed: String, change: String) {
        let function = self.functions.last().cloned().unwrap_or_default();
        self.points.push(Point { range, form, changed, change, function });
    }

    /// The expression with the bytes of one part of it written otherwise.
    fn swap(&mut self, whole: &impl Spanned, part: std::ops::Range<usize>, by: &str) {
        let range = whole.span().byte_range();
        let changed =
            format!("{}{by}{}", &self.text[range.start..part.start], &self.text[part.end..range.end]);
        let (was, within) = (&self.text[part.clone()], short(&self.text[range.clone()]));
        let change = if by.is_empty() {
            format!("`{was}` left out of `{within}`")
        } else {
            format!("`{was}` to `{by}` in `{within}`")
        };
        self.add(range, Form::Expression, changed, change);
    }

    fn literal(&mut self, expression: &syn::ExprLit) {
        let changed = match &expression.lit {
            Lit::Int(int) => match int.base10_parse::<u32>() {
                Ok(value) if value <= 4096 => {
                    let suffix = int.suffix();
                    Some(if suffix.is_empty() {
                        format!("{}", value + 1)
                    } else {
                        format!("{}_{suffix}", value + 1)
                    })
                }
                _ => None,
            },
            Lit::Float(float) => {
                let value: f64 = float.base10_parse().unwrap_or(0.0);
                Some(format!("{:?}_f64", if value == 0.0 { 1.0 } else { value * 2.0 }))
            }
            Lit::Bool(truth) => Some((!truth.value).to_string()),
            _ => None,
        };
        if let Some(changed) = changed {
            let change = format!("`{}` to `{}`", self.of(expression), changed);
            self.add(expression.span().byte_range(), Form::Expression, changed, change);
        }
    }

    /// A function that says yes or no, or that all is well, says so whatever happened.
    fn body(&mut self, output: &ReturnType, block: &Block) {
        let ReturnType::Type(_, kind) = output else { return };
        let Type::Path(path) = &**kind else { return };
        let Some(last) = path.path.segments.last() else { return };
        let words: String = self.of(kind).split_whitespace().collect();
        let answers: &[&str] = if last.ident == "bool" {
            &["true", "false"]
        } else if last.ident == "Result" && (words.contains("<()>") || words.contains("<(),")) {
            &["Ok(())"]
        } else {
            &[]
        };
        let at = block.brace_token.span.open().byte_range().end;
        for answer in answers {
            self.add(at..at, Form::Body, format!("return {answer};"), format!("always {answer}"));
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, constant): (&[Attribute], bool) = match item {
            Item::Fn(item) => (&item.attrs, item.sig.constness.is_some()),
            Item::Mod(item) => (&item.attrs, false),
            Item::Impl(item) => {
                let words = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
                (&item.attrs, words.is_some_and(|name| name.ident == "Debug" || name.ident == "Display"))
            }
            Item::Trait(item) => (&item.attrs, false),
            _ => (&[], true),
        };
        if let Item::Mod(ItemMod { ident, content: None, attrs, .. }) = item
            && not_here(attrs)
        {
            let path = attrs.iter().find_map(|attribute| match &attribute.meta {
                syn::Meta::NameValue(pair) if pair.path.is_ident("path") => Some(self.of(&pair.value)),
                _ => None,
            });
            let file = path.map(|path| format!("../{}", path.trim_matches('"').trim_end_matches(".rs")));
            self.left_out.push(file.unwrap_or(ident.to_string()));
        }
        if !constant && !not_here(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.functions.push(item.sig.ident.to_string());
        self.body(&item.sig.output, &item.block);
        visit::visit_item_fn(self, item);
        self.functions.pop();
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() && !not_here(&item.attrs) {
            self.functions.push(item.sig.ident.to_string());
            self.body(&item.sig.output, &item.block);
            visit::visit_impl_item_fn(self, item);
            self.functions.pop();
        }
    }

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(local) => &local.attrs,
            Stmt::Expr(Expr::If(branch), _) => &branch.attrs,
            Stmt::Expr(Expr::Block(block), _) => &block.attrs,
            Stmt::Expr(Expr::Call(call), _) => &call.attrs,
            Stmt::Expr(Expr::MethodCall(call), _) => &call.attrs,
            _ => &[],
        };
        if not_here(attributes) {
            return;
        }
        if let Stmt::Expr(expression, Some(_)) = statement {
            let inner = match expression {
                Expr::Try(tried) => &*tried.expr,
                other => other,
            };
            if matches!(inner, Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_)) {
                let change = format!("`{}` left out", short(self.of(statement)));
                self.add(statement.span().byte_range(), Form::Statement, String::new(), change);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Binary(both) => {
                if let Some(by) = turned_operator(&both.op)
                    && !binds(expression)
                {
                    self.swap(both, both.op.span().byte_range(), by);
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                self.swap(unary, unary.op.span().byte_range(), "");
            }
            Expr::Lit(literal) => self.literal(literal),
            Expr::MethodCall(call) => {
                if matches!(call.method.to_string().as_str(), "reserve" | "expect") {
                    return self.visit_expr(&call.receiver);
                }
                if let Some(by) = turned(&call.method.to_string()) {
                    self.swap(call, call.method.span().byte_range(), &by);
                }
            }
            Expr::Call(call) => {
                if let Expr::Path(path) = &*call.func
                    && let Some(last) = path.path.segments.last()
                {
                    let name = last.ident.to_string();
                    if name == "with_capacity" {
                        return;
                    }
                    if let Some(by) = turned(&name) {
                        self.swap(call, last.ident.span().byte_range(), &by);
                    }
                }
            }
            Expr::If(branch) if branch.else_branch.is_none() && !binds(&branch.cond) => {
                let change = format!("`if {}` never", short(self.of(&branch.cond)));
                self.add(branch.cond.span().byte_range(), Form::Expression, "false".into(), change);
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }
}
