//! Hearing that a server's tools changed.

use crate::connection::Connection;
use rmcp::model::SubscriptionFilter;
use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

impl Connection {
    /// With a session, servers tell by themselves; without one, they are asked to.
    pub(crate) fn watch_tools(&self) {
        let Some(info) = self.info() else { return };
        let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed).unwrap_or(false);
        if info.protocol_version.has_initialize() || !tells {
            return;
        }
        let (peer, shared) = (self.peer().clone(), self.shared.clone());
        tokio::spawn(async move {
            let mut pause = FIRST_PAUSE;
            while !peer.is_transport_closed() {
                let filter = SubscriptionFilter::builder().tools_list_changed().build();
                if let Ok(mut subscription) = peer.listen(filter).await {
                    pause = FIRST_PAUSE;
                    while let Ok(Some(_)) = subscription.next().await {
                        shared.tools_changed();
                    }
                }
                // What changed while nobody listened is found by comparing again.
                tokio::time::sleep(pause).await;
                shared.tools_changed();
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
    }
}
