//! Static detection of a CommonJS file's exports.
//!
//! The rules are those of Node's `cjs-module-lexer`, over the syntax tree. A false positive is harmless: the export is
//! `undefined`. A missed name can still be imported explicitly.

use std::collections::{BTreeSet, HashMap};

use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, CallExpression, Expression, ObjectPropertyKind, Program,
    SimpleAssignmentTarget, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};

use super::super::erase::literal;

/// Exports detected in a CommonJS file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommonJsExports {
    /// Names of its own, without `default`.
    pub names: BTreeSet<String>,
    /// Specifiers of modules that it re-exports.
    pub passed_on: BTreeSet<String>,
}

/// Finds the exports of a program.
pub(super) fn find(program: &Program<'_>) -> CommonJsExports {
    let mut finder = Finder::default();
    finder.visit_program(program);
    finder.found
}

#[derive(Default)]
struct Finder<'a> {
    found: CommonJsExports,
    /// Variables that hold a required module.
    required: HashMap<&'a str, &'a str>,
}

impl<'a> Visit<'a> for Finder<'a> {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let Some(name) = exported_member(&it.left) {
            self.add(name);
        } else if is_exports_target(&it.left) {
            self.whole(&it.right);
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (Some(name), Some(module)) = (it.id.get_identifier_name(), it.init.as_ref().and_then(required_module)) {
            self.required.insert(name.as_str(), module);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.call(it);
        walk::walk_call_expression(self, it);
    }
}

impl<'a> Finder<'a> {
    fn add(&mut self, name: &str) {
        if name != "default" {
            self.found.names.insert(name.to_owned());
        }
    }

    fn pass_on(&mut self, module: &str) {
        self.found.passed_on.insert(module.to_owned());
    }

    /// `module.exports = value`
    fn whole(&mut self, value: &Expression<'a>) {
        match value {
            // `module.exports = exports = value`: the inner assignment is met by itself.
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    match property {
                        ObjectPropertyKind::ObjectProperty(it) => {
                            if let Some(name) = it.key.static_name() {
                                self.add(&name);
                            }
                        }
                        ObjectPropertyKind::SpreadProperty(it) => self.value(&it.argument),
                    }
                }
            }
            value => self.value(value),
        }
    }

    fn value(&mut self, value: &Expression<'a>) {
        let variable = match value {
            Expression::Identifier(name) => self.required.get(name.name.as_str()).copied(),
            _ => None,
        };
        if let Some(module) = variable.or_else(|| required_module(value)) {
            self.pass_on(module);
        }
    }

    fn call(&mut self, it: &CallExpression<'a>) {
        let argument = |at: usize| it.arguments.get(at).and_then(|argument| argument.as_expression());
        match callee_name(&it.callee) {
            Some("defineProperty") if argument(0).is_some_and(is_exports) => {
                if let Some((name, _)) = argument(1).and_then(literal) {
                    self.add(name);
                }
            }
            // TypeScript's output for `export * from`, with and without tslib.
            Some("__exportStar" | "__export" | "__reExport") => {
                for value in [argument(0), argument(1)].into_iter().flatten() {
                    self.value(value);
                }
            }
            // Babel's output: `Object.keys(_module).forEach(function (key) { … exports[key] … })`.
            Some("forEach") => {
                let keys = match &it.callee {
                    Expression::StaticMemberExpression(member) => match &member.object {
                        Expression::CallExpression(keys) if callee_name(&keys.callee) == Some("keys") => Some(keys),
                        _ => None,
                    },
                    _ => None,
                };
                let object = keys.and_then(|keys| keys.arguments.first()).and_then(|first| first.as_expression());
                if let Some(object @ Expression::Identifier(_)) = object {
                    self.value(object);
                }
            }
            _ => {}
        }
    }
}

/// The last name of a callee.
fn callee_name<'a>(callee: &Expression<'a>) -> Option<&'a str> {
    match callee {
        Expression::Identifier(name) => Some(name.name.as_str()),
        Expression::StaticMemberExpression(member) => Some(member.property.name.as_str()),
        Expression::ParenthesizedExpression(it) => callee_name(&it.expression),
        Expression::SequenceExpression(it) => it.expressions.last().and_then(callee_name),
        _ => None,
    }
}

/// The module of `require('…')`, also inside the call of an interop helper.
fn required_module<'a>(value: &Expression<'a>) -> Option<&'a str> {
    let Expression::CallExpression(call) = value else { return None };
    let first = call.arguments.first().and_then(|argument| argument.as_expression())?;
    match callee_name(&call.callee)? {
        "require" => literal(first).map(|(module, _)| module),
        name if name.starts_with('_') => match first {
            Expression::CallExpression(inner) if callee_name(&inner.callee) == Some("require") => {
                required_module(first)
            }
            _ => None,
        },
        _ => None,
    }
}

/// `exports` or `module.exports`
fn is_exports(value: &Expression<'_>) -> bool {
    match value {
        Expression::Identifier(name) => name.name == "exports",
        Expression::StaticMemberExpression(member) => {
            member.property.name == "exports"
                && matches!(&member.object, Expression::Identifier(name) if name.name == "module")
        }
        _ => false,
    }
}

fn is_exports_target(target: &AssignmentTarget<'_>) -> bool {
    match target {
        AssignmentTarget::StaticMemberExpression(member) => {
            member.property.name == "exports"
                && matches!(&member.object, Expression::Identifier(name) if name.name == "module")
        }
        AssignmentTarget::AssignmentTargetIdentifier(name) => name.name == "exports",
        _ => false,
    }
}

/// The name in `exports.name = …` and `exports['name'] = …`.
fn exported_member<'a>(target: &AssignmentTarget<'a>) -> Option<&'a str> {
    match target.as_simple_assignment_target()? {
        SimpleAssignmentTarget::StaticMemberExpression(member) if is_exports(&member.object) => {
            Some(member.property.name.as_str())
        }
        SimpleAssignmentTarget::ComputedMemberExpression(member) if is_exports(&member.object) => {
            literal(&member.expression).map(|(name, _)| name)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Language, SourceKind, prepare};

    /// Names and modules passed on, of a file.
    fn exports(source: &str) -> (Vec<String>, Vec<String>) {
        let prepared =
            prepare(source, "/f.js", Language::JavaScript, SourceKind::CommonJs, &mut |site| Ok(site.specifier.into()));
        let found = prepared.unwrap().commonjs.unwrap();
        (found.names.into_iter().collect(), found.passed_on.into_iter().collect())
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        for (source, names) in [
            ("exports.a = 1; exports['b'] = 2; module.exports.c = 3", vec!["a", "b", "c"]),
            ("module.exports = { a, b: 1, 'c': 2, d() {}, [e]: 3 }", vec!["a", "b", "c", "d"]),
            ("exports = module.exports = { a: 1 }", vec!["a"]),
            ("module.exports = exports = { a: 1 }", vec!["a"]),
            ("exports.a = exports.b = void 0", vec!["a", "b"]),
            ("Object.defineProperty(exports, '__esModule', { value: true }); exports.default = 1", vec!["__esModule"]),
            (
                "Object.defineProperty(module.exports, 'a', { enumerable: true, get: function () { return x.a } })",
                vec!["a"],
            ),
            ("0 && (module.exports = { a, b })", vec!["a", "b"]),
            ("(function (root, factory) { factory(exports) })(this, function (exports) { exports.a = 1 })", vec!["a"]),
            ("module.exports = function () {}", vec![]),
            ("other.a = 1; const exports2 = {}; exports2.b = 1", vec![]),
        ] {
            assert_eq!(exports(source), (names.iter().map(ToString::to_string).collect(), vec![]), "{source}");
        }
    }

    #[test]
    fn modules_that_are_passed_on_are_found() {
        for source in [
            "module.exports = require('./a')",
            "module.exports = { ...require('./a') }",
            "const a = require('./a'); module.exports = a",
            "__exportStar(require('./a'), exports)",
            "tslib_1.__exportStar(require('./a'), exports)",
            "(0, tslib_1.__exportStar)(require('./a'), exports)",
            "var _a = require('./a'); Object.keys(_a).forEach(function (key) { exports[key] = _a[key] })",
            "var _a = _interopRequireWildcard(require('./a')); Object.keys(_a).forEach(function (k) { exports[k] = _a[k] })",
        ] {
            assert_eq!(exports(source), (vec![], vec!["./a".to_owned()]), "{source}");
        }
    }

    #[test]
    fn what_a_file_requires_is_imported_once_and_before_it_runs() {
        let source = "#!/usr/bin/env node\n'use strict'\nconst a = require('./a'), b = require(`./b`)\n\
                      if (x) require('./a')\ntry { require('maybe') } catch {}\n\
                      function f(require) { require('theirs') }\nrequire(computed)";
        let mut sites = Vec::new();
        let prepared = prepare(source, "/f.js", Language::JavaScript, SourceKind::CommonJs, &mut |site| {
            sites.push((site.specifier.to_owned(), site.position.line, site.is_optional));
            Ok(format!("/{}", site.specifier))
        });
        let prepared = prepared.unwrap();
        assert_eq!(sites, [("./a".to_owned(), 3, false), ("./b".to_owned(), 3, false), ("maybe".to_owned(), 5, true)]);
        assert!(prepared.code.starts_with("///usr/bin/env node\nimport { define as $o1 }"), "{}", prepared.code);
        assert!(prepared.code.contains("function (exports, require, module, __filename, __dirname) { 'use strict'"));
        assert_eq!(prepared.code.lines().count(), source.lines().count(), "no line moves");
    }

    #[test]
    fn a_commonjs_file_that_exports_is_refused_with_its_place() {
        let error =
            prepare("\nexport const a = 1", "/f.cjs", Language::JavaScript, SourceKind::CommonJs, &mut |site| {
                Ok(site.specifier.into())
            });
        let error = error.unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.position.unwrap().line),
            ("a CommonJS file cannot import or export", 2)
        );
    }
}
