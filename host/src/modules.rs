//! What scripts can import.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
pub(crate) struct Modules(BTreeMap<String, ModuleSource>);

impl Modules {
    /// Adds an interface to the module that its package stands for.
    #[cfg(feature = "compiler")]
    pub(crate) fn bind(&mut self, module: String, binding: Binding) {
        let entry = self.0.entry(module).or_insert_with(|| ModuleSource::Bindings(Vec::new()));
        if let ModuleSource::Bindings(bindings) = entry {
            bindings.push(binding);
        }
    }

    pub(crate) fn insert(&mut self, name: String, source: ModuleSource) {
        self.0.insert(name, source);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ModuleSource> {
        self.0.get(name)
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &ModuleSource)> {
        self.0.iter().map(|(name, source)| (name.as_str(), source))
    }
}
