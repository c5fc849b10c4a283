//! Imports and exports: erasure of type-only names, and replacement of specifiers.

use oxc_ast::ast::{
    ExportDefaultDeclarationKind, ExportSpecifier, Expression, ImportDeclaration, ImportDeclarationSpecifier,
    ImportOrExportKind, ModuleExportName, Program, Statement, StringLiteral, WithClause,
};
use oxc_parser::Kind;
use oxc_span::{GetSpan as _, Span};

use super::erase::Eraser;
use super::fault::Fault;
use super::imports::{ImportedName, Site, Unused};
use super::language::Language;
use super::literal::quote;

/// Edits the imports and exports of a walked program. Imports move to the offset `hoist`, if there is one.
pub(super) fn rewrite<'a>(program: &Program<'a>, hoist: Option<u32>, eraser: &mut Eraser<'a, '_>) {
    for statement in &program.body {
        match statement {
            Statement::ImportDeclaration(it) => import(it, hoist, eraser),
            Statement::ExportFromDeclaration(it) => {
                let kept = keep_specifiers(&it.specifiers, it.export_kind, it.span, eraser, |_, _| true);
                if let Some(kept) = kept {
                    for specifier in &kept {
                        let name = specifier.local.name().as_str();
                        eraser.uses.export(it.source.value.as_str(), Some(name), specifier.span.start);
                    }
                    let names = kept.iter().map(|specifier| export_name(&specifier.local)).collect();
                    from(&it.source, it.with_clause.as_deref(), names, eraser);
                }
            }
            Statement::ExportAllDeclaration(it) if it.export_kind == ImportOrExportKind::Type => {
                eraser.remove(it.span.start, it.span.end);
            }
            Statement::ExportAllDeclaration(it) => {
                eraser.uses.export(it.source.value.as_str(), None, it.span.start);
                let names = vec![(ImportedName::Namespace, it.span.start)];
                from(&it.source, it.with_clause.as_deref(), names, eraser);
            }
            Statement::ExportNamedDeclaration(it) => {
                keep_specifiers(&it.specifiers, it.export_kind, it.span, eraser, |specifier, eraser| {
                    let ModuleExportName::IdentifierReference(local) = &specifier.local else {
                        return true;
                    };
                    !is_type_only(local.name.as_str(), eraser)
                });
            }
            Statement::ExportDefaultDeclaration(it) => {
                if let ExportDefaultDeclarationKind::Identifier(id) = &it.declaration
                    && is_type_only(id.name.as_str(), eraser)
                {
                    eraser.remove(it.span.start, it.span.end);
                }
            }
            _ => {}
        }
    }
}

/// True if the module declares a name as a type and not as a value.
pub(super) fn is_type_only<'a>(name: &'a str, eraser: &Eraser<'a, '_>) -> bool {
    eraser.type_names.contains(name) && !eraser.scopes.module_declares(name)
}

/// True if `export default name` exports a type.
pub(super) fn is_type_default<'a>(kind: &ExportDefaultDeclarationKind<'a>, eraser: &Eraser<'a, '_>) -> bool {
    match kind {
        ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
        ExportDefaultDeclarationKind::FunctionDeclaration(it) => it.declare || it.body.is_none(),
        kind => {
            matches!(kind.as_expression(), Some(Expression::Identifier(id)) if is_type_only(id.name.as_str(), eraser))
        }
    }
}

fn import<'a>(it: &ImportDeclaration<'a>, hoist: Option<u32>, eraser: &mut Eraser<'a, '_>) {
    if it.phase.is_some() {
        eraser.refuse_phase(it.span.start);
        return;
    }
    let is_kept = |specifier: &ImportDeclarationSpecifier<'a>, eraser: &Eraser<'a, '_>| {
        let kind = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(specifier) => specifier.import_kind,
            _ => ImportOrExportKind::Value,
        };
        eraser.language == Language::JavaScript
            || kind == ImportOrExportKind::Value && eraser.resolved.free.contains(specifier.local().name.as_str())
    };
    let specifiers = it.specifiers.as_ref().map_or(&[][..], |list| list.as_slice());
    let kept: Vec<_> = specifiers.iter().filter(|specifier| is_kept(specifier, eraser)).collect();
    note_unused(it, specifiers, &kept, eraser);
    // `import './x'` is for its side effects; `import {} from './x'` was for erased types.
    let is_for_names = it.specifiers.is_some() && eraser.language == Language::TypeScript;
    if it.import_kind == ImportOrExportKind::Type || is_for_names && kept.is_empty() {
        for specifier in specifiers.iter().filter(|_| it.import_kind == ImportOrExportKind::Type) {
            eraser.type_names.insert(specifier.local().name.as_str());
        }
        let is_noted = it.import_kind == ImportOrExportKind::Value && !it.source.lone_surrogates;
        if is_noted && eraser.elided.len() < MAX_ELIDED {
            eraser.elided.push(it.source.value.to_string());
        }
        eraser.remove(it.span.start, it.span.end);
        return;
    }
    if let Some(place) = hoist {
        eraser.remove(it.span.start, it.span.end);
        hoisted(it, &kept, place, eraser);
        return;
    }
    for specifier in specifiers.iter().filter(|specifier| !is_kept(specifier, eraser)).collect::<Vec<_>>() {
        drop_specifier(specifier, eraser);
    }
    let names = kept.iter().map(|specifier| imported_name(specifier)).collect();
    from(&it.source, it.with_clause.as_deref(), names, eraser);
}

/// Limit on the modules of a source that are kept as imported without a use. Hints need the few of a script.
const MAX_ELIDED: usize = 100;

/// Limit on the unused imports of a source that are kept.
const MAX_UNUSED: usize = 20;

/// Limit on the names in the unused imports of a source. The source is searched for each of them.
const MAX_UNUSED_NAMES: usize = 100;

/// Keeps the names of an import that occur nowhere else. They are left out at run time, so that a mistake in them would
/// go unnoticed.
fn note_unused<'a>(
    it: &ImportDeclaration<'a>,
    specifiers: &[ImportDeclarationSpecifier<'a>],
    kept: &[&ImportDeclarationSpecifier<'a>],
    eraser: &mut Eraser<'a, '_>,
) {
    let is_full = eraser.unused.len() >= MAX_UNUSED;
    if is_full || it.import_kind == ImportOrExportKind::Type || it.source.lone_surrogates {
        return;
    }
    if kept.len() == specifiers.len() {
        return;
    }
    let mut names = Vec::new();
    let mut is_whole = kept.is_empty();
    // In the order of `specifiers`, of which they are a part.
    let mut kept = kept.iter().peekable();
    for specifier in specifiers {
        if kept.next_if(|kept| kept.span() == specifier.span()).is_some() {
            continue;
        }
        if eraser.unused_searches >= MAX_UNUSED_NAMES {
            // The names that are not searched for may be in use as types.
            is_whole = false;
            break;
        }
        let is_type = matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(it) if it.import_kind == ImportOrExportKind::Type);
        eraser.unused_searches += usize::from(!is_type);
        // A type may have this name.
        if is_type || is_mentioned(eraser.source, specifier.local().name.as_str(), it.span) {
            is_whole = false;
        } else {
            names.push(imported_name(specifier));
        }
    }
    if !names.is_empty() {
        let specifier = it.source.value.to_string();
        eraser.unused.push(Unused { specifier, start: it.source.span.start, names, is_whole });
    }
}

/// True if a name occurs outside of a span.
fn is_mentioned(source: &str, name: &str, span: Span) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    source.match_indices(name).any(|(at, _)| {
        let is_outside = at < span.start as usize || at >= span.end as usize;
        let before = source.get(..at).and_then(|text| text.chars().next_back());
        let after = source.get(at + name.len()..).and_then(|text| text.chars().next());
        is_outside && !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Blanks a name of an import, with the comma that would be left over.
fn drop_specifier(specifier: &ImportDeclarationSpecifier<'_>, eraser: &mut Eraser<'_, '_>) {
    let mut span = specifier.span();
    if matches!(specifier, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_)) {
        // It may only follow a default import: the comma is before it.
        if let Some(comma) = eraser.tokens.before(span.start).filter(|token| token.kind() == Kind::Comma) {
            span.start = comma.start();
        }
    } else if let Some(comma) = eraser.tokens.at_kind(span.end, Kind::Comma) {
        span.end = comma.end();
    }
    eraser.edits.blank(span.start, span.end);
}

/// Moves an import to `place`, because a script with a top-level `return` runs inside a function.
fn hoisted<'a>(
    it: &ImportDeclaration<'a>,
    kept: &[&ImportDeclarationSpecifier<'a>],
    place: u32,
    eraser: &mut Eraser<'a, '_>,
) {
    let mut clauses = Vec::new();
    let mut named = Vec::new();
    for specifier in kept {
        let local = specifier.local().name.as_str();
        match specifier {
            ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => clauses.push(local.to_owned()),
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => clauses.push(format!("* as {local}")),
            ImportDeclarationSpecifier::ImportSpecifier(it) => {
                let imported = match &it.imported {
                    ModuleExportName::StringLiteral(text) => quote(text.value.as_str()),
                    name => name.name().to_string(),
                };
                named.push(format!("{imported} as {local}"));
            }
        }
    }
    if !named.is_empty() {
        clauses.push(format!("{{ {} }}", named.join(", ")));
    }
    let from = if clauses.is_empty() { "" } else { " from " };
    eraser.edits.insert(place, format!("import {}{from}", clauses.join(", ")));
    let Some(specifier) = specifier_text(&it.source, eraser) else {
        return;
    };
    let names = kept.iter().map(|specifier| imported_name(specifier)).collect();
    let index = eraser.sites.len();
    let start = it.source.span.start;
    eraser.sites.push(Site { specifier, start, dynamic: false, is_required: false, is_optional: false, names });
    eraser.edits.specifier(place, place, index);
    eraser.edits.insert(place, "; ");
}

/// Blanks the specifiers of an export that are types; `None` when nothing is left of it.
fn keep_specifiers<'a, 's>(
    specifiers: &'s [ExportSpecifier<'a>],
    kind: ImportOrExportKind,
    span: Span,
    eraser: &mut Eraser<'a, '_>,
    is_value: impl Fn(&ExportSpecifier<'a>, &Eraser<'a, '_>) -> bool,
) -> Option<Vec<&'s ExportSpecifier<'a>>> {
    let is_kept = |specifier: &&ExportSpecifier<'a>, eraser: &Eraser<'a, '_>| {
        specifier.export_kind == ImportOrExportKind::Value && is_value(specifier, eraser)
    };
    let kept: Vec<_> = specifiers.iter().filter(|specifier| is_kept(specifier, eraser)).collect();
    if kind == ImportOrExportKind::Type || kept.is_empty() && !specifiers.is_empty() {
        eraser.remove(span.start, span.end);
        return None;
    }
    for specifier in specifiers {
        if !is_kept(&specifier, eraser) {
            let end = eraser.tokens.at_kind(specifier.span.end, Kind::Comma).map_or(specifier.span.end, |it| it.end());
            eraser.edits.blank(specifier.span.start, end);
        }
    }
    Some(kept)
}

/// The `from '…' with {…}` of a declaration that stays where it is.
fn from(
    source: &StringLiteral<'_>,
    with: Option<&WithClause<'_>>,
    names: Vec<(ImportedName, u32)>,
    eraser: &mut Eraser<'_, '_>,
) {
    if let Some(with) = with {
        eraser.edits.blank(source.span.end, with.span.end);
    }
    if let Some(specifier) = specifier_text(source, eraser) {
        eraser.site(specifier, source.span, names, false);
    }
}

fn specifier_text(source: &StringLiteral<'_>, eraser: &mut Eraser<'_, '_>) -> Option<String> {
    if source.lone_surrogates {
        eraser.refuse(Fault::syntax(source.span.start, "the module's name is not valid Unicode", "correct the name"));
        return None;
    }
    Some(source.value.to_string())
}

fn imported_name(specifier: &ImportDeclarationSpecifier<'_>) -> (ImportedName, u32) {
    match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(it) => export_name(&it.imported),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => (ImportedName::Default, it.span.start),
        ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => (ImportedName::Namespace, it.span.start),
    }
}

fn export_name(name: &ModuleExportName<'_>) -> (ImportedName, u32) {
    let text = name.name();
    let imported = if text == "default" { ImportedName::Default } else { ImportedName::Named(text.to_string()) };
    (imported, name.span().start)
}
