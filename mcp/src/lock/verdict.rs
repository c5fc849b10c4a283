//! What follows for a tool from what changed.

use super::change::Change;

const HOW_TO_ACCEPT: &str =
    "it is refused until it is accepted: look at `agent-spaces audit --diff`, then run `agent-spaces mcp accept`";

/// Whether a tool may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it was accepted.
    Serve,
    /// It may be called, with the description that was accepted; the operator should know that it has another one.
    Warn(String),
    /// It may not be called.
    Refuse(String),
}

/// Whether a tool may be called, given what changed about its server.
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
        Verdict::Warn(format!("{}; what was accepted is served", warnings.join("; ")))
    }
}

/// What the operator should know about the server as a whole, though nothing is refused for it.
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
    fn h_17_changed_new_and_removed_tools_are_refused_and_no_others() {
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
        assert!(reason.starts_with("the tool `new` is new; it is refused until it is accepted"), "{reason}");
    }

    #[test]
    fn h_17_another_description_warns() {
        let Verdict::Warn(warning) = verdict(&[description("a")], "a") else { panic!() };
        assert!(warning.starts_with("the description of the tool `a` changed"), "{warning}");
        assert_eq!(verdict(&[description("a")], "b"), Verdict::Serve);
    }

    #[test]
    fn h_17_a_server_that_is_somewhere_else_is_refused_whole() {
        assert!(is_refused(&[endpoint()], "any"));
        assert!(server_warnings(&[endpoint()]).is_empty());
    }

    #[test]
    fn another_package_version_alone_warns_once_for_the_server() {
        let package = "a".to_owned();
        let changes =
            [Change::PackageVersion { package, before: Some("1.0.0".to_owned()), now: None }, description("a")];
        assert_eq!(verdict(&changes, "b"), Verdict::Serve);
        assert_eq!(server_warnings(&changes), ["the package `a` is now no fixed version, and 1.0.0 was accepted"]);
    }
}
