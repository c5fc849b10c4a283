//! Modules that stand between ES modules and CommonJS files.

use crate::script::{COMMONJS_RUNTIME, quote};
use oxc_syntax::identifier::is_identifier_name;
use std::collections::BTreeSet;

/// A CommonJS file as ES modules import it.
pub(super) struct Facade<'a> {
    pub(super) file: &'a str,
    /// Names that the file's text tells of.
    pub(super) told: &'a BTreeSet<&'a str>,
    /// Names that somebody imports.
    pub(super) wanted: &'a BTreeSet<String>,
    /// Whether the default export is all that is exported, as in Node.
    pub(super) is_for_node: bool,
}

impl Facade<'_> {
    pub(super) fn text(&self) -> String {
        let (file, runtime) = (quote(self.file), quote(COMMONJS_RUNTIME));
        let mut text = format!(
            "import {{ load }} from {file};\nimport {{ defaultOf, maybe, need }} from {runtime};\n\
             const exports = load();\n"
        );
        let given = if self.is_for_node { "exports" } else { "defaultOf(exports)" };
        text.push_str(&format!("export default {given};\n"));
        let told = self.told.iter().copied().map(|name| (name, true));
        let untold = self.wanted.iter().map(String::as_str).filter(|name| !self.told.contains(name));
        let names = told.chain(untold.map(|name| (name, false)));
        for (index, (name, is_told)) in names.filter(|(name, _)| is_exportable(name)).enumerate() {
            let quoted = quote(name);
            let value = match is_told {
                true => format!("maybe(exports, {quoted})"),
                false => format!("need(exports, {quoted}, {file})"),
            };
            text.push_str(&format!("const $e{index} = {value};\nexport {{ $e{index} as {name} }};\n"));
        }
        text
    }
}

/// Whether a name can be written after `as`.
fn is_exportable(name: &str) -> bool {
    name != "default" && is_identifier_name(name)
}

/// An ES module as CommonJS files require it.
pub(super) fn required_module(file: &str) -> String {
    let (file, runtime) = (quote(file), quote(COMMONJS_RUNTIME));
    format!(
        "import * as namespace from {file};\nimport {{ fromNamespace }} from {runtime};\nlet exports;\n\
         export const load = () => (exports ??= fromNamespace(namespace));\n"
    )
}

/// A JSON document as CommonJS files require it.
pub(super) fn required_json(file: &str) -> String {
    format!("import value from {};\nexport const load = () => value;\n", quote(file))
}

/// What stands for a module that cannot be required, until somebody tries.
pub(super) fn missing_required(specifier: &str, reason: &str) -> String {
    let (specifier, reason, runtime) = (quote(specifier), quote(reason), quote(COMMONJS_RUNTIME));
    format!("import {{ missing }} from {runtime};\nexport const load = missing({specifier}, {reason});\n")
}

/// What stands for a module that cannot be imported, until somebody tries.
pub(super) fn missing_imported(message: &str) -> String {
    format!("throw new Error({});\n", quote(message))
}

/// What stands for a module that its package does without.
pub(super) fn nothing<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut text = "const nothing = {};\nexport const load = () => nothing;\nexport default nothing;\n".to_owned();
    let names: BTreeSet<&str> = names.filter(|name| is_exportable(name) && *name != "load").collect();
    for (index, name) in names.iter().enumerate() {
        text.push_str(&format!("const $e{index} = undefined;\nexport {{ $e{index} as {name} }};\n"));
    }
    text
}
