//! Admission of writes to the queue, and answers of those and of queries.

use crate::PostgresStore;
use crate::fair_queue::Source;
use crate::lanes::{Job, OVERHEAD};
use crate::panics::caught;
use agent_spaces_journal::{Claim, Pending, StoreError, Ticket};
use std::future::{Future, ready};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Admission of a write to the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Refused if the queue is full, or its source's half of it.
    Bounded,
    /// Like `Bounded`; if it fails, its claim never was one.
    Create,
    /// Queued nevertheless: it is small, or there is at most one for each claim.
    Always,
    /// Queued even if the claim is void.
    Release,
}

impl Admission {
    /// Makes a claim void after its write failed.
    fn fail(self, claim: &Claim, error: &StoreError) {
        match self {
            Admission::Create => claim.fail_create(error),
            Admission::Bounded | Admission::Always | Admission::Release => claim.fail(error),
        }
    }

    /// Makes a claim void whose write was not queued.
    fn fail_queue(self, claim: &Claim, error: &StoreError) {
        match self {
            Admission::Create => claim.fail_create(error),
            Admission::Bounded | Admission::Always | Admission::Release => claim.fail_queue(error),
        }
    }
}

impl PostgresStore {
    /// Counts a write in the queue, or refuses it. Returns its cost.
    fn admit(&self, source: &Source, bytes: usize, admission: Admission) -> Result<usize, StoreError> {
        let cost = bytes.saturating_add(OVERHEAD);
        let is_bounded = matches!(admission, Admission::Bounded | Admission::Create);
        self.shared.queued().add(source, cost, is_bounded)?;
        Ok(cost)
    }

    /// Queues a job behind those of its key.
    pub(crate) fn send(&self, source: Source, key: &str, job: Job) {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        // Two keys with the same hash only share a line.
        self.lanes.write(source, hasher.finish(), job);
    }

    /// Queues a write and returns its answer. `is_change` tells if others should look.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        source: Source,
        key: &str,
        bytes: usize,
        admission: Admission,
        is_change: fn(&T) -> bool,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Pending<T> {
        let source = Source::now_or(source);
        let cost = match self.admit(&source, bytes, admission) {
            Ok(cost) => cost,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let (sender, receiver) = oneshot::channel();
        let (shared, counted) = (Arc::clone(&self.shared), source.clone());
        let work = async move {
            let outcome = caught(work).await;
            shared.settle(&counted, cost, outcome.as_ref().is_ok_and(is_change));
            drop(sender.send(outcome));
        };
        self.send(source, key, Job::Work(cost, Box::pin(work)));
        Box::pin(async move { receiver.await.unwrap_or_else(|_| Err(StoreError::closed())) })
    }

    /// Queues a write under a claim, which is void if the write fails.
    pub(crate) fn write(
        &self,
        claim: &Claim,
        bytes: usize,
        admission: Admission,
        work: impl Future<Output = Result<(), StoreError>> + Send + 'static,
    ) -> Ticket {
        let source = Source::of(claim);
        let cost = match self.admit_claim(claim, &source, bytes, admission) {
            Ok(cost) => cost,
            Err(error) => return Ticket::failed(error),
        };
        let (completion, ticket) = Ticket::pair();
        let (failing, shared, counted) = (claim.clone(), Arc::clone(&self.shared), source.clone());
        let work = async move {
            let outcome = caught(work).await;
            if let Err(error) = &outcome {
                admission.fail(&failing, error);
            }
            shared.settle(&counted, cost, outcome.is_ok());
            completion.complete(outcome);
        };
        self.send(source, &claim.run, Job::Work(cost, Box::pin(work)));
        ticket
    }

    /// Counts a write under a claim in the queue, or refuses it.
    pub(crate) fn admit_claim(
        &self,
        claim: &Claim,
        source: &Source,
        bytes: usize,
        admission: Admission,
    ) -> Result<usize, StoreError> {
        if admission != Admission::Release
            && let Some(fault) = claim.fault()
        {
            return Err(fault.clone());
        }
        self.admit(source, bytes, admission).inspect_err(|error| admission.fail_queue(claim, error))
    }

    /// Queues a read and returns its answer.
    pub(crate) fn query<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Pending<T> {
        let (sender, receiver) = oneshot::channel();
        let work = async move { drop(sender.send(caught(work).await)) };
        self.lanes.read(Source::now_or(Source::Reads), Box::pin(work));
        Box::pin(async move { receiver.await.unwrap_or_else(|_| Err(StoreError::closed())) })
    }

    /// Starts work that is not queued.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Pending<T> {
        let task = self.handle.spawn(caught(work));
        Box::pin(async move { task.await.unwrap_or_else(|_| Err(StoreError::closed())) })
    }

    /// Returns a future that ends when everything that is queued now is written or has failed.
    pub(crate) fn drained(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let marked = self.lanes.mark();
        async move { marked.await.map_err(|_| StoreError::closed()) }
    }
}
