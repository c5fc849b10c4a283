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
    /// The module's text; nothing where it is longer than `room`.
    pub(super) fn text(&self, room: usize) -> Option<String> {
        let (file, runtime) = (quote(self.file), quote(COMMONJS_RUNTIME));
        let mut text = format!(
            "import {{ load }} from {file};\nimport {{ defaultOf, maybe, need }} from {runtime};\n\
             const file = {file}, exports = load();\n"
        );
        let given = if self.is_for_node { "exports" } else { "defaultOf(exports)" };
        text.push_str(&format!("export default {given};\n"));
        let told = self.told.iter().copied().map(|name| (name, true));
        let untold = self.wanted.iter().map(String::as_str).filter(|name| !self.told.contains(name));
        let names = told.chain(untold.map(|name| (name, false)));
        export_each(text, room, names, |(name, is_told)| {
            let quoted = quote(name);
            let value = match is_told {
                true => format!("maybe(exports, {quoted})"),
                false => format!("need(exports, {quoted}, file)"),
            };
            (*name, value)
        })
    }
}

/// The text with an export for each name that can be one; nothing where it is longer than `room`.
fn export_each<T>(
    mut text: String,
    room: usize,
    all: impl Iterator<Item = T>,
    value: impl for<'t> Fn(&'t T) -> (&'t str, String),
) -> Option<String> {
    for (index, each) in all.enumerate() {
        let (name, value) = value(&each);
        if is_exportable(name) {
            text.push_str(&format!("const $e{index} = {value};\nexport {{ $e{index} as {name} }};\n"));
        }
        if text.len() > room {
            return None;
        }
    }
    Some(text)
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
pub(super) fn nothing(names: &BTreeSet<String>, room: usize) -> Option<String> {
    let text = "const nothing = {};\nexport const load = () => nothing;\nexport default nothing;\n".to_owned();
    let names = names.iter().filter(|name| *name != "load");
    export_each(text, room, names, |name| (name.as_str(), "undefined".to_owned()))
}
