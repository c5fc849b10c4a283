//! Number of programs of a caller, and repeated requests.

use super::publish::MAX_PROGRAMS;
use super::request::NewProgram;
use super::stored::KIND;
use crate::idempotency::IdempotencyKey;
use crate::service::test_service;
use crate::who::Who;
use agent_spaces_http_server::Client;
use agent_spaces_journal::{DocumentFilter, Expected, NewDocument};

fn new(name: &str) -> NewProgram {
    NewProgram { name: name.to_owned(), source: "1".to_owned(), description: None }
}

#[tokio::test]
async fn two_new_programs_at_once_do_not_pass_the_limit_together() {
    let folder = tempfile::tempdir().unwrap();
    let service = test_service(folder.path());
    let (ann, bob) = (Who(Client::named("ann", Default::default())), Who(Client::named("bob", Default::default())));
    for number in 1..MAX_PROGRAMS {
        let (kind, id, owner) = (KIND.to_owned(), format!("prg_{number}"), "ann".to_owned());
        let document = NewDocument { kind, id, owner, body: "{}".to_owned(), expires: None };
        // The call queues it.
        drop(service.store().put_document(document, Expected::Absent));
    }
    service.store().flush().await.unwrap();
    let (a, b) = (new("a"), new("b"));
    let (first, second, theirs) =
        tokio::join!(service.publish(&ann, &a, None), service.publish(&ann, &b, None), service.publish(&bob, &a, None));
    let refused: Vec<_> = [first, second].into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.iter().map(|problem| problem.code()).collect::<Vec<_>>(), ["program.too_many"]);
    assert!(theirs.is_ok(), "a limit is of one caller");
    let all = DocumentFilter { owner: Some("ann".to_owned()), limit: usize::MAX, ..DocumentFilter::of(KIND) };
    assert_eq!(service.store().count_documents(all).await, Ok(MAX_PROGRAMS as u64));
}

fn source(text: &str) -> NewProgram {
    NewProgram { source: text.to_owned(), ..new("report") }
}

#[tokio::test]
async fn a_key_publishes_one_version() {
    let folder = tempfile::tempdir().unwrap();
    let service = test_service(folder.path());
    let ann = Who(Client::named("ann", Default::default()));
    let keys = ["a", "b", "c"].map(IdempotencyKey::of);
    let publish = async |text: &str, key: Option<&IdempotencyKey>| {
        let published = service.publish_once(&ann, &source(text), key).await?;
        Ok::<_, crate::problem::Problem>((published.version.version, published.is_new))
    };
    assert_eq!(publish("1", Some(&keys[0])).await, Ok((1, true)));
    assert_eq!(publish("1", Some(&keys[1])).await, Ok((1, false)), "it has this source already");
    assert_eq!(publish("2", None).await, Ok((2, true)));
    for key in &keys[..2] {
        assert_eq!(publish("1", Some(key)).await, Ok((1, false)), "a repeated request");
    }
    let other = publish("3", Some(&keys[0])).await.unwrap_err();
    assert_eq!(other.code(), "request.idempotency", "the key of another request");
    assert_eq!(publish("1", Some(&keys[2])).await, Ok((3, true)), "a new key is a new request");

    let id = super::stored::id(&ann, "report");
    service.store().delete_document(KIND, &id, None).await.unwrap();
    let gone = publish("1", Some(&keys[0])).await.unwrap_err();
    assert_eq!(gone.code(), "request.idempotency", "what it published is deleted");
    assert_eq!(publish("1", None).await, Ok((1, true)));
    assert!(publish("1", Some(&keys[0])).await.is_err(), "another program of this name is not what it published");
}

/// The server stopped after it had stored a version, and before it remembered so.
#[tokio::test]
async fn a_publication_is_found_whatever_came_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let service = test_service(folder.path());
    let ann = Who(Client::named("ann", Default::default()));
    service.publish(&ann, &source("1"), Some("pub_1")).await.unwrap();
    service.publish(&ann, &source("2"), Some("pub_2")).await.unwrap();
    let again = service.publish(&ann, &source("1"), Some("pub_1")).await.unwrap();
    assert_eq!((again.version.version, again.is_new), (1, false));
}
