//! Chosen functions of a compiled module, and nothing else of it.

use crate::sandbox::label_of;
use capability_gen::emit::dts::dts;
use capability_gen::model::Module;
use capability_gen::{emit, wit as plan};

/// The declarations of a module's functions of these labels, with the line that imports them. Without any, nothing.
pub(super) fn declare(module: &Module, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let chosen = chosen(module, is_wanted)?;
    let names: Vec<&str> = chosen.capabilities.iter().map(|capability| capability.export.as_str()).collect();
    Some(format!("import {{ {} }} from '{}';\n\n{}", names.join(", "), module.specifier, dts(&chosen)))
}

/// The same as WIT.
pub(super) fn wit(module: &Module, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let chosen = chosen(module, is_wanted)?;
    Some(emit::wit::wit(&chosen, &plan::plan(&chosen)))
}

fn chosen(module: &Module, is_wanted: impl Fn(&str) -> bool) -> Option<Module> {
    let mut chosen = module.clone();
    for capability in &mut chosen.capabilities {
        let (export, is_single) = (capability.export.clone(), capability.is_single_function);
        let before = capability.functions.len();
        capability.functions.retain(|function| is_wanted(&label_of(&export, &function.js_name, is_single)));
        // What a server has besides tools is of use to who asks for all of it.
        if capability.functions.len() < before {
            capability.server.clear();
        }
    }
    chosen.capabilities.retain(|capability| !capability.functions.is_empty());
    (!chosen.capabilities.is_empty()).then_some(chosen)
}
