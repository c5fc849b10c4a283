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
        self.iter().map(|(name, _)| name)
    }

    /// Iterates over import specifiers and sources.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModuleSource)> {
        let under = self.under.iter().flat_map(|under| &under.own).filter(|(name, _)| !self.own.contains_key(*name));
        self.own.iter().chain(under).map(|(name, source)| (name.as_str(), source))
    }
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
}
