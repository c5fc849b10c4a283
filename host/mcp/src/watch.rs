//! Subscription to changes of a server's tool list.

use crate::connection::Connection;
use rmcp::model::SubscriptionFilter;
use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

impl Connection {
    /// Subscribes to `tools/list_changed` in the stateless protocol. With a session, servers send it unasked.
    pub(crate) fn watch_tools(&self) {
        let Some(info) = self.info() else { return };
        let announces = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed).unwrap_or(false);
        if info.protocol_version.has_initialize() || !announces {
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
                // Changes may have been missed without a subscription: force a comparison.
                tokio::time::sleep(pause).await;
                shared.tools_changed();
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
    }
}
