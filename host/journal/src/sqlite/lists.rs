//! Filters of lists as SQL.
//!
//! A statement has only the conditions that are set, so that each equality can be looked up in an index. Most name their
//! index: without statistics SQLite would sort all rows of an owner for one page of them.

use super::rows;
use crate::approval::{ApprovalFilter, ApprovalRow};
use crate::document::{Document, DocumentFilter};
use crate::error::StoreError;
use crate::run::{Filter, MAX_PROGRESS, Progress, RunRow, Status};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

/// States of runs that have not ended.
const UNFINISHED: &str = "status IN ('ready', 'running', 'parked')";

/// Statement in the making.
pub(super) struct Select {
    pub(super) sql: String,
    /// One for each `?`.
    pub(super) values: Vec<Value>,
}

impl Select {
    fn new(columns: &str, table: &str) -> Select {
        Select { sql: format!("SELECT {columns} FROM {table} WHERE TRUE"), values: Vec::new() }
    }

    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.values.extend(values);
    }

    /// Adds an equality, if there is a value.
    fn equal(&mut self, column: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.and(&format!("{column} = ?"), [Value::from(value.to_owned())]);
        }
    }

    /// Adds a comparison of a position, if there is one.
    fn position(&mut self, comparison: &str, position: Option<&(i64, String)>) {
        if let Some((created, id)) = position {
            let values = [Value::from(*created), Value::from(id.clone())];
            self.and(&format!("(created, id) {comparison} (?, ?)"), values);
        }
    }

    fn page(mut self, order: &str, limit: usize) -> Select {
        self.sql.push_str(&format!(" ORDER BY {order} LIMIT ?"));
        // SQLite's integers are signed.
        self.values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
        self
    }

    /// Counts the rows instead, at most this many. Their order does not matter then.
    fn counted(mut self, limit: usize) -> Select {
        self.sql = format!("SELECT count(*) FROM ({} LIMIT ?)", self.sql);
        // SQLite's integers are signed.
        self.values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
        self
    }

    /// Returns the only number of the only row.
    fn number(self, connection: &Connection) -> Result<u64, StoreError> {
        let number = rows::query(connection, &self.sql, params_from_iter(self.values), |row| row.get(0))?;
        Ok(number.unwrap_or_default())
    }

    fn rows<T>(
        self,
        connection: &Connection,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        Ok(rows::list(connection, &self.sql, params_from_iter(self.values), read)?)
    }
}

/// Returns the statement of a list of runs.
pub(super) fn select_runs(filter: &Filter) -> Select {
    let mut select = Select::new(rows::RUN, &format!("runs{}", index_of_runs(filter)));
    match filter.statuses.as_slice() {
        [] => {}
        // Its text is ours, and an index of some states needs it in the statement.
        [status] => select.and(&format!("status = '{status}'"), []),
        several => {
            let names: Vec<String> = several.iter().map(|status| status.as_str().to_owned()).collect();
            select.and("status IN (SELECT value FROM json_each(?))", [Value::from(rows::json_list(&names))]);
        }
    }
    select.equal("project", filter.project.as_deref());
    select.equal("caller", filter.caller.as_deref());
    select.equal("space", filter.space.as_deref());
    if let Some(from) = filter.created_from {
        select.and("created >= ?", [Value::from(from)]);
    }
    if let Some(until) = filter.created_until {
        select.and("created < ?", [Value::from(until)]);
    }
    select.position("<", filter.before.as_ref());
    select.page("created DESC, id DESC", filter.limit)
}

fn index_of_runs(filter: &Filter) -> &'static str {
    let is_unfinished = |statuses: &[Status]| !statuses.is_empty() && !statuses.iter().any(|status| status.is_ended());
    match filter {
        // There are few of those, whoever they belong to; an owner may have any number of ended ones.
        Filter { statuses, .. } if is_unfinished(statuses) => " INDEXED BY runs_status",
        Filter { project: Some(_), caller: Some(_), space: Some(_), .. } => " INDEXED BY runs_space_caller",
        Filter { space: Some(_), .. } => " INDEXED BY runs_space",
        // One end may be rare among those of an owner.
        Filter { project: Some(_), caller: Some(_), statuses, .. } if statuses.len() == 1 => {
            " INDEXED BY runs_caller_ended"
        }
        Filter { caller: None, statuses, .. } if statuses.len() == 1 => " INDEXED BY runs_status",
        Filter { project: Some(_), caller: Some(_), .. } => " INDEXED BY runs_caller",
        Filter { project: Some(_), .. } => " INDEXED BY runs_project",
        _ => "",
    }
}

pub(super) fn runs(connection: &Connection, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
    select_runs(filter).rows(connection, rows::run_row)
}

pub(super) fn progress(connection: &Connection, runs: &[String]) -> Result<Vec<Progress>, StoreError> {
    if runs.len() > MAX_PROGRESS {
        let text = format!("progress of {} runs at once: the limit is {MAX_PROGRESS}", runs.len());
        return Err(StoreError::Invalid(text));
    }
    let sql = "SELECT id, next_seq, status FROM runs WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id";
    Ok(rows::list(connection, sql, [rows::json_list(runs)], |row| {
        Ok(Progress { run: row.get(0)?, next_seq: row.get(1)?, status: row.get(2)? })
    })?)
}

/// States with the index that finds those that changed last. Of runs that are ready or running all are looked at: there
/// are few, and no index has the time of their changes, because every append would write to it.
const CHANGED: [(&str, &str); 4] = [
    ("runs_status", "status = 'ready'"),
    ("runs_status", "status = 'running'"),
    ("runs_parked", "status = 'parked'"),
    ("runs_ended", "status IN ('finished', 'failed', 'cancelled')"),
];

/// Returns the statement of a list of changed runs. It is one statement, so that no run changes its state meanwhile.
pub(super) fn select_changed_runs(after: &(i64, String), limit: usize) -> Select {
    // SQLite's integers are signed.
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (columns, mut values) = (rows::RUN_WITHOUT_OUTCOME, Vec::new());
    let parts = CHANGED.map(|(index, condition)| {
        values.extend([Value::from(after.0), Value::from(after.1.clone()), Value::from(limit)]);
        format!(
            "SELECT * FROM (SELECT {columns} FROM runs INDEXED BY {index} \
             WHERE {condition} AND (updated, id) > (?, ?) ORDER BY updated, id LIMIT ?)"
        )
    });
    values.push(Value::from(limit));
    Select { sql: format!("{} ORDER BY updated, id LIMIT ?", parts.join(" UNION ALL ")), values }
}

pub(super) fn changed_runs(
    connection: &Connection,
    after: &(i64, String),
    limit: usize,
) -> Result<Vec<RunRow>, StoreError> {
    select_changed_runs(after, limit).rows(connection, rows::run_row)
}

/// Returns the statement of a list of approvals.
pub(super) fn select_approvals(filter: &ApprovalFilter) -> Select {
    let order = if filter.newest_first { "created DESC, id DESC" } else { "created, id" };
    match_approvals(rows::APPROVAL, filter).page(order, filter.limit)
}

fn match_approvals(columns: &str, filter: &ApprovalFilter) -> Select {
    let index = if filter.run.is_some() { " INDEXED BY approvals_run" } else { "" };
    let mut select = Select::new(columns, &format!("approvals{index}"));
    select.equal("run", filter.run.as_deref());
    if filter.pending {
        select.and("decision IS NULL", []);
    }
    let mut run = Select::new("1", "runs");
    run.and("id = approvals.run", []);
    if filter.pending {
        run.and(UNFINISHED, []);
    }
    if let Some(owner) = &filter.runs_of {
        run.equal("project", Some(&owner.project));
        run.equal("caller", owner.caller.as_deref());
        run.equal("space", owner.space.as_deref());
    }
    if filter.pending || filter.runs_of.is_some() {
        select.and(&format!("EXISTS ({})", run.sql), run.values);
    }
    select.position(if filter.newest_first { "<" } else { ">" }, filter.after.as_ref());
    select
}

pub(super) fn approvals(connection: &Connection, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
    select_approvals(filter).rows(connection, rows::approval_row)
}

/// Returns the statement of a list of decided approvals.
pub(super) fn select_decided(after: &(i64, String), limit: usize) -> Select {
    let mut select = Select::new(rows::APPROVAL, "approvals INDEXED BY approvals_decided");
    select.and("decided_at IS NOT NULL", []);
    select.and("(decided_at, id) > (?, ?)", [Value::from(after.0), Value::from(after.1.clone())]);
    select.page("decided_at, id", limit)
}

pub(super) fn decided_approvals(
    connection: &Connection,
    after: &(i64, String),
    limit: usize,
) -> Result<Vec<ApprovalRow>, StoreError> {
    select_decided(after, limit).rows(connection, rows::approval_row)
}

pub(super) fn count_approvals(connection: &Connection, filter: &ApprovalFilter) -> Result<u64, StoreError> {
    match_approvals("1", filter).counted(filter.limit).number(connection)
}

/// Returns the statement of a list of documents.
pub(super) fn select_documents(filter: &DocumentFilter) -> Select {
    match_documents(rows::DOCUMENT, filter).page("created DESC, id DESC", filter.limit)
}

fn match_documents(columns: &str, filter: &DocumentFilter) -> Select {
    let index = match filter {
        // Prunes remove them, so there are few.
        DocumentFilter { expired_before: Some(_), .. } => "documents_expires",
        DocumentFilter { owner: Some(_), .. } => "documents_owner",
        _ => "documents_created",
    };
    let mut select = Select::new(columns, &format!("documents INDEXED BY {index}"));
    select.equal("kind", Some(&filter.kind));
    select.equal("owner", filter.owner.as_deref());
    if let Some(time) = filter.expired_before {
        select.and("expires < ?", [Value::from(time)]);
    }
    select.position("<", filter.before.as_ref());
    select
}

pub(super) fn documents(connection: &Connection, filter: &DocumentFilter) -> Result<Vec<Document>, StoreError> {
    select_documents(filter).rows(connection, rows::document_row)
}

/// Returns the statement of a number of documents.
pub(super) fn select_document_count(filter: &DocumentFilter) -> Select {
    match_documents("1", filter).counted(filter.limit)
}

pub(super) fn count_documents(connection: &Connection, filter: &DocumentFilter) -> Result<u64, StoreError> {
    select_document_count(filter).number(connection)
}
