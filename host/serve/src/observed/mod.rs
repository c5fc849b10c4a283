//! Result types inferred from observed results of functions without a declared type. Stores names and types, never
//! values.
//!
//! - `shape`: type of one result, and the merge of several

mod shape;

use agent_spaces_policy::FunctionId;
use agent_spaces_project::Outlines;
use serde_json::Value;
use shape::ResultShape;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of functions in memory.
const MAX_FUNCTIONS: usize = 5_000;

/// Maximum number of changes per function, so that a server whose results always differ does not write a file for each.
const MAX_CHANGES: usize = 50;

/// Inferred result types by function, each stored in a small file. Clones share state.
#[derive(Clone)]
pub struct ObservedResults(Arc<Inner>);

struct Inner {
    files: Outlines,
    /// Project of the functions: two projects may have different servers of the same name.
    project: String,
    known: Mutex<HashMap<FunctionId, Known>>,
}

#[derive(Default)]
struct Known {
    shape: Option<ResultShape>,
    changes: usize,
}

impl ObservedResults {
    /// Creates the store for the functions of a project.
    pub fn new(files: Outlines, project: &str) -> ObservedResults {
        ObservedResults(Arc::new(Inner { files, project: project.to_owned(), known: Mutex::default() }))
    }

    /// Merges the type of a result into the inferred type of its function.
    pub fn see(&self, function: &FunctionId, value: &Value) {
        let seen = ResultShape::of(value);
        if self.known().get(function).is_some_and(|known| !known.would_change(&seen)) {
            return;
        }
        let (observed, function) = (self.clone(), function.clone());
        let add = move || observed.add(&function, seen);
        // The disk may be slow; the call does not wait for it.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(add)),
            Err(_) => add(),
        }
    }

    /// Returns the inferred result type of a function as TypeScript. Reads a file on first use.
    pub(super) fn text(&self, function: &FunctionId) -> Option<String> {
        self.read(function);
        self.known().get(function)?.shape.as_ref().map(ResultShape::text)
    }

    fn add(&self, function: &FunctionId, seen: ResultShape) {
        self.read(function);
        let mut all = self.known();
        let Some(known) = all.get_mut(function).filter(|known| known.would_change(&seen)) else { return };
        let merged = match known.shape.take() {
            Some(shape) => shape.merged(seen),
            None => seen,
        };
        known.changes += 1;
        known.shape = Some(merged.clone());
        drop(all);
        self.0.files.write(&self.file(function), &merged);
    }

    /// Loads the stored type of a function, once.
    fn read(&self, function: &FunctionId) {
        let is_known = {
            let known = self.known();
            known.contains_key(function) || known.len() >= MAX_FUNCTIONS
        };
        if !is_known {
            let shape = self.0.files.read(&self.file(function));
            self.known().entry(function.clone()).or_insert(Known { shape, changes: 0 });
        }
    }

    fn file(&self, function: &FunctionId) -> String {
        format!("{}.result", Outlines::key([self.0.project.as_str(), &function.to_string()]))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<FunctionId, Known>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Returns true if a result would change the inferred type.
    fn would_change(&self, seen: &ResultShape) -> bool {
        let is_new = match &self.shape {
            Some(shape) => shape.clone().merged(seen.clone()) != *shape,
            None => true,
        };
        is_new && self.changes < MAX_CHANGES
    }
}

#[cfg(test)]
mod tests {
    use crate::observed::{MAX_CHANGES, ObservedResults};
    use agent_spaces_policy::FunctionId;
    use agent_spaces_project::Outlines;
    use serde_json::json;

    #[test]
    fn inferred_types_persist_and_are_separate_per_project() {
        let folder = tempfile::tempdir().unwrap();
        let observed = |project: &str| ObservedResults::new(Outlines::in_folder(folder.path().to_owned()), project);
        let function = FunctionId::new("capabilities:mcp-odd/odd@1.0.0", "echo");
        let first = observed("a");
        assert_eq!(first.text(&function), None);
        first.see(&function, &json!({ "token": "hunter2" }));
        assert_eq!(first.text(&function).as_deref(), Some("{ token: string }"));
        assert_eq!(observed("a").text(&function).as_deref(), Some("{ token: string }"));
        assert_eq!(observed("b").text(&function), None);
        for file in std::fs::read_dir(folder.path()).unwrap() {
            assert!(!std::fs::read_to_string(file.unwrap().path()).unwrap().contains("hunter2"));
        }
    }

    #[test]
    fn the_number_of_writes_per_function_is_bounded() {
        let observed = ObservedResults::new(Outlines::none(), "a");
        let function = FunctionId::new("capabilities:mcp-odd/odd@1.0.0", "echo");
        for number in 0..2 * MAX_CHANGES {
            observed.see(&function, &json!([{ "a": vec![json!({}); number % 3], "b": number % 2 == 0 }, number]));
        }
        assert!(observed.known()[&function].changes <= MAX_CHANGES);
    }
}
