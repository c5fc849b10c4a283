//! Notes (warnings) of one schema. A path is a linked list on the stack, formatted only for a note.

use super::SchemaError;
use super::keywords::{IN_PLACE_LIST, IN_PLACE_ONE};
use super::limits::{MAX_COMPARED_LETTERS, MAX_NOTES};
use crate::definition::{Note, Place};
use crate::names::nearest;
use std::fmt::Write;

/// Steps from the schema's root to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// Returns true if the schema here applies together with others, which may declare the members that it requires: a
    /// part of `allOf` and the like, or a definition.
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

/// Notes of one schema, limited in number.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    place: &'a Place,
    kept: Vec<Note>,
    dropped: usize,
    /// True if likely mistakes are errors.
    is_strict: bool,
    /// The first likely mistake, if mistakes are errors.
    mistake: Option<SchemaError>,
    /// Letter comparisons left for suggestions.
    letters_left: usize,
}

impl<'a> Notes<'a> {
    pub(super) fn new(place: &'a Place, is_strict: bool) -> Self {
        Notes { place, kept: Vec::new(), dropped: 0, is_strict, mistake: None, letters_left: MAX_COMPARED_LETTERS }
    }

    pub(super) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Charges the comparison of a name with others to the budget for suggestions. Returns false once the budget is
    /// exceeded, and from then on for every name.
    pub(super) fn may_compare<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str>) -> bool {
        if self.letters_left == 0 {
            return false;
        }
        for other in known {
            // The table of an edit distance has one row and one column more than there are letters.
            let letters = (name.len() + 1).saturating_mul(other.len() + 1);
            self.letters_left = self.letters_left.saturating_sub(letters);
            if self.letters_left == 0 {
                return false;
            }
        }
        true
    }

    /// Returns the known name that was probably meant, within the budget for suggestions.
    pub(super) fn nearest<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
        if self.may_compare(name, known.clone()) { nearest(name, known) } else { None }
    }

    /// Reports a likely mistake: an error in the project's own formats, a note in others.
    pub(super) fn mistake(&mut self, path: &Path<'_>, message: String, fix: String) {
        if !self.is_strict {
            return self.add(path, format!("{message}; {fix}"));
        }
        if self.mistake.is_none() {
            self.mistake = Some(SchemaError { place: self.at(path), message, fix });
        }
    }

    /// Reports a mistake that leaves the type unknown: in other formats, this part becomes any value.
    pub(super) fn mistake_as_any(&mut self, path: &Path<'_>, message: String, fix: String) {
        let message = if self.is_strict { message } else { format!("{message}, so this is any value") };
        self.mistake(path, message, fix);
    }

    /// Returns the first mistake as an error, in strict mode.
    pub(super) fn check(&mut self) -> Result<(), SchemaError> {
        self.mistake.take().map_or(Ok(()), Err)
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
