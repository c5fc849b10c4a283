//! Names of the functions that a program can call, as `precompile` writes them.

use serde::Deserialize;
use std::collections::BTreeMap;

/// `edge.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// Interfaces that the program imports.
    pub(crate) interfaces: Vec<Interface>,
}

/// An interface, and how programs of the server's space import it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Interface {
    /// Full WIT name: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub(crate) name: String,
    /// Module: `@capabilities/train-schedule`.
    pub(crate) module: String,
    /// JavaScript name of the export: `trainSchedule`.
    pub(crate) export: String,
    /// True if the export is the function itself.
    pub(crate) is_single_function: bool,
    /// Arguments of its functions, by their WIT names.
    pub(crate) functions: BTreeMap<String, Takes>,
}

/// Arguments of a function in a script.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) enum Takes {
    /// One object with all parameters.
    Object,
    /// The parameters with these names, in this order.
    Values(Vec<String>),
}
