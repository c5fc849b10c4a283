//! YAML parser, to a JSON value.

use super::bounds::{MAX_BYTES, MAX_DEPTH};
use super::config_path::ConfigPath;
use super::error::{ConfigError, Position};
use capability_gen::yaml::{self, Bounds, Step, YamlError};
use serde_json::{Map, Value};

/// Parses `text` as one YAML document of a configuration. An empty document is an empty object.
pub(super) fn read(file: &str, text: &str) -> Result<Value, ConfigError> {
    let value = read_within(file, text, Bounds { bytes: MAX_BYTES, depth: MAX_DEPTH })?;
    Ok(if value.is_null() { Value::Object(Map::new()) } else { value })
}

/// Parses `text` as one YAML document.
pub(super) fn read_within(file: &str, text: &str, bounds: Bounds) -> Result<Value, ConfigError> {
    yaml::read(text, bounds).map_err(|YamlError { position, path, message, fix }| ConfigError {
        file: file.to_owned(),
        path: shown(&ConfigPath::root(file), &path),
        position: Some(Position { line: position.line, column: position.column }),
        message,
        fix: Some(clause(fix)),
    })
}

/// Returns line and column of the value at this path; `None` if it comes from an alias.
pub(super) fn position_of(text: &str, path: &str) -> Option<Position> {
    let root = ConfigPath::root("");
    let found = yaml::find(text, &mut |steps| shown(&root, steps) == path)?;
    Some(Position { line: found.line, column: found.column })
}

fn shown(path: &ConfigPath<'_>, steps: &[Step]) -> String {
    match steps {
        [] => path.to_string(),
        [Step::Key(key), rest @ ..] => shown(&path.key(key), rest),
        [Step::Index(index), rest @ ..] => shown(&path.index(*index), rest),
    }
}

/// Turns a sentence into a clause: lower case first, no full stop.
fn clause(sentence: &str) -> String {
    let mut characters = sentence.trim_end_matches('.').chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::yaml_text::read;
    use crate::{Format, from_text};
    use serde_json::json;

    #[test]
    fn errors_have_line_column_path_and_fix() {
        assert_eq!(
            read("f", "spaces:\n  é: 1\n  é: 2\n").unwrap_err().to_string(),
            "f:3:3: $.spaces[\"é\"]: duplicate key `é` in this object; rename or remove one of the two"
        );
        let message = |text: &str| from_text("f", text, Format::Yaml).unwrap_err().to_string();
        assert_eq!(
            message("limits:\n  fuel: 1\nspaces:\n  main:\n    capabilites: []\n"),
            "f:5:5: $.spaces.main.capabilites: unknown key `capabilites`; did you mean `capabilities`?"
        );
        assert_eq!(
            message("capabilities: {global: [./a, weather]}\n").split(": `").next(),
            Some("f:1:30: $.capabilities.global[1]")
        );
        assert!(message("a: [1\n").starts_with("f:2:1: "));
        assert!(message("[]").contains("expected an object of settings, found a list"));
    }

    #[test]
    fn bombs_and_depth_are_refused() {
        let message = |text: &str| read("f", text).unwrap_err().to_string();
        assert!(message(&"[".repeat(100_000)).contains("nested"));
        let mut bomb = "a: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let aliases = vec![format!("*a{}", level - 1); 8].join(", ");
            bomb += &format!("b{level}: &a{level} [{aliases}]\n");
        }
        assert!(message(&bomb).contains("aliases"));
        assert_eq!(read("f", "a: &x {b: 1}\nc: *x\n").unwrap(), json!({"a": {"b": 1}, "c": {"b": 1}}));
    }
}
