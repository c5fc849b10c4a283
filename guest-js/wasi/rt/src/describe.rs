//! A script's error in the words that a person reads.

use crate::types::ScriptError;
use alloc::string::String;

/// `error[code]: Name: message`, then the stack and the hint on lines of their own.
pub fn describe(error: &ScriptError) -> String {
    let mut text = String::new();
    for part in ["error[", &error.code, "]: "] {
        text.push_str(part);
    }
    if let Some(name) = &error.name {
        text.push_str(name);
        text.push_str(": ");
    }
    text.push_str(error.message.trim_end());
    text.push('\n');
    for (title, part) in [("", &error.stack), ("hint: ", &error.hint)] {
        if let Some(part) = part {
            text.push_str(title);
            text.push_str(part.trim_end());
            text.push('\n');
        }
    }
    text
}
