//! The forms that are open at a client.

use super::ElicitedDecisions;
use super::asked::Asked;
use super::form::{decision, form};
use super::group::CallGroup;
use crate::serve::caller::Client;
use agent_spaces_approvals::Request;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{ClientResult, ElicitRequest, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions};
use std::sync::Arc;

/// The forms that are open at a client for one request of it. They are asked within that request: a client may listen nowhere
/// else. When this is dropped a person may still answer.
#[derive(Default)]
pub(in crate::serve) struct OpenForms(FuturesUnordered<BoxFuture<'static, ()>>);

impl OpenForms {
    /// Asks a person about all of these calls that nobody was asked about, with one form for those that belong together.
    pub(in crate::serve) fn open(
        &self,
        decisions: &ElicitedDecisions,
        client: &Client,
        peer: &Peer<RoleServer>,
        (asked, waiting): (&Asked, Vec<Arc<Request>>),
    ) {
        for group in CallGroup::of(asked.open(waiting)) {
            let (asked, ids) = (asked.clone(), group.request_ids());
            let asking = ask(decisions.clone(), client.clone(), peer.clone(), group);
            self.0.push(asking.map(move |()| asked.close(&ids)).boxed());
        }
    }

    /// Asks, until one more form is gone. Never ends where none is open.
    pub(in crate::serve) async fn hear(&mut self) {
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

/// Asks a person through the client, until all calls of the group are decided elsewhere, withdrawn or expired. Their form is
/// taken back then.
async fn ask(decisions: ElicitedDecisions, client: Client, peer: Peer<RoleServer>, group: CallGroup) {
    let (Some(form), ids) = (form(&group), group.request_ids()) else { return };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let Ok(mut asking) = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await else { return };
    let answer = tokio::select! {
        answer = &mut asking.rx => Some(answer),
        () = tokio::time::sleep(group.time_left()) => None,
        () = decisions.settled(&ids) => None,
    };
    let Some(answer) = answer else {
        let _the_client_may_be_gone =
            asking.cancel(Some("it was decided elsewhere, or waits no more".to_owned())).await;
        return;
    };
    if let Ok(Ok(ClientResult::ElicitResult(answer))) = answer
        && let Some(decision) = decision(&client, &answer)
    {
        decisions.decide(&ids, &decision);
    }
}
