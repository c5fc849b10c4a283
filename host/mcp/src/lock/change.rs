//! Change of a server since it was accepted.

use super::difference::Differences;
use crate::trace::one_line;
use std::fmt;

/// Change of a server since it was accepted. Displayed as one sentence for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Another command or another URL.
    Endpoint {
        /// Accepted endpoint.
        before: String,
        /// Current endpoint.
        now: String,
    },
    /// Its command runs another version of the same package.
    PackageVersion {
        /// The package.
        package: String,
        /// Accepted version.
        before: Option<String>,
        /// Current version.
        now: Option<String>,
    },
    /// The server reports another name or version of itself.
    Identity {
        /// Accepted name and version.
        before: String,
        /// Current name and version.
        now: String,
    },
    /// Another protocol version.
    Protocol {
        /// Accepted protocol version.
        before: String,
        /// Current protocol version.
        now: String,
    },
    /// Other instructions for models; the accepted text is served.
    Instructions(Differences),
    /// The `resources` capability was added or removed.
    Resources {
        /// True if the server has resources now.
        now: bool,
    },
    /// The prompts changed.
    Prompts(Differences),
    /// A tool is new.
    Added {
        /// Its name.
        tool: String,
    },
    /// A tool was removed.
    Removed {
        /// Its name.
        tool: String,
    },
    /// The schema of a tool changed.
    Schema {
        /// Its name.
        tool: String,
        /// The differences.
        differences: Differences,
    },
    /// The annotations of a tool changed, for example that it is read-only or its audience.
    Annotations {
        /// Its name.
        tool: String,
        /// The differences.
        differences: Differences,
    },
    /// The description of a tool or of a part of its schema changed; the accepted text is served.
    Description {
        /// Its name.
        tool: String,
        /// The differences.
        differences: Differences,
    },
}

impl Change {
    /// Returns true if the tool, or for another endpoint the whole server, is refused until the change is accepted.
    pub fn is_breaking(&self) -> bool {
        match self {
            Change::Endpoint { .. }
            | Change::Added { .. }
            | Change::Removed { .. }
            | Change::Schema { .. }
            | Change::Annotations { .. } => true,
            Change::PackageVersion { .. }
            | Change::Identity { .. }
            | Change::Protocol { .. }
            | Change::Instructions(_)
            | Change::Resources { .. }
            | Change::Prompts(_)
            | Change::Description { .. } => false,
        }
    }

    /// Returns the tool that changed, or `None` if the change is about the whole server.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Change::Added { tool }
            | Change::Removed { tool }
            | Change::Schema { tool, .. }
            | Change::Annotations { tool, .. }
            | Change::Description { tool, .. } => Some(tool),
            Change::Endpoint { .. }
            | Change::PackageVersion { .. }
            | Change::Identity { .. }
            | Change::Protocol { .. }
            | Change::Instructions(_)
            | Change::Resources { .. }
            | Change::Prompts(_) => None,
        }
    }

    fn sentence(&self) -> String {
        let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "not pinned".to_owned());
        match self {
            Change::Endpoint { before, now } => format!("the server's endpoint is now `{now}` (accepted: `{before}`)"),
            Change::PackageVersion { package, before, now } => {
                format!(
                    "the version of the package `{package}` is now {} (accepted: {})",
                    version(now),
                    version(before)
                )
            }
            Change::Identity { before, now } => format!("the server identifies as {now} (accepted: {before})"),
            Change::Protocol { before, now } => format!("the server's protocol version is {now} (accepted: {before})"),
            Change::Instructions(differences) => format!("the server's instructions changed ({differences})"),
            Change::Resources { now: true } => "the server has resources now".to_owned(),
            Change::Resources { now: false } => "the server no longer has resources".to_owned(),
            Change::Prompts(differences) => format!("the server's prompts changed ({differences})"),
            Change::Added { tool } => format!("the tool `{tool}` is new"),
            Change::Removed { tool } => format!("the tool `{tool}` was removed"),
            Change::Schema { tool, differences } => format!("the schema of the tool `{tool}` changed ({differences})"),
            Change::Annotations { tool, differences } => {
                format!("the annotations of the tool `{tool}` changed ({differences})")
            }
            Change::Description { tool, differences } => {
                format!("the description of the tool `{tool}` changed ({differences})")
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names and values come from the server, and the text goes to terminals.
        formatter.write_str(&one_line(&self.sentence()))
    }
}
