//! Lists of OAuth scopes: bounded, without duplicates, in their original order.

/// Limit on the number of scopes.
const MAX_SCOPES: usize = 100;
/// Length limit of a scope.
const MAX_SCOPE: usize = 256;

/// Returns the union of two lists.
pub(super) fn union(first: &[String], second: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in first.iter().chain(second) {
        if !all.contains(scope) && all.len() < MAX_SCOPES {
            all.push(scope.clone());
        }
    }
    all
}

/// Parses the scopes that a server names; drops invalid ones.
pub(super) fn named(text: &str) -> Vec<String> {
    let valid = |scope: &&str| {
        scope.len() <= MAX_SCOPE && scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
    };
    let scopes: Vec<String> = text.split_whitespace().filter(valid).take(MAX_SCOPES).map(str::to_owned).collect();
    union(&scopes, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_keeps_the_order_and_has_no_duplicates() {
        let (first, second) = (named("b a b"), named("c a"));
        assert_eq!(union(&first, &second), ["b", "a", "c"]);
    }

    #[test]
    fn invalid_scopes_are_dropped() {
        let long = "x".repeat(MAX_SCOPE + 1);
        assert_eq!(named(&format!("a\u{1b}[31m {long} \"b\" good c\\d")), ["good"]);
        let many: String = (0..1000).map(|number| format!("s{number} ")).collect();
        assert_eq!(named(&many).len(), MAX_SCOPES);
    }
}
