//! A program that is started for each call.

use crate::template::Template;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A program that is started for each call, without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandTemplate {
    /// The program, literally: a path from the definition's file where it has a `/`, else a name that is looked up in
    /// the host's `PATH`.
    pub program: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<CommandArgument>,
    /// What it reads; nothing without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<CommandInput>,
    /// What its output is.
    #[serde(default)]
    pub output: CommandOutput,
    /// The folder that it starts in, as a path from the definition's file; that file's own folder without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How long a call may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The variables that it wants of those that the configuration gives to its module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// What exit statuses other than 0 mean.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exit_codes: BTreeMap<u8, ExitMeaning>,
}

/// One argument of a program, or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CommandArgument {
    /// As it stands.
    Literal(String),
    /// Filled in with parameters. What is one `{{list}}` becomes an argument for each element; one whose parameter is
    /// absent is left out.
    Template {
        /// The text.
        value: Template,
        /// Whether a parameter may make it begin with `-`, and so look like an option.
        may_begin_with_dash: bool,
    },
}

/// What a program reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandInput {
    /// All parameters, as one JSON object.
    Params,
    /// JSON whose texts are templates.
    Json(Value),
    /// Text.
    Text(Template),
}

/// What a program's output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandOutput {
    /// One JSON value.
    #[default]
    Json,
    /// Text, without the line end at its end.
    Text,
    /// An array of lines.
    Lines,
}

/// What an exit status other than 0 means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExitMeaning {
    /// What the script is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the same call may succeed later.
    #[serde(default)]
    pub retryable: bool,
    /// Whether it is no failure: `grep` exits with 1 when it found nothing.
    #[serde(default)]
    pub is_answer: bool,
}

impl CommandTemplate {
    /// The words of its line as they were written, the program first.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.as_str()).chain(self.args.iter().map(|argument| match argument {
            CommandArgument::Literal(text) => text.as_str(),
            CommandArgument::Template { value, .. } => value.text(),
        }))
    }
}
