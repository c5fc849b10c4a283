//! The side of the run: a request lies in the store until a decision on it is believed.

use super::Store;
use super::key::ApproverKey;
use super::waiting::Waiting;
use crate::channel::{Answer, Channel, ChannelError};
use crate::plain::one_line;
use crate::request::Request;
use std::sync::Arc;
use std::time::Duration;

/// How often decisions are looked for. A person notices no more.
const EVERY: Duration = Duration::from_millis(200);
/// How many decisions that are not believed are reported for one request.
const MAX_REPORTS: usize = 5;

/// Asks whoever holds the approver's token, through the store.
pub struct StoreChannel {
    store: Store,
    key: ApproverKey,
    report: Box<dyn Fn(&str) + Send + Sync>,
}

impl StoreChannel {
    /// Requests go into this store, and decisions are believed that this key verifies. `report` is told of those that
    /// are not, and of what fails.
    pub fn new(store: Store, key: ApproverKey, report: impl Fn(&str) + Send + Sync + 'static) -> StoreChannel {
        StoreChannel { store, key, report: Box::new(report) }
    }
}

impl Channel for StoreChannel {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        let waiting = Waiting::new(&self.store, Arc::clone(&request), &self.key);
        Box::pin(async move {
            let waiting = waiting.map_err(|error| {
                (self.report)(&error.to_string());
                ChannelError::Nobody("the request could not be put into the store of approvals".to_owned())
            })?;
            let mut reports = 0;
            loop {
                match waiting.look() {
                    Ok(Some(decision)) => return Ok(decision),
                    Err(why) if reports < MAX_REPORTS => {
                        reports += 1;
                        (self.report)(&one_line(&format!("a decision on {} does not count: {why}", request.id), 500));
                    }
                    Ok(None) | Err(_) => {}
                }
                let left = request.time_left().ok_or(ChannelError::Expired)?;
                tokio::time::sleep(EVERY.min(left)).await;
            }
        })
    }

    fn too_late(&self, request: &Request) {
        (self.report)(&format!("the decision on {} came too late: it had expired", request.id));
    }
}
