//! Cache of prepared programs: a program that is seen again is neither parsed nor resolved nor linked again.
//!
//! It belongs to a space, and a space has one set of capabilities, one policy and one version of every definition: where
//! they change, there is another space, whose cache is empty. What can change below a space are the files of its
//! workspace, so these are compared. A program that is run often is compiled once (`agent_spaces_sandbox::program`), and
//! that is kept with it.

use crate::lru::Lru;
use agent_spaces_linker::resolve::FileRead;
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_sandbox::program::Program;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of programs that are kept. An agent that repeats programs repeats a few, and a server may have some
/// hundred spaces.
const MAX_PROGRAMS: usize = 64;

/// Maximum bytes of the programs that are kept, compiled scripts included: hundreds of ordinary ones. A compiled script
/// alone may take a megabyte.
const MAX_BYTES: usize = 4 << 20;

/// The author's texts and the positions in them, which programs keep for errors, take about as much as what runs.
const BYTES_PER_BYTE: usize = 2;

/// Prepared programs by name and text.
#[derive(Default)]
pub(crate) struct ProgramCache {
    programs: Mutex<Lru<Key, Kept>>,
    reused: AtomicU64,
}

struct Key {
    name: Box<str>,
    source: Box<str>,
}

#[derive(Clone)]
struct Kept {
    program: Program,
    /// Workspace files that it was resolved with.
    reads: Arc<[FileRead]>,
}

impl Key {
    fn is(&self, name: &str, source: &str) -> bool {
        *self.name == *name && *self.source == *source
    }
}

impl Kept {
    /// Returns true if the program is still what its files say.
    fn is_current(&self, workspace: Option<&Workspace>) -> bool {
        self.reads.iter().all(|read| workspace.is_some_and(|workspace| read.is_current(workspace)))
    }

    fn bytes(&self, key: &Key) -> usize {
        key.source.len() + self.program.kept_bytes().saturating_mul(BYTES_PER_BYTE)
    }
}

impl ProgramCache {
    /// Returns a program that was prepared before, if its files have not changed since. Reads them.
    pub(crate) fn get(&self, name: &str, source: &str, workspace: Option<&Workspace>) -> Option<Program> {
        let kept = self.lock().get(|key| key.is(name, source)).cloned()?;
        if !kept.is_current(workspace) {
            self.lock().remove(|key| key.is(name, source));
            return None;
        }
        self.reused.fetch_add(1, Ordering::Relaxed);
        // Scripts may have been compiled since.
        Self::shrink(&mut self.lock());
        Some(kept.program)
    }

    /// Keeps a program. Returns the one to run: of equal ones that were prepared at once, all run the first.
    pub(crate) fn keep(&self, name: &str, source: &str, program: Program, reads: Vec<FileRead>) -> Program {
        let mut programs = self.lock();
        let same = programs.get(|key| key.is(name, source));
        if let Some(same) = same.filter(|same| *same.reads == *reads) {
            return same.program.clone();
        }
        programs.remove(|key| key.is(name, source));
        let kept = Kept { program: program.clone(), reads: reads.into() };
        programs.push(Key { name: name.into(), source: source.into() }, kept);
        Self::shrink(&mut programs);
        program
    }

    /// Makes room for what was added, and for scripts that were compiled since.
    fn shrink(programs: &mut Lru<Key, Kept>) {
        programs.shrink(MAX_PROGRAMS, MAX_BYTES, |key, kept| kept.bytes(key));
    }

    /// Returns how often a program was not prepared again.
    pub(crate) fn reused(&self) -> u64 {
        self.reused.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Lru<Key, Kept>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
