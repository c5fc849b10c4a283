//! Session limits and cleanup of requests.

use super::permits::MAX_OF_CALLER;
use super::*;
use futures_util::FutureExt;
use rmcp::RoleServer;
use rmcp::transport::Transport;
use serde_json::json;

fn sessions() -> Sessions {
    Sessions::new(&AllSessions::new(), Presence::default())
}

fn request(id: &str) -> ClientJsonRpcMessage {
    serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).unwrap()
}

/// Creates a session whose requests are never answered.
async fn silent(sessions: &Sessions) -> SessionId {
    let (id, mut transport) = sessions.create_session().await.unwrap();
    tokio::spawn(async move {
        Transport::<RoleServer>::receive(&mut transport).await;
        let greeting = serde_json::from_value(json!({ "jsonrpc": "2.0", "id": 0, "result": {} })).unwrap();
        Transport::<RoleServer>::send(&mut transport, greeting).await.unwrap();
        while Transport::<RoleServer>::receive(&mut transport).await.is_some() {}
    });
    sessions.initialize_session(&id, request("0")).await.unwrap();
    id
}

/// Returns the number of request ids and of open requests of a session.
fn kept(sessions: &Sessions, id: &SessionId) -> (usize, usize) {
    let entries = sessions.entries();
    (entries[id].ids.len(), entries[id].open_requests.len())
}

#[tokio::test]
async fn a_permit_is_held_before_its_session_is_created() {
    let sessions = sessions();
    let mut permits = Vec::new();
    for _ in 0..MAX_OF_CALLER {
        permits.push(sessions.acquire_permit().await.unwrap());
    }
    assert!(matches!(sessions.acquire_permit().await, Err(SessionsError::Full)));
    permits.pop();
    let (first, _transport) = sessions.create_session().await.unwrap();
    // A session with an open request is in use, even without a reader.
    sessions.entries().get_mut(&first).unwrap().register(&RequestId::Number(1)).unwrap();
    assert!(matches!(sessions.create_session().await, Err(SessionsError::Full)));
    sessions.entries().get_mut(&first).unwrap().ids.clear();
    // An idle session is closed, and its permit passes to the new one directly.
    sessions.create_session().await.unwrap();
    assert!(!sessions.has_session(&first).await.unwrap());
    assert_eq!((sessions.entries().len(), sessions.0.permits.used()), (1, MAX_OF_CALLER));
}

#[tokio::test]
async fn a_request_dropped_before_it_was_passed_on_leaves_nothing() {
    let sessions = sessions();
    let id = silent(&sessions).await;
    for number in 0..20 {
        // Started, and dropped with its connection.
        let left = sessions.create_stream(&id, request(&number.to_string())).now_or_never();
        assert!(left.is_none());
    }
    // The first ones were being passed on; the others never started.
    let is_passed_on = || kept(&sessions, &id) == (MAX_OPENING, MAX_OPENING);
    while !is_passed_on() {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(GONE_AFTER + GONE_AFTER / 5).await;
    assert_eq!(kept(&sessions, &id), (0, 0));
}

#[tokio::test]
async fn ids_are_bounded_in_length_and_number() {
    let sessions = sessions();
    let (id, _transport) = sessions.create_session().await.unwrap();
    let long = sessions.create_stream(&id, request(&"x".repeat(MAX_ID + 1))).await;
    assert!(matches!(long.err(), Some(SessionsError::LongId)));
    let register = |number| sessions.entries().get_mut(&id).unwrap().register(&RequestId::Number(number));
    (0..MAX_OPEN_REQUESTS as i64).for_each(|number| register(number).unwrap());
    assert!(matches!(register(0), Err(SessionsError::Twice)));
    assert!(matches!(register(-1), Err(SessionsError::Busy)));
}

#[tokio::test]
async fn each_reader_that_leaves_restarts_the_time() {
    let sessions = sessions();
    let id = silent(&sessions).await;
    let stream = sessions.create_stream(&id, request("1")).await.unwrap();
    let name = sessions.entries()[&id].open_requests.keys().next().unwrap().clone();
    drop(stream);
    tokio::time::sleep(GONE_AFTER * 3 / 5).await;
    drop(sessions.reader(&id, Some(name)));
    // The time of the first reader is over, that of the second is not.
    tokio::time::sleep(GONE_AFTER * 3 / 5).await;
    assert_eq!(kept(&sessions, &id), (1, 1));
    tokio::time::sleep(GONE_AFTER).await;
    assert_eq!(kept(&sessions, &id), (0, 0));
}

#[tokio::test]
async fn a_session_of_another_host_has_a_permit_and_is_closed_like_any_other() {
    let (here, there) = (sessions(), sessions());
    let (id, _transport) = here.create_session().await.unwrap();
    let restored = there.restore_session(id.clone()).await.unwrap();
    assert!(matches!(restored, RestoreOutcome::Restored(_)));
    assert!(there.has_session(&id).await.unwrap());
    assert_eq!((there.entries().len(), there.0.permits.used()), (1, 1));
    assert!(matches!(there.restore_session(id.clone()).await.unwrap(), RestoreOutcome::AlreadyPresent));
    assert_eq!(there.0.permits.used(), 1);
    there.close_session(&id).await.unwrap();
    assert_eq!((there.entries().len(), there.0.permits.used()), (0, 0));
}
