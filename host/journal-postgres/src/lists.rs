//! Filters of lists as SQL.
//!
//! A statement has only the conditions that are set, so that each equality can be looked up in an index.

use crate::database::Database;
use crate::rows::{self, get, limit, number, status};
use crate::value::Value;
use agent_spaces_journal::run::MAX_PROGRESS;
use agent_spaces_journal::{
    ApprovalFilter, ApprovalRow, Document, DocumentFilter, Filter, Progress, RunRow, Size, StoreError,
};
use std::sync::LazyLock;
use tokio_postgres::Row;

/// States of runs that have not ended.
const UNFINISHED: &str = "status IN ('ready', 'running', 'parked')";

/// Statement in the making.
struct Select<'a> {
    sql: String,
    /// One for each `$`.
    values: Vec<Value<'a>>,
}

impl<'a> Select<'a> {
    fn new(columns: &str, table: &str) -> Select<'a> {
        Select { sql: format!("SELECT {columns} FROM {{s}}.{table} WHERE true"), values: Vec::new() }
    }

    /// Adds a condition. Each `?` in it is the next value.
    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value<'a>>) {
        self.sql.push_str(" AND ");
        self.push(condition, values);
    }

    fn push(&mut self, text: &str, values: impl IntoIterator<Item = Value<'a>>) {
        let mut parts = text.split('?');
        self.sql.push_str(parts.next().unwrap_or_default());
        for (part, value) in parts.zip(values) {
            self.values.push(value);
            self.sql.push_str(&format!("${}{part}", self.values.len()));
        }
    }

    /// Adds an equality, if there is a value.
    fn equal(&mut self, column: &str, value: Option<&'a str>) {
        if let Some(value) = value {
            self.and(&format!("{column} = ?"), [Value::Text(value)]);
        }
    }

    /// Adds a comparison of a position, if there is one.
    fn position(&mut self, comparison: &str, position: Option<&'a (i64, String)>) {
        if let Some((created, id)) = position {
            self.and(&format!("(created, id) {comparison} (?, ?)"), [Value::Number(*created), Value::Text(id)]);
        }
    }

    fn page(mut self, order: &str, rows: usize) -> Select<'a> {
        self.push(&format!(" ORDER BY {order} LIMIT ?"), [limit(rows)]);
        self
    }

    /// Counts the rows instead, at most this many. Their order does not matter then.
    fn counted(mut self, rows: usize) -> Select<'a> {
        self.push(" LIMIT ?", [limit(rows)]);
        self.sql = format!("SELECT count(*) FROM ({}) AS counted", self.sql);
        self
    }

    /// Returns the only number of the only row.
    async fn number(self, database: &Database) -> Result<u64, StoreError> {
        database.read(&self.sql, &self.values).await?.first().map_or(Ok(0), |row| number(row, 0))
    }

    async fn rows<T>(
        self,
        database: &Database,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        database.read(&self.sql, &self.values).await?.iter().map(read).collect()
    }
}

pub(crate) async fn runs(database: &Database, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
    let mut select = Select::new(rows::RUN, "runs");
    match filter.statuses.as_slice() {
        [] => {}
        // Its text is ours, and an index of some states needs it in the statement.
        [status] => select.and(&format!("status = '{status}'"), []),
        several => {
            let names = several.iter().map(|status| status.as_str()).collect();
            select.and("status = ANY (?)", [Value::Texts(names)]);
        }
    }
    select.equal("project", filter.project.as_deref());
    select.equal("caller", filter.caller.as_deref());
    select.equal("space", filter.space.as_deref());
    if let Some(from) = filter.created_from {
        select.and("created >= ?", [Value::Number(from)]);
    }
    if let Some(until) = filter.created_until {
        select.and("created < ?", [Value::Number(until)]);
    }
    select.position("<", filter.before.as_ref());
    select.page("created DESC, id DESC", filter.limit).rows(database, rows::run_row).await
}

pub(crate) async fn progress(database: &Database, runs: &[String]) -> Result<Vec<Progress>, StoreError> {
    if runs.len() > MAX_PROGRESS {
        let text = format!("progress of {} runs at once: the limit is {MAX_PROGRESS}", runs.len());
        return Err(StoreError::Invalid(text));
    }
    let sql = "SELECT id, next_seq, status FROM {s}.runs WHERE id = ANY ($1) ORDER BY id";
    let rows = database.repeat(sql, &[Value::Texts(runs.iter().map(String::as_str).collect())]).await?;
    let read = |row: &Row| -> Result<Progress, StoreError> {
        Ok(Progress { run: get(row, 0)?, next_seq: number(row, 1)?, status: status(row, 2)? })
    };
    rows.iter().map(read).collect()
}

/// Returns runs that can be claimed. After an outage those whose leases ended meanwhile are left to their owners for a
/// moment: they live, and may have answers of calls that would be in doubt otherwise.
pub(crate) async fn due(database: &Database, now: i64, rows: usize) -> Result<Vec<String>, StoreError> {
    let mut takes_over = !database.was_away();
    loop {
        let values = [database.now_or(now), limit(rows), Value::Flag(takes_over)];
        let found = database.repeat(include_str!("sql/due.sql"), &values).await?;
        // The server may have come back just now.
        if takes_over && database.was_away() {
            takes_over = false;
            continue;
        }
        return found.iter().map(|row| get(row, 0)).collect();
    }
}

pub(crate) async fn changed_runs(
    database: &Database,
    after: &(i64, String),
    rows: usize,
) -> Result<Vec<RunRow>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        include_str!("sql/changed_runs.sql").replace("{run_without_outcome}", rows::RUN_WITHOUT_OUTCOME)
    });
    let values = [Value::Number(after.0), Value::Text(&after.1), limit(rows)];
    database.repeat(&SQL, &values).await?.iter().map(rows::run_row).collect()
}

pub(crate) async fn approvals(database: &Database, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
    let order = if filter.newest_first { "created DESC, id DESC" } else { "created, id" };
    match_approvals(rows::APPROVAL, filter).page(order, filter.limit).rows(database, rows::approval_row).await
}

pub(crate) async fn count_approvals(database: &Database, filter: &ApprovalFilter) -> Result<u64, StoreError> {
    match_approvals("1", filter).counted(filter.limit).number(database).await
}

fn match_approvals<'a>(columns: &str, filter: &'a ApprovalFilter) -> Select<'a> {
    let mut select = Select::new(columns, "approvals");
    select.equal("run", filter.run.as_deref());
    if filter.pending {
        select.and("decision IS NULL", []);
    }
    if filter.pending || filter.runs_of.is_some() {
        select.and("EXISTS (SELECT FROM {s}.runs WHERE runs.id = approvals.run", []);
        if filter.pending {
            select.and(UNFINISHED, []);
        }
        if let Some(owner) = &filter.runs_of {
            select.equal("project", Some(&owner.project));
            select.equal("caller", owner.caller.as_deref());
            select.equal("space", owner.space.as_deref());
        }
        select.push(")", []);
    }
    select.position(if filter.newest_first { "<" } else { ">" }, filter.after.as_ref());
    select
}

pub(crate) async fn decided_approvals(
    database: &Database,
    after: &(i64, String),
    rows: usize,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let mut select = Select::new(rows::APPROVAL, "approvals");
    select.and("decided_at IS NOT NULL", []);
    select.and("(decided_at, id) > (?, ?)", [Value::Number(after.0), Value::Text(&after.1)]);
    select.page("decided_at, id", rows).rows(database, rows::approval_row).await
}

pub(crate) async fn documents(database: &Database, filter: &DocumentFilter) -> Result<Vec<Document>, StoreError> {
    let select = match_documents(rows::DOCUMENT, filter);
    select.page("created DESC, id DESC", filter.limit).rows(database, rows::document_row).await
}

pub(crate) async fn count_documents(database: &Database, filter: &DocumentFilter) -> Result<u64, StoreError> {
    match_documents("1", filter).counted(filter.limit).number(database).await
}

fn match_documents<'a>(columns: &str, filter: &'a DocumentFilter) -> Select<'a> {
    let mut select = Select::new(columns, "documents");
    select.equal("kind", Some(&filter.kind));
    select.equal("owner", filter.owner.as_deref());
    if let Some(time) = filter.expired_before {
        select.and("expires < ?", [Value::Number(time)]);
    }
    select.position("<", filter.before.as_ref());
    select
}

pub(crate) async fn size(database: &Database) -> Result<Size, StoreError> {
    let rows = database.repeat(include_str!("sql/size.sql"), &[]).await?;
    let mut size = Size::default();
    if let Some(row) = rows.first() {
        (size.bytes, size.file_bytes) = (number(row, 0)?, number(row, 1)?);
    }
    let rows = database.repeat("SELECT status, count(*) FROM {s}.runs GROUP BY status", &[]).await?;
    for row in &rows {
        size.runs.insert(status(row, 0)?, number(row, 1)?);
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use crate::lists::{Select, match_approvals, match_documents};
    use agent_spaces_journal::{ApprovalFilter, DocumentFilter, RunOwner};

    #[test]
    fn values_have_the_numbers_of_their_places() {
        let before = Some((7, "id".to_owned()));
        let filter =
            DocumentFilter { owner: Some("ann".into()), expired_before: Some(9), before, ..DocumentFilter::of("k") };
        let Select { sql, values } = match_documents("1", &filter).counted(5);
        let conditions = "kind = $1 AND owner = $2 AND expires < $3 AND (created, id) < ($4, $5) LIMIT $6";
        let inner = format!("SELECT 1 FROM {{s}}.documents WHERE true AND {conditions}");
        assert_eq!(sql, format!("SELECT count(*) FROM ({inner}) AS counted"));
        assert_eq!(values.len(), 6);
    }

    #[test]
    fn conditions_on_the_run_of_an_approval_are_in_one_subquery() {
        let runs_of = Some(RunOwner { project: "/a".into(), caller: None, space: Some("s".into()) });
        let filter = ApprovalFilter { runs_of, run: Some("run_1".into()), ..ApprovalFilter::default() };
        let Select { sql, values } = match_approvals("id", &filter);
        assert!(sql.ends_with(
            "run = $1 AND decision IS NULL AND EXISTS (SELECT FROM {s}.runs WHERE runs.id = approvals.run \
             AND status IN ('ready', 'running', 'parked') AND project = $2 AND space = $3)"
        ));
        assert_eq!(values.len(), 3);
    }
}
