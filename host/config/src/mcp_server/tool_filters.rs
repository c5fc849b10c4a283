//! Allow and deny lists of a server's tools.

use super::super::reader::{Node, Result};

/// Allow and deny lists of tools; `*` matches any text. Deny takes precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilters {
    /// Allowed tools; all by default.
    pub allow: Option<Vec<String>>,
    /// Denied tools.
    pub deny: Vec<String>,
}

impl ToolFilters {
    /// Returns true if a tool is allowed and not denied.
    pub fn allows(&self, tool: &str) -> bool {
        let is_listed = |list: &[String]| list.iter().any(|filter| matches(filter, tool));
        self.allow.as_deref().is_none_or(is_listed) && !is_listed(&self.deny)
    }

    pub(super) fn read(node: Node<'_>) -> Result<ToolFilters> {
        let object = node.object("an object with `allow` and `deny`", &["allow", "deny"])?;
        let tools = |node: Node<'_>| {
            node.list("a list of tools", |node| node.filled_text("the name of a tool").map(str::to_owned))
        };
        Ok(ToolFilters { allow: object.read("allow", tools)?, deny: object.read("deny", tools)?.unwrap_or_default() })
    }
}

/// Returns true if a text matches a filter, in which `*` matches any text.
fn matches(filter: &str, text: &str) -> bool {
    let mut parts = filter.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}
