//! Removal of expired documents and ended runs, in steps between batches, so that writers wait for one step at most.

use super::rows;
use super::writer::{Writer, used_bytes};
use crate::error::StoreError;
use crate::run::{Prune, Pruned};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

/// Most runs of one transaction, and most bytes of their entries, but for one larger run.
const MAX_RUNS: usize = 64;
const MAX_BYTES: u64 = 4 << 20;

/// Most documents of one transaction; `MAX_BYTES` is the limit of their bodies, too.
const MAX_DOCUMENTS: usize = 512;

/// Pages that one step returns to the file system.
const MAX_PAGES: u32 = 1024;

/// Prune in progress.
pub(super) struct PruneJob {
    policy: Prune,
    pruned: Pruned,
    step: Step,
    done: oneshot::Sender<Result<Pruned, StoreError>>,
}

/// Next step of a prune. Documents come first: without them the size may fit, and runs stay.
#[derive(Clone, Copy)]
enum Step {
    Documents,
    Runs,
    /// Makes the file smaller.
    Shrink,
}

impl PruneJob {
    pub(super) fn new(policy: Prune, done: oneshot::Sender<Result<Pruned, StoreError>>) -> PruneJob {
        PruneJob { policy, pruned: Pruned::default(), step: Step::Documents, done }
    }
}

impl Writer {
    /// Does one step of the first prune, if there is one.
    pub(super) fn prune(&mut self) {
        let Some(mut job) = self.prunes.pop_front() else { return };
        let done = match job.step {
            Step::Documents => self.remove(&mut job, remove_documents),
            Step::Runs => self.remove(&mut job, remove_runs),
            Step::Shrink => self.shrink(),
        };
        match (done, job.step) {
            (Ok(true), _) => self.prunes.push_front(job),
            (Ok(false), Step::Documents) => self.prunes.push_front(PruneJob { step: Step::Runs, ..job }),
            (Ok(false), Step::Runs) => self.prunes.push_front(PruneJob { step: Step::Shrink, ..job }),
            (Ok(false), Step::Shrink) => drop(job.done.send(Ok(job.pruned))),
            (Err(error), _) => drop(job.done.send(Err(error))),
        }
    }

    /// Removes some documents or runs. Returns true if there may be more.
    fn remove(&mut self, job: &mut PruneJob, remove_some: Remove) -> Result<bool, StoreError> {
        self.begin()?;
        let removed = remove_some(&self.connection, &job.policy);
        let removed = removed.and_then(|removed| self.commit().map(|()| removed));
        let (pruned, has_more) = removed.inspect_err(|_| self.roll_back())?;
        if pruned.runs + pruned.documents > 0 {
            self.shared.version.send_modify(|version| *version += 1);
        }
        job.pruned.runs += pruned.runs;
        job.pruned.documents += pruned.documents;
        job.pruned.bytes += pruned.bytes;
        Ok(has_more)
    }

    /// Returns some free pages to the file system. Returns true if there are more.
    fn shrink(&mut self) -> Result<bool, StoreError> {
        let free = || self.connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, u64>(0));
        let before = free()?;
        if before > 0 {
            let mut statement = self.connection.prepare(&format!("PRAGMA incremental_vacuum({MAX_PAGES})"))?;
            let mut pages = statement.query([])?;
            // It frees one page a row.
            while pages.next()?.is_some() {}
        }
        let after = free()?;
        if after > 0 && after < before {
            return Ok(true);
        }
        // Only a checkpoint makes the file smaller. This kind waits for nobody; if a reader is in the way, the next
        // automatic one does it.
        self.connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)")?;
        Ok(false)
    }
}

/// Removes some of what a policy names, and tells if there may be more.
type Remove = fn(&Connection, &Prune) -> rusqlite::Result<(Pruned, bool)>;

fn remove_documents(connection: &Connection, policy: &Prune) -> rusqlite::Result<(Pruned, bool)> {
    let sql = "SELECT kind, id, octet_length(body) FROM documents INDEXED BY documents_expires WHERE expires < ?1 \
               ORDER BY expires LIMIT ?2";
    let expired = rows::list(connection, sql, params![policy.now_ms, MAX_DOCUMENTS], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, u64>(2)?))
    })?;
    let before = used_bytes(connection)?;
    let mut has_more = expired.len() == MAX_DOCUMENTS;
    let (mut removed, mut bytes) = (0, 0);
    for (kind, id, size) in expired {
        if bytes > 0 && bytes + size > MAX_BYTES {
            has_more = true;
            break;
        }
        connection.prepare_cached("DELETE FROM documents WHERE kind = ?1 AND id = ?2")?.execute([kind, id])?;
        removed += 1;
        bytes += size;
    }
    let freed = before.saturating_sub(used_bytes(connection)?);
    Ok((Pruned { documents: removed, bytes: freed, ..Pruned::default() }, has_more))
}

fn remove_runs(connection: &Connection, policy: &Prune) -> rusqlite::Result<(Pruned, bool)> {
    let sql = "SELECT id, updated, bytes FROM runs INDEXED BY runs_ended WHERE status IN ('finished', 'failed', 'cancelled') \
               ORDER BY updated, id LIMIT ?1";
    let ended = rows::list(connection, sql, [MAX_RUNS], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, u64>(2)?))
    })?;
    let oldest = policy.older_than.map(|age| {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        policy.now_ms.saturating_sub(age)
    });
    let before = used_bytes(connection)?;
    let (mut used, mut removed, mut bytes) = (before, 0, 0);
    let mut has_more = ended.len() == MAX_RUNS;
    for (id, updated, size) in ended {
        let is_old = oldest.is_some_and(|oldest| updated < oldest);
        let is_over = policy.max_bytes.is_some_and(|most| used > most);
        if !is_old && !is_over {
            has_more = false;
            break;
        }
        if bytes > 0 && bytes + size > MAX_BYTES {
            has_more = true;
            break;
        }
        remove_run(connection, &id)?;
        used = used_bytes(connection)?;
        removed += 1;
        bytes += size;
    }
    let freed = before.saturating_sub(used);
    Ok((Pruned { runs: removed, bytes: freed, ..Pruned::default() }, has_more))
}

/// Removes a run, and the blobs that only it has.
fn remove_run(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    let sql = "SELECT hash FROM run_blobs WHERE run = ?1";
    let hashes: Vec<String> = rows::list(connection, sql, [id], |row| row.get(0))?;
    connection.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([id])?;
    for hash in hashes {
        let sql = "DELETE FROM blobs WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM run_blobs WHERE hash = ?1)";
        connection.prepare_cached(sql)?.execute([hash])?;
    }
    Ok(())
}
