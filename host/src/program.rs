//! A script made ready to run: its code, its modules, and the sandbox linked for what it imports.

use crate::error_report::Location;
use crate::modules::Modules;
use crate::sandbox::Sandbox;
use crate::script::{Position, PositionMap, code_frame};
use std::collections::HashMap;
use std::sync::Arc;

/// A script made ready to run, any number of times.
pub struct Program {
    pub(crate) name: String,
    pub(crate) code: String,
    pub(crate) call_default: bool,
    pub(crate) modules: Arc<Modules>,
    pub(crate) sources: Sources,
    pub(crate) sandbox: Sandbox,
}

/// The author's own texts, for positions and code frames.
#[derive(Default)]
pub(crate) struct Sources(pub(crate) HashMap<String, Source>);

pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) positions: PositionMap,
}

impl Program {
    /// The script's file name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The interfaces that the script can reach, by full name: all that it imports, and nothing else.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.sandbox.interfaces()
    }

    /// The lines around a place in one of the program's files, for a terminal.
    pub fn code_frame(&self, location: &Location) -> Option<String> {
        let source = self.sources.0.get(&location.file)?;
        Some(code_frame(&source.text, Position { line: location.line, column: location.column }, None))
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn call_default(&self) -> bool {
        self.call_default
    }

    pub(crate) fn modules(&self) -> &Arc<Modules> {
        &self.modules
    }

    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Sources {
    /// Where the author wrote what stands at this place of the code that ran.
    pub(crate) fn locate(&self, file: &str, line: u32, column: u32) -> Option<Location> {
        let source = self.0.get(file)?;
        Some(Location::new(file, source.positions.original(line, column)))
    }
}
