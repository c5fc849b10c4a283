//! Naming scheme: examples, and properties of arbitrary text.

use capability_gen::names::{
    Collision, MAX_LENGTH, Scope, camel, is_wit_keyword, js_binding, kebab, module_name, pascal,
    single_function_module, snake, without_prefix,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Realistic and hostile names.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9_.-]{0,12}",
        "[aA1_-]{0,6}",
        "\\PC{0,20}",
        any::<String>(),
        "[a-z]{0,9}[-_ ]{0,2}[A-Z0-9]{1,120}",
        proptest::sample::select(vec![
            "type",
            "list",
            "record",
            "result",
            "error-context",
            "",
            "-",
            "--",
            "extras",
            "_"
        ])
        .prop_map(str::to_owned),
    ]
}

#[test]
fn words_are_split_at_separators_and_case_changes() {
    let examples = [
        ("trainSchedule", "train-schedule"),
        ("getHTTPServer", "get-http-server"),
        ("slack_list_channels", "slack-list-channels"),
        ("OAuth2Token", "o-auth2-token"),
        ("utf8Text", "utf8-text"),
        ("a-1", "a1"),
        ("2nd", "n2nd"),
        ("Parameter1.Name", "parameter1-name"),
        ("If-Match", "if-match"),
        ("filter[status]", "filter-status"),
        ("(default)", "default"),
        ("StartTime<", "start-time-lt"),
        ("reactions-+1", "reactions-plus1"),
        ("-created", "minus-created"),
        ("C++", "c-plus-plus"),
        ("café", "caf-u00e9"),
        ("日本", "u65e5-u672c"),
        ("", "empty"),
        (",", "comma"),
        ("\t", "u0009"),
        ("__", "underscore-underscore"),
        ("\"", "quote"),
    ];
    for (source, expected) in examples {
        assert_eq!(kebab(source), expected, "{source}");
    }
    assert_eq!((camel("get_HTTP-server"), pascal("get_schedule")), ("getHttpServer".into(), "GetSchedule".into()));
}

#[test]
fn long_names_are_cut_at_a_word_and_keep_apart() {
    let long = "one_two_three_four_five_six_seven_eight_nine_ten_eleven_twelve_thirteen";
    assert_eq!(kebab(long), "one-two-three-four-five-six-seven-eight-nine-ten-x663ad0ff");
    assert_ne!(kebab(&"a".repeat(10_000)), kebab(&"a".repeat(10_001)));
}

#[test]
fn keywords_get_another_spelling() {
    assert_eq!(snake("type"), "r#type");
    assert_eq!(snake("self"), "self_");
    assert_eq!(snake("getType"), "get_type");
    assert_eq!(js_binding("delete"), "delete_");
    assert_eq!(js_binding("await"), "await_");
    assert_eq!(js_binding("deleteAll"), "deleteAll");
}

#[test]
fn modules_are_named_after_what_they_are_about() {
    assert_eq!(module_name("trainSchedule"), "train-schedule");
    assert_eq!(single_function_module("get_weather"), "weather");
    assert_eq!(single_function_module("listFiles"), "files");
    assert_eq!(single_function_module("search"), "search");
    assert_eq!(single_function_module("getaway"), "getaway");
    assert_eq!(without_prefix("slack_list_channels", "slack"), "list_channels");
    assert_eq!(without_prefix("ms-365-create-chat", "ms365"), "create-chat");
    assert_eq!(without_prefix("slackListChannels", "Slack"), "ListChannels");
    for whole in ["slack", "slack_", "slacker_list", "list_slack", "slack_2"] {
        assert_eq!(without_prefix(whole, "slack"), whole);
    }
}

#[test]
fn colliding_names_are_distinguished_independent_of_their_order() {
    let mut scope = Scope::new();
    let names = scope.add_all(["SUM", "Sum", "average"]);
    assert_eq!(names, ["sum", "sum-xa21d7df0", "average"]);
    let collision = Collision { holder: "SUM".to_owned(), other: "Sum".to_owned(), name: "sum-xa21d7df0".to_owned() };
    assert_eq!(scope.collisions(), [collision]);

    let canonical_first = Scope::new().add_all(["fillOpacity", "Fill-Opacity"]);
    let canonical_last: Vec<String> = Scope::new().add_all(["Fill-Opacity", "fillOpacity"]);
    assert_eq!(canonical_first[0], "fill-opacity");
    assert_eq!(canonical_first, canonical_last.into_iter().rev().collect::<Vec<_>>());

    let mut reserved = Scope::new();
    reserved.take("json");
    assert_ne!(reserved.add("JSON"), "json");
}

/// The host's conversion from WIT to JavaScript names.
fn camel_case(kebab: &str) -> String {
    let mut words = kebab.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| camel + &word[..1].to_ascii_uppercase() + &word[1..])
}

proptest! {
    #[test]
    fn every_text_has_a_short_stable_name(source in name()) {
        let kebab_name = kebab(&source);
        prop_assert!((1..=MAX_LENGTH).contains(&kebab_name.len()));
        prop_assert_eq!(kebab(&kebab_name), &*kebab_name, "a name's name is itself");
        prop_assert_eq!(camel(&source), camel_case(&kebab_name));
        let pascal = pascal(&source);
        prop_assert_eq!(pascal[..1].to_ascii_lowercase() + &pascal[1..], camel(&source));
        let snake = snake(&source);
        prop_assert_eq!(snake.trim_start_matches("r#").trim_end_matches('_'), kebab_name.replace('-', "_"));
    }

    #[test]
    fn names_in_a_scope_differ_and_wit_takes_them(sources in vec(name(), 1..40)) {
        let mut scope = Scope::new();
        let names: Vec<String> = sources.iter().map(|source| scope.add(source)).collect();
        let camels: BTreeSet<String> = names.iter().map(|name| camel_case(name)).collect();
        prop_assert_eq!(camels.len(), sources.len());
        prop_assert!(names.iter().all(|name| name.len() <= MAX_LENGTH));
        let plain: BTreeSet<String> = sources.iter().map(|source| kebab(source)).collect();
        prop_assert!(scope.collisions().len() >= sources.len() - plain.len());

        let escape = |name: &String| if is_wit_keyword(name) { format!("%{name}") } else { name.clone() };
        let fields: String = names.iter().map(|name| format!("{}: bool,", escape(name))).collect();
        let functions: String = names.iter().map(|name| format!("{}: func();", escape(name))).collect();
        let wit = format!("package a:b; interface types {{ record r {{ {fields} }} }} interface i {{ {functions} }}");
        let parsed = wit_parser::Resolve::default().push_str("a.wit", &wit);
        prop_assert!(parsed.is_ok(), "{:?}\n{}", parsed.err(), wit);
    }

    #[test]
    fn a_set_of_names_gives_the_same_names_in_any_order(sources in proptest::collection::btree_set(name(), 1..20), seed: u64) {
        let sources: Vec<String> = sources.into_iter().collect();
        let mut shuffled: Vec<&String> = sources.iter().collect();
        shuffled.rotate_left(seed as usize % sources.len());
        if seed & 1 == 1 {
            shuffled.reverse();
        }
        let in_order = Scope::new().add_all(sources.iter().map(String::as_str));
        let names = Scope::new().add_all(shuffled.iter().map(|source| source.as_str()));
        for (source, name) in shuffled.iter().zip(names) {
            let place = sources.iter().position(|other| &other == source).unwrap();
            prop_assert_eq!(&in_order[place], &name);
        }
    }
}

#[test]
fn adding_one_name_many_times_is_fast() {
    let mut scope = Scope::new();
    let names: BTreeSet<String> = (0..20_000).map(|_| scope.add("Same")).collect();
    assert_eq!(names.len(), 20_000);
}
