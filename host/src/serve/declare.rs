//! Chosen functions of a compiled module, and nothing else of it.

use crate::sandbox::label_of;
use capability_gen::emit::dts::dts;
use capability_gen::model::Module;
use capability_gen::{emit, wit as plan};

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

    /// With the line that imports them.
    pub(super) fn with_import(&self) -> String {
        format!("import {{ {} }} from '{}';\n\n{}", self.exports.join(", "), self.specifier, self.dts)
    }
}

/// What is declared of what a server has besides tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// All of it.
    Kept,
    /// Nothing, unless all functions are: who asks for a few does not need it.
    WithAll,
}

/// The declarations of a module's functions of these labels. Without any, nothing.
pub(super) fn declare(module: &Module, parts: Parts, is_wanted: impl Fn(&str) -> bool) -> Option<Declaration> {
    let chosen = chosen(module, parts, is_wanted)?;
    let exports = chosen.capabilities.iter().map(|capability| capability.export.clone()).collect();
    Some(Declaration::new(&module.specifier, exports, dts(&chosen)))
}

/// The same as WIT.
pub(super) fn wit(module: &Module, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let chosen = chosen(module, Parts::Kept, is_wanted)?;
    Some(emit::wit::wit(&chosen, &plan::plan(&chosen)))
}

fn chosen(module: &Module, parts: Parts, is_wanted: impl Fn(&str) -> bool) -> Option<Module> {
    let mut chosen = module.clone();
    for capability in &mut chosen.capabilities {
        let (export, is_single) = (capability.export.clone(), capability.is_single_function);
        let before = capability.functions.len();
        capability.functions.retain(|function| is_wanted(&label_of(&export, &function.js_name, is_single)));
        if parts == Parts::WithAll && capability.functions.len() < before {
            capability.server.clear();
        }
    }
    chosen.capabilities.retain(|capability| !capability.functions.is_empty());
    (!chosen.capabilities.is_empty()).then_some(chosen)
}
