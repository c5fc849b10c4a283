//! TypeScript declarations and WIT of selected functions of a compiled module.

use agent_spaces_types::function::label_of;
use capability_gen::emit::dts::dts;
use capability_gen::model::Module;
use capability_gen::{emit, wit as plan};
use std::collections::BTreeSet;

/// Declarations of some functions of a module.
pub(super) struct Declaration {
    specifier: String,
    exports: Vec<String>,
    /// `declare module '…' { … }`
    pub(super) dts: String,
}

impl Declaration {
    pub(super) fn new(specifier: &str, exports: Vec<String>, dts: String) -> Declaration {
        Declaration { specifier: specifier.to_owned(), exports, dts }
    }

    /// Formats the import line, then the signatures, then the types.
    pub(super) fn signatures_first(&self) -> String {
        let Blocks { signatures, types } = self.blocks();
        let all: Vec<&str> = signatures.into_iter().chain(types).collect();
        format!("{}\n{}", self.import(), self.declared(&all))
    }

    /// Formats the import line with the signatures, and separately the types, if there are any.
    pub(super) fn apart(&self) -> (String, Option<String>) {
        let Blocks { signatures, types } = self.blocks();
        let signatures = format!("{}\n{}", self.import(), self.declared(&signatures));
        (signatures, (!types.is_empty()).then(|| self.declared(&types)))
    }

    fn import(&self) -> String {
        format!("import {{ {} }} from '{}';\n", self.exports.join(", "), self.specifier)
    }

    fn declared(&self, blocks: &[&str]) -> String {
        format!("declare module '{}' {{\n{}\n}}\n", self.specifier, blocks.join("\n\n"))
    }

    /// Splits the declarations at blank lines. The printer puts none in a comment.
    fn blocks(&self) -> Blocks<'_> {
        let body = self.dts.split_once("{\n").and_then(|(_, body)| body.trim_end().strip_suffix('}'));
        let mut blocks = Blocks::default();
        for block in body.unwrap_or(&self.dts).split("\n\n").map(|block| block.trim_matches('\n')) {
            let is_comment = |line: &&str| line.trim_start().starts_with(['/', '*']);
            let first = block.lines().find(|line| !is_comment(line)).unwrap_or_default();
            match ["  export const ", "  export function "].iter().any(|begin| first.starts_with(begin)) {
                true => blocks.signatures.push(block),
                false if block.trim().is_empty() => {}
                false => blocks.types.push(block),
            }
        }
        blocks
    }
}

#[derive(Default)]
struct Blocks<'a> {
    signatures: Vec<&'a str>,
    types: Vec<&'a str>,
}

/// Returns the byte offsets at which declarations may be split: between functions, and between types.
pub(super) fn break_offsets(declarations: &str) -> BTreeSet<usize> {
    let mut offsets = BTreeSet::new();
    let (mut at, mut is_in_export) = (0, false);
    for line in declarations.split_inclusive('\n') {
        at += line.len();
        let line = line.trim_end_matches('\n');
        is_in_export = match line {
            "  };" => false,
            _ => is_in_export || (line.starts_with("  export const ") && line.ends_with('{')),
        };
        let is_member_end =
            is_in_export && line.ends_with(';') && line.starts_with("    ") && !line.starts_with("     ");
        if line.is_empty() || is_member_end {
            offsets.insert(at);
        }
    }
    offsets
}

/// Condition for declaring the prompts and resources of an MCP server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerParts {
    /// Always.
    Always,
    /// Only if all functions of the capability are declared.
    IfComplete,
}

/// Returns the declarations of the functions with these labels, or `None` if the module has none of them.
pub(super) fn declare(module: &Module, parts: ServerParts, is_wanted: impl Fn(&str) -> bool) -> Option<Declaration> {
    let chosen = chosen(module, parts, is_wanted)?;
    let exports = chosen.capabilities.iter().map(|capability| capability.export.clone()).collect();
    Some(Declaration::new(&module.specifier, exports, dts(&chosen)))
}

/// Returns the same as WIT.
pub(super) fn wit(module: &Module, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let chosen = chosen(module, ServerParts::Always, is_wanted)?;
    Some(emit::wit::wit(&chosen, &plan::plan(&chosen)))
}

fn chosen(module: &Module, parts: ServerParts, is_wanted: impl Fn(&str) -> bool) -> Option<Module> {
    let mut chosen = module.clone();
    for capability in &mut chosen.capabilities {
        let (export, is_single) = (capability.export.clone(), capability.is_single_function);
        let before = capability.functions.len();
        capability.functions.retain(|function| is_wanted(&label_of(&export, &function.js_name, is_single)));
        if parts == ServerParts::IfComplete && capability.functions.len() < before {
            capability.server.clear();
        }
    }
    chosen.capabilities.retain(|capability| !capability.functions.is_empty());
    (!chosen.capabilities.is_empty()).then_some(chosen)
}
