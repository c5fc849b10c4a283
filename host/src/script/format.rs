//! Whether a file is an ES module, where its name and its package do not say.

use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::parse_bounds;

/// Whether a source has an import, an export or `import.meta`. One that cannot be parsed has none: whoever makes it
/// ready says why.
pub(crate) fn has_module_syntax(source: &str) -> bool {
    mentions_module(source)
        && parse_bounds::with_enough_stack(source, || {
            let allocator = Allocator::default();
            let parsed = Parser::new(&allocator, source, SourceType::unambiguous()).parse();
            parsed.module_record.has_module_syntax
        })
        .unwrap_or_default()
}

/// Whether `import` or `export` stands anywhere as a word of its own: most CommonJS files need no parser to be told.
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
    use super::has_module_syntax;

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
