//! Address of the store of durable runs (`store`).

use super::reader::{Node, Result};
use std::fmt;

/// Longest address: some hosts and options fit.
const MAX_LENGTH: usize = 4096;

/// Address of a store. It may have a password, which came from a variable, so it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreAddress(String);

impl StoreAddress {
    pub(super) fn read(node: Node<'_>) -> Result<StoreAddress> {
        let text = node.filled_text("the address of a store, such as postgres://HOST/DATABASE")?;
        if text.len() > MAX_LENGTH {
            return Err(node.error(format!("the address of a store has at most {MAX_LENGTH} bytes")));
        }
        Ok(StoreAddress(text.to_owned()))
    }

    /// Returns its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StoreAddress(…)")
    }
}

#[cfg(test)]
mod tests {
    use crate::from_value;
    use serde_json::json;

    #[test]
    fn an_address_is_read_and_not_shown() {
        let config = from_value("f", json!({ "store": "postgres://ann:s3cret@h/d" })).unwrap();
        assert_eq!(config.store.as_ref().map(|store| store.as_str()), Some("postgres://ann:s3cret@h/d"));
        assert!(!format!("{config:?}").contains("s3cret"));
        for wrong in [json!(""), json!(7), json!({ "url": "x" }), json!("x".repeat(5000))] {
            let error = from_value("f", json!({ "store": wrong })).unwrap_err().to_string();
            assert!(error.contains("$.store"), "{error}");
        }
    }
}
