//! Function identifier: WIT interface and function name.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Identifier of a function, `capabilities:fs/fs@1.0.0#delete`. Decisions and state are keyed by it: two modules may
/// export functions with the same JavaScript name, but never with the same identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FunctionId {
    interface: Arc<str>,
    function: Arc<str>,
}

/// Invalid function identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a function id: expected `namespace:package/interface@version#function`")]
pub struct NotIdentity;

impl FunctionId {
    /// Creates the identifier from the WIT names of interface and function.
    pub fn new(interface: impl Into<Arc<str>>, function: impl Into<Arc<str>>) -> FunctionId {
        FunctionId { interface: interface.into(), function: function.into() }
    }

    /// The interface's full name: `capabilities:fs/fs@1.0.0`.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// The function's name in WIT: `delete`.
    pub fn function(&self) -> &str {
        &self.function
    }

    /// The interface's full name without its version, as rules may write it: `capabilities:fs/fs`.
    pub fn interface_without_version(&self) -> &str {
        self.interface.split('@').next().unwrap_or_default()
    }

    /// Parses the format that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Result<FunctionId, NotIdentity> {
        let (interface, function) = text.split_once('#').ok_or(NotIdentity)?;
        let (package, name) = interface.split_once('/').ok_or(NotIdentity)?;
        let (namespace, package) = package.split_once(':').ok_or(NotIdentity)?;
        let is_plain = |part: &str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'@' | b'+');
            !part.is_empty() && part.bytes().all(is_known)
        };
        let is_identity = [namespace, package, name, function].into_iter().all(is_plain);
        is_identity.then(|| FunctionId::new(interface, function)).ok_or(NotIdentity)
    }
}

impl fmt::Display for FunctionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}", self.interface, self.function)
    }
}

impl From<FunctionId> for String {
    fn from(id: FunctionId) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for FunctionId {
    type Error = NotIdentity;

    fn try_from(text: String) -> Result<FunctionId, NotIdentity> {
        FunctionId::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::{FunctionId, NotIdentity};

    #[test]
    fn an_identity_is_read_as_it_is_written() {
        let id = FunctionId::new("capabilities:fs/fs@1.0.0", "delete");
        assert_eq!(id.to_string(), "capabilities:fs/fs@1.0.0#delete");
        assert_eq!(FunctionId::parse(&id.to_string()), Ok(id.clone()));
        assert_eq!(serde_json::from_value::<FunctionId>(serde_json::json!(id)).unwrap(), id);
        assert_eq!((id.interface_without_version(), id.function()), ("capabilities:fs/fs", "delete"));
        assert_ne!(id, FunctionId::new("agent-spaces:std/fs@1.0.0", "delete"));
    }

    #[test]
    fn a_label_is_no_identity() {
        for text in
            ["", "fs.delete", "fs#delete", "a:b#c", "a:b/c", "a:b/c#", "a:/c#d", ":b/c#d", "a:b/c#d e", "a:b/c#d\n"]
        {
            assert_eq!(FunctionId::parse(text), Err(NotIdentity), "{text}");
        }
    }
}
