//! Description of one function, as input of an index.

/// Description of one function. All texts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Name of the module or server that has the function.
    pub server: String,
    /// Name of the function, in any case style: `create_issue`, `createIssue`, `create-issue`.
    pub name: String,
    /// Short title for people.
    pub title: String,
    /// Description of the function.
    pub description: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// One parameter of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
}
