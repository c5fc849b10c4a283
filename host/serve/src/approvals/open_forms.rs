//! Forms that are open at a client.

use super::ElicitedDecisions;
use super::asked_requests::AskedRequests;
use super::form::{decision, form, meta};
use super::group::CallGroup;
use agent_spaces_approvals::Request;
use agent_spaces_http_server::Client;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{ClientResult, ElicitRequest, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions};
use std::sync::Arc;

/// Forms open at a client during one of its requests. They are sent within that request, since a client may have no
/// other stream. After a drop, answers still count.
#[derive(Default)]
pub(crate) struct OpenForms(FuturesUnordered<BoxFuture<'static, ()>>);

impl OpenForms {
    /// Opens forms for the calls that have had none, one form per group.
    pub(crate) fn open(
        &self,
        decisions: &ElicitedDecisions,
        client: &Client,
        peer: &Peer<RoleServer>,
        (asked, waiting): (&AskedRequests, Vec<Arc<Request>>),
    ) {
        for group in CallGroup::of(asked.open(waiting)) {
            let (asked, ids) = (asked.clone(), group.request_ids());
            let asking = ask(decisions.clone(), client.clone(), peer.clone(), group);
            self.0.push(asking.map(move |()| asked.close(&ids)).boxed());
        }
    }

    /// Waits until a form is closed. Never completes if none is open.
    pub(crate) async fn next_closed(&mut self) {
        if self.0.next().await.is_none() {
            std::future::pending().await
        }
    }
}

impl Drop for OpenForms {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.0);
        if let (false, Ok(runtime)) = (left.is_empty(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { while left.next().await.is_some() {} });
        }
    }
}

/// Shows a form until it is answered, or cancels it once all calls of the group are decided elsewhere, withdrawn or
/// expired.
async fn ask(decisions: ElicitedDecisions, client: Client, peer: Peer<RoleServer>, group: CallGroup) {
    let (Some(form), ids) = (form(&group), group.request_ids()) else { return };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::no_options().with_meta(meta(&group));
    let Ok(mut asking) = peer.send_cancellable_request(request, options).await else { return };
    let answer = tokio::select! {
        answer = &mut asking.rx => Some(answer),
        () = tokio::time::sleep(group.time_left()) => None,
        () = decisions.settled(&ids) => None,
    };
    let Some(answer) = answer else {
        let _the_client_may_be_gone = asking.cancel(Some("decided elsewhere, withdrawn or expired".to_owned())).await;
        return;
    };
    if let Ok(Ok(ClientResult::ElicitResult(answer))) = answer
        && let Some(decision) = decision(&client, &answer)
    {
        decisions.decide(&ids, &decision);
    }
}
