//! Why a call goes no further: for the script, and for its operator.

/// Why a call goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For the script: names only what the script itself wrote.
    pub message: String,
    /// For the operator: which rule, where it stands, and what would change it.
    pub operator: String,
}
