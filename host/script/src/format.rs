//! Detection of ES modules by their syntax, for files whose name and package do not say.

use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::parse_bounds;

/// True if a source has an import, an export or `import.meta`. False if it cannot be parsed: preparing it reports the
/// error.
pub fn has_module_syntax(source: &str) -> bool {
    mentions_module(source)
        && parse_bounds::with_enough_stack(source, || {
            let allocator = Allocator::default();
            let parsed = Parser::new(&allocator, source, SourceType::unambiguous()).parse();
            parsed.module_record.has_module_syntax
        })
        .unwrap_or_default()
}

/// True if `import` or `export` occurs as a word of its own. Most CommonJS files are recognised without parsing.
fn mentions_module(source: &str) -> bool {
    let bytes = source.as_bytes();
    let is_part = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
    };
    ["import", "export"].iter().any(|word| {
        source.match_indices(word).any(|(at, _)| !is_part(at.checked_sub(1)) && !is_part(Some(at + word.len())))
    })
}

#[cfg(test)]
mod tests {
    use crate::format::has_module_syntax;

    #[test]
    fn imports_and_exports_make_an_es_module() {
        for source in ["import 'a'", "export const a = 1", "const a = 1;export{a}", "import.meta.url", "export*from'a'"]
        {
            assert!(has_module_syntax(source), "{source}");
        }
    }

    #[test]
    fn anything_else_is_commonjs() {
        for source in [
            "exports.a = 1",
            "module.exports = 'import x'",
            "import('x')",
            "// export default 1",
            "",
            "{ broken import",
        ] {
            assert!(!has_module_syntax(source), "{source}");
        }
    }
}
