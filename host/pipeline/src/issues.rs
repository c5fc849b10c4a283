//! Merged issue list of a call's arguments: type mismatches from the engine and schema violations from the validator.

use capability_gen::validate::{Issue, IssueKind};

/// More issues than anyone fixes at once.
const MAX_ISSUES: usize = 32;

/// Merges both lists without duplicates, in the order of the parameters.
pub(super) fn merge(by_type: Vec<Issue>, by_schema: Vec<Issue>, order: &[String]) -> Vec<Issue> {
    let mut issues = by_type;
    // Below a value of the wrong type nothing else is reported, nor is the type of the values that contain it.
    let is_reported = |issue: &Issue| {
        let is_whole = |reported: &Issue| issue.kind == IssueKind::Type && is_within(&reported.path, &issue.path);
        issue.kind != IssueKind::More
            && issues.iter().any(|reported| is_within(&issue.path, &reported.path) || is_whole(reported))
    };
    let (more, further): (Vec<Issue>, Vec<Issue>) =
        by_schema.into_iter().filter(|issue| !is_reported(issue)).partition(|issue| issue.kind == IssueKind::More);
    issues.extend(further);
    issues.sort_by_key(|issue| parameter_index(&issue.path, order));
    if issues.len() > MAX_ISSUES {
        let message = format!("and {} more", issues.len() - MAX_ISSUES);
        issues.truncate(MAX_ISSUES);
        issues.push(Issue { path: String::new(), message, kind: IssueKind::More });
    } else {
        issues.extend(more);
    }
    issues
}

/// Returns the index of the parameter that a path points into; `None`, for no parameter, sorts first.
fn parameter_index(path: &str, order: &[String]) -> Option<usize> {
    order.iter().position(|name| is_within(path, name) || is_within(path, &format!("[\"{name}\"]")))
}

/// Returns true if a path equals a prefix or points below it.
fn is_within(path: &str, prefix: &str) -> bool {
    let rest = path.strip_prefix(prefix);
    rest.is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use crate::issues::{MAX_ISSUES, merge};
    use capability_gen::validate::{Issue, IssueKind};

    fn issue(path: &str, kind: IssueKind) -> Issue {
        Issue { path: path.to_owned(), message: format!("{kind:?}"), kind }
    }

    fn paths(by_type: &[&str], by_schema: &[(&str, IssueKind)]) -> Vec<String> {
        let by_type = by_type.iter().map(|path| issue(path, IssueKind::Type)).collect();
        let by_schema = by_schema.iter().map(|(path, kind)| issue(path, *kind)).collect();
        merge(by_type, by_schema, &["from", "to", "odd name", "trips"].map(str::to_owned))
            .into_iter()
            .map(|issue| issue.path)
            .collect()
    }

    #[test]
    fn each_issue_is_reported_once_in_parameter_order() {
        use IssueKind::{Missing, Type, Value};
        assert_eq!(paths(&["to"], &[("from", Value), ("to", Type)]), ["from", "to"]);
        assert_eq!(paths(&["trips[1]"], &[("[\"odd name\"]", Missing)]), ["[\"odd name\"]", "trips[1]"]);
        // Below a value of the wrong type, and a container that fails only because of it.
        assert_eq!(paths(&["trips[1]"], &[("trips[1].at", Value), ("trips", Type)]), ["trips[1]"]);
        // Another issue of the container, a neighbour, and a name with the same beginning.
        assert_eq!(paths(&["trips[1]"], &[("trips", Value), ("trips[10]", Value)]), ["trips[1]", "trips", "trips[10]"]);
        assert_eq!(paths(&["to"], &[("token", Value)]), ["token", "to"]);
        // An issue of the arguments as a whole.
        assert_eq!(paths(&[""], &[("from", Missing)]), [""]);
    }

    #[test]
    fn a_long_list_ends_with_the_number_of_omitted_issues() {
        let by_schema = (0..40).map(|at| issue(&format!("trips[{at}]"), IssueKind::Value)).collect();
        let merged = merge(vec![issue("from", IssueKind::Type)], by_schema, &["from".to_owned()]);
        assert_eq!(merged.len(), MAX_ISSUES + 1);
        assert_eq!(merged.last().map(|last| last.message.as_str()), Some("and 9 more"));
    }
}
