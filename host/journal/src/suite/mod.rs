//! Tests that every store must pass. `store_suite!(open)` makes a test of each.
//!
//! # Layout
//! - `journal`: entries, fencing; `ownership`: claims, leases; `waiting`: parking, signals, cancelling
//! - `decisions`: approvals; `documents`: documents; `filters`: filters of lists, progress
//! - `changes`: what changed last
//! - `content`: what runs are created with
//! - `upkeep`: lists, export, prune, changes
//! - `model`: random histories

// A test, though it is not compiled as one: stores of other crates use it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod changes;
pub mod content;
pub mod decisions;
pub mod documents;
pub mod filters;
pub mod journal;
pub mod model;
pub mod ownership;
pub mod upkeep;
pub mod waiting;

use crate::claim::Claim;
use crate::entry::Entry;
use crate::error::StoreError;
use crate::run::{NewRun, RunRow, Status, Summary};
use crate::store::Store;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Lease of the tests, by their own clock.
pub const LEASE: Duration = Duration::from_secs(60);

/// First time of the tests' clock.
pub const START: i64 = 1_000_000;

/// Empty stores to test.
pub struct Fixture {
    /// Store to test.
    pub store: Arc<dyn Store>,
    /// The same data, as another living process has it.
    pub other: Arc<dyn Store>,
    /// Other data.
    pub elsewhere: Arc<dyn Store>,
    /// Clock of all of them, which begins at [`START`].
    pub now: Arc<AtomicI64>,
    /// Dropped last.
    pub guard: Box<dyn Any + Send + Sync>,
}

/// Stores to test, if what they need is installed. Whoever opens them says what is skipped.
pub trait Opened {
    /// Returns the stores.
    fn opened(self) -> Option<Fixture>;
}

impl Opened for Fixture {
    fn opened(self) -> Option<Fixture> {
        Some(self)
    }
}

impl Opened for Option<Fixture> {
    fn opened(self) -> Option<Fixture> {
        self
    }
}

impl Fixture {
    /// Moves the clock.
    pub fn pass(&self, time: Duration) {
        self.now.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// Returns the time.
    pub fn now(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    /// Creates a run with one entry.
    pub async fn create(&self, id: &str) -> Claim {
        let (claim, ticket) = self.store.create(new(id), self.store.owner(), vec![entry("0")]);
        ticket.await.unwrap();
        claim
    }

    /// Creates a run and ends it.
    pub async fn end(&self, id: &str, status: Status) {
        let claim = self.create(id).await;
        self.store.finish(&claim, 1, vec![], status, "{}".to_owned()).await.unwrap();
    }

    /// Returns a run that exists.
    pub async fn run(&self, id: &str) -> RunRow {
        self.store.run(id).await.unwrap().unwrap()
    }

    /// Returns the texts of a run's entries.
    pub async fn bodies(&self, id: &str) -> Vec<String> {
        texts(&*self.store, id).await
    }
}

async fn texts(store: &dyn Store, id: &str) -> Vec<String> {
    let entries = store.read(id, 0, usize::MAX).await.unwrap();
    assert!(entries.iter().zip(0..).all(|(entry, number)| entry.seq == number), "{entries:?}");
    entries.into_iter().map(|entry| String::from_utf8(entry.body).unwrap()).collect()
}

fn new(id: &str) -> NewRun {
    let summary = Summary { script: "a.ts".into(), space: "agent".into(), ..Summary::default() };
    NewRun { id: id.to_owned(), summary, lease: LEASE, content: Vec::new() }
}

fn entry(body: &str) -> Entry {
    Entry::new("note", START, body)
}

fn fenced(claim: &Claim) -> Result<(), StoreError> {
    Err(StoreError::Fenced { run: claim.run.to_string(), epoch: claim.epoch })
}

/// Makes a test of each case, for stores that the given function opens: it returns a fixture, or an option of one.
#[macro_export]
#[doc(hidden)]
macro_rules! store_suite {
    ($open:path) => {
        $crate::store_suite! { $open:
            journal::entries_are_read_in_their_order,
            journal::an_unexpected_number_writes_nothing_and_voids_the_claim,
            journal::a_stale_epoch_writes_nothing_among_writes_of_others,
            journal::an_id_is_created_once,
            journal::many_writers_at_once_keep_their_order,
            ownership::an_owned_run_is_free_when_its_lease_expires,
            ownership::a_renewed_lease_lasts,
            ownership::a_clock_that_goes_back_only_delays,
            ownership::an_ended_or_unknown_run_is_not_claimed,
            ownership::a_claim_that_was_given_up_writes_nothing,
            ownership::only_an_end_ends_a_run,
            ownership::a_claim_follows_queued_writes_and_knows_the_caller,
            waiting::a_parked_run_wakes_at_its_time,
            waiting::a_parked_run_wakes_by_one_of_its_keys,
            waiting::a_signal_before_parking_is_not_lost,
            waiting::a_request_to_cancel_wakes_and_stays,
            waiting::due_runs_come_in_the_order_of_their_wait,
            decisions::the_first_decision_stands,
            decisions::a_decision_before_parking_leaves_the_run_ready,
            decisions::a_decision_follows_its_queued_request,
            decisions::a_late_decision_is_not_recorded,
            decisions::a_repeated_request_is_the_same_or_refused,
            decisions::a_request_is_stored_with_its_entries_or_not_at_all,
            decisions::whoever_reads_of_a_request_finds_it,
            documents::a_put_is_stored_if_its_condition_holds,
            documents::one_of_two_puts_of_a_version_is_stored,
            documents::pages_of_documents_have_no_gaps_and_no_repeats,
            documents::counts_of_documents_agree_with_lists,
            documents::expired_documents_stay_until_a_prune,
            documents::a_prune_removes_any_number_of_expired_documents,
            documents::a_deletion_removes_the_version_that_it_names,
            documents::names_and_sizes_of_documents_are_limited,
            filters::filters_of_runs_agree_with_the_model,
            filters::approvals_are_listed_after_a_position,
            filters::approvals_are_listed_for_an_owner_of_runs,
            filters::approvals_are_counted_as_they_are_listed,
            filters::progress_tells_how_far_runs_are,
            changes::changed_runs_are_listed_in_the_order_of_their_changes,
            changes::decided_approvals_are_listed_in_the_order_of_their_decisions,
            content::content_is_stored_once_and_by_its_hash,
            content::whoever_sees_a_new_run_sees_its_content,
            content::a_failed_creation_leaves_no_run_and_no_content,
            content::a_repeated_creation_stores_nothing,
            content::a_prune_takes_no_content_of_a_new_run,
            upkeep::lists_are_filtered_and_paged,
            upkeep::an_exported_run_is_imported_whole,
            upkeep::a_changed_document_is_refused,
            upkeep::prune_keeps_unfinished_runs_and_shared_blobs,
            upkeep::prune_removes_the_oldest_until_the_size_fits,
            upkeep::changes_are_seen_by_all,
            model::random_histories_agree_with_the_model,
        }
    };
    ($open:path: $($module:ident::$case:ident,)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                if let Some(fixture) = $crate::suite::Opened::opened($open()) {
                    $crate::suite::$module::$case(&fixture).await;
                }
            }
        )*
    };
}
