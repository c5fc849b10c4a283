//! What results without a declared type were like, as calls gave them: names and types, never values.
//!
//! `shape`: one result, and several together.

mod shape;

use crate::project::Outlines;
use agent_spaces_policy::FunctionId;
use serde_json::Value;
use shape::ResultShape;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most functions of which something is remembered.
const MAX_FUNCTIONS: usize = 5_000;

/// How often what is known of a function may change: a server whose results are ever new writes no file for each of them.
const MAX_CHANGES: usize = 50;

/// What results were like, by function. Kept in files, a small one to a function. Clones are one.
#[derive(Clone)]
pub struct ObservedResults(Arc<Inner>);

struct Inner {
    files: Outlines,
    /// What the functions are of: two projects may have different servers of one name.
    project: String,
    known: Mutex<HashMap<FunctionId, Known>>,
}

#[derive(Default)]
struct Known {
    shape: Option<ResultShape>,
    changes: usize,
}

impl ObservedResults {
    /// Of the functions of this project, kept there.
    pub fn new(files: Outlines, project: &str) -> ObservedResults {
        ObservedResults(Arc::new(Inner { files, project: project.to_owned(), known: Mutex::default() }))
    }

    /// Takes in a result of a function.
    pub fn see(&self, function: &FunctionId, value: &Value) {
        let seen = ResultShape::of(value);
        if self.known().get(function).is_some_and(|known| !known.would_change(&seen)) {
            return;
        }
        let (observed, function) = (self.clone(), function.clone());
        let add = move || observed.add(&function, seen);
        // A file may be on a slow disk, and the call goes on meanwhile.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(add)),
            Err(_) => add(),
        }
    }

    /// What results of a function were like, as TypeScript writes types. Reads a file the first time.
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

    /// Reads what was known of a function before, once.
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
    /// Whether a result says something new.
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
    use super::{MAX_CHANGES, ObservedResults};
    use crate::project::Outlines;
    use agent_spaces_policy::FunctionId;
    use serde_json::json;

    #[test]
    fn what_was_seen_is_known_the_next_time_and_in_no_other_project() {
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
    fn results_that_are_ever_new_are_not_written_forever() {
        let observed = ObservedResults::new(Outlines::none(), "a");
        let function = FunctionId::new("capabilities:mcp-odd/odd@1.0.0", "echo");
        for number in 0..2 * MAX_CHANGES {
            observed.see(&function, &json!([{ "a": vec![json!({}); number % 3], "b": number % 2 == 0 }, number]));
        }
        assert!(observed.known()[&function].changes <= MAX_CHANGES);
    }
}
