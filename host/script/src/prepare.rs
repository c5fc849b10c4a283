//! Preparation of a source for the engine: parse, erase, resolve imports, write.

use super::commonjs::CommonJsExports;
use super::draft::{Draft, draft};
use super::fault::Fault;
use super::imports::{ImportedName, Unused};
use super::language::{Language, SourceKind};
use super::literal::quote;
use super::parse_bounds;
use super::position::{LineIndex, Positions};
use super::position_map::PositionMap;
use super::uses::ImportUse;
use agent_spaces_types::call_site::CallKind;
use agent_spaces_types::position::Position;
use agent_spaces_types::script_error::{SYNTAX, ScriptError};

/// Length limit of a single source, in bytes. Parsing one takes up to 140 times its size in memory. Bundled
/// libraries reach a few megabytes; beyond that the source is data, and belongs in the workspace.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;

/// An import of a module at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSite<'a> {
    /// The module as the author wrote it.
    pub specifier: &'a str,
    /// Position of the specifier.
    pub position: Position,
    /// True for `import('…')`, false for a declaration.
    pub dynamic: bool,
    /// True for `require('…')` of a CommonJS file.
    pub is_required: bool,
    /// True if the code around it handles a failure, or may never run: an `import()`, and a `require` in a function or
    /// a `try`.
    pub is_optional: bool,
    /// The imported values; empty for an import for its side effects.
    pub names: Vec<ImportedName>,
    /// Position of each of `names`.
    pub name_positions: Vec<Position>,
}

/// An import with names that occur nowhere else and are left out at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedImport {
    /// The module as the author wrote it.
    pub specifier: String,
    /// Position of the specifier.
    pub position: Position,
    /// The unused names, and where each is written.
    pub names: Vec<(ImportedName, Position)>,
    /// True if nothing else is imported with it, not even a type.
    pub is_whole: bool,
}

/// A use of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The module as the author wrote it.
    pub module: String,
    /// The export by the module's own name for it, and the members after it as far as they are written out:
    /// `fileSystem.deleteFile`, `server.$resources.read`, members of functions included, as in
    /// `fileSystem.deleteFile.bind`. Empty for a mention of the whole module.
    pub path: String,
    /// Call or mention.
    pub kind: CallKind,
    /// Start of the expression that is called or read; in a destructuring, the name of the member.
    pub position: Position,
}

/// A source that is ready to run.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The ES module to evaluate; its lines are the source's lines.
    pub code: String,
    /// True if the author wrote a default export: the run's value is its result if it is a function, else itself.
    pub call_default: bool,
    /// True if the code has a default export, written or generated. Without one the run has no value.
    pub has_default_export: bool,
    /// Maps positions in `code` to positions in the source.
    pub positions: PositionMap,
    /// Uses of imports, in order; at most [`MAX_CALL_SITES`](crate::MAX_CALL_SITES).
    pub calls: Vec<CallSite>,
    /// True if there are more.
    pub has_more_calls: bool,
    /// True if the source uses the global `fetch` by its bare name.
    pub uses_fetch: bool,
    /// Names that the source uses as values and neither declares nor imports, globals among them.
    pub free: Vec<String>,
    /// Modules whose import was left out because nothing uses it as a value, the first hundred.
    pub elided: Vec<String>,
    /// Unused imports, the first few.
    pub unused: Vec<UnusedImport>,
    /// Exports of a CommonJS file; `None` for other kinds.
    pub commonjs: Option<CommonJsExports>,
}

/// Prepares a source to run as an ES module of ES2023.
///
/// `resolve` is called once for each import that remains at run time, in the order of the source, and returns the name
/// that the engine imports instead.
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
    let position = |start: u32| lines.position(source, start);
    unused
        .into_iter()
        .map(|Unused { specifier, start, names, is_whole }| UnusedImport {
            specifier,
            position: position(start),
            names: names.into_iter().map(|(name, start)| (name, position(start))).collect(),
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
