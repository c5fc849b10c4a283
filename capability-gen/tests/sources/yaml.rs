//! YAML parser: equivalence to JSON; ambiguous, endless and huge documents are refused with their place.

use capability_gen::sources::MAX_SOURCE_BYTES;
use capability_gen::yaml::{Bounds, Position, Step, find, read};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const BOUNDS: Bounds = Bounds { bytes: MAX_SOURCE_BYTES, depth: 127 };

#[track_caller]
fn value(text: &str) -> Value {
    read(text, BOUNDS).unwrap_or_else(|error| panic!("{error}: {text:.200}"))
}

#[track_caller]
fn refused(text: &str, place: (usize, usize), message: &str) {
    let error = read(text, BOUNDS).expect_err("it should be refused");
    assert!(error.message.contains(message), "{error}");
    assert_eq!((error.position.line, error.position.column), place, "{error}");
    assert!(error.message.len() < 1_000 && error.fix.ends_with('.'), "{error}");
}

#[test]
fn a_configuration_in_yaml_is_what_it_is_in_json() {
    let text = "
# agent
mcp:
  enabled: true
  client:
    servers:
      - name: filesystem
        command: npx
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/']
      - name: github
        env:
          GITHUB_PERSONAL_ACCESS_TOKEN: '${GITHUB_TOKEN}'
  note: |
    two
    lines
  folded: >-
    one
    line
";
    let expected = json!({"mcp": {
        "enabled": true,
        "client": {"servers": [
            {"name": "filesystem", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/"]},
            {"name": "github", "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "${GITHUB_TOKEN}"}},
        ]},
        "note": "two\nlines\n",
        "folded": "one line",
    }});
    assert_eq!(value(text), expected);
    assert_eq!(value(&format!("\u{feff}{text}")), expected);
    assert_eq!(value(&text.replace('\n', "\r\n")), expected);
}

#[test]
fn plain_scalars_follow_yaml_1_2() {
    for (word, expected) in [
        ("no", json!("no")),
        ("on", json!("on")),
        ("2026-01-02", json!("2026-01-02")),
        ("1.2.3", json!("1.2.3")),
        ("12:30", json!("12:30")),
        ("~", json!(null)),
        ("", json!(null)),
        ("Null", json!(null)),
        ("TRUE", json!(true)),
        ("'true'", json!("true")),
        ("\"1\"", json!("1")),
        ("-12", json!(-12)),
        ("+12", json!(12)),
        ("0o14", json!(12)),
        ("0x1F", json!(31)),
        ("010", json!(10)),
        ("18446744073709551615", json!(u64::MAX)),
        ("18446744073709551616", json!(18446744073709551616.0)),
        ("-9223372036854775809", json!(-9223372036854775809.0)),
        ("1.50", json!(1.5)),
        ("1e3", json!(1000.0)),
        (".5", json!(0.5)),
        ("5.", json!(5.0)),
        ("e3", json!("e3")),
        (".", json!(".")),
        ("0x", json!("0x")),
        ("-", json!([null])),
        ("infinity", json!("infinity")),
        ("nan", json!("nan")),
        ("!!str 12", json!("12")),
        ("! 12", json!("12")),
        ("!!int '12'", json!(12)),
        ("!!float 3", json!(3.0)),
        ("!!bool 'true'", json!(true)),
        ("!!null ''", json!(null)),
        ("!!seq [1]", json!([1])),
        ("!<tag:yaml.org,2002:map> {a: 1}", json!({"a": 1})),
    ] {
        assert_eq!(value(word), expected, "{word}");
    }
    assert_eq!(value("200: a\ntrue: b\n1.0: c\n'': d"), json!({"200": "a", "true": "b", "1.0": "c", "": "d"}));
    assert_eq!(value("# nothing\n"), Value::Null);
}

#[test]
fn json_reads_as_json() {
    let text =
        r#"{"z": [1, -2, 2.5, 1e9, true, null, "ü\n\u0041\/\ud83d\ude00"], "b": {"a": {}, "": []}, "c": "a: #b"}"#;
    assert_eq!(value(text), serde_json::from_str::<Value>(text).unwrap());
    refused(r#"{"a": 1, "a": 2}"#, (1, 10), "duplicate key");
    assert!(read("[[[1]]]", Bounds { depth: 3, ..BOUNDS }).unwrap_err().message.contains("nested more than 3 deep"));
    assert_eq!(read("[[[1]]]", Bounds { depth: 4, ..BOUNDS }).unwrap(), json!([[[1]]]));
}

#[test]
fn aliases_and_merges_are_copies() {
    let text = "
base: &base {command: npx, env: &env {A: 1}}
one: {<<: *base, command: node}
two: {<<: [*env, *base], B: 2}
three: [*env, *env]
text: {'<<': 1}
";
    let value = value(text);
    assert_eq!(value["one"], json!({"command": "node", "env": {"A": 1}}));
    assert_eq!(value["two"], json!({"B": 2, "A": 1, "command": "npx", "env": {"A": 1}}));
    assert_eq!(value["three"], json!([{"A": 1}, {"A": 1}]));
    assert_eq!(value["text"], json!({"<<": 1}));
}

#[test]
fn ambiguous_yaml_is_refused_at_its_place() {
    refused("a: 1\nb:\n  é: 1\n  é: 2\n", (4, 3), "duplicate key `é`");
    refused("a: 1\n\"a\": 2\n", (2, 1), "duplicate key");
    refused("[a, b]: 1\n", (1, 1), "cannot be a list");
    refused("a: &x b\n*x : 1\n", (2, 1), "cannot be an alias");
    refused("a: .inf\n", (1, 4), "no JSON representation");
    refused("a: -.INF\n", (1, 4), "no JSON representation");
    refused("a: .nan\n", (1, 4), "no JSON representation");
    refused("a: 1e999\n", (1, 4), "no JSON representation");
    refused("a: !!python/object:os.system x\n", (1, 4), "tag `tag:yaml.org,2002:python/object:os.system`");
    refused("a: !secret x\n", (1, 4), "unknown tag `!secret`");
    refused("a: !!int x\n", (1, 4), "does not match its tag");
    refused("a: 1\n---\nb: 2\n", (3, 1), "second document");
    refused("a: *x\n", (1, 4), "no anchor");
    refused("a: &x [*x]\n", (1, 8), "inside the value that it refers to");
    refused("a:\n  <<: 1\n", (2, 3), "can merge only objects");
    refused(": 1\n", (1, 1), "a key is missing");
    refused("a: [1, 2\n", (2, 1), "not YAML");
    refused("a: \"\\q\"\n", (1, 4), "not YAML");
    refused("a: 1\n\tb: 2\n", (1, 4), "not YAML");
    let error = read("a:\n  b:\n    - 1\n    - !x y\n", BOUNDS).unwrap_err();
    assert_eq!(error.path, [Step::Key("a".into()), Step::Key("b".into()), Step::Index(1)]);
    assert_eq!(error.to_string(), "line 4, column 7: unknown tag `!x`. Remove it.");
}

#[test]
fn a_value_is_found_in_its_text() {
    let text = "a: 1\nspaces:\n  main:\n    - x\n    - capabilites: []\n";
    let steps = [Step::Key("spaces".into()), Step::Key("main".into()), Step::Index(1)];
    let at = |steps: &[Step]| find(text, &mut |path| path == steps);
    assert_eq!(at(&steps), Some(Position { line: 5, column: 7 }));
    assert_eq!(at(&steps[..2]), Some(Position { line: 3, column: 3 }));
    assert_eq!(at(&[Step::Key("gone".into())]), None);
    assert_eq!(find("a: [", &mut |_| false), None);
}

/// Parses a text, and asserts that it does not take long.
fn soon(text: &str) -> Result<Value, String> {
    let started = Instant::now();
    let answer = read(text, BOUNDS).map_err(|error| error.to_string());
    assert!(started.elapsed() < Duration::from_secs(30), "{:.40}", text);
    answer
}

#[test]
fn bombs_are_refused() {
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    assert!(soon(&laughs).unwrap_err().contains("aliases expanded"));
    let mut merges = "a0: &a0 {k: lol}\n".to_owned();
    for level in 1..40 {
        merges += &format!("a{level}: &a{level} {{<<: *a{0}, b{level}: *a{0}, c{level}: *a{0}}}\n", level - 1);
    }
    assert!(soon(&merges).unwrap_err().contains("aliases expanded"));
    // One more level with each alias: only the depth grows.
    let mut deep = "a0: &a0 1\n".to_owned();
    for level in 1..200 {
        deep += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert!(soon(&deep).unwrap_err().contains("nested more than 127 deep"));
}

#[test]
fn depth_and_size_are_limited() {
    for text in [
        "[".repeat(200_000),
        "{a: ".repeat(200_000),
        "- ".repeat(200_000),
        "? ".repeat(200_000),
        "a: &b [".repeat(10_000),
        (0..2_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect(),
        format!("[{}", ",".repeat(4 << 20)),
        format!("[{}]", "1,".repeat(2 << 20)),
        "x".repeat(MAX_SOURCE_BYTES + 1),
    ] {
        assert!(soon(&text).is_err(), "{:.40}", text);
    }
    for text in ["a ".repeat(1 << 20), "# c\n".repeat(200_000), format!("a: |\n{}", "  x\n".repeat(500_000))] {
        assert!(soon(&text).is_ok(), "{:.40}", text);
    }
}

/// Pieces of YAML in any order: an error or a value, and no panic.
#[test]
fn yaml_fragments_are_read_or_refused() {
    const PIECES: [&str; 44] = [
        "a",
        ": ",
        "\n",
        "  ",
        "- ",
        "? ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "&a ",
        "*a ",
        "!!str ",
        "! ",
        "!<x> ",
        "|",
        ">",
        "-\n",
        "'",
        "\"",
        "#",
        " #",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "%TAG ! x:\n",
        "\t",
        "<<",
        "<<: ",
        "\\",
        "\\x4",
        "é",
        "\u{feff}",
        "\0",
        "\r",
        "~",
        ".inf",
        "1",
        "|2\n",
        ":",
        "@",
        "`",
        "\u{85}",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..60_000 {
        let mut text = String::new();
        for _ in 0..=state % 17 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += PIECES[(state >> 33) as usize % PIECES.len()];
        }
        let answer = std::panic::catch_unwind(|| {
            find(&text, &mut |_| false);
            read(&text, BOUNDS).map_err(|error| error.position)
        });
        match answer {
            Ok(Ok(_)) => {}
            Ok(Err(position)) => assert!(position.line >= 1 && position.column >= 1),
            Err(_) => panic!("it panics: {text:?}"),
        }
    }
}
