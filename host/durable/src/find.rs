//! Lookup of runs by the beginning of their ids.

use crate::error::DurableError;
use agent_spaces_journal::{Filter, RunRow, Store};

/// Runs that are read at once.
const PAGE: usize = 1_000;
/// Most runs that an error lists.
const MAX_LISTED: usize = 10;

/// Returns the run whose id begins with these characters, with or without `run_`.
///
/// # Errors
/// There is none, or more than one.
pub async fn find(store: &dyn Store, prefix: &str) -> Result<RunRow, DurableError> {
    let whole = if prefix.starts_with("run_") { prefix.to_owned() } else { format!("run_{prefix}") };
    // Embedders may give runs other ids.
    for id in [&*whole, prefix] {
        if let Some(row) = store.run(id).await? {
            return Ok(row);
        }
    }
    let mut found: Vec<RunRow> = Vec::new();
    let mut before = None;
    loop {
        let page = store.list(Filter { before, limit: PAGE, ..Filter::default() }).await?;
        let is_last = page.len() < PAGE;
        before = page.last().map(|row| (row.created, row.id.clone()));
        let is_match = |row: &RunRow| row.id.starts_with(&whole) || row.id.starts_with(prefix);
        found.extend(page.into_iter().filter(is_match));
        if is_last || found.len() > MAX_LISTED {
            break;
        }
    }
    let runs: Vec<String> = found.iter().take(MAX_LISTED).map(|row| row.id.clone()).collect();
    match (found.pop(), found.is_empty()) {
        (Some(row), true) if !prefix.is_empty() => Ok(row),
        (Some(_), _) => Err(DurableError::Ambiguous { prefix: prefix.to_owned(), runs }),
        (None, _) => Err(DurableError::UnknownRun { run: prefix.to_owned() }),
    }
}
