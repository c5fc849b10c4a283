//! One thing that changed about a server since it was accepted.

use super::difference::Differences;
use crate::trace::one_line;
use std::fmt;

/// One thing that changed about a server since it was accepted. Its text is one sentence for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It is somewhere else: another command or another address.
    Endpoint {
        /// Where it was.
        before: String,
        /// Where it is.
        now: String,
    },
    /// Its command runs another version of the same package.
    PackageVersion {
        /// The package.
        package: String,
        /// The version that was accepted.
        before: Option<String>,
        /// The version now.
        now: Option<String>,
    },
    /// It calls itself something else, or another version.
    Identity {
        /// What it called itself.
        before: String,
        /// What it calls itself.
        now: String,
    },
    /// It speaks another version of the protocol.
    Protocol {
        /// What it spoke.
        before: String,
        /// What it speaks.
        now: String,
    },
    /// It tells models something else about itself; the accepted text is served.
    Instructions(Differences),
    /// It has resources now, or has none any more.
    Resources {
        /// Whether it has some.
        now: bool,
    },
    /// Its prompts are others.
    Prompts(Differences),
    /// A tool is new.
    Added {
        /// Its name.
        tool: String,
    },
    /// A tool is gone.
    Removed {
        /// Its name.
        tool: String,
    },
    /// A tool takes or gives something else.
    Schema {
        /// Its name.
        tool: String,
        /// Where.
        differences: Differences,
    },
    /// A tool says something else about what it does: that it only reads, or is for the user alone.
    Annotations {
        /// Its name.
        tool: String,
        /// Where.
        differences: Differences,
    },
    /// A tool, or a part of its schema, is described in other words; the accepted text is served.
    Description {
        /// Its name.
        tool: String,
        /// Where.
        differences: Differences,
    },
}

impl Change {
    /// Whether something is refused until this is accepted: the tool, or with another endpoint the whole server.
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

    /// The tool that changed; nothing where it is about the whole server.
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
        let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "no fixed version".to_owned());
        match self {
            Change::Endpoint { before, now } => format!("the server is now `{now}`, and `{before}` was accepted"),
            Change::PackageVersion { package, before, now } => {
                format!("the package `{package}` is now {}, and {} was accepted", version(now), version(before))
            }
            Change::Identity { before, now } => format!("the server calls itself {now}, and {before} was accepted"),
            Change::Protocol { before, now } => format!("the server speaks protocol {now}, and {before} was accepted"),
            Change::Instructions(differences) => format!("the server's instructions changed ({differences})"),
            Change::Resources { now: true } => "the server has resources now".to_owned(),
            Change::Resources { now: false } => "the server has no resources any more".to_owned(),
            Change::Prompts(differences) => format!("the server's prompts changed ({differences})"),
            Change::Added { tool } => format!("the tool `{tool}` is new"),
            Change::Removed { tool } => format!("the tool `{tool}` is gone"),
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
        // Names and values are the server's, and this goes to terminals.
        formatter.write_str(&one_line(&self.sentence()))
    }
}
