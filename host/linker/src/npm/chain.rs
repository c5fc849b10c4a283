//! Import chains, which show in errors how a file was reached.

use std::collections::HashMap;

/// Limit on the files shown of a chain. The first are the author's, the last has the fault.
const MAX_SHOWN: usize = 8;

const ARROW: &str = " → ";

/// First importer of each file.
#[derive(Default)]
pub(super) struct Importers {
    first: HashMap<String, String>,
    /// Cache of rendered chains, because one file may have thousands of failed imports.
    rendered: HashMap<String, String>,
}

impl Importers {
    pub(super) fn add(&mut self, file: &str, importer: &str) {
        if file != importer && !self.first.contains_key(file) {
            self.first.insert(file.to_owned(), importer.to_owned());
        }
    }

    /// Renders `tools.ts → node_modules/pkg/index.js → fs`. The generated entry is not shown.
    pub(super) fn chain(&mut self, file: &str, specifier: &str, entry: &str) -> String {
        if !self.rendered.contains_key(file) {
            self.rendered.insert(file.to_owned(), self.render(file, entry));
        }
        match self.rendered.get(file).map(String::as_str) {
            Some("") | None => specifier.to_owned(),
            Some(chain) => format!("{chain}{ARROW}{specifier}"),
        }
    }

    fn render(&self, file: &str, entry: &str) -> String {
        let mut files = Vec::new();
        let mut at = Some(file);
        // Terminates: each file's first importer was known before it.
        while let Some(file) = at.filter(|file| *file != entry) {
            files.push(file.trim_start_matches('/'));
            at = self.first.get(file).map(String::as_str);
        }
        files.reverse();
        // The last shown element is the specifier.
        let hidden = (files.len() + 1).saturating_sub(MAX_SHOWN);
        if hidden > 0 {
            files.splice(MAX_SHOWN / 2..MAX_SHOWN / 2 + hidden, ["…"]);
        }
        files.join(ARROW)
    }
}

#[cfg(test)]
mod tests {
    use crate::npm::chain::Importers;

    #[test]
    fn a_chain_leads_from_the_handlers_to_what_is_imported() {
        let mut importers = Importers::default();
        importers.add("tools.ts", "tools.ts.call.js");
        importers.add("/node_modules/a/index.js", "tools.ts");
        importers.add("/node_modules/a/index.js", "/node_modules/b/later.js");
        let chain = importers.chain("/node_modules/a/index.js", "fs", "tools.ts.call.js");
        assert_eq!(chain, "tools.ts → node_modules/a/index.js → fs");
    }

    #[test]
    fn a_long_chain_is_shown_by_its_ends() {
        let mut importers = Importers::default();
        for index in 1..5_000 {
            importers.add(&format!("f{index}"), &format!("f{}", index - 1));
        }
        let chain = importers.chain("f4999", "fs", "none");
        assert_eq!(chain, "f0 → f1 → f2 → f3 → … → f4997 → f4998 → f4999 → fs");
    }
}
