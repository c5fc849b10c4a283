//! A source as a type checker may read it: the same text at the same places, but for what would lead the checker to files
//! and for what only runs here.
//!
//! Whoever wrote the source is not trusted, and a compiler follows what it reads: it opens what `/// <reference>` names and
//! looks for what is imported. So the text does not begin with the author's comments, where such directives count, and
//! names of modules that are not declared become dashes.

use std::collections::{BTreeSet, HashSet};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ArrowFunctionExpression, CallExpression, ExportAllDeclaration, ExportFromDeclaration, Expression, Function,
    ImportDeclaration, ImportExpression, ReturnStatement, StringLiteral, TSExternalModuleDeclaration,
    TSExternalModuleReference, TSImportType,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan as _, SourceType, Span};
use oxc_syntax::scope::ScopeFlags;

use super::draft::Fault;
use super::error::{SYNTAX, ScriptError};
use super::parse_bounds;
use super::position::{LineIndex, Position, Positions};

/// The line before the author's first. A comment after a statement is only a comment: no `/// <reference>`, and no
/// `@ts-nocheck`.
const FIRST_LINE: &str = "export {};\n";

/// What must be declared for the text: what a top-level `return` without a value becomes, a call that never comes back.
pub(crate) const LEAVE_DECLARATION: &str = "declare function _$$_(): never;\n";
const LEAVE: &str = "_$$_()";
/// What a top-level `return` with a value becomes. Nothing runs after it either, and the value is looked at.
const LEAVE_WITH: &str = "throw ";

/// What a type checker is given of a source.
#[derive(Debug)]
pub(crate) struct Checkable {
    /// The text. Its lines are the source's, one further down; its columns are the same in UTF-16 units, which is how
    /// compilers of TypeScript count.
    pub(crate) text: String,
    /// The modules that the source names, for values or for types.
    pub(crate) modules: BTreeSet<String>,
    /// Where expressions start that are called only if there is something to call: `slack.archive?.()`.
    pub(crate) guarded: HashSet<Position>,
}

/// Makes a source ready for a type checker that has the declarations of these modules and of no others.
///
/// # Errors
/// `script.syntax` when the source is not valid.
pub(crate) fn checkable(
    source: &str,
    file: &str,
    is_declared: impl Fn(&str) -> bool + Sync,
) -> Result<Checkable, ScriptError> {
    let lines = LineIndex::new(source);
    let found = parse_bounds::with_enough_stack(source, || find(source, &is_declared)).and_then(|found| found);
    let Found { mut edits, modules, guarded, .. } = found.map_err(|fault| fault.into_error(file, source, &lines))?;
    edits.sort_by_key(|(span, _)| span.start);
    let mut text = String::with_capacity(FIRST_LINE.len() + source.len());
    text.push_str(FIRST_LINE);
    let mut at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for (span, replacement) in edits {
        let (start, end) = (span.start as usize, span.end as usize);
        text.push_str(source.get(at..start).unwrap_or_default());
        text.push_str(&replacement);
        at = end;
    }
    text.push_str(source.get(at..).unwrap_or_default());
    let positions = Positions::new(source, &lines, guarded.clone());
    Ok(Checkable { text, modules, guarded: guarded.into_iter().map(|start| positions.of(start)).collect() })
}

fn find(source: &str, is_declared: &dyn Fn(&str) -> bool) -> Result<Found, Fault> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true)).with_options(options).parse();
    if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
        let message = "the source cannot be parsed".to_owned();
        return Err(Fault { code: SYNTAX, message, start: None, hint: None });
    }
    let mut finder = Finder { source, is_declared, function_depth: 0, found: Found::default() };
    if let Some(hashbang) = &parsed.program.hashbang {
        finder.blank(hashbang.span);
    }
    finder.visit_program(&parsed.program);
    Ok(finder.found)
}

#[derive(Default)]
struct Found {
    edits: Vec<(Span, String)>,
    modules: BTreeSet<String>,
    guarded: Vec<u32>,
}

struct Finder<'s> {
    source: &'s str,
    is_declared: &'s dyn Fn(&str) -> bool,
    function_depth: usize,
    found: Found,
}

impl Finder<'_> {
    fn text(&self, span: Span) -> &str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn blank(&mut self, span: Span) {
        let blank = filled(self.text(span), ' ');
        self.found.edits.push((span, blank));
    }

    fn module(&mut self, it: &StringLiteral<'_>) {
        self.module_name(it.value.as_str(), it.span);
    }

    /// A module is named, between the quotes of this span.
    fn module_name(&mut self, name: &str, quoted: Span) {
        self.found.modules.insert(name.to_owned());
        if !(self.is_declared)(name) {
            let span = Span::new(quoted.start + 1, quoted.end.saturating_sub(1));
            let dashes = filled(self.text(span), '-');
            self.found.edits.push((span, dashes));
        }
    }
}

/// As many units of something else. Ends of lines stay, which a text between quotes has after a backslash.
fn filled(text: &str, with: char) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let is_end = |character: &char| matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    while let Some(character) = characters.next() {
        if is_end(&character) || character == '\\' && characters.peek().is_some_and(is_end) {
            filled.push(character);
        } else {
            filled.extend(std::iter::repeat_n(with, character.len_utf16()));
        }
    }
    filled
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.module(&it.source);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.module(&it.source);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.module(&it.source);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        match &it.source {
            Expression::StringLiteral(name) => self.module(name),
            Expression::TemplateLiteral(name) if name.expressions.is_empty() => {
                let text = name.single_quasi();
                self.module_name(text.as_ref().map_or("", |text| text.as_str()), name.span);
            }
            other => self.visit_expression(other),
        }
        if let Some(options) = &it.options {
            self.visit_expression(options);
        }
    }

    fn visit_ts_import_type(&mut self, it: &TSImportType<'a>) {
        self.module(&it.source);
        walk::walk_ts_import_type(self, it);
    }

    fn visit_ts_external_module_reference(&mut self, it: &TSExternalModuleReference<'a>) {
        self.module(&it.expression);
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        self.module(&it.id);
        walk::walk_ts_external_module_declaration(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.function_depth += 1;
        walk::walk_function(self, it, flags);
        self.function_depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.function_depth += 1;
        walk::walk_arrow_function_expression(self, it);
        self.function_depth -= 1;
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.function_depth == 0 {
            let keyword = Span::new(it.span.start, it.span.start + "return".len() as u32);
            let leave = if it.argument.is_some() { LEAVE_WITH } else { LEAVE };
            self.found.edits.push((keyword, leave.to_owned()));
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if it.optional {
            self.found.guarded.push(it.callee.span().start);
        }
        walk::walk_call_expression(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        let checkable = checkable(source, "program.ts", |name| name == "@capabilities/slack").unwrap();
        let units = |text: &str| text.encode_utf16().count();
        assert_eq!(units(&checkable.text), units(source.trim_start_matches('\u{feff}')) + FIRST_LINE.len(), "{source}");
        checkable.text.strip_prefix(FIRST_LINE).unwrap().to_owned()
    }

    #[test]
    fn only_names_of_declared_modules_are_left() {
        for (source, expected) in [
            ("import { slack } from '@capabilities/slack';", "import { slack } from '@capabilities/slack';"),
            ("import x from \"/etc/passwd\";", "import x from \"-----------\";"),
            ("import type { x } from './\u{1F600}ä';", "import type { x } from '-----';"),
            ("export * from '../x'; export { y } from '/x';", "export * from '----'; export { y } from '--';"),
            ("import x = require('../x');", "import x = require('----');"),
            ("await import('./x'); await import(`./y`);", "await import('---'); await import(`---`);"),
            ("type T = typeof import('/x')['y'];", "type T = typeof import('--')['y'];"),
            ("type T = A<import('\\x2fetc').B>;", "type T = A<import('-------').B>;"),
            ("declare module './x' { type T = import('./y') }", "declare module '---' { type T = import('---') }"),
            ("import 'a\\\nb';", "import '-\\\n-';"),
            ("function f() { return import('./x'); }", "function f() { return import('---'); }"),
            ("const text = 'import x from \"./x\"';", "const text = 'import x from \"./x\"';"),
        ] {
            assert_eq!(text(source), expected);
        }
        let named = checkable("import type { a } from 'a'; type B = import('b').C;", "f", |_| true).unwrap().modules;
        assert_eq!(named.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn directives_do_not_come_first() {
        let source = "\u{feff}/// <reference path=\"/etc/passwd\" />\n// @ts-nocheck\n1;";
        let checkable = checkable(source, "f", |_| false).unwrap();
        assert_eq!(checkable.text, format!("export {{}};\n{}", source.trim_start_matches('\u{feff}')));
        assert_eq!(text("#!/usr/bin/env node\n1;"), "                   \n1;");
    }

    #[test]
    fn a_return_outside_of_functions_still_ends_the_program() {
        assert_eq!(text("if (a) return; return b;"), "if (a) _$$_(); throw  b;");
        let inner = "const f = () => { return 1; }; class C { m() { return; } get g() { return 2; } }";
        assert_eq!(text(inner), inner);
    }

    #[test]
    fn calls_that_may_find_nothing_are_known_by_their_place() {
        let checkable = checkable("a.b();\n c.d?.(); e?.f();", "f", |_| false).unwrap();
        assert_eq!(checkable.guarded, HashSet::from([Position { line: 2, column: 2 }]));
    }

    #[test]
    fn what_nests_deeply_is_walked_all_the_same() {
        let deep = format!("{}1{};", "(".repeat(900), ")".repeat(900));
        assert_eq!(text(&deep), deep);
        assert!(checkable(&"(".repeat(5_000), "f", |_| false).is_err());
        assert!(checkable("const = 1", "f", |_| false).is_err());
    }
}
