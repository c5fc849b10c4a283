//! Daily spending of agents in the journal, over all processes. Best effort: a daily budget is no accounting.

use super::{Sessions, now_ms};
use crate::spending::{Day, DaySpent};
use agent_spaces_journal::{Expected, NewDocument, Put};

/// Kind of the document, whose id is the agent's name.
const DAY: &str = "agent_day";

/// Time to live in milliseconds: clocks differ.
const KEPT_MS: i64 = 3 * 24 * 3600 * 1000;

/// Attempts of an update against concurrent ones of other processes.
const ATTEMPTS: u32 = 5;

impl Sessions {
    /// Spending of an agent today, over all processes; `None` if nothing is stored or it cannot be read.
    pub(crate) async fn day(&self, agent: &str) -> Option<Day> {
        let found = self.store.document(DAY, agent).await.ok()??;
        let DaySpent { date, tokens, cost } = serde_json::from_str(&found.body).ok()?;
        Some(Day::restore(tokens, cost, &date))
    }

    /// Adds the spending of an answer.
    pub(crate) async fn add_to_day(&self, agent: &str, tokens: u64, cost: Option<f64>) {
        if tokens == 0 {
            return;
        }
        for _ in 0..ATTEMPTS {
            let Ok(found) = self.store.document(DAY, agent).await else { return };
            let kept: DaySpent =
                found.as_ref().and_then(|found| serde_json::from_str(&found.body).ok()).unwrap_or_default();
            // Spending of an earlier day does not count.
            let mut day = Day::restore(kept.tokens, kept.cost, &kept.date).snapshot();
            day.tokens = day.tokens.saturating_add(tokens);
            day.cost += cost.unwrap_or_default();
            let Ok(body) = serde_json::to_string(&day) else { return };
            let expected = found.map_or(Expected::Absent, |found| Expected::Version(found.version));
            let expires = Some(now_ms().saturating_add(KEPT_MS));
            let new = NewDocument { kind: DAY.to_owned(), id: agent.to_owned(), owner: String::new(), body, expires };
            match self.store.put_document(new, expected).await {
                Ok(Put::Conflict(_) | Put::Missing) => {}
                Ok(Put::Stored(_)) => return,
                Err(error) => {
                    tracing::warn!(target: "agent_spaces::agent", "what {agent} spent today is not kept: {error}");
                    return;
                }
            }
        }
    }
}
