//! Lists mutants: small changes of our own code, one line of JSON for each.
//!
//! `floatgate-mutants CHANGED… -- NAMED…`: the files that are changed, and those whose enums are
//! known besides. Left out are code that only tests build, constants (a switch cannot be read
//! there), patterns, types, and the insides of macros (asserts, logs). So are `Debug` and
//! `Display`, and code for speed alone (capacities, prefetching).
//!
//! A line gives the place of the change (bytes of the file) and its shape. `expr` stands for an
//! expression, `stmt` leaves a statement out, `enter` stands at the beginning of a body.

use proc_macro2::Span;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprLit, Item, Lit, ReturnType, Stmt, Type, UnOp};

/// Methods that can be taken for one another.
const SWAPS: &[(&str, &str)] = &[
    ("min", "max"),
    ("min_by", "max_by"),
    ("min_by_key", "max_by_key"),
    ("any", "all"),
    ("first", "last"),
    ("push_back", "push_front"),
    ("pop_back", "pop_front"),
    ("is_some", "is_none"),
    ("is_some_and", "is_none_or"),
    ("floor", "ceil"),
];

/// The variants without fields of each enum.
type Enums = BTreeMap<String, Vec<String>>;

struct Lister<'a> {
    path: &'a str,
    source: &'a str,
    enums: &'a Enums,
    /// Names around the place: type, function.
    inside: Vec<String>,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let split = args.iter().position(|a| a == "--").unwrap_or(args.len());
    let files: Vec<(String, String, syn::File)> =
        args.iter().filter(|a| *a != "--").map(parse).collect();
    let mut enums = Enums::new();
    for (_, _, file) in &files {
        collect_enums(&file.items, &mut enums);
    }
    let tests =
        files.iter().flat_map(|(path, _, file)| test_modules(path, file)).collect::<Vec<_>>();
    for (path, source, file) in &files[..split] {
        if !tests.iter().any(|t| is_of_module(path, t)) {
            Lister { path, source, enums: &enums, inside: Vec::new() }.visit_file(file);
        }
    }
}

fn parse(path: &String) -> (String, String, syn::File) {
    let source = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let file = syn::parse_file(&source).unwrap_or_else(|e| panic!("{path}: {e}"));
    (path.clone(), source, file)
}

fn collect_enums(items: &[Item], enums: &mut Enums) {
    for item in items {
        match item {
            Item::Enum(e) => {
                let plain = e.variants.iter().filter(|v| v.fields.is_empty());
                enums
                    .entry(e.ident.to_string())
                    .or_default()
                    .extend(plain.map(|v| v.ident.to_string()));
            }
            Item::Mod(m) => {
                if let Some((_, items)) = &m.content {
                    collect_enums(items, enums);
                }
            }
            _ => {}
        }
    }
}

/// Modules in files of their own that only tests build: their paths without `.rs`.
fn test_modules(path: &str, file: &syn::File) -> Vec<PathBuf> {
    let path = Path::new(path);
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    let parent = path.parent().expect("a file is in a folder");
    let folder = if ["lib", "mod"].contains(&stem) { parent.into() } else { parent.join(stem) };
    let mods = file.items.iter().filter_map(|item| match item {
        Item::Mod(m) if m.content.is_none() && only_tests(&m.attrs) => {
            Some(folder.join(m.ident.to_string()))
        }
        _ => None,
    });
    mods.collect()
}

fn is_of_module(path: &str, module: &Path) -> bool {
    Path::new(path).with_extension("") == *module || Path::new(path).starts_with(module)
}

fn only_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("test")
            || a.path().is_ident("cfg")
                && a.meta.require_list().is_ok_and(|l| l.tokens.to_string() == "test")
    })
}

fn has_let(expr: &Expr) -> bool {
    struct Finder(bool);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_expr_let(&mut self, _: &'ast syn::ExprLet) {
            self.0 = true;
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_block(&mut self, _: &'ast syn::Block) {}
    }
    let mut finder = Finder(false);
    finder.visit_expr(expr);
    finder.0
}

/// Values that a body may return at once, given its type as it is written.
fn defaults(output: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, ty) = output else { return &[""] };
    let Type::Path(path) = &**ty else { return &[] };
    match path.path.segments.last().map(|s| s.ident.to_string()).as_deref() {
        Some("bool") => &["true", "false"],
        Some("u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64") => &["0", "1"],
        Some("f32" | "f64") => &["0.0", "1.0"],
        Some("Option") => &["None"],
        Some("Vec" | "Dur" | "Time" | "Plan") => &["Default::default()"],
        _ => &[],
    }
}

impl Lister<'_> {
    fn text(&self, span: Span) -> &str {
        &self.source[span.byte_range()]
    }

    fn put(&self, span: Span, shape: &str, kind: &str, mutated: &str) {
        let range = if shape == "enter" {
            let inside = span.byte_range().start + 1;
            inside..inside
        } else {
            span.byte_range()
        };
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let original = if shape == "enter" { String::new() } else { squeeze(self.text(span)) };
        let line = json!({
            "path": self.path, "line": span.start().line, "start": range.start, "end": range.end,
            "shape": shape, "kind": kind, "inside": self.inside.join("::"),
            "original": original, "shown": squeeze(mutated), "mutated": mutated,
        });
        println!("{line}");
    }

    fn binary(&self, e: &syn::ExprBinary) {
        let (kind, other) = match e.op {
            BinOp::Lt(_) => ("compare", "<="),
            BinOp::Le(_) => ("compare", "<"),
            BinOp::Gt(_) => ("compare", ">="),
            BinOp::Ge(_) => ("compare", ">"),
            BinOp::Eq(_) => ("compare", "!="),
            BinOp::Ne(_) => ("compare", "=="),
            BinOp::Add(_) => ("arithmetic", "-"),
            BinOp::Sub(_) => ("arithmetic", "+"),
            BinOp::Mul(_) => ("arithmetic", "/"),
            BinOp::Div(_) | BinOp::Rem(_) => ("arithmetic", "*"),
            BinOp::And(_) => ("logic", "||"),
            BinOp::Or(_) => ("logic", "&&"),
            BinOp::BitAnd(_) => ("bits", "|"),
            BinOp::BitOr(_) | BinOp::BitXor(_) => ("bits", "&"),
            BinOp::Shl(_) => ("bits", ">>"),
            BinOp::Shr(_) => ("bits", "<<"),
            BinOp::AddAssign(_) => ("arithmetic", "-="),
            BinOp::SubAssign(_) => ("arithmetic", "+="),
            BinOp::MulAssign(_) => ("arithmetic", "/="),
            BinOp::DivAssign(_) | BinOp::RemAssign(_) => ("arithmetic", "*="),
            BinOp::BitAndAssign(_) => ("bits", "|="),
            BinOp::BitOrAssign(_) | BinOp::BitXorAssign(_) => ("bits", "&="),
            _ => return,
        };
        let (left, right) = (self.text(e.left.span()), self.text(e.right.span()));
        let assigns = other.ends_with('=') && kind != "compare";
        let left_in = if assigns { left.to_string() } else { format!("({left})") };
        self.put(e.span(), "expr", kind, &format!("{left_in} {other} ({right})"));
        if matches!(e.op, BinOp::Add(_) | BinOp::Sub(_)) && right == "1" {
            self.put(e.span(), "expr", "one dropped", left);
        }
    }

    fn literal(&self, e: &ExprLit) {
        let put = |text: String, suffix: &str| {
            self.put(e.span(), "expr", "constant", &format!("{text}{suffix}"));
        };
        match &e.lit {
            Lit::Int(n) => {
                let Ok(value) = n.base10_parse::<u128>() else { return };
                put((value + 1).to_string(), n.suffix());
                if value > 0 {
                    put((value - 1).to_string(), n.suffix());
                }
            }
            Lit::Float(x) => {
                let Ok(value) = x.base10_parse::<f64>() else { return };
                put(format!("{:?}", value + 1.0), x.suffix());
            }
            Lit::Bool(b) => put((!b.value).to_string(), ""),
            _ => {}
        }
    }

    fn variant(&self, e: &syn::ExprPath) {
        let names: Vec<String> = e.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let [.., owner, name] = &names[..] else { return };
        let Some(variants) = self.enums.get(owner) else { return };
        let Some(at) = variants.iter().position(|v| v == name) else { return };
        if variants.len() > 1 {
            let other = &variants[(at + 1) % variants.len()];
            let text = self.text(e.span());
            let mutated = format!("{}{other}", &text[..text.len() - name.len()]);
            self.put(e.span(), "expr", "variant", &mutated);
        }
    }

    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        // Hints to the processor change nothing that can be seen.
        if signature.constness.is_some() || is_hint(&signature.ident) {
            return;
        }
        self.inside.push(signature.ident.to_string());
        let whole = match &block.stmts[..] {
            [] => None,
            [Stmt::Expr(only, None)] => Some(self.text(only.span())),
            _ => Some(""),
        };
        for default in defaults(&signature.output) {
            // Neither an empty body nor one that returns just that.
            let returns = whole.map(|w| if w == "Vec::new()" { "Default::default()" } else { w });
            if returns.is_some_and(|w| default.is_empty() || w != *default) {
                self.put(block.span(), "enter", "early return", &format!("return {default}"));
            }
        }
        self.visit_block(block);
        self.inside.pop();
    }
}

impl<'ast> Visit<'ast> for Lister<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(m) if only_tests(&m.attrs) => {}
            Item::Fn(f) if only_tests(&f.attrs) => {}
            Item::Fn(_) | Item::Mod(_) | Item::Impl(_) | Item::Trait(_) => {
                visit::visit_item(self, item)
            }
            // Constants, types, macros: no switch can be read there.
            _ => {}
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        if only_tests(&item.attrs) || of.is_some_and(|s| s.ident == "Debug" || s.ident == "Display")
        {
            return;
        }
        let name = match &*item.self_ty {
            Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        };
        self.inside.push(name.unwrap_or_else(|| "_".into()));
        for item in &item.items {
            self.visit_impl_item(item);
        }
        self.inside.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.inside.push(item.ident.to_string());
        for item in &item.items {
            self.visit_trait_item(item);
        }
        self.inside.pop();
    }

    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.body(&f.sig, &f.block);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        if let syn::ImplItem::Fn(f) = item
            && !only_tests(&f.attrs)
        {
            self.body(&f.sig, &f.block);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        if let syn::TraitItem::Fn(f) = item
            && let Some(block) = &f.default
        {
            self.body(&f.sig, block);
        }
    }

    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_repeat(&mut self, e: &'ast syn::ExprRepeat) {
        self.visit_expr(&e.expr);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(e, Some(_)) = stmt {
            let assigns = matches!(e, Expr::Binary(b) if is_assignment(&b.op));
            let hints = matches!(e, Expr::MethodCall(m) if is_hint(&m.method));
            let calls = matches!(e, Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_));
            if assigns || calls && !hints {
                self.put(stmt.span(), "stmt", "removed", "");
            }
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard
            && !has_let(guard)
        {
            self.put(guard.span(), "expr", "guard", &format!("!({})", self.text(guard.span())));
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr(&mut self, e: &'ast Expr) {
        match e {
            Expr::Binary(b) if !has_let(e) => self.binary(b),
            Expr::Lit(l) => self.literal(l),
            Expr::Path(p) => self.variant(p),
            Expr::Unary(u) if matches!(u.op, UnOp::Not(_)) => {
                self.put(u.span(), "expr", "not dropped", self.text(u.expr.span()));
            }
            Expr::If(i) if !has_let(&i.cond) && !is_negated_itself(&i.cond) => {
                let cond = i.cond.span();
                self.put(cond, "expr", "condition", &format!("!({})", self.text(cond)));
            }
            Expr::MethodCall(m) if is_hint(&m.method) => return,
            Expr::Call(c) if is_capacity(&c.func) => return,
            Expr::MethodCall(m) => {
                let name = m.method.to_string();
                let other = SWAPS.iter().find_map(|&(a, b)| match &*name {
                    n if n == a => Some(b),
                    n if n == b => Some(a),
                    _ => None,
                });
                if let Some(other) = other {
                    let (whole, at) = (m.span().byte_range(), m.method.span().byte_range());
                    let before = &self.source[whole.start..at.start];
                    let after = &self.source[at.end..whole.end];
                    self.put(m.span(), "expr", "method", &format!("{before}{other}{after}"));
                }
            }
            _ => {}
        }
        visit::visit_expr(self, e);
    }
}

/// Whether a part of a condition stands for its negation already.
fn is_negated_itself(cond: &Expr) -> bool {
    match cond {
        Expr::Binary(b) => matches!(b.op, BinOp::Eq(_) | BinOp::Ne(_)),
        Expr::Unary(u) => matches!(u.op, UnOp::Not(_)),
        Expr::MethodCall(m) => m.method == "is_some" || m.method == "is_none",
        _ => false,
    }
}

/// Memory reserved ahead or loaded ahead: calls that only save time.
fn is_hint(name: &syn::Ident) -> bool {
    name == "reserve" || name.to_string().starts_with("prefetch")
}

fn is_capacity(function: &Expr) -> bool {
    matches!(function, Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "with_capacity"))
}

fn is_assignment(op: &BinOp) -> bool {
    use BinOp::{AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign};
    use BinOp::{RemAssign, ShlAssign, ShrAssign, SubAssign};
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}
