//! Command implementation: a program started for each call.

use crate::template::Template;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Program started for each call, without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandTemplate {
    /// The program, not a template: a path relative to the definition's file if it contains a `/`, otherwise a name
    /// looked up in the host's `PATH`.
    pub program: String,
    /// Arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<CommandArgument>,
    /// Standard input; empty if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<CommandInput>,
    /// Format of its standard output.
    #[serde(default)]
    pub output: CommandOutput,
    /// Working directory, relative to the definition's file; that file's folder if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Timeout of a call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Environment variables it receives, out of those that the configuration gives to its module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Meaning of exit statuses other than 0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exit_codes: BTreeMap<u8, ExitMeaning>,
}

/// One argument of a program, or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CommandArgument {
    /// Literal text.
    Literal(String),
    /// Template. A template that is only `{{list}}` becomes one argument per element; an argument whose parameter is
    /// absent is left out.
    Template {
        /// The text.
        value: Template,
        /// True if a parameter may make it start with `-`, like an option.
        may_begin_with_dash: bool,
    },
}

/// Standard input of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandInput {
    /// All parameters, as one JSON object.
    Params,
    /// JSON whose strings are templates.
    Json(Value),
    /// Text.
    Text(Template),
}

/// Format of a program's standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandOutput {
    /// One JSON value.
    #[default]
    Json,
    /// Text without its trailing newline.
    Text,
    /// An array of lines.
    Lines,
}

/// Meaning of an exit status other than 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExitMeaning {
    /// Error message for the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// True if the same call may succeed later.
    #[serde(default)]
    pub retryable: bool,
    /// True if it is not a failure: `grep` exits with 1 if nothing matches.
    #[serde(default)]
    pub is_answer: bool,
}

impl CommandTemplate {
    /// The words of the command line as written, the program first.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.as_str()).chain(self.args.iter().map(|argument| match argument {
            CommandArgument::Literal(text) => text.as_str(),
            CommandArgument::Template { value, .. } => value.text(),
        }))
    }
}
