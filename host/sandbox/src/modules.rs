//! Modules that scripts can import.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Source of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModuleSource {
    /// JavaScript, types already stripped.
    JavaScript(String),
    /// JSON document, which becomes the default export.
    Json(String),
    /// Bindings to WIT interfaces.
    Bindings(Vec<Binding>),
}

/// Binding of an exported name to a WIT interface.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    /// JavaScript name: `trainSchedule`; `everything.$resources` is a member of another export.
    pub name: String,
    /// Interface: `capabilities:train-schedule/train-schedule@1.0.0`; a suffix such as `#get-weather` selects one
    /// function.
    pub interface: String,
}

impl Binding {
    /// Returns the name that a script imports.
    pub fn export(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Returns true if it is an export itself rather than a member of one.
    pub fn is_export(&self) -> bool {
        self.export() == self.name
    }

    /// Returns the interface without the function suffix.
    pub fn interface_name(&self) -> &str {
        self.interface.split('#').next().unwrap_or_default()
    }
}

/// Ends the name of the module that has a run's own document, below the name that its script imports. No script can
/// import it by that name: it is in no space.
const GIVEN_SUFFIX: &str = "?given";

/// Modules by import specifier.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Modules {
    own: BTreeMap<String, ModuleSource>,
    /// Fallback for names not in `own`. Shared, because each call of a handler adds one module to those of all its
    /// packages.
    #[serde(skip)]
    under: Option<Arc<Modules>>,
}

impl Modules {
    /// Adds a binding to a module.
    pub fn bind(&mut self, module: String, binding: Binding) {
        self.bind_all(module, [binding]);
    }

    /// Adds bindings to a module, and the module if it is new.
    pub fn bind_all(&mut self, module: String, new: impl IntoIterator<Item = Binding>) {
        let entry = self.own.entry(module).or_insert_with(|| ModuleSource::Bindings(Vec::new()));
        if let ModuleSource::Bindings(bindings) = entry {
            bindings.extend(new);
        }
    }

    /// Adds or replaces a module.
    pub fn insert(&mut self, name: String, source: ModuleSource) {
        self.own.insert(name, source);
    }

    /// Returns these modules with one added or replaced, without copying the others.
    pub fn with(self: &Arc<Self>, name: String, source: ModuleSource) -> Modules {
        let mut modules = match self.under {
            Some(_) => Modules::clone(self),
            None => Modules { own: BTreeMap::new(), under: Some(self.clone()) },
        };
        modules.insert(name, source);
        modules
    }

    /// Returns these modules with a JSON document that each run is given anew. What `name` is imports the document when it
    /// is evaluated, so that compiling a script does not depend on it.
    pub(crate) fn with_given(self: &Arc<Self>, name: &str, json: String) -> Modules {
        let document = format!("{name}{GIVEN_SUFFIX}");
        let imported = quoted(&document);
        let source = format!("export default (await import({imported})).default;\n");
        let mut modules = self.with(name.to_owned(), ModuleSource::JavaScript(source));
        modules.insert(document, ModuleSource::Json(json));
        modules
    }

    /// Returns these modules without the documents of a run.
    pub(crate) fn without_given(&self) -> Modules {
        let own = self.own.iter().filter(|(name, _)| !is_given(name));
        Modules { own: own.map(|(name, source)| (name.clone(), source.clone())).collect(), under: self.under.clone() }
    }

    /// Returns the documents of a run, by the names of their modules.
    pub(crate) fn given_documents(&self) -> Modules {
        let own = self.iter().filter(|(name, _)| is_given(name));
        Modules { own: own.map(|(name, source)| (name.to_owned(), source.clone())).collect(), under: None }
    }

    /// Adds the documents of a run.
    pub(crate) fn give(&mut self, documents: Modules) {
        self.own.extend(documents.own.into_iter().filter(|(name, _)| is_given(name)));
    }

    /// Adds the documents of a run to modules of another script that imports them.
    pub fn take_given(&mut self, run: &Modules) {
        for (document, source) in run.iter().filter(|(name, _)| is_given(name)) {
            if document.strip_suffix(GIVEN_SUFFIX).is_some_and(|name| self.get(name).is_some()) {
                self.insert(document.to_owned(), source.clone());
            }
        }
    }

    /// Returns the document that a module of this name has for one run, if any.
    pub fn given(&self, name: &str) -> Option<&str> {
        match self.get(&format!("{name}{GIVEN_SUFFIX}")).or_else(|| self.get(name))? {
            ModuleSource::Json(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the bytes of all texts.
    pub(crate) fn text_bytes(&self) -> usize {
        let text = |source: &ModuleSource| match source {
            ModuleSource::JavaScript(text) | ModuleSource::Json(text) => text.len(),
            ModuleSource::Bindings(_) => 0,
        };
        self.iter().map(|(_, source)| text(source)).sum()
    }

    /// Returns a module by its import specifier.
    pub fn get(&self, name: &str) -> Option<&ModuleSource> {
        self.own.get(name).or_else(|| self.under.as_ref()?.get(name))
    }

    /// Returns all modules in one map, for serialization.
    pub fn flat(&self) -> Modules {
        let own = self.iter().map(|(name, source)| (name.to_owned(), source.clone())).collect();
        Modules { own, under: None }
    }

    /// Iterates over the import specifiers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name).filter(|name| !is_given(name))
    }

    /// Iterates over import specifiers and sources.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModuleSource)> {
        let under = self.under.iter().flat_map(|under| &under.own).filter(|(name, _)| !self.own.contains_key(*name));
        self.own.iter().chain(under).map(|(name, source)| (name.as_str(), source))
    }
}

/// Returns true if a module has the document of one run.
fn is_given(name: &str) -> bool {
    name.ends_with(GIVEN_SUFFIX)
}

/// Quotes a specifier as a JavaScript string. Those of the host have nothing in them that needs more.
fn quoted(specifier: &str) -> String {
    format!("'{}'", specifier.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use crate::modules::{ModuleSource, Modules};
    use std::sync::Arc;

    #[test]
    fn a_replaced_module_shares_the_others() {
        let json = |text: &str| ModuleSource::Json(text.into());
        let mut all = Modules::default();
        all.insert("call".into(), json("null"));
        all.insert("library".into(), json("1"));
        let all = Arc::new(all);
        let first = Arc::new(all.with("call".into(), json("2")));
        let second = first.with("call".into(), json("3"));
        for (modules, call) in [(&*all, "null"), (&first, "2"), (&second, "3")] {
            assert_eq!(modules.get("call"), Some(&json(call)));
            assert_eq!(modules.get("library"), Some(&json("1")));
            assert_eq!(modules.get("other"), None);
            let flat = modules.flat();
            assert!(flat.under.is_none());
            assert_eq!(flat.names().collect::<Vec<_>>(), ["call", "library"]);
            assert_eq!(flat.get("call"), Some(&json(call)));
        }
        // Nothing is copied, and the chain is never longer than two.
        assert!(second.own.len() == 1 && second.under.as_ref().is_some_and(|under| Arc::ptr_eq(under, &all)));
    }

    #[test]
    fn a_given_document_is_apart_from_what_is_compiled() {
        let mut all = Modules::default();
        all.insert("input".into(), ModuleSource::Json("null".into()));
        all.insert("library".into(), ModuleSource::Json("1".into()));
        let all = Arc::new(all);
        assert_eq!(all.given("input"), Some("null"));
        let first = Arc::new(all.with_given("input", "2".into()));
        let second = first.with_given("input", "3".into());
        assert_eq!((first.given("input"), second.given("input")), (Some("2"), Some("3")));
        // What a script imports by its name is the same in both.
        assert_eq!(first.get("input"), second.get("input"));
        assert_eq!(first.without_given().get("input"), first.get("input"));
        assert_eq!(second.names().collect::<Vec<_>>(), ["input", "library"]);
        // They are stored apart, too.
        let (mut restored, documents) = (second.without_given().flat(), second.given_documents());
        assert_eq!((restored.given("input"), documents.own.len()), (None, 1));
        restored.give(documents);
        assert_eq!(restored.own, second.flat().own);
        restored.give(all.flat());
        assert_eq!(restored.own, second.flat().own, "modules that are no documents");
        // Another script gets it with the module that imports it.
        let mut others = [Modules::default(), Modules::default()];
        others[1].insert("input".into(), second.get("input").unwrap().clone());
        let given = others.map(|mut other| {
            other.take_given(&second);
            other.given("input").map(str::to_owned)
        });
        assert_eq!(given, [None, Some("3".to_owned())]);
        // The document is in nothing that is compiled.
        for modules in [first.without_given(), Arc::new(second.flat()).without_given()] {
            assert!(!modules.iter().any(|(_, source)| matches!(source, ModuleSource::Json(text) if text != "1")));
        }
    }
}
