//! Check of a program against the functions of a space that its caller may see.

use crate::cards::Card;
use crate::catalogue::Catalogue;
use crate::check::{Checked, ModuleDeclaration, TypeChecker, imported_modules};
use agent_spaces_sandbox::program::Program;
use agent_spaces_types::caller::Caller;
use std::sync::Arc;

/// Checks a prepared program against the declarations of its imports, limited to the visible functions. A warning about
/// an unknown name gets the import that would define it. Dropping the future ends the compiler.
pub async fn check_program(
    checker: &TypeChecker,
    catalogue: &Arc<Catalogue>,
    is_visible: impl Fn(&Card) -> bool + Send + 'static,
    caller: &Caller,
    program: &Program,
    code: &str,
) -> Checked {
    if checker.is_off() {
        return Checked::default();
    }
    let (known, compiler, text) = (catalogue.clone(), checker.clone(), code.to_owned());
    let declare = move || {
        let declared = |specifier: &String| {
            let dts = known.declarations(specifier, &is_visible).ok()??;
            Some(ModuleDeclaration { specifier: specifier.clone(), dts })
        };
        let modules = imported_modules(&text);
        // Without a compiler they are not needed.
        let declarations = match compiler.compiler() {
            Ok(_) => modules.iter().filter_map(declared).collect(),
            Err(_) => Vec::new(),
        };
        (declarations, known.hidden(&modules, &is_visible))
    };
    // Fails only at shutdown.
    let (modules, hidden) = tokio::task::spawn_blocking(declare).await.unwrap_or_default();
    let mut checked = checker.check(program, code, modules, hidden).await;
    for warning in &mut checked.findings.warnings.list {
        let import = |name: &str| program.source()?.import_of(name, caller);
        if let Some(hint) = warning.unknown_name().and_then(import) {
            warning.message = format!("{} {hint}", warning.message);
        }
    }
    checked
}
