//! Imports of a source, as plain data: those that remain at run time, and unused ones.

/// A name that is imported as a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedName {
    /// The whole module: `* as name`, `export *`, `import()`.
    Namespace,
    /// Its default export.
    Default,
    /// One export, by the name the module gives it.
    Named(String),
}

/// An import that remains at run time.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) specifier: String,
    pub(super) start: u32,
    pub(super) dynamic: bool,
    pub(super) is_required: bool,
    pub(super) is_optional: bool,
    pub(super) names: Vec<(ImportedName, u32)>,
}

/// An import with unused names.
#[derive(Debug)]
pub(super) struct Unused {
    pub(super) specifier: String,
    pub(super) start: u32,
    pub(super) names: Vec<(ImportedName, u32)>,
    /// True if nothing else is imported with it, not even a type.
    pub(super) is_whole: bool,
}
