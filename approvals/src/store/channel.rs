//! The side of the run: a request lies in the store until a decision on it is believed.

use super::Store;
use super::key::ApproverKey;
use super::waiting::Waiting;
use crate::channel::{Answer, Channel, ChannelError};
use crate::request::Request;
use capability_gen::shown;
use capability_gen::shown::Shown;
use std::sync::Arc;
use std::time::Duration;

/// How often decisions are looked for. A person notices no more.
const EVERY: Duration = Duration::from_millis(200);
/// How many decisions that are not believed are reported for one request.
const MAX_REPORTS: usize = 5;
/// The longest report, in characters: a file or its path may say anything.
const MAX_REPORT: usize = 500;

/// Asks whoever holds the approver's token, through the store.
pub struct StoreChannel {
    store: Store,
    key: ApproverKey,
    report: Box<dyn Fn(&Shown) + Send + Sync>,
}

impl StoreChannel {
    /// Requests go into this store, and decisions are believed that this key verifies. `report` is told of those that
    /// are not, and of what fails.
    pub fn new(store: Store, key: ApproverKey, report: impl Fn(&Shown) + Send + Sync + 'static) -> StoreChannel {
        StoreChannel { store, key, report: Box::new(report) }
    }
}

impl Channel for StoreChannel {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        let waiting = Waiting::new(&self.store, Arc::clone(&request), &self.key);
        Box::pin(async move {
            let waiting = waiting.map_err(|error| {
                (self.report)(&Shown::line(&error.to_string(), MAX_REPORT));
                ChannelError::Nobody("the request could not be put into the store of approvals".to_owned())
            })?;
            let mut reports = 0;
            loop {
                match waiting.look() {
                    Ok(Some(decision)) => return Ok(decision),
                    Err(why) if reports < MAX_REPORTS => {
                        reports += 1;
                        let report = format!("a decision on {} does not count: {why}", request.id);
                        (self.report)(&Shown::line(&report, MAX_REPORT));
                    }
                    Ok(None) | Err(_) => {}
                }
                let left = request.time_left().ok_or(ChannelError::Expired)?;
                tokio::time::sleep(EVERY.min(left)).await;
            }
        })
    }

    fn too_late(&self, request: &Request) {
        (self.report)(&shown!(
            "the decision on {} came too late: it had expired",
            Shown::line(&request.id, MAX_REPORT)
        ));
    }
}
