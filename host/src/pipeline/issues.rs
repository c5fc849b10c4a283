//! One list of all that is wrong with the arguments of a call: what the engine says of their types, and what the schema
//! says of the rest.

use capability_gen::validate::{Issue, IssueKind};

/// More than anybody puts right at once.
const MAX_ISSUES: usize = 32;

/// Both lists as one: each thing once, in the order of the parameters.
pub(super) fn merge(by_type: Vec<Issue>, by_schema: Vec<Issue>, order: &[&str]) -> Vec<Issue> {
    let mut issues = by_type;
    // Of what has the wrong type nothing else is worth saying, and of what holds it not that it has.
    let is_told = |issue: &Issue| {
        let is_whole = |told: &Issue| issue.kind == IssueKind::Type && is_within(&told.path, &issue.path);
        issue.kind != IssueKind::More && issues.iter().any(|told| is_within(&issue.path, &told.path) || is_whole(told))
    };
    let (more, further): (Vec<Issue>, Vec<Issue>) =
        by_schema.into_iter().filter(|issue| !is_told(issue)).partition(|issue| issue.kind == IssueKind::More);
    issues.extend(further);
    issues.sort_by_key(|issue| place(&issue.path, order));
    if issues.len() > MAX_ISSUES {
        let message = format!("and {} more", issues.len() - MAX_ISSUES);
        issues.truncate(MAX_ISSUES);
        issues.push(Issue { path: String::new(), message, kind: IssueKind::More });
    } else {
        issues.extend(more);
    }
    issues
}

/// Which parameter a path leads into; what concerns none of them comes first.
fn place(path: &str, order: &[&str]) -> Option<usize> {
    order.iter().position(|name| is_within(path, name) || is_within(path, &format!("[\"{name}\"]")))
}

/// Whether a path leads to a place or into what is there.
fn is_within(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| place.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::{MAX_ISSUES, merge};
    use capability_gen::validate::{Issue, IssueKind};

    fn issue(path: &str, kind: IssueKind) -> Issue {
        Issue { path: path.to_owned(), message: format!("{kind:?}"), kind }
    }

    fn paths(by_type: &[&str], by_schema: &[(&str, IssueKind)]) -> Vec<String> {
        let by_type = by_type.iter().map(|path| issue(path, IssueKind::Type)).collect();
        let by_schema = by_schema.iter().map(|(path, kind)| issue(path, *kind)).collect();
        merge(by_type, by_schema, &["from", "to", "odd name", "trips"]).into_iter().map(|issue| issue.path).collect()
    }

    #[test]
    fn each_thing_is_told_once_in_the_order_of_the_parameters() {
        use IssueKind::{Missing, Type, Value};
        assert_eq!(paths(&["to"], &[("from", Value), ("to", Type)]), ["from", "to"]);
        assert_eq!(paths(&["trips[1]"], &[("[\"odd name\"]", Missing)]), ["[\"odd name\"]", "trips[1]"]);
        // Within what has the wrong type, and what has the wrong type only because of that.
        assert_eq!(paths(&["trips[1]"], &[("trips[1].at", Value), ("trips", Type)]), ["trips[1]"]);
        // Something else of what holds it, a neighbour, and a name that only begins so.
        assert_eq!(paths(&["trips[1]"], &[("trips", Value), ("trips[10]", Value)]), ["trips[1]", "trips", "trips[10]"]);
        assert_eq!(paths(&["to"], &[("token", Value)]), ["token", "to"]);
        // Of all arguments at once.
        assert_eq!(paths(&[""], &[("from", Missing)]), [""]);
    }

    #[test]
    fn a_long_list_says_how_many_more_there_are() {
        let by_schema = (0..40).map(|at| issue(&format!("trips[{at}]"), IssueKind::Value)).collect();
        let merged = merge(vec![issue("from", IssueKind::Type)], by_schema, &["from"]);
        assert_eq!(merged.len(), MAX_ISSUES + 1);
        assert_eq!(merged.last().map(|last| last.message.as_str()), Some("and 9 more"));
    }
}
