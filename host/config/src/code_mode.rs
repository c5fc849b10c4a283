//! Code mode settings (`codeMode`): type check of agents' programs, and function search.

use super::reader::{Node, Result};

/// Settings of code mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeMode {
    /// Handling of programs with type errors.
    pub type_check: TypeCheck,
    /// TypeScript compiler: `tsgo`, `tsc` or a `tsc.js`. By default one on the `PATH`.
    pub typescript: Option<String>,
    /// Folder of a sentence embedding model that search uses beside its word table.
    pub search_model: Option<String>,
}

/// Handling of programs with type errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeCheck {
    /// No type check.
    Off,
    /// The program runs, and the type errors come with its answer.
    Warn,
    /// The program does not run.
    #[default]
    Error,
}

impl CodeMode {
    pub(super) fn read(node: Node<'_>) -> Result<CodeMode> {
        let keys = ["typeCheck", "typescript", "searchModel"];
        let object = node.object("an object with `typeCheck`, `typescript` and `searchModel`", &keys)?;
        let path = |node: Node<'_>| node.filled_text("a path").map(str::to_owned);
        let levels = [("off", TypeCheck::Off), ("warn", TypeCheck::Warn), ("error", TypeCheck::Error)];
        Ok(CodeMode {
            type_check: object.read("typeCheck", |node| node.choice("kind of check", &levels))?.unwrap_or_default(),
            typescript: object.read("typescript", path)?,
            search_model: object.read("searchModel", path)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::code_mode::TypeCheck;
    use crate::from_value;
    use serde_json::{Value, json};

    fn message(code_mode: Value) -> String {
        from_value("f", json!({ "codeMode": code_mode })).unwrap_err().to_string()
    }

    #[test]
    fn type_errors_are_fatal_by_default() {
        let level = |value: Value| from_value("f", value).unwrap().code_mode.type_check;
        assert_eq!(level(json!({})), TypeCheck::Error);
        assert_eq!(level(json!({ "codeMode": {} })), TypeCheck::Error);
        assert_eq!(level(json!({ "codeMode": { "typeCheck": "warn" } })), TypeCheck::Warn);
        assert_eq!(level(json!({ "codeMode": { "typeCheck": "off", "typescript": "./tsc" } })), TypeCheck::Off);
    }

    #[test]
    fn unknown_keys_and_values_are_refused_with_the_nearest() {
        assert!(message(json!({ "typecheck": "off" })).contains("did you mean `typeCheck`?"));
        assert!(message(json!({ "typeCheck": "eror" })).contains("did you mean `error`?"));
        assert!(message(json!({ "typeCheck": true })).contains("one of `off`, `warn`, `error`"));
        assert!(message(json!({ "typescript": "" })).contains("expected a path"));
        assert!(message(json!({ "searchModel": 1 })).contains("expected a path"));
    }
}
