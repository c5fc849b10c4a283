//! A place inside the configuration, known while reading and written out only for an error.

use super::error::{ConfigError, shown};
use std::fmt;

/// A value's place: the steps that lead to it from the root.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    file: &'a str,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a Place<'a>, &'a str),
    Index(&'a Place<'a>, usize),
}

impl<'a> Place<'a> {
    pub(super) fn root(file: &'a str) -> Place<'a> {
        Place { file, step: Step::Root }
    }

    /// The file, as its reader named it.
    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    pub(super) fn key(&'a self, key: &'a str) -> Place<'a> {
        Place { file: self.file, step: Step::Key(self, key) }
    }

    pub(super) fn index(&'a self, index: usize) -> Place<'a> {
        Place { file: self.file, step: Step::Index(self, index) }
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

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // From the leaf up, then written from the root down: no recursion, whatever the depth.
        let (mut steps, mut place) = (Vec::new(), self);
        while let Step::Key(parent, _) | Step::Index(parent, _) = &place.step {
            steps.push(&place.step);
            place = parent;
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

/// Whether a key can stand after a dot and be read back without doubt.
fn is_plain(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    (1..=64).contains(&key.len()) && key.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn places_read_like_json_paths() {
        let root = Place::root("f");
        let (spaces, odd) = (root.key("spaces"), root.key("a.b\n"));
        let (space, item) = (spaces.key("my-space"), odd.index(2));
        assert_eq!(root.to_string(), "$");
        assert_eq!(space.key("limits").to_string(), "$.spaces.my-space.limits");
        assert_eq!(item.key("").to_string(), r#"$["a.b\n"][2][""]"#);
    }
}
