//! Draft: a parsed and erased source whose imports are not resolved yet.
//!
//! It is plain data, so that the recursive work can run on a thread with a large stack while the caller's `resolve`
//! callback stays on the caller's thread.

use oxc_allocator::Allocator;
use oxc_parser::{ParseOptions, Parser, ParserReturn, config::TokensParserConfig};
use oxc_span::SourceType;

use super::commonjs::{self, CommonJsExports};
use super::edits::Edits;
use super::erase::{Erased, Eraser};
use super::fault::Fault;
use super::imports::{Site, Unused};
use super::language::{Language, SourceKind};
use super::tokens::Tokens;
use super::uses::{ImportUses, Uses};
use super::{line_ends, modules, value};
use agent_spaces_types::script_error::SYNTAX;

/// A source before its imports are resolved.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) edits: Edits,
    pub(super) sites: Vec<Site>,
    pub(super) unused: Vec<Unused>,
    pub(super) import_uses: ImportUses,
    pub(super) uses_fetch: bool,
    /// Names that are used as values and that the source neither declares nor imports.
    pub(super) free: Vec<String>,
    /// Modules whose import was left out because nothing uses it as a value.
    pub(super) elided: Vec<String>,
    pub(super) call_default: bool,
    pub(super) has_default_export: bool,
    /// Exports of a CommonJS file.
    pub(super) commonjs: Option<CommonJsExports>,
    /// Offsets in the source after which QuickJS starts a line and an editor does not.
    pub(super) engine_lines: Vec<u32>,
}

/// Parses and erases a source; `file` is its `__filename` in CommonJS.
pub(super) fn draft(source: &str, file: &str, language: Language, kind: SourceKind) -> Result<Draft, Fault> {
    let allocator = Allocator::default();
    let source_type = match language {
        Language::TypeScript => SourceType::ts().with_module(true),
        Language::JavaScript => SourceType::mjs(),
    };
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parser = || Parser::new(&allocator, source, source_type).with_options(options);
    // A debug assertion of the parser fails when tokens are wanted and the first one is invalid.
    if cfg!(debug_assertions)
        && let Some(fault) = first_diagnostic(&parser().parse())
    {
        return Err(fault);
    }
    let parsed = parser().with_config(TokensParserConfig).parse();
    if let Some(fault) = first_diagnostic(&parsed) {
        return Err(fault);
    }
    let program = &parsed.program;
    let tokens = Tokens::new(&parsed.tokens);
    let mut eraser = Eraser::new(source, tokens, language, kind, Uses::of_imports(program));
    eraser.run(program);
    let value = value::find(program, kind, &mut eraser);
    modules::rewrite(program, value.hoists_imports_to(), &mut eraser);
    value::write(value, &mut eraser);
    let commonjs = (kind == SourceKind::CommonJs).then(|| commonjs::wrap(program, file, &mut eraser));
    let Erased { mut edits, sites, unused, import_uses, uses_fetch, free, elided } = eraser.finish()?;
    let engine_lines = line_ends::normalize(program, tokens, &mut edits);
    Ok(Draft {
        edits,
        sites,
        unused,
        import_uses,
        uses_fetch,
        free,
        elided,
        call_default: value.calls_default(),
        has_default_export: value.has_default(),
        commonjs,
        engine_lines,
    })
}

fn first_diagnostic(parsed: &ParserReturn<'_>) -> Option<Fault> {
    let Some(first) = parsed.diagnostics.errors().next() else {
        return parsed.panicked.then(|| Fault {
            code: SYNTAX,
            message: "the source cannot be parsed".to_owned(),
            start: None,
            hint: None,
        });
    };
    let start = first.labels.first().map(|label| label.offset());
    let hint = first.help.as_ref().or(first.note.as_ref()).map(ToString::to_string);
    Some(Fault { code: SYNTAX, message: first.message.to_string(), start, hint })
}
