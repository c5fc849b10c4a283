//! Refusal of a call: a message for the script and one for the operator.

/// Refusal of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For the script: names only what the script itself wrote.
    pub message: String,
    /// For the operator: the rule, its location, and what would change it.
    pub operator: String,
}
