//! Hearing that a server's tools changed.

use crate::connection::Connection;
use rmcp::model::SubscriptionFilter;

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
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            // A server that cannot be listened to is compared at its next start.
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                shared.tools_changed();
            }
        });
    }
}
