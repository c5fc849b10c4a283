//! Which tools of a server are there to be used.

use super::super::reader::{Node, Result};

/// Which tools of a server are there to be used. What is denied is not there, allowed or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilters {
    /// Only these; all where there is no such list.
    pub allow: Option<Vec<String>>,
    /// Never these.
    pub deny: Vec<String>,
}

impl ToolFilters {
    /// Whether a tool of this name is let through: it is allowed, or nothing is said of that, and it is not denied.
    /// `*` in a filter stands for any text.
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

/// Whether a text is one of those that a filter stands for.
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
