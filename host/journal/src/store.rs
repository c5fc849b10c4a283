//! The trait that stores implement.

use crate::approval::{Approval, ApprovalFilter, ApprovalRow, Decided};
use crate::claim::{Claim, ClaimError, Owner};
use crate::document::{Document, DocumentFilter, Expected, NewDocument, Put};
use crate::entry::{Entry, Stored};
use crate::error::StoreError;
use crate::run::{Filter, NewRun, Progress, Prune, Pruned, RunRow, Signalled, Size, Status, Wake};
use crate::ticket::Ticket;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// Answer that is on its way. The request is queued by the call, not by the first poll, and dropping the answer does not
/// cancel it.
pub type Pending<T, E = StoreError> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// Durable storage of runs and documents.
///
/// # Writes
/// Writes to a run, and to a document, happen in the order of the calls; a store may write to several of them at once.
/// Those that return a [`Ticket`] return at once; the ticket resolves when the
/// write is flushed. Reads see flushed writes only: await the ticket first.
///
/// # Ownership
/// One process at a time writes to a run: the one with the latest [`Claim`]. A write under an older epoch, after the
/// claim was given up, or with an unexpected sequence number writes nothing and fails with [`StoreError::Fenced`]; so do
/// all later ones of that claim. Safety depends on epochs alone, not on clocks: a wrong clock only makes others try too
/// early, and fence a living owner, or too late.
pub trait Store: Send + Sync + Debug {
    /// Returns the owner that this process claims runs as.
    fn owner(&self) -> &Owner;

    /// True if hosts on other machines may use the same store. What a host would otherwise keep for itself, such as counts
    /// of calls, is in the store then.
    fn is_shared(&self) -> bool {
        false
    }

    /// Creates a run that `owner` owns from the start, as epoch 1, with its first entries and its
    /// [content](NewRun::content), in one transaction. Content that the store has already is not stored again.
    fn create(&self, run: NewRun, owner: &Owner, entries: Vec<Entry>) -> (Claim, Ticket);

    /// Takes ownership of a run that is ready, whose wait is over, whose owner is dead, or whose lease expired. If the
    /// answer is dropped, the run is owned by nobody's claim until the lease expires.
    fn claim(&self, run: &str, owner: &Owner, lease: Duration) -> Pending<Claim, ClaimError>;

    /// Extends the lease, counted from now, and returns its end by the local clock.
    fn renew(&self, claim: &Claim, lease: Duration) -> Pending<Instant>;

    /// Appends entries, the first with number `seq`.
    fn append(&self, claim: &Claim, seq: u64, entries: Vec<Entry>) -> Ticket;

    /// Appends entries and gives up ownership until the wait is over. If one of the keys was signalled before, or the
    /// run is to be cancelled, it is ready at once.
    fn park(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, wake: Wake) -> Ticket;

    /// Gives up ownership; anyone may claim the run. It also works after a write failed for lack of space.
    fn release(&self, claim: &Claim) -> Ticket;

    /// Appends entries and ends the run with a status that [is an end](Status::is_ended).
    fn finish(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, status: Status, outcome: String) -> Ticket;

    /// Signals an event that happens once, such as `approval:apr_…`. A run that waits for it becomes ready; one that
    /// does not wait yet will not have to.
    fn signal(&self, run: &str, key: &str) -> Pending<Signalled>;

    /// Asks the owner to cancel a run. A parked one becomes ready, so that somebody claims and ends it.
    fn request_cancel(&self, run: &str) -> Pending<Signalled>;

    /// Returns runs that can be claimed, those that have waited longest first. A store of several machines goes by its own
    /// clock instead of the caller's.
    fn due(&self, now_ms: i64, limit: usize) -> Pending<Vec<String>>;

    /// Returns entries from number `from` on.
    fn read(&self, run: &str, from: u64, limit: usize) -> Pending<Vec<Stored>>;

    /// As [`read`](Store::read), and no more once these entries have this many bytes. There is one at least.
    fn read_bytes(&self, run: &str, from: u64, limit: usize, max_bytes: usize) -> Pending<Vec<Stored>>;

    /// Returns one run, by its whole id.
    fn run(&self, run: &str) -> Pending<Option<RunRow>>;

    /// Lists runs, newest first.
    fn list(&self, filter: Filter) -> Pending<Vec<RunRow>>;

    /// Returns how far runs are, in the order of their ids: at most [`MAX_PROGRESS`](crate::run::MAX_PROGRESS) at once.
    /// Unknown ones are left out, repeated ones are returned once.
    fn progress(&self, runs: Vec<String>) -> Pending<Vec<Progress>>;

    /// Lists runs whose last change is after a position, which is the time of a change and the id of a run, oldest change
    /// first. They have no outcomes. It does not look at those that parked or ended before.
    fn changed_runs(&self, after: (i64, String), limit: usize) -> Pending<Vec<RunRow>>;

    /// Appends entries and stores a request for approval, in one transaction: whoever reads of it can decide it. A repeated
    /// request is accepted if it is the same.
    fn request_approval(&self, claim: &Claim, seq: u64, entries: Vec<Entry>, approval: Approval) -> Ticket;

    /// Decides on a request and signals its [key](Approval::key). The first decision stands.
    fn decide(&self, id: &str, decision: &str) -> Pending<Decided>;

    /// Lists approvals in the order of the filter.
    fn approvals(&self, filter: ApprovalFilter) -> Pending<Vec<ApprovalRow>>;

    /// Lists approvals that were decided after a position, which is the time of a decision and the id of an approval,
    /// oldest decision first.
    fn decided_approvals(&self, after: (i64, String), limit: usize) -> Pending<Vec<ApprovalRow>>;

    /// Returns the number of approvals that a filter selects, at most its limit, without reading their requests.
    fn count_approvals(&self, filter: ApprovalFilter) -> Pending<u64>;

    /// Returns one approval.
    fn approval(&self, id: &str) -> Pending<Option<ApprovalRow>>;

    /// Returns the content with this hash.
    fn get_blob(&self, hash: &str) -> Pending<Option<Vec<u8>>>;

    /// True if the store has the content with this hash.
    fn has_blob(&self, hash: &str) -> Pending<bool>;

    /// Returns everything about a run as JSON Lines: see [`ExportedRun`](crate::ExportedRun).
    fn export(&self, run: &str) -> Pending<String>;

    /// Stores an exported run and returns its id. An unfinished one is parked until [`IMPORTED`](crate::IMPORTED) is
    /// signalled: it may still go on where it was exported.
    fn import(&self, document: &str) -> Pending<String>;

    /// Stores a document, if what is there is as expected: of several puts that expect the same, one is stored. Its owner,
    /// body and expiry are replaced; its time of creation stays. Names and sizes beyond the [limits](crate::document) are
    /// [`StoreError::Invalid`].
    fn put_document(&self, new: NewDocument, expected: Expected) -> Pending<Put>;

    /// Returns one document, also if it expired.
    fn document(&self, kind: &str, id: &str) -> Pending<Option<Document>>;

    /// Lists documents of a kind, newest first, also those that expired.
    fn documents(&self, filter: DocumentFilter) -> Pending<Vec<Document>>;

    /// Returns the number of documents that a filter selects, at most its limit, without reading their bodies.
    fn count_documents(&self, filter: DocumentFilter) -> Pending<u64>;

    /// Deletes a document. Returns false if there is none, or if a version is given and it has another. It also works in
    /// a full store.
    fn delete_document(&self, kind: &str, id: &str, version: Option<u64>) -> Pending<bool>;

    /// Removes ended runs with everything that only they have, and all documents that expired, and returns the space to
    /// the file system. A store of several machines goes by its own clock instead of the caller's.
    fn prune(&self, policy: Prune) -> Pending<Pruned>;

    /// Returns the size of the store.
    fn size(&self) -> Pending<Size>;

    /// Resolves when all writes before it are flushed, or have failed.
    fn flush(&self) -> Ticket;

    /// Waits until the store's version differs from `since`, and returns it; 0 differs from all. Every write changes
    /// it, also those of other processes, within a moment. It returns `since` if the store is closed.
    fn changed(&self, since: u64) -> Pin<Box<dyn Future<Output = u64> + Send>>;
}
