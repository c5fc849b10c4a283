//! Messages against a local receiver.

mod bounds;
mod changes;
mod fixtures;

use super::stored_messages::{ENDED_KIND, KIND, message_id};
use super::sweep::Round;
use super::types::WebhookEvent;
use crate::space_documents;
use crate::time::now_ms;
use agent_spaces_journal::{Approval, Expected, NewDocument, SqliteStore, Store};
use agent_spaces_types::event::{Event, EventKind};
use fixtures::{
    RUN, Receiver, SECRET, SPACE, begin_run, change, end_run, messages, put_space, request, service, store, webhooks,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_message_is_sent_again_until_it_is_accepted_and_never_after() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    let mut receiver = Receiver::start(&[503, 204]);
    put_space(&store, &receiver.url).await;
    end_run(&store, RUN).await;
    webhooks.notice_end(RUN).await;
    webhooks.notice_end(RUN).await;
    let id = message_id(RUN, WebhookEvent::RunEnded, None);
    let stored = messages(&store, KIND).await;
    assert_eq!((stored.len(), stored[0].id.as_str(), stored[0].owner.as_str()), (1, id.as_str(), "ann"));
    assert!(!stored[0].body.contains("k1") && !stored[0].body.contains(SECRET), "{}", stored[0].body);

    let again = webhooks.send(&id).await.unwrap().unwrap();
    assert!((4_000..=6_000).contains(&(again - now_ms())), "{again}");
    assert_eq!(webhooks.send(&id).await.unwrap(), Some(again), "it was sent before it was due");
    change(&store, &id, |delivery| {
        assert_eq!((delivery.failures, delivery.claimed_until), (1, None));
        delivery.next = 0;
    })
    .await;
    assert_eq!(webhooks.send(&id).await.unwrap(), None);
    let (first, second) = (receiver.next().await, receiver.next().await);
    assert_eq!((&first.id, &second.id, &first.body), (&id, &id, &second.body));
    assert_eq!((first.body["type"].as_str(), first.body["data"]["runId"].as_str()), (Some("run.ended"), Some(RUN)));

    // Another process, which knows nothing of it, finds the run.
    let other = self::webhooks(&store, true);
    other.notice_end(RUN).await;
    let subscriber = other.subscriber(SPACE, WebhookEvent::RunEnded).await.unwrap().unwrap();
    other.find_ended(SPACE, &subscriber, 1).await.unwrap();
    assert_eq!((messages(&store, KIND).await.len(), messages(&store, ENDED_KIND).await.len()), (0, 1));
}

#[tokio::test]
async fn a_message_that_another_host_sends_is_left_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    let mut receiver = Receiver::start(&[200]);
    put_space(&store, &receiver.url).await;
    end_run(&store, RUN).await;
    webhooks.notice_end(RUN).await;
    let id = message_id(RUN, WebhookEvent::RunEnded, None);
    let until = now_ms() + 60_000;
    change(&store, &id, |delivery| delivery.claimed_until = Some(until)).await;
    assert_eq!(webhooks.send(&id).await.unwrap(), Some(until));
    assert!(receiver.requests.try_recv().is_err());
    // That host died.
    change(&store, &id, |delivery| delivery.claimed_until = Some(now_ms() - 1)).await;
    assert_eq!(webhooks.send(&id).await.unwrap(), None);
    assert_eq!(receiver.next().await.id, id);
}

#[tokio::test]
async fn a_message_is_given_up_if_the_receiver_is_gone_or_fails_for_hours() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    let receiver = Receiver::start(&[410, 500]);
    put_space(&store, &receiver.url).await;
    for (run, failures) in [("run_gone", 0), ("run_failed", 6)] {
        end_run(&store, run).await;
        webhooks.notice_end(run).await;
        let id = message_id(run, WebhookEvent::RunEnded, None);
        change(&store, &id, |delivery| delivery.failures = failures).await;
        assert_eq!(webhooks.send(&id).await.unwrap(), None, "{run}");
        assert!(store.document(ENDED_KIND, &id).await.unwrap().is_some(), "{run}");
    }
    // The space is gone before its message was sent.
    end_run(&store, "run_late").await;
    webhooks.notice_end("run_late").await;
    store.delete_document(space_documents::KIND, SPACE, None).await.unwrap();
    let id = message_id("run_late", WebhookEvent::RunEnded, None);
    assert_eq!(webhooks.send(&id).await.unwrap(), None);
    assert!(messages(&store, KIND).await.is_empty());
}

#[tokio::test]
async fn a_private_address_is_refused_when_a_message_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, false);
    let mut receiver = Receiver::start(&[200]);
    let id = message_id(RUN, WebhookEvent::RunEnded, None);
    put_space(&store, &receiver.url.replace("http:", "https:")).await;
    end_run(&store, RUN).await;
    webhooks.notice_end(RUN).await;
    assert!(webhooks.send(&id).await.unwrap().is_some());
    assert!(receiver.requests.try_recv().is_err());
    change(&store, &id, |delivery| assert_eq!(delivery.failures, 1)).await;
}

#[tokio::test]
async fn events_that_nobody_noticed_are_found_and_delivered_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let service = service(&store, true);
    let webhooks = service.0.webhooks.clone();
    let mut receiver = Receiver::start(&[200, 200, 200]);
    put_space(&store, &receiver.url).await;
    end_run(&store, RUN).await;
    let claim = begin_run(&store, "run_2");
    let request = request("run_2");
    let text = serde_json::to_string(&request).unwrap();
    let approval = Approval { id: request.id.clone(), call: 1, request: text };
    store.request_approval(&claim, claim.next_seq, vec![], approval).await.unwrap();
    let delivering = tokio::spawn({
        let service = service.clone();
        async move { service.deliver_webhooks().await }
    });
    let mut received = [receiver.next().await, receiver.next().await];
    received.sort_by_key(|message| message.body["type"].as_str().unwrap().to_owned());
    let [approval, ended] = received;
    assert_eq!(approval.id, message_id("run_2", WebhookEvent::ApprovalNeeded, Some(&request.id)));
    let row = store.approval(&request.id).await.unwrap().unwrap();
    let expected = json!({
        "type": "approval.needed",
        "timestamp": crate::time::format(row.created),
        "data": {
            "approvalId": request.id,
            "runId": "run_2",
            "spaceId": SPACE,
            "capability": "crm",
            "function": "createTicket",
            "message": "Create a ticket?",
            "expiresAt": humantime::format_rfc3339_millis(request.expires).to_string(),
        },
    });
    assert_eq!(approval.body, expected);
    let row = store.run(RUN).await.unwrap().unwrap();
    let expected = json!({
        "type": "run.ended",
        "timestamp": crate::time::format(row.updated),
        "data": { "runId": RUN, "spaceId": SPACE, "status": "finished" },
    });
    assert_eq!(ended.body, expected);
    // What is noticed while the server runs is sent at once; what was sent is not found again.
    end_run(&store, "run_3").await;
    webhooks.notice_end("run_3").await;
    assert_eq!(receiver.next().await.body["data"]["runId"], "run_3");
    let subscriber = webhooks.subscriber(SPACE, WebhookEvent::RunEnded).await.unwrap().unwrap();
    webhooks.find_ended(SPACE, &subscriber, 1).await.unwrap();
    webhooks.find_approvals(SPACE, &subscriber).await.unwrap();
    service.drain();
    delivering.await.unwrap();
    let stored = [messages(&store, KIND).await, messages(&store, ENDED_KIND).await].concat();
    let stored: BTreeSet<String> = stored.into_iter().map(|document| document.id).collect();
    assert_eq!(stored.len(), 3, "{stored:?}");
}

#[tokio::test]
async fn an_approval_is_noticed_while_its_run_is_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    put_space(&store, "http://127.0.0.1:1/").await;
    let claim = begin_run(&store, RUN);
    let request = request(RUN);
    let listener = webhooks.approval_listener(RUN);
    let kind = EventKind::ApprovalRequired {
        source: "capability",
        capability: "crm".into(),
        function: "createTicket".into(),
        params: request.params.clone(),
        sent: None,
        message: request.message.clone(),
        approval_id: request.id.clone(),
        call_id: 1,
        function_id: request.function_id.clone(),
        expires_at: String::new(),
    };
    let event = Event { kind, timestamp: String::new(), run_id: RUN.into(), seq: 1, caller: None, parent: None };
    // The event of another run, which this one's handler started, is not its own.
    listener.send(Event { run_id: "run_2".into(), ..event.clone() }).unwrap();
    listener.send(event).unwrap();
    // It is stored after its event was sent in memory.
    let text = serde_json::to_string(&request).unwrap();
    let approval = Approval { id: request.id.clone(), call: 1, request: text };
    store.request_approval(&claim, claim.next_seq, vec![], approval).await.unwrap();
    let id = message_id(RUN, WebhookEvent::ApprovalNeeded, Some(&request.id));
    let stored = async {
        while messages(&store, KIND).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        messages(&store, KIND).await
    };
    let stored = tokio::time::timeout(Duration::from_secs(20), stored).await.unwrap();
    assert_eq!((stored.len(), &stored[0].id), (1, &id));
    assert!(!stored[0].body.contains("private title"), "{}", stored[0].body);
}

#[tokio::test]
async fn a_space_that_ended_stays_until_its_messages_were_sent() {
    let folder = tempfile::tempdir().unwrap();
    // It ended a minute ago.
    let clock = Arc::new(|| now_ms() - 60_000);
    let settings = agent_spaces_journal::Settings { clock, ..agent_spaces_journal::Settings::default() };
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&folder.path().join("journal"), settings).unwrap());
    let service = service(&store, true);
    let webhook = json!({ "url": "http://127.0.0.1:1/", "events": ["run.ended"], "secret": SECRET });
    let new = NewDocument {
        kind: space_documents::KIND.to_owned(),
        id: SPACE.to_owned(),
        owner: "ann".to_owned(),
        body: json!({ "name": "hooked", "webhook": webhook, "isEnding": true }).to_string(),
        expires: Some(now_ms()),
    };
    store.put_document(new, Expected::Any).await.unwrap();
    let webhooks = service.0.webhooks.clone();
    webhooks.load_messages(&mut Round::default()).await.unwrap();
    webhooks.0.queue.add("msg_1", "ann", SPACE, 0);
    let sweeping = tokio::spawn({
        let service = service.clone();
        async move { service.end_expired_spaces().await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(store.document(space_documents::KIND, SPACE).await.unwrap().is_some());
    drop(webhooks.0.queue.take(now_ms()).unwrap());
    let gone = async {
        while store.document(space_documents::KIND, SPACE).await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.unwrap();
    service.drain();
    sweeping.await.unwrap();
}
