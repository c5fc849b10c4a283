//! Interop modules between ES modules and CommonJS files.

use agent_spaces_script::{COMMONJS_RUNTIME, quote};
use oxc_syntax::identifier::is_identifier_name;
use std::collections::BTreeSet;

/// A CommonJS file as ES modules import it.
pub(super) struct Facade<'a> {
    pub(super) file: &'a str,
    /// Exports detected in the file's text.
    pub(super) detected: &'a BTreeSet<&'a str>,
    /// Names that other files import.
    pub(super) imported: &'a BTreeSet<String>,
    /// True if the default export is `module.exports`, as in Node.
    pub(super) is_for_node: bool,
}

impl Facade<'_> {
    /// Generates the module; `None` if it is longer than `room`.
    pub(super) fn text(&self, room: usize) -> Option<String> {
        let (file, runtime) = (quote(self.file), quote(COMMONJS_RUNTIME));
        let mut text = format!(
            "import {{ load }} from {file};\nimport {{ defaultOf, maybe, need }} from {runtime};\n\
             const file = {file}, exports = load();\n"
        );
        let default = if self.is_for_node { "exports" } else { "defaultOf(exports)" };
        text.push_str(&format!("export default {default};\n"));
        let detected = self.detected.iter().copied().map(|name| (name, true));
        let others = self.imported.iter().map(String::as_str).filter(|name| !self.detected.contains(name));
        let names = detected.chain(others.map(|name| (name, false)));
        export_each(text, room, names, |(name, is_detected)| {
            let quoted = quote(name);
            let value = match is_detected {
                true => format!("maybe(exports, {quoted})"),
                false => format!("need(exports, {quoted}, file)"),
            };
            (*name, value)
        })
    }
}

/// Appends an export for each name that can be one; `None` if the text is longer than `room`.
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

/// True if a name can be written after `as`.
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

/// A module that fails when it is required.
pub(super) fn missing_required(specifier: &str, reason: &str) -> String {
    let (specifier, reason, runtime) = (quote(specifier), quote(reason), quote(COMMONJS_RUNTIME));
    format!("import {{ missing }} from {runtime};\nexport const load = missing({specifier}, {reason});\n")
}

/// A module that fails when it is imported.
pub(super) fn missing_imported(message: &str) -> String {
    format!("throw new Error({});\n", quote(message))
}

/// An empty module, for one that its package maps to `false`.
pub(super) fn empty(names: &BTreeSet<String>, room: usize) -> Option<String> {
    let text = "const nothing = {};\nexport const load = () => nothing;\nexport default nothing;\n".to_owned();
    let names = names.iter().filter(|name| *name != "load");
    export_each(text, room, names, |name| (name.as_str(), "undefined".to_owned()))
}
