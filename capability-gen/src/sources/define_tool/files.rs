//! Definition file and its imports, each parsed when first needed.
//!
//! All files share one range of offsets: the spans of a file start where those of the previous file end. So an offset
//! identifies its file, in which names are looked up.

use super::fault::{Fault, Lines};
use super::file::File;
use super::{Load, MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES, depth};
use crate::definition::Place;
use crate::paths::join;
use crate::sources::SourceError;
use oxc_allocator::Allocator;
use oxc_ast_visit::VisitMut;
use oxc_parser::Parser;
use oxc_span::{SourceType, Span};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Index of a file, in the order of first use.
pub(super) type FileId = usize;

/// The definition file.
pub(super) const MAIN: FileId = 0;

/// Files parsed so far.
pub(super) struct Files<'a, 'l> {
    allocator: &'a Allocator,
    load: Load<'l>,
    /// Prefix of paths in errors.
    folder: &'l str,
    /// Maximum depth of a file on the available stack.
    room: u32,
    parsed: RefCell<Vec<Rc<Parsed<'a>>>>,
    by_path: RefCell<HashMap<String, Origin>>,
    bytes: Cell<usize>,
}

/// Parsed file.
pub(super) struct Parsed<'a> {
    /// Path relative to the definition's folder.
    path: String,
    /// Start of its offsets.
    base: u32,
    lines: Lines<'a>,
    file: File<'a>,
}

/// Resolution of an import.
#[derive(Clone)]
pub(super) enum Origin {
    /// File of the definition's folder.
    File(FileId),
    /// Unsupported module, with the reason.
    Unsupported(String),
}

impl<'a, 'l> Files<'a, 'l> {
    pub(super) fn new(allocator: &'a Allocator, load: Load<'l>, shown: &'l str, room: u32) -> Self {
        let folder = shown.rfind(['/', '\\']).and_then(|end| shown.get(..=end)).unwrap_or_default();
        Self {
            allocator,
            load,
            folder,
            room,
            parsed: RefCell::default(),
            by_path: RefCell::default(),
            bytes: Cell::new(0),
        }
    }

    /// Parses a file. The first is the definition file.
    pub(super) fn add(&self, path: &str, text: &str) -> Result<FileId, SourceError> {
        let base = self.parsed.borrow().last().map_or(0, |last| last.base + last.lines.len() + 1);
        let text: &'a str = self.allocator.alloc_str(text);
        let shown: &'a str = self.allocator.alloc_str(&format!("{}{path}", self.folder));
        let lines = Lines::new(shown, text);
        let file = self.parse(text, base).map_err(|fault| lines.error(fault, base))?;
        let mut parsed = self.parsed.borrow_mut();
        let id = parsed.len();
        self.by_path.borrow_mut().insert(path.to_owned(), Origin::File(id));
        parsed.push(Rc::new(Parsed { path: path.to_owned(), base, lines, file }));
        Ok(id)
    }

    fn parse(&self, text: &'a str, base: u32) -> Result<File<'a>, Fault> {
        let depth = depth::bound(text).map_err(|fault| fault.moved(base))?;
        if depth > self.room {
            return Err(Fault::new(
                base,
                "the file is nested too deeply",
                "end statements with semicolons, and split long ones",
            ));
        }
        let parsed = Parser::new(self.allocator, text, SourceType::ts().with_module(true)).parse();
        if let Some(first) = parsed.diagnostics.errors().next() {
            let at = first.labels.first().map_or(0, |label| label.offset());
            let fix = first.help.as_ref().map_or_else(|| "correct the syntax".to_owned(), ToString::to_string);
            return Err(Fault::new(base + at, first.message.to_string(), fix));
        }
        if parsed.panicked {
            return Err(Fault::new(base, "the file cannot be parsed", "correct its syntax"));
        }
        let program = self.allocator.alloc(parsed.program);
        if base > 0 {
            Move(base).visit_program(program);
        }
        File::new(program, text, base)
    }

    pub(super) fn get(&self, id: FileId) -> Option<Rc<Parsed<'a>>> {
        self.parsed.borrow().get(id).cloned()
    }

    /// The file that contains an offset.
    pub(super) fn at(&self, offset: u32) -> FileId {
        self.parsed.borrow().partition_point(|file| file.base <= offset).saturating_sub(1)
    }

    /// The file and `line:column` of an offset.
    pub(super) fn place(&self, offset: u32) -> Place {
        self.get(self.at(offset)).map(|file| file.lines.place(offset - file.base)).unwrap_or_default()
    }

    pub(super) fn error(&self, fault: Fault) -> SourceError {
        let place = self.place(fault.at);
        fault.at_place(place)
    }

    /// Resolves an import of a file.
    pub(super) fn import(&self, from: FileId, specifier: &str, at: u32) -> Result<Origin, Fault> {
        if !(specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..")) {
            return Ok(Origin::Unsupported(format!("'{specifier}' is not a file of the definition's folder")));
        }
        let from = self.get(from).map(|file| file.path.clone()).unwrap_or_default();
        let Some(path) = join(&from, specifier) else {
            return Ok(Origin::Unsupported(format!("'{specifier}' is outside of the definition's folder")));
        };
        for candidate in candidates(&path) {
            let known = self.by_path.borrow().get(&candidate).cloned();
            if let Some(known) = known {
                return Ok(known);
            }
            let origin = match (self.load)(&candidate) {
                Ok(None) => continue,
                Ok(Some(text)) => self.loaded(&candidate, &text)?,
                Err(why) => Origin::Unsupported(format!("'{specifier}' cannot be read: {why}")),
            };
            self.by_path.borrow_mut().insert(candidate, origin.clone());
            return Ok(origin);
        }
        Err(Fault::new(
            at,
            format!("there is no file '{specifier}' in the definition's folder"),
            "correct the path, which is relative to the file that has the import",
        ))
    }

    fn loaded(&self, path: &str, text: &str) -> Result<Origin, Fault> {
        let total = self.bytes.get().saturating_add(text.len());
        if path.ends_with(".json") {
            return Ok(Origin::Unsupported(format!("'{path}' is not TypeScript")));
        }
        if text.len() > MAX_FILE_BYTES {
            return Ok(Origin::Unsupported(format!("'{path}' is longer than {MAX_FILE_BYTES} bytes")));
        }
        if total > MAX_TOTAL_BYTES {
            return Ok(Origin::Unsupported(format!(
                "'{path}' and the files before it have more than {MAX_TOTAL_BYTES} bytes"
            )));
        }
        if self.parsed.borrow().len() > MAX_FILES {
            return Ok(Origin::Unsupported(format!("'{path}' comes after {MAX_FILES} other files")));
        }
        self.bytes.set(total);
        self.add(path, text).map(Origin::File).map_err(Fault::placed)
    }
}

impl<'a> Parsed<'a> {
    pub(super) fn file(&self) -> &File<'a> {
        &self.file
    }

    /// Path relative to the definition's folder.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

/// Shifts all spans of a file by its base offset.
struct Move(u32);

impl<'a> VisitMut<'a> for Move {
    fn visit_span(&mut self, span: &mut Span) {
        *span = Span::new(span.start + self.0, span.end + self.0);
    }
}

/// Candidate files of an import path, the likeliest first: those of a handler's import, and declaration files.
fn candidates(path: &str) -> Vec<String> {
    const INDEXES: [&str; 3] = ["index.ts", "index.d.ts", "index.js"];
    if path.is_empty() {
        return INDEXES.map(str::to_owned).to_vec();
    }
    let mut candidates = vec![path.to_owned()];
    for (written, meant) in [(".js", ".ts"), (".mjs", ".mts"), (".js", ".d.ts"), (".mjs", ".d.mts")] {
        // TypeScript imports a `.ts` file by the name of its output.
        candidates.extend(path.strip_suffix(written).map(|stem| format!("{stem}{meant}")));
    }
    for ending in [".ts", ".mts", ".d.ts", ".js", ".mjs", ".json"] {
        candidates.push(format!("{path}{ending}"));
    }
    candidates.extend(INDEXES.map(|index| format!("{path}/{index}")));
    candidates
}
