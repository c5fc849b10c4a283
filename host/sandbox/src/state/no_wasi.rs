//! Placeholder without the feature `wasi`: there are no foreign components.

/// WASI context of a foreign component; uninhabited.
pub enum Wasi {}
