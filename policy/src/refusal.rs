//! Why a call goes no further: for the script, and for its operator.

/// What a script is told of a function that it may not call: the same whether the policy denies it, its caller lacks a
/// scope, or there is none of that name. So nobody learns which functions there are by trying.
pub fn not_callable(name: &str) -> String {
    format!("{name}: there is no such function here, or this caller may not call it")
}

/// Why a call goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For the script: names only what the script itself wrote.
    pub message: String,
    /// For the operator: which rule, where it stands, and what would change it.
    pub operator: String,
}
