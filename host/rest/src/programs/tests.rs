//! Number of programs of a caller.

use super::{KIND, MAX_PROGRAMS, NewProgram};
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
        tokio::join!(service.publish(&ann, &a), service.publish(&ann, &b), service.publish(&bob, &a));
    let refused: Vec<_> = [first, second].into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.iter().map(|problem| problem.code()).collect::<Vec<_>>(), ["program.too_many"]);
    assert!(theirs.is_ok(), "a limit is of one caller");
    let all = DocumentFilter { owner: Some("ann".to_owned()), limit: usize::MAX, ..DocumentFilter::of(KIND) };
    assert_eq!(service.store().count_documents(all).await, Ok(MAX_PROGRAMS as u64));
}
