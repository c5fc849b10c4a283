//! What answers a function, where its definition says that itself.
//!
//! Templates have `{{name}}` for a parameter. They say what is sent or started; what it is given for that
//! (credentials, hosts, variables) is the configuration's to say, never the definition's.

mod command;

pub use command::{CommandArgument, CommandInput, CommandOutput, CommandTemplate, ExitMeaning};

use serde::{Deserialize, Serialize};

/// What answers a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Implementation {
    /// A request to a web server.
    Http(HttpOperation),
    /// A program that is started for each call.
    Command(CommandTemplate),
    /// A script that runs in a space.
    Script(ScriptReference),
}

/// A script whose default export answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptReference {
    /// The script, as a path from the definition's file.
    pub file: String,
    /// The space that it runs in; what all scripts have, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
}

/// How an operation of an OpenAPI document is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpOperation {
    /// `GET`
    pub method: String,
    /// `/pets/{petId}`
    pub path: String,
    /// Where each parameter goes, by the function's parameter name.
    pub parameters: Vec<HttpParameter>,
    /// The media type of the body, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// One parameter of an HTTP operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpParameter {
    /// The function's parameter.
    pub name: String,
    /// The name in the request, where it goes by another.
    pub wire: String,
    /// `path`, `query`, `header`, `cookie`, or `body` for a member of the body, `whole-body` for all of it.
    pub location: String,
}
