//! The trait's methods, as queued writes and queries.

use super::prune::PruneJob;
use super::writer::Message;
use super::{Admission, SqliteStore, documents, lists, reader, rows, runs, signals, transfer};
use crate::approval::{Approval, ApprovalFilter, ApprovalRow, Decided};
use crate::claim::{Claim, ClaimError, Owner};
use crate::content::Content;
use crate::document::{Document, DocumentFilter, Expected, NewDocument, Put};
use crate::entry::{Entry, Stored};
use crate::error::StoreError;
use crate::run::{Filter, NewRun, Progress, Prune, Pruned, RunRow, Signalled, Size, Status, Wake};
use crate::store::{Pending, Store};
use crate::ticket::Ticket;
use crate::transfer::ExportedRun;
use rusqlite::Connection;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Bytes of entries in the queue.
fn cost(entries: &[Entry]) -> usize {
    usize::try_from(runs::bytes(entries)).unwrap_or(usize::MAX).saturating_add(size_of_val(entries))
}

/// One who waits for changes: the writer looks for those of other processes meanwhile.
struct Watcher(Arc<AtomicUsize>);

impl Watcher {
    fn new(watchers: &Arc<AtomicUsize>) -> Watcher {
        watchers.fetch_add(1, Ordering::SeqCst);
        Watcher(Arc::clone(watchers))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SqliteStore {
    /// Queues a query.
    fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Pending<T> {
        match &self.readers {
            Some(readers) => readers.ask(query),
            None => Box::pin(ready(Err(StoreError::closed()))),
        }
    }
}

impl Store for SqliteStore {
    fn owner(&self) -> &Owner {
        &self.owner
    }

    fn create(&self, run: NewRun, owner: &Owner, entries: Vec<Entry>) -> (Claim, Ticket) {
        let now = Instant::now();
        let lease_until = now.checked_add(run.lease).unwrap_or(now);
        let (id, caller) = (run.id.as_str().into(), run.summary.caller.as_str().into());
        let claim = Claim::new(id, caller, 1, entries.len() as u64, lease_until);
        let owner = owner.clone();
        let content: usize = run.content.iter().map(Content::count).sum();
        let cost = cost(&entries).saturating_add(content);
        let ticket =
            self.write(&claim, cost, Admission::Create, move |batch, _| runs::create(batch, &run, &owner, &entries));
        (claim, ticket)
    }

    fn claim(&self, run: &str, owner: &Owner, lease: Duration) -> Pending<Claim, ClaimError> {
        let (run, owner) = (run.to_owned(), owner.clone());
        let claimed = self.ask(0, Admission::Always, move |batch| runs::claim(batch, &run, &owner, lease));
        Box::pin(async move { Ok(claimed.await??) })
    }

    fn renew(&self, claim: &Claim, lease: Duration) -> Pending<Instant> {
        let claim = claim.clone();
        self.ask(0, Admission::Always, move |batch| runs::renew(batch, &claim, lease))
    }

    fn append(&self, claim: &Claim, seq: u64, entries: Vec<Entry>) -> Ticket {
        self.write(claim, cost(&entries), Admission::Bounded, move |batch, claim| {
            runs::append(batch, claim, seq, &entries)
        })
    }

    fn park(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, wake: Wake) -> Ticket {
        self.write(claim, cost(&entries), Admission::Always, move |batch, claim| {
            runs::park(batch, claim, seq, &entries, &wake)
        })
    }

    fn release(&self, claim: &Claim) -> Ticket {
        self.write(claim, 0, Admission::Release, runs::release)
    }

    fn finish(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, status: Status, outcome: String) -> Ticket {
        let cost = cost(&entries).saturating_add(outcome.len());
        self.write(claim, cost, Admission::Always, move |batch, claim| {
            runs::finish(batch, claim, seq, &entries, status, &outcome)
        })
    }

    fn signal(&self, run: &str, key: &str) -> Pending<Signalled> {
        let (run, key) = (run.to_owned(), key.to_owned());
        self.ask(0, Admission::Always, move |batch| signals::signal(batch, &run, &key))
    }

    fn request_cancel(&self, run: &str) -> Pending<Signalled> {
        let run = run.to_owned();
        self.ask(0, Admission::Always, move |batch| signals::request_cancel(batch, &run))
    }

    fn due(&self, now_ms: i64, limit: usize) -> Pending<Vec<String>> {
        let owners = self.owners.clone();
        self.query(move |connection| reader::due(connection, &owners, now_ms, limit))
    }

    fn read(&self, run: &str, from: u64, limit: usize) -> Pending<Vec<Stored>> {
        let run = run.to_owned();
        self.query(move |connection| Ok(rows::entries(connection, &run, from, limit)?))
    }

    fn read_bytes(&self, run: &str, from: u64, limit: usize, max_bytes: usize) -> Pending<Vec<Stored>> {
        let run = run.to_owned();
        self.query(move |connection| Ok(rows::entries_within(connection, &run, from, limit, max_bytes)?))
    }

    fn run(&self, run: &str) -> Pending<Option<RunRow>> {
        let run = run.to_owned();
        self.query(move |connection| Ok(rows::run(connection, &run)?))
    }

    fn list(&self, filter: Filter) -> Pending<Vec<RunRow>> {
        self.query(move |connection| lists::runs(connection, &filter))
    }

    fn progress(&self, runs: Vec<String>) -> Pending<Vec<Progress>> {
        self.query(move |connection| lists::progress(connection, &runs))
    }

    fn changed_runs(&self, after: (i64, String), limit: usize) -> Pending<Vec<RunRow>> {
        self.query(move |connection| lists::changed_runs(connection, &after, limit))
    }

    fn request_approval(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, approval: Approval) -> Ticket {
        let cost = cost(&entries).saturating_add(approval.request.len());
        self.write(claim, cost, Admission::Bounded, move |batch, claim| {
            signals::request_approval(batch, claim, seq, &entries, &approval)
        })
    }

    fn decide(&self, id: &str, decision: &str) -> Pending<Decided> {
        let (id, decision) = (id.to_owned(), decision.to_owned());
        self.ask(decision.len(), Admission::Always, move |batch| signals::decide(batch, &id, &decision))
    }

    fn approvals(&self, filter: ApprovalFilter) -> Pending<Vec<ApprovalRow>> {
        self.query(move |connection| lists::approvals(connection, &filter))
    }

    fn decided_approvals(&self, after: (i64, String), limit: usize) -> Pending<Vec<ApprovalRow>> {
        self.query(move |connection| lists::decided_approvals(connection, &after, limit))
    }

    fn count_approvals(&self, filter: ApprovalFilter) -> Pending<u64> {
        self.query(move |connection| lists::count_approvals(connection, &filter))
    }

    fn approval(&self, id: &str) -> Pending<Option<ApprovalRow>> {
        let id = id.to_owned();
        self.query(move |connection| Ok(rows::approval(connection, &id)?))
    }

    fn get_blob(&self, hash: &str) -> Pending<Option<Vec<u8>>> {
        let hash = hash.to_owned();
        self.query(move |connection| reader::blob(connection, &hash))
    }

    fn has_blob(&self, hash: &str) -> Pending<bool> {
        let hash = hash.to_owned();
        self.query(move |connection| Ok(rows::exists(connection, "SELECT 1 FROM blobs WHERE hash = ?1", &hash)?))
    }

    fn export(&self, run: &str) -> Pending<String> {
        let run = run.to_owned();
        self.query(move |connection| transfer::export(connection, &run)?.to_text())
    }

    fn import(&self, document: &str) -> Pending<String> {
        match ExportedRun::parse(document) {
            Ok(parsed) => self.ask(document.len(), Admission::Bounded, move |batch| transfer::import(batch, &parsed)),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    fn put_document(&self, new: NewDocument, expected: Expected) -> Pending<Put> {
        if let Err(error) = new.check() {
            return Box::pin(ready(Err(error)));
        }
        let cost = usize::try_from(new.bytes()).unwrap_or(usize::MAX);
        self.ask(cost, Admission::Bounded, move |batch| documents::put(batch, &new, expected))
    }

    fn document(&self, kind: &str, id: &str) -> Pending<Option<Document>> {
        let (kind, id) = (kind.to_owned(), id.to_owned());
        self.query(move |connection| Ok(rows::document(connection, &kind, &id)?))
    }

    fn documents(&self, filter: DocumentFilter) -> Pending<Vec<Document>> {
        self.query(move |connection| lists::documents(connection, &filter))
    }

    fn count_documents(&self, filter: DocumentFilter) -> Pending<u64> {
        self.query(move |connection| lists::count_documents(connection, &filter))
    }

    fn delete_document(&self, kind: &str, id: &str, version: Option<u64>) -> Pending<bool> {
        let (kind, id) = (kind.to_owned(), id.to_owned());
        self.ask(0, Admission::Always, move |batch| documents::delete(batch, &kind, &id, version))
    }

    fn prune(&self, policy: Prune) -> Pending<Pruned> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Prune(PruneJob::new(policy, sender)));
        Box::pin(async move { receiver.await.unwrap_or_else(|_| Err(StoreError::closed())) })
    }

    fn size(&self) -> Pending<Size> {
        let file = self.file.clone();
        self.query(move |connection| reader::size(connection, &file))
    }

    fn flush(&self) -> Ticket {
        let (completion, ticket) = Ticket::pair();
        match self.queue(0, Admission::Always, |_| Ok(()), move |outcome| completion.complete(outcome)) {
            Ok(()) => ticket,
            Err(error) => Ticket::failed(error),
        }
    }

    fn changed(&self, since: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
        let mut versions = self.shared.version.subscribe();
        let watcher = Watcher::new(&self.shared.watchers);
        self.send(Message::Watch);
        Box::pin(async move {
            let _watcher = watcher;
            let found = versions.wait_for(|version| *version != since).await;
            found.map_or(since, |version| *version)
        })
    }
}
