use super::{Pattern, PatternError};
use agent_spaces_types::identity::FunctionId;

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).unwrap()
}

/// Matches a label whose function identity matches nothing.
fn fits(text: &str, label: &str) -> bool {
    pattern(text).is_match(&FunctionId::new("other:package/interface@1.0.0", "function"), label)
}

#[test]
fn a_star_matches_any_characters_within_its_part() {
    for (text, label) in [
        ("*", "github.createIssue"),
        ("github.createIssue", "github.createIssue"),
        ("github.*", "github.createIssue"),
        ("*.createIssue", "github.createIssue"),
        ("*.*", "github.createIssue"),
        ("*.delete*", "github.deleteRepo"),
        ("*.delete*", "files.delete"),
        ("g*b.c*I*e", "github.createIssue"),
        ("*hub.*e*e*", "github.createIssue"),
        ("a.*b*b", "a.bb"),
        ("$.a_1", "$.a_1"),
        ("github.*", "github.$resources.read"),
        ("github.$resources.*", "github.$resources.read"),
        ("github", "github.createIssue"),
        ("github", "github.$resources.read"),
        ("getWeather", "getWeather"),
        ("getWeather.*", "getWeather"),
        ("getWeather.getWeather", "getWeather"),
        ("*.get*", "getWeather"),
    ] {
        assert!(fits(text, label), "{text} {label}");
    }
    for (text, label) in [
        ("github.createIssue", "github.createIssues"),
        ("github.createIssue", "github.createissue"),
        ("github.*", "githubs.createIssue"),
        ("github.*", "git.createIssue"),
        ("github.createIssue", "github"),
        ("other.*", "getWeather"),
        ("get", "getWeather"),
        ("createIssue", "github.createIssue"),
        ("github.$resources.list", "github.$resources.read"),
        ("github.read", "github.$resources.read"),
        ("*.delete*", "github.undelete"),
        ("a.*b*b", "a.b"),
        ("a.b*b", "a.b"),
        ("g*b.x", "gib.y"),
    ] {
        assert!(!fits(text, label), "{text} {label}");
    }
}

#[test]
fn a_full_name_matches_one_interface_whatever_the_label() {
    let own = FunctionId::new("capabilities:fs/fs@1.2.0", "delete-file");
    let standard = FunctionId::new("agent-spaces:std/fs@1.2.0", "delete-file");
    for text in [
        "capabilities:fs/fs@1.2.0#delete-file",
        "capabilities:fs/fs#delete-file",
        "capabilities:fs/fs#delete-*",
        "capabilities:fs/fs#*",
        "capabilities:fs/fs",
        "capabilities:fs/fs@1.2.0",
    ] {
        assert!(pattern(text).is_match(&own, "fs.deleteFile"), "{text}");
        assert!(!pattern(text).is_match(&standard, "fs.deleteFile"), "{text}");
    }
    for text in [
        "capabilities:fs/fs@1.2.1#delete-file",
        "capabilities:fs/fs#delete",
        "capabilities:fs/fs#deleteFile",
        "capabilities:fs/f#delete-file",
        "capabilities:f/fs#delete-file",
    ] {
        assert!(!pattern(text).is_match(&own, "fs.deleteFile"), "{text}");
    }
}

#[test]
fn invalid_patterns_are_refused() {
    for text in [
        "",
        ".",
        "a*",
        "**",
        "a.",
        ".a",
        "a.b.c",
        "a b.c",
        "mcp:a",
        "a-b.c",
        "a.**",
        "ä.b",
        "a.b\n",
        "a/b.c",
        "a:b/c#",
        "a:b/c@#d",
        "a:b#c",
        ":b/c#d",
        "a:b/*#d",
        "a:*/c",
        "a:b/c#d#e",
        "a:b/c#**",
        "a:b/c/d#e",
        "a:b/c#d e",
    ] {
        assert_eq!(Pattern::parse(text), Err(PatternError::NotName), "{text}");
    }
    assert_eq!(Pattern::parse(&format!("a.{}", "b".repeat(256))), Err(PatternError::NotName));
}

#[test]
fn exact_names_are_most_specific_then_the_number_of_literal_characters() {
    let order = ["*", "*.*", "*.d*", "github.*", "*.deleteRepo*", "github.deleteRep*", "a.b"];
    for pair in order.windows(2) {
        assert!(pattern(pair[0]).specificity() <= pattern(pair[1]).specificity(), "{pair:?}");
    }
    assert!(pattern("a.b").specificity() > pattern("github.deleteRep*").specificity());
    assert_eq!(pattern("a.b*").specificity(), pattern("*.ab").specificity());
    assert_eq!(pattern("github").specificity(), pattern("github.*").specificity());
}

/// Otherwise writing a name in full would override a stricter rule for the same function.
#[test]
fn label_and_full_name_have_the_same_specificity() {
    for (label, in_full) in [
        ("fs.delete", "capabilities:fs/fs@1.0.0#delete"),
        ("fs.*", "capabilities:fs/fs"),
        ("trainSchedule.get*", "capabilities:train-schedule/train-schedule#get-*"),
    ] {
        assert_eq!(pattern(label).specificity(), pattern(in_full).specificity(), "{label}");
    }
}
