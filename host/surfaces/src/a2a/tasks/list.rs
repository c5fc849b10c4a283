//! Lists of tasks.

use super::Tasks;
use super::kept::KeptTask;
use crate::a2a::bounds::MAX_LISTED;
use crate::a2a::error::A2aError;
use crate::a2a::operation::{ListRequest, token};
use crate::a2a::time;
use crate::a2a::types::Task;
use agent_spaces_http_server::Client;
use serde_json::{Value, json};

impl Tasks {
    /// Returns a page of a caller's tasks at an agent: those whose status changed last come first.
    pub(super) async fn list(&self, client: &Client, agent: &str, request: &ListRequest) -> Result<Value, A2aError> {
        let now = time::now_ms();
        let mut tasks = self.0.kept.tasks(client.owner(), MAX_LISTED).await?;
        tasks.retain_mut(|(id, task)| {
            match self.live(client.owner(), agent, id) {
                // What is stored may be older.
                Some(live) => *task = live.kept_status(),
                None => _ = task.fail_if_abandoned(id, now),
            }
            is_listed(task, agent, request)
        });
        let total = tasks.len();
        tasks.sort_by(|(one, left), (other, right)| (right.changed, other).cmp(&(left.changed, one)));
        if let Some((ms, id)) = &request.before {
            tasks.retain(|(task, status)| (status.changed, task) < (*ms, id));
        }
        let is_last = tasks.len() <= request.page;
        tasks.truncate(request.page);
        let next = tasks.last().filter(|_| !is_last).map(|(id, task)| token(task.changed, id)).unwrap_or_default();
        let mut listed = Vec::new();
        for (id, task) in tasks {
            listed.push(self.listed(client, id, task, request).await?);
        }
        Ok(json!({ "pageSize": request.page, "tasks": listed, "nextPageToken": next, "totalSize": total }))
    }

    /// Returns a task with as much as was asked for.
    async fn listed(
        &self,
        client: &Client,
        id: String,
        task: KeptTask,
        request: &ListRequest,
    ) -> Result<Task, A2aError> {
        let history = request.history.unwrap_or(0);
        let mut listed = match self.live(client.owner(), &task.agent, &id) {
            Some(live) => live.snapshot(),
            None if history > 0 || request.has_artifacts => self.stored(client.owner(), id, task).await?,
            None => Task { id, context_id: task.context, status: task.status, artifacts: None, history: Vec::new() },
        };
        let artifacts = listed.artifacts.take().unwrap_or_default();
        listed.artifacts = request.has_artifacts.then_some(artifacts);
        Ok(listed.with_history(Some(history)))
    }
}

fn is_listed(task: &KeptTask, agent: &str, request: &ListRequest) -> bool {
    task.agent == agent
        && request.context.as_ref().is_none_or(|context| task.context == *context)
        && request.state.is_none_or(|state| task.status.state == state)
        && request.since.is_none_or(|since| task.changed >= since)
}
