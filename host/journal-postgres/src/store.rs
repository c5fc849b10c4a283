//! The trait's methods, as queued writes and queries.

use crate::fair_queue::Source;
use crate::lanes::{Append, Job};
use crate::queue::Admission;
use crate::{PostgresStore, appends, blobs, documents, lists, prune, rows, runs, signals, transfer};
use agent_spaces_journal::{
    Approval, ApprovalFilter, ApprovalRow, Claim, ClaimError, Content, Decided, Document, DocumentFilter, Entry,
    Expected, ExportedRun, Filter, NewDocument, NewRun, Owner, Pending, Progress, Prune, Pruned, Put, RunRow,
    Signalled, Size, Status, Store, Stored, Ticket, Wake,
};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes of entries in the queue.
fn cost(entries: &[Entry]) -> usize {
    usize::try_from(appends::bytes(entries)).unwrap_or(usize::MAX).saturating_add(size_of_val(entries))
}

/// One who waits for changes: writes of other hosts are looked for meanwhile.
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

impl Store for PostgresStore {
    fn owner(&self) -> &Owner {
        &self.owner
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn create(&self, run: NewRun, owner: &Owner, entries: Vec<Entry>) -> (Claim, Ticket) {
        let now = Instant::now();
        let lease_until = now.checked_add(run.lease).unwrap_or(now);
        let (id, caller) = (run.id.as_str().into(), run.summary.caller.as_str().into());
        let claim = Claim::new(id, caller, 1, entries.len() as u64, lease_until);
        let (database, owner) = (Arc::clone(&self.database), owner.clone());
        let content: usize = run.content.iter().map(Content::count).sum();
        let cost = cost(&entries).saturating_add(content);
        let ticket = self.write(&claim, cost, Admission::Create, async move {
            runs::create(&database, &run, &owner, &entries).await
        });
        (claim, ticket)
    }

    fn claim(&self, run: &str, owner: &Owner, lease: Duration) -> Pending<Claim, ClaimError> {
        let (database, id, owner) = (Arc::clone(&self.database), run.to_owned(), owner.clone());
        let work = async move { runs::claim(&database, &id, &owner, lease).await };
        let claimed = self.ask(Source::Claims, run, 0, Admission::Always, Result::is_ok, work);
        Box::pin(async move { Ok(claimed.await??) })
    }

    fn renew(&self, claim: &Claim, lease: Duration) -> Pending<Instant> {
        let (database, owned) = (Arc::clone(&self.database), claim.clone());
        let work = async move { runs::renew(&database, &owned, lease).await };
        self.ask(Source::of(claim), &claim.run, 0, Admission::Always, |_| false, work)
    }

    fn append(&self, claim: &Claim, seq: u64, entries: Vec<Entry>) -> Ticket {
        let source = Source::of(claim);
        let cost = match self.admit_claim(claim, &source, cost(&entries), Admission::Bounded) {
            Ok(cost) => cost,
            Err(error) => return Ticket::failed(error),
        };
        let (completion, ticket) = Ticket::pair();
        let append = Append { claim: claim.clone(), source: source.clone(), seq, entries, completion, cost };
        self.send(source, &claim.run, Job::Append(append));
        ticket
    }

    fn park(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, wake: Wake) -> Ticket {
        let (database, owned) = (Arc::clone(&self.database), claim.clone());
        self.write(claim, cost(&entries), Admission::Always, async move {
            runs::park(&database, &owned, seq, &entries, &wake).await
        })
    }

    fn release(&self, claim: &Claim) -> Ticket {
        let (database, owned) = (Arc::clone(&self.database), claim.clone());
        self.write(claim, 0, Admission::Release, async move { runs::release(&database, &owned).await })
    }

    fn finish(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, status: Status, outcome: String) -> Ticket {
        let (database, owned) = (Arc::clone(&self.database), claim.clone());
        let cost = cost(&entries).saturating_add(outcome.len());
        self.write(claim, cost, Admission::Always, async move {
            runs::finish(&database, &owned, seq, &entries, status, &outcome).await
        })
    }

    fn signal(&self, run: &str, key: &str) -> Pending<Signalled> {
        let (database, id, key) = (Arc::clone(&self.database), run.to_owned(), key.to_owned());
        let work = async move { signals::signal(&database, &id, &key).await };
        self.ask(Source::Signals, run, 0, Admission::Always, |signalled| *signalled != Signalled::Ended, work)
    }

    fn request_cancel(&self, run: &str) -> Pending<Signalled> {
        let (database, id) = (Arc::clone(&self.database), run.to_owned());
        let work = async move { signals::request_cancel(&database, &id).await };
        self.ask(Source::Signals, run, 0, Admission::Always, |signalled| *signalled != Signalled::Ended, work)
    }

    fn due(&self, now_ms: i64, limit: usize) -> Pending<Vec<String>> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::due(&database, now_ms, limit).await })
    }

    fn read(&self, run: &str, from: u64, limit: usize) -> Pending<Vec<Stored>> {
        self.read_bytes(run, from, limit, usize::MAX)
    }

    fn read_bytes(&self, run: &str, from: u64, limit: usize, max_bytes: usize) -> Pending<Vec<Stored>> {
        let (database, run) = (Arc::clone(&self.database), run.to_owned());
        self.query(async move { rows::entries_within(&database, &run, from, limit, max_bytes).await })
    }

    fn run(&self, run: &str) -> Pending<Option<RunRow>> {
        let (database, run) = (Arc::clone(&self.database), run.to_owned());
        self.query(async move { rows::run(&database, &run).await })
    }

    fn list(&self, filter: Filter) -> Pending<Vec<RunRow>> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::runs(&database, &filter).await })
    }

    fn progress(&self, runs: Vec<String>) -> Pending<Vec<Progress>> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::progress(&database, &runs).await })
    }

    fn changed_runs(&self, after: (i64, String), limit: usize) -> Pending<Vec<RunRow>> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::changed_runs(&database, &after, limit).await })
    }

    fn request_approval(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, approval: Approval) -> Ticket {
        let (database, owned) = (Arc::clone(&self.database), claim.clone());
        let cost = cost(&entries).saturating_add(approval.request.len());
        let queued = self.approvals.request(&approval.id, &claim.run);
        self.write(claim, cost, Admission::Bounded, async move {
            let _queued = queued;
            signals::request_approval(&database, &owned, seq, &entries, &approval).await
        })
    }

    fn decide(&self, id: &str, decision: &str) -> Pending<Decided> {
        let (database, name, decision) = (Arc::clone(&self.database), id.to_owned(), decision.to_owned());
        // The request may still be queued, in the lane of its run.
        let (run, queued) = self.approvals.decision(id).unzip();
        let (key, bytes) = (run.as_deref().unwrap_or(id), decision.len());
        let work = async move {
            let _queued = queued;
            signals::decide(&database, &name, &decision).await
        };
        let is_change = |decided: &Decided| *decided == Decided::Recorded;
        self.ask(Source::Signals, key, bytes, Admission::Always, is_change, work)
    }

    fn approvals(&self, filter: ApprovalFilter) -> Pending<Vec<ApprovalRow>> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::approvals(&database, &filter).await })
    }

    fn decided_approvals(&self, after: (i64, String), limit: usize) -> Pending<Vec<ApprovalRow>> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::decided_approvals(&database, &after, limit).await })
    }

    fn count_approvals(&self, filter: ApprovalFilter) -> Pending<u64> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::count_approvals(&database, &filter).await })
    }

    fn approval(&self, id: &str) -> Pending<Option<ApprovalRow>> {
        let (database, id) = (Arc::clone(&self.database), id.to_owned());
        self.query(async move { rows::approval(&database, &id).await })
    }

    fn get_blob(&self, hash: &str) -> Pending<Option<Vec<u8>>> {
        let (database, hash) = (Arc::clone(&self.database), hash.to_owned());
        self.query(async move { blobs::blob(&database, &hash).await })
    }

    fn has_blob(&self, hash: &str) -> Pending<bool> {
        let (database, hash) = (Arc::clone(&self.database), hash.to_owned());
        self.query(async move { blobs::has_blob(&database, &hash).await })
    }

    fn export(&self, run: &str) -> Pending<String> {
        let (database, run) = (Arc::clone(&self.database), run.to_owned());
        self.query(async move { transfer::export(&database, &run).await?.to_text() })
    }

    fn import(&self, document: &str) -> Pending<String> {
        let parsed = match ExportedRun::parse(document) {
            Ok(parsed) => parsed,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let (database, id): (_, Arc<str>) = (Arc::clone(&self.database), parsed.run.id.as_str().into());
        let source = Source::Caller(parsed.run.summary.caller.as_str().into());
        let queued: Vec<_> =
            parsed.approvals.iter().map(|approval| self.approvals.request(&approval.id, &id)).collect();
        let work = async move {
            let _queued = queued;
            transfer::import(&database, &parsed).await
        };
        self.ask(source, &id, document.len(), Admission::Bounded, |_| true, work)
    }

    fn put_document(&self, new: NewDocument, expected: Expected) -> Pending<Put> {
        if let Err(error) = new.check() {
            return Box::pin(ready(Err(error)));
        }
        let (database, key) = (Arc::clone(&self.database), format!("{}/{}", new.kind, new.id));
        let cost = usize::try_from(new.bytes()).unwrap_or(usize::MAX);
        let source = Source::Documents(new.owner.as_str().into());
        let work = async move { documents::put(&database, &new, expected).await };
        self.ask(source, &key, cost, Admission::Bounded, |put| matches!(put, Put::Stored(_)), work)
    }

    fn document(&self, kind: &str, id: &str) -> Pending<Option<Document>> {
        let (database, kind, id) = (Arc::clone(&self.database), kind.to_owned(), id.to_owned());
        self.query(async move { rows::document(&database, &kind, &id).await })
    }

    fn documents(&self, filter: DocumentFilter) -> Pending<Vec<Document>> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::documents(&database, &filter).await })
    }

    fn count_documents(&self, filter: DocumentFilter) -> Pending<u64> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::count_documents(&database, &filter).await })
    }

    fn delete_document(&self, kind: &str, id: &str, version: Option<u64>) -> Pending<bool> {
        let (database, kind, id) = (Arc::clone(&self.database), kind.to_owned(), id.to_owned());
        let key = format!("{kind}/{id}");
        let work = async move { documents::delete(&database, &kind, &id, version).await };
        self.ask(Source::Documents("".into()), &key, 0, Admission::Always, |is_deleted| *is_deleted, work)
    }

    fn prune(&self, policy: Prune) -> Pending<Pruned> {
        let (database, before, shared) = (Arc::clone(&self.database), self.drained(), Arc::clone(&self.shared));
        // Not as a query: it takes long, in many small steps.
        self.start(async move {
            before.await?;
            let pruned = prune::prune(&database, policy).await?;
            if pruned.runs + pruned.documents > 0 {
                shared.tell();
            }
            Ok(pruned)
        })
    }

    fn size(&self) -> Pending<Size> {
        let database = Arc::clone(&self.database);
        self.query(async move { lists::size(&database).await })
    }

    fn flush(&self) -> Ticket {
        let (completion, ticket) = Ticket::pair();
        let drained = self.drained();
        drop(self.handle.spawn(async move { completion.complete(drained.await) }));
        ticket
    }

    fn changed(&self, since: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
        let mut versions = self.shared.version.subscribe();
        let watcher = Watcher::new(&self.shared.watchers);
        self.shared.watched.notify_one();
        Box::pin(async move {
            let _watcher = watcher;
            let found = versions.wait_for(|version| *version != since).await;
            found.map_or(since, |version| *version)
        })
    }
}
