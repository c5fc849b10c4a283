//! What is known of one function.

/// One function, as it is described to those who look for it. All texts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The name of the module or server that has the function.
    pub server: String,
    /// The function's name, in any spelling: `create_issue`, `createIssue`, `create-issue`.
    pub name: String,
    /// A short title for people.
    pub title: String,
    /// What the function does.
    pub description: String,
    /// What it is called with.
    pub parameters: Vec<Parameter>,
}

/// One parameter of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
}
