//! How functions are found, and how programs that agents send are looked at before they run.

use super::reader::{Node, Result};

/// Settings of code mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeMode {
    /// What becomes of a program whose types do not fit.
    pub type_check: TypeCheck,
    /// The TypeScript compiler: `tsgo`, `tsc` or a `tsc.js`. Without it, what the `PATH` has.
    pub typescript: Option<String>,
    /// The folder of a sentence model that search uses beside its table of words.
    pub search_model: Option<String>,
}

/// What becomes of a program whose types do not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeCheck {
    /// Nobody looks.
    Off,
    /// It runs, and what was found comes with its answer.
    Warn,
    /// It does not run.
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
    use super::super::from_value;
    use super::TypeCheck;
    use serde_json::{Value, json};

    fn message(code_mode: Value) -> String {
        from_value("f", json!({ "codeMode": code_mode })).unwrap_err().to_string()
    }

    #[test]
    fn programs_are_checked_unless_the_configuration_says_otherwise() {
        let level = |value: Value| from_value("f", value).unwrap().code_mode.type_check;
        assert_eq!(level(json!({})), TypeCheck::Error);
        assert_eq!(level(json!({ "codeMode": {} })), TypeCheck::Error);
        assert_eq!(level(json!({ "codeMode": { "typeCheck": "warn" } })), TypeCheck::Warn);
        assert_eq!(level(json!({ "codeMode": { "typeCheck": "off", "typescript": "./tsc" } })), TypeCheck::Off);
    }

    #[test]
    fn what_is_not_known_is_refused_with_the_nearest() {
        assert!(message(json!({ "typecheck": "off" })).contains("did you mean `typeCheck`?"));
        assert!(message(json!({ "typeCheck": "eror" })).contains("did you mean `error`?"));
        assert!(message(json!({ "typeCheck": true })).contains("one of `off`, `warn`, `error`"));
        assert!(message(json!({ "typescript": "" })).contains("expected a path"));
        assert!(message(json!({ "searchModel": 1 })).contains("expected a path"));
    }
}
