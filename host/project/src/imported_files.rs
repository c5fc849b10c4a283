//! Files that a TypeScript definition imports types and constants from.

use agent_spaces_linker::workspace::Workspace;
use capability_gen::sources::define_tool::MAX_FILE_BYTES;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most files read again because the last compilation read them. Each import is searched under a dozen names.
const MAX_PATHS: usize = 2_000;

/// Result of reading a path: the text, `None` if there is no file, or the error.
type Found = Result<Option<Arc<str>>, String>;

/// Files of one folder, each read once, so that a later compilation sees the same texts.
#[derive(Clone, Debug)]
pub(super) struct ImportedFiles {
    /// The definition file.
    file: PathBuf,
    found: Arc<Mutex<BTreeMap<String, Found>>>,
    /// Its folder, opened on the first read.
    folder: Arc<Mutex<Option<Arc<Workspace>>>>,
}

impl ImportedFiles {
    /// Files beside a definition. As with its handlers, files outside its folder cannot be read.
    pub(super) fn of(file: &Path) -> ImportedFiles {
        ImportedFiles { file: file.to_owned(), found: Arc::default(), folder: Arc::default() }
    }

    /// Reads a file, or returns what an earlier read found.
    pub(super) fn read(&self, path: &str) -> Found {
        if let Some(found) = self.found().get(path) {
            return found.clone();
        }
        let read = || self.folder()?.read(path, MAX_FILE_BYTES);
        let found = read().map(|text| text.map(Arc::from)).map_err(|error| error.to_string());
        self.found().insert(path.to_owned(), found.clone());
        found
    }

    /// Reads the files that an earlier compilation read.
    pub(super) fn read_all(&self, paths: &[String]) {
        paths.iter().take(MAX_PATHS).for_each(|path| drop(self.read(path)));
    }

    /// Discards everything that was read.
    pub(super) fn forget(&self) {
        self.found().clear();
        *self.opened() = None;
    }

    /// Paths that were read, including those without a file.
    pub(super) fn paths(&self) -> Vec<String> {
        self.found().keys().cloned().collect()
    }

    /// Paths and their contents, for the cache key.
    pub(super) fn texts(&self) -> Vec<String> {
        let found = self.found();
        let texts = found.iter().flat_map(|(path, found)| {
            let text = match found {
                Ok(Some(text)) => format!("={text}"),
                Ok(None) => String::new(),
                Err(error) => format!("!{error}"),
            };
            [path.clone(), text]
        });
        texts.collect()
    }

    fn folder(&self) -> io::Result<Arc<Workspace>> {
        let mut opened = self.opened();
        if let Some(folder) = &*opened {
            return Ok(folder.clone());
        }
        let folder = Arc::new(Workspace::beside(&self.file, &[])?);
        *opened = Some(folder.clone());
        Ok(folder)
    }

    fn opened(&self) -> MutexGuard<'_, Option<Arc<Workspace>>> {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> MutexGuard<'_, BTreeMap<String, Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use crate::definitions::{DefinedModule, DefinitionBody, definitions_at};
    use crate::outline_cache::Outlines;
    use capability_gen::emit::dts::dts;
    use std::fs;
    use std::path::Path;

    const CRM: &str = "import { defineTool } from '@agent-spaces/capabilities';\n\
        import type { Customer } from './types';\n\
        export const crm = defineTool({ functions: { get: { returns: {} as Customer, handler: () => ({}) } } });\n";

    /// The module of `crm.ts` in a folder, read with the outlines beside it.
    fn module(folder: &Path) -> DefinedModule {
        let outlines = Outlines::in_folder(folder.join("outlines"));
        let definition = definitions_at(&folder.join("capabilities/crm.ts"), &outlines).unwrap().remove(0);
        match definition.body {
            DefinitionBody::Module(module) => *module,
            DefinitionBody::Wit(_) => panic!("TypeScript is no WIT"),
        }
    }

    #[test]
    fn a_module_changes_with_the_files_that_its_types_come_from() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(folder.path().join("capabilities").join(path), text).unwrap();
        fs::create_dir_all(folder.path().join("capabilities/shared")).unwrap();
        write("crm.ts", CRM);
        write("types.ts", "export * from './shared/customer';");
        write("shared/customer.ts", "export interface Customer { id: string }");
        let first = module(folder.path());
        assert_eq!(module(folder.path()).key(), first.key());
        write("other.ts", "export interface Other {}");
        assert_eq!(module(folder.path()).key(), first.key());
        write("shared/customer.ts", "export interface Customer { id: string; region: string }");
        let second = module(folder.path());
        assert_ne!(second.key(), first.key());
        assert!(dts(&second.compile().unwrap()).contains("region: string"));
        // The first module still compiles from the texts that it read.
        assert!(!dts(&first.compile().unwrap()).contains("region"));
        // A file with a higher search priority replaces another.
        write("shared/customer", "export interface Customer { other: string }");
        assert_ne!(module(folder.path()).key(), second.key());
    }

    #[test]
    fn a_cached_outline_is_found_without_compiling() {
        let folder = tempfile::tempdir().unwrap();
        let capabilities = folder.path().join("capabilities");
        fs::create_dir_all(&capabilities).unwrap();
        fs::write(capabilities.join("crm.ts"), CRM).unwrap();
        fs::write(capabilities.join("types.ts"), "export interface Customer { id: string }").unwrap();
        let first = module(folder.path());
        let outlines = Outlines::in_folder(folder.path().join("outlines"));
        let outline = outlines.get(&first.key()).expect("an outline by the key of all files");
        assert_eq!(outline.specifier, "@capabilities/crm");
        assert!(outlines.get(&module(folder.path()).key()).is_some());
    }

    /// Deny twin: neither `..` nor a symlink leaves the folder.
    #[test]
    fn files_outside_of_the_folder_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let capabilities = folder.path().join("capabilities");
        fs::create_dir_all(&capabilities).unwrap();
        fs::write(folder.path().join("types.ts"), "export interface Customer { outside: string }").unwrap();
        fs::write(capabilities.join("crm.ts"), CRM).unwrap();
        std::os::unix::fs::symlink("../types.ts", capabilities.join("types.ts")).unwrap();
        let linked = module(folder.path()).compile().unwrap();
        fs::write(capabilities.join("crm.ts"), CRM.replace("./types", "../types")).unwrap();
        let above = module(folder.path()).compile().unwrap();
        for module in [linked, above] {
            assert!(!dts(&module).contains("outside: string"), "{}", dts(&module));
            assert!(module.notes.iter().any(|note| note.message.contains("`Customer`")), "{:?}", module.notes);
        }
    }
}
