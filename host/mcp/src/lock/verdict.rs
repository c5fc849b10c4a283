//! Decision whether a changed tool may be called.

use super::change::Change;

const HOW_TO_ACCEPT: &str =
    "it is refused until accepted: review `agent-spaces audit --diff`, then run `agent-spaces mcp accept`";

/// Decision whether a tool may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It matches the lock.
    Serve,
    /// It may be called, with the accepted description; the text is a warning for the operator.
    Warn(String),
    /// It may not be called; the text is the reason.
    Refuse(String),
}

/// Decides whether a tool may be called, given the changes of its server.
pub fn verdict(changes: &[Change], tool: &str) -> Verdict {
    let concerns = |change: &&Change| change.tool() == Some(tool);
    let refuses = |change: &&Change| change.is_breaking() && (change.tool().is_none() || concerns(change));
    let reasons: Vec<String> = changes.iter().filter(refuses).map(Change::to_string).collect();
    if !reasons.is_empty() {
        return Verdict::Refuse(format!("{}; {HOW_TO_ACCEPT}", reasons.join("; ")));
    }
    let warnings: Vec<String> = changes.iter().filter(concerns).map(Change::to_string).collect();
    if warnings.is_empty() {
        Verdict::Serve
    } else {
        Verdict::Warn(format!("{}; the accepted text is served", warnings.join("; ")))
    }
}

/// Returns warnings for changes of the whole server that refuse nothing.
pub fn server_warnings(changes: &[Change]) -> Vec<String> {
    let is_warning = |change: &&Change| !change.is_breaking() && change.tool().is_none();
    changes.iter().filter(is_warning).map(Change::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Differences;

    fn schema(tool: &str) -> Change {
        Change::Schema { tool: tool.to_owned(), differences: Differences::default() }
    }

    fn description(tool: &str) -> Change {
        Change::Description { tool: tool.to_owned(), differences: Differences::default() }
    }

    fn endpoint() -> Change {
        Change::Endpoint { before: "npx a".to_owned(), now: "npx b".to_owned() }
    }

    fn is_refused(changes: &[Change], tool: &str) -> bool {
        matches!(verdict(changes, tool), Verdict::Refuse(_))
    }

    #[test]
    fn changed_new_and_removed_tools_are_refused_and_no_others() {
        let hints = Change::Annotations { tool: "hints".to_owned(), differences: Differences::default() };
        let changes = [
            Change::Added { tool: "new".to_owned() },
            Change::Removed { tool: "gone".to_owned() },
            schema("schema"),
            hints,
            description("schema"),
        ];
        for tool in ["new", "gone", "schema", "hints"] {
            assert!(is_refused(&changes, tool), "{tool}");
        }
        assert_eq!(verdict(&changes, "other"), Verdict::Serve);
        let Verdict::Refuse(reason) = verdict(&changes, "new") else { panic!() };
        assert!(reason.starts_with("the tool `new` is new; it is refused until accepted"), "{reason}");
    }

    #[test]
    fn another_description_warns() {
        let Verdict::Warn(warning) = verdict(&[description("a")], "a") else { panic!() };
        assert!(warning.starts_with("the description of the tool `a` changed"), "{warning}");
        assert_eq!(verdict(&[description("a")], "b"), Verdict::Serve);
    }

    #[test]
    fn a_server_with_another_endpoint_is_refused_as_a_whole() {
        assert!(is_refused(&[endpoint()], "any"));
        assert!(server_warnings(&[endpoint()]).is_empty());
    }

    #[test]
    fn another_package_version_alone_warns_once_for_the_server() {
        let package = "a".to_owned();
        let changes =
            [Change::PackageVersion { package, before: Some("1.0.0".to_owned()), now: None }, description("a")];
        assert_eq!(verdict(&changes, "b"), Verdict::Serve);
        assert_eq!(server_warnings(&changes), ["the version of the package `a` is now not pinned (accepted: 1.0.0)"]);
    }
}
