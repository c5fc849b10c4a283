//! What was tolerated, and where. A place is a chain of steps on the stack: text only when there is a note.

use super::limits::MAX_NOTES;
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
}

impl<'a> Notes<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        Notes { place, kept: Vec::new(), dropped: 0 }
    }

    pub(super) fn add(&mut self, path: &Path<'_>, message: impl Into<String>) {
        if self.kept.len() == MAX_NOTES {
            self.dropped += 1;
            return;
        }
        let mut text = self.place.path.clone();
        path.write(&mut text);
        let note = Note { place: Place { file: self.place.file.clone(), path: text }, message: message.into() };
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
