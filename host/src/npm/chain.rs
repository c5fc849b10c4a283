//! Who imported whom, so that an error can tell how a file came to be read.

use std::collections::HashMap;

/// More files of a chain are not shown: its beginning is the author's, its end has the fault.
const SHOWN: usize = 8;

const ARROW: &str = " → ";

/// For each file the one that imported it first.
#[derive(Default)]
pub(super) struct Importers {
    first: HashMap<String, String>,
    /// The way to a file as it is shown: one file may have thousands of imports to tell of.
    ways: HashMap<String, String>,
}

impl Importers {
    pub(super) fn add(&mut self, file: &str, importer: &str) {
        if file != importer && !self.first.contains_key(file) {
            self.first.insert(file.to_owned(), importer.to_owned());
        }
    }

    /// `tools.ts → node_modules/pkg/index.js → fs`; what runs the handlers is not shown.
    pub(super) fn chain(&mut self, file: &str, specifier: &str, entry: &str) -> String {
        if !self.ways.contains_key(file) {
            self.ways.insert(file.to_owned(), self.way(file, entry));
        }
        match self.ways.get(file).map(String::as_str) {
            Some("") | None => specifier.to_owned(),
            Some(way) => format!("{way}{ARROW}{specifier}"),
        }
    }

    fn way(&self, file: &str, entry: &str) -> String {
        let mut files = Vec::new();
        let mut at = Some(file);
        // Each file was first imported by one that was known before, so that this ends.
        while let Some(file) = at.filter(|file| *file != entry) {
            files.push(file.trim_start_matches('/'));
            at = self.first.get(file).map(String::as_str);
        }
        files.reverse();
        // The last that is shown is what the file imports.
        let hidden = (files.len() + 1).saturating_sub(SHOWN);
        if hidden > 0 {
            files.splice(SHOWN / 2..SHOWN / 2 + hidden, ["…"]);
        }
        files.join(ARROW)
    }
}

#[cfg(test)]
mod tests {
    use super::Importers;

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
