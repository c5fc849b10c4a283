//! Polling of the store for changes since the last look.
//!
//! The store lists runs by the time of their last change, and approvals by the times of the request and the decision.
//! Each look goes back a little before the newest time that it knows: another process may have written within the same
//! millisecond, and clocks are set back. What was told before is known and left out.

use super::Change;
use crate::approval_request::{self, ApprovalStatus};
use crate::time::now_ms;
use agent_spaces_journal::{ApprovalFilter, ApprovalRow, Pending, RunOwner, RunRow, Status, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::SystemTime;

/// Time that a look goes back.
const OVERLAP_MS: i64 = 1_000;

/// Rows that are read at once, since an approval may have a megabyte of arguments, and pages of one look. A look that finds
/// more is given up: those who follow read their lists again, which is less work.
const PAGE: usize = 50;
const MAX_PAGES: usize = 200;

/// Most requests for approval whose end of time is awaited.
const MAX_OPEN: usize = 1_000;

/// The store could not be read, or too much changed at once.
#[derive(Debug)]
pub(super) struct Missed;

impl From<StoreError> for Missed {
    fn from(_: StoreError) -> Missed {
        Missed
    }
}

/// Reader of changes: its positions in the store, and the states that it has sent.
pub(super) struct Looker {
    project: String,
    runs: Newest,
    asked: Newest,
    decided: Newest,
    told_runs: HashMap<String, ToldRun>,
    /// Times and states of approvals; no state for a question about a call in doubt.
    told_approvals: HashMap<String, (i64, Option<ApprovalStatus>)>,
    /// Ends of the time of requests that wait.
    open: HashMap<String, SystemTime>,
}

/// Newest time that was read.
struct Newest(i64);

/// State of a run that was told.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ToldRun {
    status: Status,
    /// Time of its change; `None` while it is running, because every append is a change then.
    changed: Option<i64>,
    has_pending: bool,
}

/// Approval that changed.
struct SeenApproval {
    id: String,
    run: String,
    /// Time of the change.
    at: i64,
    /// State and the end of its time; `None` for a question about a call in doubt.
    state: Option<(ApprovalStatus, SystemTime)>,
}

impl Newest {
    /// Returns the position after which rows may be new.
    fn position(&self, now: i64) -> (i64, String) {
        (self.0.min(now).saturating_sub(OVERLAP_MS), String::new())
    }

    fn see(&mut self, time: i64) {
        self.0 = self.0.max(time);
    }
}

impl SeenApproval {
    fn of(row: &ApprovalRow, at: i64) -> SeenApproval {
        let request = approval_request::read(row);
        let state = request.map(|request| (approval_request::status(row, &request), request.expires));
        SeenApproval { id: row.id.clone(), run: row.run.clone(), at, state }
    }

    fn position(&self) -> (i64, String) {
        (self.at, self.id.clone())
    }
}

impl Looker {
    /// Begins to look: what changes from now on is news.
    pub(super) async fn begin(store: &dyn Store, project: &str) -> Result<Looker, Missed> {
        let now = now_ms();
        let runs_of = Some(RunOwner { project: project.to_owned(), caller: None, space: None });
        let (mut open, mut after) = (HashMap::new(), None);
        for _ in 0..MAX_OPEN / PAGE {
            let filter = ApprovalFilter { runs_of: runs_of.clone(), after, limit: PAGE, ..ApprovalFilter::default() };
            let rows = store.approvals(filter).await?;
            let read = |row: &ApprovalRow| Some((row.id.clone(), approval_request::read(row)?.expires));
            open.extend(rows.iter().filter_map(read));
            if rows.len() < PAGE {
                break;
            }
            after = rows.last().map(|row| (row.created, row.id.clone()));
        }
        Ok(Looker {
            project: project.to_owned(),
            runs: Newest(now),
            asked: Newest(now),
            decided: Newest(now),
            told_runs: HashMap::new(),
            told_approvals: HashMap::new(),
            open,
        })
    }

    /// Returns changes since the last look, those of approvals first.
    pub(super) async fn look(&mut self, store: &dyn Store) -> Result<Vec<Change>, Missed> {
        let now = now_ms();
        let (approvals, asking) = self.approvals(store, now).await?;
        let mut runs = self.runs(store, now).await?;
        for run in &asking {
            if !runs.contains_key(run)
                && let Some(row) = self.run(store, run).await?
            {
                runs.insert(run.clone(), row);
            }
        }
        let mut changes = Vec::new();
        for approval in approvals {
            if let Some(row) = runs.get(&approval.run) {
                changes.extend(self.tell_approval(approval, &row.summary.caller));
            }
        }
        for (id, row) in runs {
            let known = self.told_runs.get(&id).copied();
            // Of others that are running nothing says that they ask.
            let may_ask = asking.contains(&id) || known.is_none_or(|told| told.has_pending);
            let is_asked = row.status == Status::Running && may_ask;
            let has_pending = is_asked && approval_request::has_pending(store, &id).await?;
            let changed = Some(row.updated).filter(|_| row.status != Status::Running);
            let told = ToldRun { status: row.status, changed, has_pending };
            if known != Some(told) {
                self.told_runs.insert(id, told);
                changes.push(Change::Run { row: Box::new(row), has_pending });
            }
        }
        self.forget(now);
        Ok(changes)
    }

    /// Returns requests whose time is over, and that nobody decided.
    pub(super) async fn expired(&mut self, store: &dyn Store) -> Result<Vec<Change>, Missed> {
        let now = SystemTime::now();
        let over = self.open.iter().filter(|(_, expires)| **expires <= now).map(|(id, _)| id.clone());
        let over: Vec<String> = over.collect();
        let mut changes = Vec::new();
        for id in over {
            self.open.remove(&id);
            let Some(row) = store.approval(&id).await? else { continue };
            let seen = SeenApproval::of(&row, now_ms());
            let is_expired = seen.state.is_some_and(|(status, _)| status == ApprovalStatus::Expired);
            if !is_expired || !self.is_news(&seen) {
                continue;
            }
            if let Some(run) = self.run(store, &seen.run).await?
                && !run.status.is_ended()
            {
                changes.extend(self.tell_approval(seen, &run.summary.caller));
            }
        }
        Ok(changes)
    }

    /// Returns approvals that changed, and the runs that asked for them or got a decision.
    async fn approvals(
        &mut self,
        store: &dyn Store,
        now: i64,
    ) -> Result<(Vec<SeenApproval>, BTreeSet<String>), Missed> {
        let filter =
            |after| ApprovalFilter { pending: false, after: Some(after), limit: PAGE, ..ApprovalFilter::default() };
        let read = |after| store.approvals(filter(after));
        let seen = |row: &ApprovalRow| SeenApproval::of(row, row.created);
        let asked = pages(self.asked.position(now), read, seen, SeenApproval::position).await?;
        asked.iter().for_each(|one| self.asked.see(one.at));
        let read = |after| store.decided_approvals(after, PAGE);
        let seen = |row: &ApprovalRow| SeenApproval::of(row, row.decided_at.unwrap_or(row.created));
        let decided = pages(self.decided.position(now), read, seen, SeenApproval::position).await?;
        decided.iter().for_each(|one| self.decided.see(one.at));
        let (mut news, mut asking) = (Vec::new(), BTreeSet::new());
        for one in asked.into_iter().chain(decided) {
            if self.is_news(&one) {
                asking.insert(one.run.clone());
                news.push(one);
            }
        }
        Ok((news, asking))
    }

    /// Returns runs of the project that changed, in their newest states.
    async fn runs(&mut self, store: &dyn Store, now: i64) -> Result<BTreeMap<String, RunRow>, Missed> {
        let read = |after| store.changed_runs(after, PAGE);
        let position = |row: &RunRow| (row.updated, row.id.clone());
        let rows = pages(self.runs.position(now), read, RunRow::clone, position).await?;
        rows.iter().for_each(|row| self.runs.see(row.updated));
        let own = rows.into_iter().filter(|row| row.summary.project == self.project);
        Ok(own.map(|row| (row.id.clone(), row)).collect())
    }

    /// Returns a run of the project.
    async fn run(&self, store: &dyn Store, id: &str) -> Result<Option<RunRow>, Missed> {
        let row = store.run(id).await?.filter(|row| row.summary.project == self.project);
        Ok(row.map(|row| RunRow { outcome: None, ..row }))
    }

    /// Returns true if this state of an approval was not told, and remembers it.
    fn is_news(&mut self, seen: &SeenApproval) -> bool {
        let status = seen.state.map(|(status, _)| status);
        let known = self.told_approvals.insert(seen.id.clone(), (seen.at, status));
        known.is_none_or(|(_, told)| told != status)
    }

    /// Returns the change of an approval, and remembers when its time is over.
    fn tell_approval(&mut self, seen: SeenApproval, owner: &str) -> Option<Change> {
        let (status, expires) = seen.state?;
        if status != ApprovalStatus::Pending {
            self.open.remove(&seen.id);
        } else if self.open.len() < MAX_OPEN {
            self.open.insert(seen.id.clone(), expires);
        }
        Some(Change::Approval { id: seen.id, run: seen.run, owner: owner.to_owned(), status })
    }

    /// Forgets what the next look does not read again. Running ones are kept: their appends are no news.
    fn forget(&mut self, now: i64) {
        let (oldest, _) = self.runs.position(now);
        self.told_runs.retain(|_, told| told.changed.is_none_or(|changed| changed >= oldest));
        let oldest = self.asked.position(now).0.min(self.decided.position(now).0);
        self.told_approvals.retain(|_, (at, _)| *at >= oldest);
    }
}

/// Reads all rows after a position, and keeps a part of each.
async fn pages<T, K>(
    mut after: (i64, String),
    read: impl Fn((i64, String)) -> Pending<Vec<T>>,
    keep: impl Fn(&T) -> K,
    position: impl Fn(&K) -> (i64, String),
) -> Result<Vec<K>, Missed> {
    let mut all = Vec::new();
    for _ in 0..MAX_PAGES {
        let page = read(after).await?;
        all.extend(page.iter().map(&keep));
        match all.last() {
            Some(last) if page.len() >= PAGE => after = position(last),
            _ => return Ok(all),
        }
    }
    Err(Missed)
}
