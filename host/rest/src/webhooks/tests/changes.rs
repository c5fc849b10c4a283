//! Messages of webhooks that were changed.

use super::fixtures::{RUN, Receiver, SECRET, SPACE, end_run, messages, put_space, put_webhook, store, webhooks};
use crate::space_documents;
use crate::webhooks::Webhooks;
use crate::webhooks::stored_messages::{KIND, message_id};
use crate::webhooks::subscriber::Subscriber;
use crate::webhooks::types::WebhookEvent;
use agent_spaces_journal::Store;
use serde_json::json;
use std::sync::Arc;

/// Stores the messages that the sweep finds, and returns how many there are.
async fn swept(webhooks: &Webhooks, store: &Arc<dyn Store>) -> usize {
    let document = store.document(space_documents::KIND, SPACE).await.unwrap().unwrap();
    let subscriber = Subscriber::read(document).unwrap().unwrap();
    webhooks.find_ended(SPACE, &subscriber, 1).await.unwrap();
    messages(store, KIND).await.len()
}

#[tokio::test]
async fn what_happens_while_a_webhook_is_disabled_is_never_sent() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    let mut receiver = Receiver::start(&[200]);
    let webhook = |is_disabled: bool, since: i64| {
        json!({
            "url": receiver.url, "events": ["run.ended"], "secret": SECRET, "is_disabled": is_disabled,
            "since": { "run.ended": since },
        })
    };
    put_webhook(&store, webhook(false, 0)).await;
    end_run(&store, "run_waits").await;
    webhooks.notice_end("run_waits").await;
    put_webhook(&store, webhook(true, 0)).await;
    let waits = message_id("run_waits", WebhookEvent::RunEnded, None);
    assert_eq!(webhooks.send(&waits).await.unwrap(), None, "it is given up when it is due");
    end_run(&store, "run_missed").await;
    webhooks.notice_end("run_missed").await;
    assert_eq!(swept(&webhooks, &store).await, 0);
    let missed = store.run("run_missed").await.unwrap().unwrap();
    put_webhook(&store, webhook(false, missed.updated + 1)).await;
    webhooks.notice_end("run_missed").await;
    assert_eq!(swept(&webhooks, &store).await, 0, "it is not made up for");
    put_webhook(&store, webhook(false, missed.updated)).await;
    assert_eq!(swept(&webhooks, &store).await, 1);
    let id = message_id("run_missed", WebhookEvent::RunEnded, None);
    assert_eq!(webhooks.send(&id).await.unwrap(), None);
    assert_eq!(receiver.next().await.id, id);
}

#[tokio::test]
async fn a_message_that_waits_is_sent_to_the_new_address() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    let (mut old, mut new) = (Receiver::start(&[200]), Receiver::start(&[200]));
    put_space(&store, &old.url).await;
    end_run(&store, RUN).await;
    webhooks.notice_end(RUN).await;
    put_space(&store, &new.url).await;
    let id = message_id(RUN, WebhookEvent::RunEnded, None);
    assert_eq!(webhooks.send(&id).await.unwrap(), None);
    assert_eq!(new.next().await.id, id);
    assert!(old.requests.try_recv().is_err());
}
