//! What was tolerated, and where. A place is a chain of steps on the stack: text only when there is a note.

use super::SchemaError;
use super::keywords::{IN_PLACE_LIST, IN_PLACE_ONE};
use super::limits::MAX_NOTES;
use super::slips::MAX_COMPARED;
use crate::definition::{Note, Place};
use std::fmt::Write;

/// Steps from the schema's root to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// Whether the schema here applies together with others, which may name the members that it requires: a part of
    /// `allOf` and the like, or a definition.
    pub(super) fn is_part(&self) -> bool {
        let is_in_place = |keyword: &str| IN_PLACE_LIST.contains(&keyword) || IN_PLACE_ONE.contains(&keyword);
        match self {
            Path::Root => false,
            Path::Key(Path::Key(_, "properties"), _) => false,
            Path::Key(Path::Key(_, "$defs" | "dependentSchemas"), _) => true,
            Path::Key(_, keyword) => is_in_place(keyword),
            Path::Index(Path::Key(_, keyword), _) => is_in_place(keyword),
            Path::Index(..) => false,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Path::Root => {}
            Path::Key(parent, key) => {
                parent.write(out);
                let is_plain = !key.is_empty() && key.chars().all(|it| it.is_ascii_alphanumeric() || "_$".contains(it));
                // Writing to a string does not fail.
                let _ = if is_plain { write!(out, ".{key}") } else { write!(out, "[{key:?}]") };
            }
            Path::Index(parent, index) => {
                parent.write(out);
                let _ = write!(out, "[{index}]");
            }
        }
    }
}

/// The notes of one schema, so many and no more.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    place: &'a Place,
    kept: Vec<Note>,
    dropped: usize,
    /// Whether slips are errors.
    is_strict: bool,
    /// The first slip, where slips are errors.
    slip: Option<SchemaError>,
    /// How many names may still be compared with known ones.
    comparisons: usize,
}

impl<'a> Notes<'a> {
    pub(super) fn new(place: &'a Place, is_strict: bool) -> Self {
        Notes { place, kept: Vec::new(), dropped: 0, is_strict, slip: None, comparisons: MAX_COMPARED }
    }

    pub(super) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Whether one more name may be compared with known ones, which costs time.
    pub(super) fn may_compare(&mut self) -> bool {
        let may = self.comparisons > 0;
        self.comparisons = self.comparisons.saturating_sub(1);
        may
    }

    /// What is probably a slip: an error in the project's own formats, a note in others.
    pub(super) fn slip(&mut self, path: &Path<'_>, message: String, fix: String) {
        if !self.is_strict {
            return self.add(path, format!("{message}; {fix}"));
        }
        if self.slip.is_none() {
            self.slip = Some(SchemaError { place: self.at(path), message, fix });
        }
    }

    /// A slip that leaves nothing to go by: in the formats of others, this part is any value.
    pub(super) fn slip_to_any(&mut self, path: &Path<'_>, message: String, fix: String) {
        let message = if self.is_strict { message } else { format!("{message}, so this is any value") };
        self.slip(path, message, fix);
    }

    /// Refuses a schema with a slip in it, where that is an error.
    pub(super) fn check(&mut self) -> Result<(), SchemaError> {
        self.slip.take().map_or(Ok(()), Err)
    }

    fn at(&self, path: &Path<'_>) -> Place {
        let mut text = self.place.path.clone();
        path.write(&mut text);
        Place { file: self.place.file.clone(), path: text }
    }

    pub(super) fn add(&mut self, path: &Path<'_>, message: impl Into<String>) {
        if self.kept.len() == MAX_NOTES {
            self.dropped += 1;
            return;
        }
        let note = Note { place: self.at(path), message: message.into() };
        if !self.kept.contains(&note) {
            self.kept.push(note);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Note> {
        if self.dropped > 0 {
            let message = format!("and {} more like these", self.dropped);
            self.kept.push(Note { place: self.place.clone(), message });
        }
        self.kept
    }
}
