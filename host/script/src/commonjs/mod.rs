//! CommonJS files wrapped as ES modules: the file's code becomes a function, which the first `require` calls.
//!
//! - here: the wrapper
//! - `exports`: static detection of exports

mod exports;

pub use exports::CommonJsExports;

use std::collections::HashMap;

use oxc_ast::ast::{Program, Statement};
use oxc_span::GetSpan as _;

use super::erase::Eraser;
use super::fault::Fault;
use super::imports::{ImportedName, Site};
use super::literal::quote;

/// Name of the runtime module of CommonJS files.
pub const RUNTIME: &str = "agent-spaces:commonjs";

/// Wraps a walked program in a function, with an import for each file that it requires.
pub(super) fn wrap<'a>(program: &Program<'a>, file: &str, eraser: &mut Eraser<'a, '_>) -> CommonJsExports {
    if let Some(statement) = program.body.iter().find(|statement| is_module_syntax(statement)) {
        eraser.refuse(Fault::syntax(
            statement.span().start,
            "a CommonJS file cannot import or export",
            "the file's name or its package.json says that it is CommonJS: use another version of the package",
        ));
    }
    let (define, load) = (eraser.fresh_name(), eraser.fresh_name());
    // A directive must come first in the function.
    let directive = program.directives.first().map(|directive| directive.span.start);
    let statement = program.body.first().map(|statement| statement.span().start);
    let place = directive.or(statement).unwrap_or_else(|| eraser.tokens.end());
    eraser.edits.insert(place, format!("import {{ define as {define} }} from {}; ", quote(RUNTIME)));
    let mut table = String::new();
    for site in required(eraser) {
        let name = eraser.fresh_name();
        table.push_str(&format!("[{}, () => {name}()], ", quote(&site.specifier)));
        eraser.edits.insert(place, format!("import {{ load as {name} }} from "));
        eraser.edits.specifier(place, place, eraser.sites.len());
        eraser.edits.insert(place, "; ");
        eraser.sites.push(site);
    }
    let file = quote(file);
    eraser.edits.insert(
        place,
        format!(
            "export {{ {load} as load }}; const {load} = {define}({file}, [{table}], \
             function (exports, require, module, __filename, __dirname) {{ "
        ),
    );
    eraser.edits.insert(eraser.tokens.end().max(place), "});");
    exports::find(program)
}

/// Returns the modules that a file requires, each once.
fn required(eraser: &Eraser<'_, '_>) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    let mut known = HashMap::new();
    for call in eraser.requires.iter().filter(|call| eraser.scopes.is_free("require", call.scope)) {
        match known.get(call.specifier).and_then(|at: &usize| sites.get_mut(*at)) {
            Some(site) if site.is_optional && !call.is_optional => {
                (site.is_optional, site.start) = (false, call.start);
            }
            Some(_) => {}
            None => {
                known.insert(call.specifier, sites.len());
                sites.push(Site {
                    specifier: call.specifier.to_owned(),
                    start: call.start,
                    dynamic: false,
                    is_required: true,
                    is_optional: call.is_optional,
                    names: vec![(ImportedName::Namespace, call.start)],
                });
            }
        }
    }
    sites
}

fn is_module_syntax(statement: &Statement<'_>) -> bool {
    matches!(
        statement,
        Statement::ImportDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportDeclaration(_)
            | Statement::ExportDefaultDeclaration(_)
    )
}
