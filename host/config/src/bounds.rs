//! Limits on size and depth of a configuration.

use super::error::ConfigError;
use serde_json::Value;

/// Maximum size of a configuration, in bytes. A thousand servers with all their settings fit several times over.
pub const MAX_BYTES: usize = 1 << 20;

/// Maximum nesting of a value: four times what the keys need, and far from a stack overflow.
pub(super) const MAX_DEPTH: usize = 32;

/// Refuses a text that is too large.
pub(super) fn check_text(file: &str, text: &str) -> Result<(), ConfigError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes (limit {MAX_BYTES})", text.len());
        return Err(ConfigError::of_text(file, None, message));
    }
    Ok(())
}

/// Refuses a value that is too large or too deep, without recursing into it.
pub(super) fn check_value(file: &str, value: &Value) -> Result<(), ConfigError> {
    let (mut bytes, mut rest) = (0_usize, vec![(value, 1)]);
    while let Some((value, depth)) = rest.pop() {
        bytes += match value {
            Value::String(text) => text.len() + 2,
            _ => 1,
        };
        match value {
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                bytes += members.keys().map(String::len).sum::<usize>();
                rest.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
        if bytes > MAX_BYTES {
            let message = format!("the configuration is larger than {MAX_BYTES} bytes");
            return Err(ConfigError::of_text(file, None, message));
        }
        if depth > MAX_DEPTH {
            let message = format!("the configuration is nested deeper than {MAX_DEPTH} levels");
            return Err(ConfigError::of_text(file, None, message));
        }
    }
    Ok(())
}

/// Drops a value without recursion: the derived drop recurses, and a refused value may have any depth.
pub(super) fn drop_iteratively(value: Value) {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => rest.extend(members.into_iter().map(|(_, member)| member)),
            _ => {}
        }
    }
}
