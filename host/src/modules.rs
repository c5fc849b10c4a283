//! What scripts can import.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The contents of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModuleSource {
    /// JavaScript, types already stripped.
    JavaScript(String),
    /// A JSON document, which is the default export.
    Json(String),
    /// Interfaces, each under a name.
    Bindings(Vec<Binding>),
}

/// One interface that a module exports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The JavaScript name: `trainSchedule`; `everything.$resources` is a member of another.
    pub name: String,
    /// The interface: `capabilities:train-schedule/train-schedule@1.0.0`; with `#get-weather` after it, that one
    /// function.
    pub interface: String,
}

impl Binding {
    /// The name that a script imports.
    #[cfg(feature = "compiler")]
    pub(crate) fn export(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Whether it is an export itself rather than a member of one.
    #[cfg(feature = "compiler")]
    pub(crate) fn is_export(&self) -> bool {
        self.export() == self.name
    }

    /// The interface without the one function that is exported of it.
    #[cfg(feature = "compiler")]
    pub(crate) fn interface_name(&self) -> &str {
        self.interface.split('#').next().unwrap_or_default()
    }
}

/// Modules by the name they are imported under.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Modules {
    own: BTreeMap<String, ModuleSource>,
    /// Others, which have what there is none of here: shared, because each call of a handler has a module of its own
    /// beside those of all its packages.
    #[serde(skip)]
    under: Option<Arc<Modules>>,
}

impl Modules {
    /// Adds an interface to the module that its package stands for.
    #[cfg(feature = "compiler")]
    pub(crate) fn bind(&mut self, module: String, binding: Binding) {
        let entry = self.own.entry(module).or_insert_with(|| ModuleSource::Bindings(Vec::new()));
        if let ModuleSource::Bindings(bindings) = entry {
            bindings.push(binding);
        }
    }

    pub(crate) fn insert(&mut self, name: String, source: ModuleSource) {
        self.own.insert(name, source);
    }

    /// These, and one in place of what has its name.
    pub(crate) fn with(self: &Arc<Self>, name: String, source: ModuleSource) -> Modules {
        let mut modules = match self.under {
            Some(_) => Modules::clone(self),
            None => Modules { own: BTreeMap::new(), under: Some(self.clone()) },
        };
        modules.insert(name, source);
        modules
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ModuleSource> {
        self.own.get(name).or_else(|| self.under.as_ref()?.get(name))
    }

    /// All of them in one place, as they can be written.
    #[cfg(feature = "compiler")]
    pub(crate) fn flat(&self) -> Modules {
        let own = self.iter().map(|(name, source)| (name.to_owned(), source.clone())).collect();
        Modules { own, under: None }
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &ModuleSource)> {
        let under = self.under.iter().flat_map(|under| &under.own).filter(|(name, _)| !self.own.contains_key(*name));
        self.own.iter().chain(under).map(|(name, source)| (name.as_str(), source))
    }
}

#[cfg(all(test, feature = "compiler"))]
mod tests {
    use super::{ModuleSource, Modules};
    use std::sync::Arc;

    #[test]
    fn one_stands_in_place_of_another_and_the_rest_is_shared() {
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
        // Nothing is copied, and nothing stands under what stands under another.
        assert!(second.own.len() == 1 && second.under.as_ref().is_some_and(|under| Arc::ptr_eq(under, &all)));
    }
}
