//! One page of the approvals of runs and agents.

use super::in_memory;
use super::stored::StoredApproval;
use super::view::ApprovalView;
use crate::approval_request::ApprovalStatus;
use crate::pages::{ListOrder, Page, PageRequest};
use crate::problem::Problem;
use crate::query::Query;
use crate::service::Service;
use crate::who::Who;
use agent_spaces_approvals::WaitingCall;
use agent_spaces_journal::{ApprovalFilter, RunOwner, Summary};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Parameters of the query.
pub(super) const PARAMETERS: [&str; 7] = ["status", "run", "space", "agent", "order", "limit", "cursor"];

/// Position in a list of approvals: a time and an id, which mean other approvals in the other order.
type Position = (i64, String, ListOrder);

/// Approvals that a request asks for.
pub(super) struct ListRequest {
    page: PageRequest<Position>,
    order: ListOrder,
    status: Option<ApprovalStatus>,
    run: Option<String>,
    space: Option<String>,
    agent: Option<String>,
}

/// Item of a list.
enum Listed {
    OfRun(Box<StoredApproval>),
    OfAgent(Arc<WaitingCall>),
}

impl Listed {
    fn position(&self) -> (i64, String) {
        match self {
            Listed::OfRun(approval) => approval.position(),
            Listed::OfAgent(call) => in_memory::position(call),
        }
    }
}

impl ListRequest {
    /// Reads what a request asks for, and refuses the cursor of a list in another order.
    pub(super) fn read(query: &Query) -> Result<ListRequest, Problem> {
        let order: ListOrder = query.choice("order")?.unwrap_or_default();
        let page: PageRequest<Position> = PageRequest::read(query)?;
        if page.after.as_ref().is_some_and(|(_, _, other)| *other != order) {
            return Err(Problem::parameter(
                "cursor",
                "the cursor is of a list in another order: send the same `order`",
            ));
        }
        let text = |name| query.text(name).map(|text| text.map(str::to_owned));
        let (run, space, agent) = (text("run")?, text("space")?, text("agent")?);
        Ok(ListRequest { page, order, status: query.choice("status")?, run, space, agent })
    }

    /// Returns the page.
    pub(super) async fn answer(self, service: &Service, who: &Who) -> Result<Page<ApprovalView>, Problem> {
        let calls = self.calls(service, who);
        let (found, stopped) = self.of_runs(service, who, &calls).await?;
        let is_in_reach = |call: &WaitingCall| {
            let position = in_memory::position(call);
            let is_after = |other: &Position| self.is_after(&position, &(other.0, other.1.clone()));
            // What is behind the rows that were read comes with them.
            self.page.after.as_ref().is_none_or(is_after) && !stopped.as_ref().is_some_and(is_after)
        };
        let calls = calls.into_iter().filter(|call| self.is_listed(call) && is_in_reach(call));
        let found = found.into_iter().map(|approval| Listed::OfRun(Box::new(approval)));
        let mut listed: Vec<Listed> = found.chain(calls.map(Listed::OfAgent)).collect();
        listed.sort_by_cached_key(Listed::position);
        if self.order == ListOrder::Newest {
            listed.reverse();
        }
        listed.truncate(self.page.read_limit());
        let position = |item: &Listed| {
            let (created, id) = item.position();
            (created, id, self.order)
        };
        let page = self.page.page_until(stopped, listed, position, |item| item);
        Ok(Page { items: views(service, page.items).await?, next: page.next })
    }

    /// Returns true if the one position comes after the other in this list.
    fn is_after(&self, one: &(i64, String), other: &(i64, String)) -> bool {
        match self.order {
            ListOrder::Oldest => one > other,
            ListOrder::Newest => one < other,
        }
    }

    /// Returns calls of agents that the caller may see, unless the list is of a run or space: these have neither.
    fn calls(&self, service: &Service, who: &Who) -> Vec<Arc<WaitingCall>> {
        match self.run.is_none() && self.space.is_none() {
            true => in_memory::all(service, who),
            false => Vec::new(),
        }
    }

    /// Returns true if a call of an agent is in the list.
    fn is_listed(&self, call: &WaitingCall) -> bool {
        let is_of = |agent: &String| call.agent == *agent;
        let is_in = |status: ApprovalStatus| status == ApprovalStatus::of_waiting(call);
        self.agent.as_ref().is_none_or(is_of) && self.status.is_none_or(is_in)
    }

    /// Returns approvals of runs, and the position after which there may be more. Calls of an agent whose runs are durable
    /// are in the store too: they are listed once, as the agent's.
    async fn of_runs(
        &self,
        service: &Service,
        who: &Who,
        calls: &[Arc<WaitingCall>],
    ) -> Result<(Vec<StoredApproval>, Option<Position>), Problem> {
        if self.agent.is_some() {
            return Ok((Vec::new(), None));
        }
        let of_agents: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        let is_listed = |approval: &StoredApproval| {
            let is_in = |status: ApprovalStatus| approval.status() == status;
            self.status.is_none_or(is_in) && !of_agents.contains(approval.id())
        };
        let mut scan = self.page.scan(self.status.is_some());
        let mut found: Vec<StoredApproval> = Vec::new();
        while let Some(after) = scan.next_after(found.len()) {
            let filter = ApprovalFilter {
                pending: self.status == Some(ApprovalStatus::Pending),
                run: self.run.clone(),
                newest_first: self.order == ListOrder::Newest,
                limit: scan.limit,
                after: after.map(|(created, id, _)| (created, id)),
                runs_of: Some(RunOwner {
                    project: service.0.settings.project.clone(),
                    caller: who.listed(),
                    space: self.space.clone(),
                }),
            };
            let rows = service.store().approvals(filter).await?;
            scan.read(rows.len(), rows.last().map(|row| (row.created, row.id.clone(), self.order)));
            found.extend(rows.iter().filter_map(StoredApproval::read).filter(is_listed));
        }
        Ok((found, scan.stopped()))
    }
}

/// Shows approvals, those of runs with the spaces and callers of these.
async fn views(service: &Service, items: Vec<Listed>) -> Result<Vec<ApprovalView>, Problem> {
    let mut runs: HashMap<String, Summary> = HashMap::new();
    let mut views = Vec::with_capacity(items.len());
    for item in items {
        let approval = match item {
            Listed::OfRun(approval) => approval,
            Listed::OfAgent(call) => {
                views.push(in_memory::view(&call));
                continue;
            }
        };
        let summary = match runs.entry(approval.request.run_id.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                // One that was removed meanwhile has no approvals any more.
                let Some(row) = service.store().run(new.key()).await? else { continue };
                new.insert(row.summary)
            }
        };
        views.push(approval.view(summary));
    }
    Ok(views)
}

#[cfg(test)]
mod tests {
    use super::{ListRequest, PARAMETERS};
    use crate::pages::{ListOrder, encode};
    use crate::query::Query;

    #[test]
    fn a_cursor_is_of_one_order() {
        let of = |cursor: &str, order: &str| {
            let query = Query::parse(Some(&format!("cursor={cursor}&order={order}")), &PARAMETERS);
            ListRequest::read(&query.unwrap()).map(|request| request.page.after)
        };
        let (oldest, newest) = ((ListOrder::Oldest, "oldest"), (ListOrder::Newest, "newest"));
        for ((order, name), (_, other)) in [(oldest, newest), (newest, oldest)] {
            let position = (5_i64, "apr_1".to_owned(), order);
            let cursor = encode(&position);
            assert_eq!(of(&cursor, name).unwrap(), Some(position));
            let fault = serde_json::to_value(of(&cursor, other).unwrap_err()).unwrap();
            assert_eq!(fault["errors"][0]["parameter"], "cursor");
            assert_eq!(of("", other).unwrap(), None, "the first page");
        }
    }
}
