//! What a session keeps of its requests.

use super::*;
use futures_util::FutureExt;
use rmcp::RoleServer;
use rmcp::transport::Transport;
use serde_json::json;

fn sessions() -> Sessions {
    Sessions::new(Arc::new(Semaphore::new(MAX_OF_ALL)), Presence::default())
}

fn request(id: &str) -> ClientJsonRpcMessage {
    serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).unwrap()
}

/// A session whose requests nobody answers.
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

/// How many requests are kept in a session, by their ids and by their names.
fn kept(sessions: &Sessions, id: &SessionId) -> (usize, usize) {
    let book = sessions.book();
    (book[id].ids.len(), book[id].underway.len())
}

#[tokio::test]
async fn a_place_counts_from_before_its_session_is_made() {
    let sessions = sessions();
    let mut places = Vec::new();
    for _ in 0..MAX_OF_CALLER {
        places.push(sessions.place().await.unwrap());
    }
    assert!(matches!(sessions.place().await, Err(SessionsError::Full)));
    places.pop();
    let (first, _transport) = sessions.create_session().await.unwrap();
    // One that has just been asked something is in use, even where nobody reads the answer yet.
    sessions.book().get_mut(&first).unwrap().expect(&RequestId::Number(1)).unwrap();
    assert!(matches!(sessions.create_session().await, Err(SessionsError::Full)));
    sessions.book().get_mut(&first).unwrap().ids.clear();
    // One that nobody uses makes room, and its place is nobody's in between.
    sessions.create_session().await.unwrap();
    assert!(!sessions.has_session(&first).await.unwrap());
    assert_eq!((sessions.book().len(), sessions.0.own_places.available_permits()), (1, 0));
}

#[tokio::test]
async fn nothing_stays_of_a_request_whose_client_went_away_before_it_was_passed_on() {
    let sessions = sessions();
    let id = silent(&sessions).await;
    for number in 0..20 {
        // Begun, and dropped with its connection.
        let left = sessions.create_stream(&id, request(&number.to_string())).now_or_never();
        assert!(left.is_none());
    }
    // The first ones were on their way; the others never came so far.
    let is_passed_on = || kept(&sessions, &id) == (MAX_OPENING, MAX_OPENING);
    while !is_passed_on() {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(GONE + GONE / 5).await;
    assert_eq!(kept(&sessions, &id), (0, 0));
}

#[tokio::test]
async fn ids_are_bounded_in_length_and_number() {
    let sessions = sessions();
    let (id, _transport) = sessions.create_session().await.unwrap();
    let long = sessions.create_stream(&id, request(&"x".repeat(MAX_ID + 1))).await;
    assert!(matches!(long.err(), Some(SessionsError::LongId)));
    let expect = |number| sessions.book().get_mut(&id).unwrap().expect(&RequestId::Number(number));
    (0..MAX_UNDERWAY as i64).for_each(|number| expect(number).unwrap());
    assert!(matches!(expect(0), Err(SessionsError::Twice)));
    assert!(matches!(expect(-1), Err(SessionsError::Busy)));
}

#[tokio::test]
async fn who_came_back_and_left_again_has_their_time_anew() {
    let sessions = sessions();
    let id = silent(&sessions).await;
    let stream = sessions.create_stream(&id, request("1")).await.unwrap();
    let name = sessions.book()[&id].underway.keys().next().unwrap().clone();
    drop(stream);
    tokio::time::sleep(GONE * 3 / 5).await;
    drop(sessions.reader(&id, Some(name)));
    // The time of the first leaving is over, and that of the second is not.
    tokio::time::sleep(GONE * 3 / 5).await;
    assert_eq!(kept(&sessions, &id), (1, 1));
    tokio::time::sleep(GONE).await;
    assert_eq!(kept(&sessions, &id), (0, 0));
}
