//! Path of a value in the configuration, tracked while reading and formatted only for errors.

use super::error::{ConfigError, shown};
use std::fmt;

/// Path of a value: the steps that lead to it from the root.
#[derive(Clone, Copy)]
pub(super) struct ConfigPath<'a> {
    file: &'a str,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a ConfigPath<'a>, &'a str),
    Index(&'a ConfigPath<'a>, usize),
}

impl<'a> ConfigPath<'a> {
    pub(super) fn root(file: &'a str) -> ConfigPath<'a> {
        ConfigPath { file, step: Step::Root }
    }

    /// Returns the file name, as passed to the reader.
    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    pub(super) fn key(&'a self, key: &'a str) -> ConfigPath<'a> {
        ConfigPath { file: self.file, step: Step::Key(self, key) }
    }

    pub(super) fn index(&'a self, index: usize) -> ConfigPath<'a> {
        ConfigPath { file: self.file, step: Step::Index(self, index) }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ConfigError {
        ConfigError {
            file: self.file.to_owned(),
            path: self.to_string(),
            position: None,
            message: message.into(),
            fix: None,
        }
    }
}

impl fmt::Display for ConfigPath<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Collected from the leaf up and written from the root down: no recursion, whatever the depth.
        let (mut steps, mut path) = (Vec::new(), self);
        while let Step::Key(parent, _) | Step::Index(parent, _) = &path.step {
            steps.push(&path.step);
            path = parent;
        }
        formatter.write_str("$")?;
        for step in steps.into_iter().rev() {
            match step {
                Step::Root => {}
                Step::Key(_, key) if is_plain(key) => write!(formatter, ".{key}")?,
                Step::Key(_, key) => write!(formatter, "[\"{}\"]", shown(key))?,
                Step::Index(_, index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Returns true if a key can be written after a dot without ambiguity.
fn is_plain(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    (1..=64).contains(&key.len()) && key.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use crate::config_path::ConfigPath;

    #[test]
    fn paths_are_formatted_as_json_paths() {
        let root = ConfigPath::root("f");
        let (spaces, odd) = (root.key("spaces"), root.key("a.b\n"));
        let (space, item) = (spaces.key("my-space"), odd.index(2));
        assert_eq!(root.to_string(), "$");
        assert_eq!(space.key("limits").to_string(), "$.spaces.my-space.limits");
        assert_eq!(item.key("").to_string(), r#"$["a.b\n"][2][""]"#);
    }
}
