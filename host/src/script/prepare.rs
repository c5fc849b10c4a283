//! From a source to code that the engine runs: parse, erase, resolve imports, write.

use super::commonjs::CommonJsExports;
use super::draft::{Draft, Fault, Unused, draft};
use super::error::{SYNTAX, ScriptError};
use super::language::{Language, SourceKind};
use super::literal::quote;
use super::parse_bounds;
use super::position::{LineIndex, Position, Positions};
use super::position_map::PositionMap;
use super::uses::ImportUse;
use serde::Serialize;

/// The longest single source that is read, in bytes. Parsing one takes up to 140 times its size in memory. Bundled
/// libraries reach a few megabytes; beyond that the source is data, and belongs in the workspace.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;

/// The longest script unless its space says otherwise, in bytes, with the files that it imports. People and models
/// write kilobytes.
pub const DEFAULT_SCRIPT_BYTES: usize = 1 << 20;

/// The most places of a source that are told in [`Prepared::calls`]. A script of thousands of lines has hundreds; nobody
/// reads thousands.
pub const MAX_CALL_SITES: usize = 10_000;

/// A name that an import takes from a module, as a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedName {
    /// All of it: `* as name`, `export *`, `import()`.
    Namespace,
    /// Its default export.
    Default,
    /// One export, by the name the module gives it.
    Named(String),
}

/// One place where a source imports a module at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSite<'a> {
    /// The module as the author wrote it.
    pub specifier: &'a str,
    /// Where the specifier is written.
    pub position: Position,
    /// `import('…')` rather than a declaration.
    pub dynamic: bool,
    /// `require('…')` of a CommonJS file.
    pub is_required: bool,
    /// The code around it expects that it may fail, or may never get there: an `import()`, and a `require` in a function
    /// or a `try`.
    pub is_optional: bool,
    /// The values taken from the module; none for an import for its effects.
    pub names: Vec<ImportedName>,
    /// Where each of `names` is written.
    pub name_positions: Vec<Position>,
}

/// An import that is left out at run time, because a name of it occurs nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedImport {
    /// The module as the author wrote it.
    pub specifier: String,
    /// Where the specifier is written.
    pub position: Position,
    /// The names that have no use, and where each is written.
    pub names: Vec<(ImportedName, Position)>,
    /// Nothing else is imported with it, not even a type.
    pub is_whole: bool,
}

/// How a source uses what it imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    /// It is called here.
    Call,
    /// It is read here, and may be called elsewhere under another name: `const remove = fileSystem.deleteFile`.
    Mention,
}

/// One place where a source uses what it imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The module as the author wrote it.
    pub module: String,
    /// The export by the module's own name for it, and the members after it as far as they are written out:
    /// `fileSystem.deleteFile`, `server.$resources.read`, and with them what is a function's own, as in
    /// `fileSystem.deleteFile.bind`. Empty where all of the module is mentioned.
    pub path: String,
    /// Whether it is called.
    pub kind: CallKind,
    /// Where the expression that is called or read starts; in a destructuring, the name of the member.
    pub position: Position,
}

/// A source made ready to run.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The ES module to evaluate; its lines are the source's lines.
    pub code: String,
    /// The author wrote a default export: the run's value is what it returns when it is a function, else itself.
    pub call_default: bool,
    /// The code has a default export, whoever wrote it. Without one the run has no value.
    pub has_default_export: bool,
    /// Translates places in `code` to places in the source.
    pub positions: PositionMap,
    /// Where the source uses what it imports, in order; at most [`MAX_CALL_SITES`].
    pub calls: Vec<CallSite>,
    /// There are more of them than that.
    pub has_more_calls: bool,
    /// The source uses the global `fetch` by its bare name.
    pub uses_fetch: bool,
    /// Names that the source uses as values and neither declares nor imports, globals among them.
    pub free: Vec<String>,
    /// Modules whose import was left out because nothing uses it as a value.
    pub elided: Vec<String>,
    /// Imports without a use, the first few.
    pub unused: Vec<UnusedImport>,
    /// What a CommonJS file exports; none for other kinds.
    pub commonjs: Option<CommonJsExports>,
}

/// Makes a source ready to run as an ES module of ES2023.
///
/// `resolve` is called once for each import that remains at run time, in the order they are written, and gives the
/// name the engine shall import instead.
///
/// # Errors
/// `script.syntax` when the source is not valid or uses what does not run here; `import.denied` for a computed
/// `import()`; and whatever `resolve` refuses.
pub fn prepare(
    source: &str,
    file: &str,
    language: Language,
    kind: SourceKind,
    resolve: &mut dyn FnMut(&ImportSite<'_>) -> Result<String, ScriptError>,
) -> Result<Prepared, ScriptError> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(ScriptError::new(SYNTAX, file, format!("the source is longer than {MAX_SOURCE_BYTES} bytes"))
            .hint("keep data in workspace files and read them"));
    }
    let lines = LineIndex::new(source);
    let fault = |fault: Fault| fault.into_error(file, source, &lines);
    let draft = parse_bounds::with_enough_stack(source, || draft(source, file, language, kind))
        .and_then(|done| done)
        .map_err(fault)?;
    let specifiers = resolve_sites(&draft, source, &lines, resolve)?;
    let Draft { edits, import_uses, uses_fetch, call_default, has_default_export, engine_lines, .. } = draft;
    let (commonjs, free, elided) = (draft.commonjs, draft.free, draft.elided);
    let unused = unused_imports(draft.unused, source, &lines);
    let calls = call_sites(import_uses.list, source, &lines);
    let has_more_calls = import_uses.has_more;
    let (code, segments) = edits.apply(source, &specifiers);
    let positions = PositionMap::new(source, lines, &code, segments, &engine_lines);
    Ok(Prepared {
        code,
        call_default,
        has_default_export,
        positions,
        calls,
        has_more_calls,
        uses_fetch,
        free,
        elided,
        unused,
        commonjs,
    })
}

fn unused_imports(unused: Vec<Unused>, source: &str, lines: &LineIndex) -> Vec<UnusedImport> {
    let place = |start: u32| lines.position(source, start);
    unused
        .into_iter()
        .map(|Unused { specifier, start, names, is_whole }| UnusedImport {
            specifier,
            position: place(start),
            names: names.into_iter().map(|(name, start)| (name, place(start))).collect(),
            is_whole,
        })
        .collect()
}

fn call_sites(uses: Vec<ImportUse>, source: &str, lines: &LineIndex) -> Vec<CallSite> {
    let positions = Positions::new(source, lines, uses.iter().map(|it| it.start).collect());
    uses.into_iter()
        .map(|ImportUse { module, path, kind, start }| CallSite { module, path, kind, position: positions.of(start) })
        .collect()
}

fn resolve_sites(
    draft: &Draft,
    source: &str,
    lines: &LineIndex,
    resolve: &mut dyn FnMut(&ImportSite<'_>) -> Result<String, ScriptError>,
) -> Result<Vec<String>, ScriptError> {
    // Sites are found in the order of the walk; the caller sees them in the order of the source.
    let mut order: Vec<usize> = (0..draft.sites.len()).collect();
    order.sort_by_key(|index| draft.sites.get(*index).map(|site| site.start));
    let name_starts = draft.sites.iter().flat_map(|site| site.names.iter().map(|(_, start)| *start));
    let starts = draft.sites.iter().map(|site| site.start).chain(name_starts).collect();
    let positions = Positions::new(source, lines, starts);
    let mut specifiers = vec![String::new(); draft.sites.len()];
    for index in order {
        let (Some(site), Some(slot)) = (draft.sites.get(index), specifiers.get_mut(index)) else {
            continue;
        };
        let resolved = resolve(&ImportSite {
            specifier: &site.specifier,
            position: positions.of(site.start),
            dynamic: site.dynamic,
            is_required: site.is_required,
            is_optional: site.is_optional,
            names: site.names.iter().map(|(name, _)| name.clone()).collect(),
            name_positions: site.names.iter().map(|(_, start)| positions.of(*start)).collect(),
        })?;
        *slot = quote(&resolved);
    }
    Ok(specifiers)
}
