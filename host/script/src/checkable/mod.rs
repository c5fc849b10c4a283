//! Sources rewritten for a type checker: the same text at the same positions, except for names of undeclared modules
//! and syntax that only runs here.
//!
//! The author of a source is not trusted, and a compiler opens the files that `/// <reference>` and imports name. So
//! the text does not begin with the author's comments, where such directives take effect, and names of undeclared
//! modules become dashes.
//!
//! - `find`: the necessary edits
//! - `habits`: members that a program writes or tests for, and calls without `await`

mod find;
mod habits;

use std::collections::{BTreeSet, HashSet};

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{SourceType, Span};

use super::fault::Fault;
use super::parse_bounds;
use super::position::{LineIndex, Positions};
use agent_spaces_types::position::Position;
use agent_spaces_types::script_error::{SYNTAX, ScriptError};
use find::{Finder, Found};
use habits::HabitFinder;

pub use habits::{Consumer, Habits, UnawaitedCall};

/// The line before the author's first. A comment after a statement is only a comment: no `/// <reference>`, and no
/// `@ts-nocheck`.
const FIRST_LINE: &str = "export {};\n";

/// Declaration that the text needs: a top-level `return` without a value becomes a call of this function.
pub const LEAVE_DECLARATION: &str = "declare function _$$_(): never;\n";

/// First character of a twin module's name, whose functions accept anything: see [`ModuleName::Twin`]. No real module's
/// name begins with it.
pub(crate) const TWIN: char = '%';

/// A source prepared for a type checker.
#[derive(Debug)]
pub struct Checkable {
    source: String,
    /// Edits that do not depend on the modules.
    edits: Vec<(Span, String)>,
    /// Names of modules, with their spans between the quotes.
    names: Vec<(Span, String)>,
    /// Modules that the source names, for values or for types.
    pub modules: BTreeSet<String>,
    /// Starts of callees of optional calls: `slack.archive?.()`.
    pub guarded: HashSet<Position>,
    /// Members that it writes or tests for, and calls without `await`.
    pub habits: Habits,
}

/// Name of a module in the rewritten text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleName {
    /// As the author wrote it.
    Written,
    /// A name of the same length that begins with [`TWIN`].
    Twin,
    /// Dashes, for an undeclared module.
    Hidden,
}

/// Prepares a source for a type checker.
///
/// # Errors
/// `script.syntax` when the source is not valid.
pub fn checkable(source: &str, file: &str) -> Result<Checkable, ScriptError> {
    let lines = LineIndex::new(source);
    let found = parse_bounds::with_enough_stack(source, || read(source)).and_then(|found| found);
    let (found, habits) = found.map_err(|fault| fault.into_error(file, source, &lines))?;
    let Found { edits, names, guarded, .. } = found;
    let modules = names.iter().map(|(_, name)| name.clone()).collect();
    let positions = Positions::new(source, &lines, guarded.clone());
    Ok(Checkable {
        edits,
        names,
        modules,
        guarded: guarded.into_iter().map(|start| positions.of(start)).collect(),
        habits: habits.into_habits(source, &lines),
        source: source.to_owned(),
    })
}

fn read(source: &str) -> Result<(Found, habits::Offsets), Fault> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true)).with_options(options).parse();
    if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
        let message = "the source cannot be parsed".to_owned();
        return Err(Fault { code: SYNTAX, message, start: None, hint: None });
    }
    let mut finder = Finder::new(source);
    if let Some(hashbang) = &parsed.program.hashbang {
        finder.blank(hashbang.span);
    }
    finder.visit_program(&parsed.program);
    let mut habits = HabitFinder::default();
    habits.visit_program(&parsed.program);
    Ok((finder.found, habits.finish()))
}

impl Checkable {
    /// The author's text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the text with these names for its modules. Its lines are the source's, one further down; columns are the
    /// same in UTF-16 units, which TypeScript compilers count.
    pub fn text(&self, name: impl Fn(&str) -> ModuleName) -> String {
        let source = self.source.as_str();
        let named = self.names.iter().filter_map(|(span, module)| {
            let written = text_at(source, *span);
            match name(module) {
                ModuleName::Written => None,
                // With escapes, the first unit of the written name is not known.
                ModuleName::Twin if written == module && !written.is_empty() => {
                    let rest = written.chars().skip(1).collect::<String>();
                    let first = written.chars().next().map_or(1, char::len_utf16);
                    Some((*span, format!("{}{rest}", String::from(TWIN).repeat(first))))
                }
                ModuleName::Twin | ModuleName::Hidden => Some((*span, filled(written, '-'))),
            }
        });
        let mut edits: Vec<(Span, String)> = named.chain(self.edits.iter().cloned()).collect();
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
        text
    }
}

/// Returns the twin's name of a module.
pub fn twin_of(module: &str) -> String {
    let first = module.chars().next().map_or(1, char::len_utf16);
    format!("{}{}", String::from(TWIN).repeat(first), module.chars().skip(1).collect::<String>())
}

fn text_at(source: &str, span: Span) -> &str {
    source.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// Returns as many UTF-16 units of `with`. Line continuations are kept.
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

#[cfg(test)]
mod tests {
    use crate::checkable::*;

    fn text(source: &str) -> String {
        let name = |name: &str| if name == "@capabilities/slack" { ModuleName::Written } else { ModuleName::Hidden };
        let text = checkable(source, "program.ts").unwrap().text(name);
        let units = |text: &str| text.encode_utf16().count();
        assert_eq!(units(&text), units(source.trim_start_matches('\u{feff}')) + FIRST_LINE.len(), "{source}");
        text.strip_prefix(FIRST_LINE).unwrap().to_owned()
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
        let named = checkable("import type { a } from 'a'; type B = import('b').C;", "f").unwrap().modules;
        assert_eq!(named.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_twin_has_a_name_of_the_same_length() {
        let twin = |source: &str| checkable(source, "f").unwrap().text(|_| ModuleName::Twin);
        assert_eq!(twin("import '@c/x';"), format!("{FIRST_LINE}import '{}';", twin_of("@c/x")));
        assert_eq!(twin("import '\\x40c';"), format!("{FIRST_LINE}import '-----';"));
    }

    #[test]
    fn directives_do_not_come_first() {
        let source = "\u{feff}/// <reference path=\"/etc/passwd\" />\n// @ts-nocheck\n1;";
        let checkable = checkable(source, "f").unwrap();
        let expected = format!("export {{}};\n{}", source.trim_start_matches('\u{feff}'));
        assert_eq!(checkable.text(|_| ModuleName::Hidden), expected);
        assert_eq!(text("#!/usr/bin/env node\n1;"), "                   \n1;");
    }

    #[test]
    fn a_return_outside_of_functions_still_ends_the_program() {
        assert_eq!(text("if (a) return; return b;"), "if (a) _$$_(); throw  b;");
        let inner = "const f = () => { return 1; }; class C { m() { return; } get g() { return 2; } }";
        assert_eq!(text(inner), inner);
    }

    #[test]
    fn optional_calls_are_found_by_position() {
        let checkable = checkable("a.b();\n c.d?.(); e?.f();", "f").unwrap();
        assert_eq!(checkable.guarded, HashSet::from([Position { line: 2, column: 2 }]));
    }

    #[test]
    fn deep_nesting_is_walked() {
        let deep = format!("{}1{};", "(".repeat(900), ")".repeat(900));
        assert_eq!(text(&deep), deep);
        assert!(checkable(&"(".repeat(5_000), "f").is_err());
        assert!(checkable("const = 1", "f").is_err());
    }
}
