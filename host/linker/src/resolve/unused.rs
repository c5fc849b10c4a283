//! Warnings for mistakes in unused imports. TypeScript drops such imports, so that they would go unnoticed.

use super::files::{candidates, near_file};
use super::{Graph, MissingImport, Offer};
use agent_spaces_sandbox::modules::{Binding, ModuleSource};
use agent_spaces_script::{ImportSite, ImportedName, MAX_SOURCE_BYTES, Prepared, UnusedImport};
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::script_error::{IMPORT_UNKNOWN, ScriptError};
use capability_gen::emit::js;
use capability_gen::paths::join;

/// Limit on the warnings of a script with all its files.
const MAX_WARNINGS: usize = 20;

impl Graph<'_> {
    /// Keeps warnings for the unused imports of a file. Handlers may import packages, which are not searched.
    pub(super) fn note_unused(&mut self, file: &str, prepared: &Prepared) {
        if self.packages.is_some() {
            return;
        }
        self.note_missing(prepared);
        for unused in &prepared.unused {
            let room = MAX_WARNINGS.saturating_sub(self.warnings.len());
            let found = self.unused(file, unused);
            self.warnings.extend(found.into_iter().take(room));
        }
    }

    /// Keeps undefined names that modules export, and modules whose import was left out.
    fn note_missing(&mut self, prepared: &Prepared) {
        let exports = |bindings: &[Binding]| -> Vec<String> {
            bindings.iter().filter(|binding| binding.is_export()).map(|binding| binding.name.clone()).collect()
        };
        for (module, source) in self.known.iter() {
            let ModuleSource::Bindings(bindings) = source else { continue };
            let is_new = !self.imports.elided.iter().any(|(known, _)| known == module);
            if is_new && prepared.elided.iter().any(|elided| elided == module) {
                self.imports.elided.push((module.to_owned(), exports(bindings)));
            }
            if prepared.free.is_empty() {
                continue;
            }
            let is_free =
                |binding: &&Binding| binding.is_export() && prepared.free.binary_search(&binding.name).is_ok();
            for Binding { name, .. } in bindings.iter().filter(is_free) {
                // Every file of a script may use the same name.
                if self.forgotten.insert((name.clone(), module.to_owned())) {
                    let (name, module) = (name.clone(), module.to_owned());
                    self.imports.forgotten.push(MissingImport { name, module, offer: Offer::Everybody });
                }
            }
        }
    }

    fn unused(&self, file: &str, unused: &UnusedImport) -> Vec<ScriptError> {
        let UnusedImport { specifier, position, names, is_whole } = unused;
        match self.known.get(specifier) {
            Some(ModuleSource::Bindings(bindings)) => names
                .iter()
                .filter(|(name, _)| {
                    let is_near = |name: &str| nearest(name, self.denials.open(bindings).into_iter()).is_some();
                    !is_type(name) || matches!(name, ImportedName::Named(name) if is_near(name))
                })
                .filter_map(|(name, position)| self.denials.missing(bindings, file, specifier, (name, *position)))
                .map(as_warning)
                .collect(),
            Some(_) => Vec::new(),
            None if !is_whole || specifier == js::RUNTIME => Vec::new(),
            None if specifier.starts_with("./") || specifier.starts_with("../") => {
                self.unused_file(file, unused).into_iter().map(as_warning).collect()
            }
            None => {
                let site = ImportSite {
                    specifier,
                    position: *position,
                    dynamic: false,
                    is_required: false,
                    is_optional: false,
                    names: Vec::new(),
                    name_positions: Vec::new(),
                };
                vec![as_warning(self.unknown(file, &site))]
            }
        }
    }

    /// The error for an unused import of a file that does not exist.
    fn unused_file(&self, file: &str, unused: &UnusedImport) -> Option<ScriptError> {
        let workspace = self.workspace?;
        let wanted = join(file, &unused.specifier)?;
        // An unreadable file exists.
        let is_there =
            candidates(&wanted).iter().any(|path| !matches!(workspace.read(path, MAX_SOURCE_BYTES), Ok(None)));
        if is_there {
            return None;
        }
        let error = ScriptError::new(IMPORT_UNKNOWN, file, format!("Cannot find '{}'", unused.specifier));
        let near = near_file(workspace, &wanted, &unused.specifier);
        let error = error.at(unused.position);
        Some(match near {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => error,
        })
    }
}

/// True if a name is capitalized like a type, of which modules have more than they export at run time.
fn is_type(name: &ImportedName) -> bool {
    matches!(name, ImportedName::Named(name) if name.starts_with(char::is_uppercase))
}

fn as_warning(mut error: ScriptError) -> ScriptError {
    error.message.push_str("; nothing uses it, so it was left out");
    error
}
