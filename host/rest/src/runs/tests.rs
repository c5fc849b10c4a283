//! Lists of runs by states that the store does not tell apart.

use super::list::run_page;
use super::view::RunView;
use crate::approval_request;
use crate::pages::Page;
use crate::query::Query;
use crate::service::{Service, test_service};
use crate::who::Who;
use agent_spaces_http_server::Client;
use agent_spaces_journal::{Approval, Claim, Entry, NewRun, Store, Summary, Wake};
use std::sync::Arc;
use std::time::Duration;

/// Queues a run.
fn begin(store: &Arc<dyn Store>, id: &str) -> Claim {
    let summary = Summary { project: "/project".to_owned(), caller: "ann".to_owned(), ..Summary::default() };
    let new = NewRun { id: id.to_owned(), summary, lease: Duration::from_secs(30), content: vec![] };
    store.create(new, store.owner(), vec![Entry::new("started", 0, "{}")]).0
}

async fn page(service: &Service, text: &str) -> Page<RunView> {
    let who = Who(Client::named("ann", Default::default()));
    let query = Query::parse(Some(text), &["status", "limit", "cursor"]).unwrap();
    run_page(service, &who, &query).await.unwrap()
}

#[tokio::test]
async fn a_list_of_a_rare_state_is_read_in_bounded_steps() {
    let folder = tempfile::tempdir().unwrap();
    let service = test_service(folder.path());
    let store = service.store();
    let park = |id: &str, keys: Vec<String>| drop(store.park(&begin(store, id), 1, vec![], Wake { at_ms: None, keys }));
    park("run_rare", vec![Approval::key("doubt_run_rare_1_1")]);
    store.flush().await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    (0..2_050).for_each(|number| park(&format!("run_{number}"), vec!["other".to_owned()]));
    store.flush().await.unwrap();

    let first = page(&service, "status=in_doubt&limit=5").await;
    assert_eq!(first.items.len(), 0, "it is behind what one request reads");
    let next = page(&service, &format!("status=in_doubt&limit=5&cursor={}", first.next.unwrap())).await;
    let shown = serde_json::to_value(&next).unwrap();
    assert_eq!((shown["items"][0]["id"].as_str(), next.items.len(), next.next), (Some("run_rare"), 1, None));

    // Pages of a common state follow one another as before.
    let (mut seen, mut cursor) = (0, String::new());
    loop {
        let page = page(&service, &format!("status=waiting&limit=100{cursor}")).await;
        seen += page.items.len();
        match page.next {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, 2_050);
}

async fn ask(service: &Service, claim: &Claim, call: u64, lasts: Duration) {
    let request = approval_request::of_ticket(&claim.run, call, lasts);
    let approval = Approval { id: request.id.clone(), call, request: serde_json::to_string(&request).unwrap() };
    service.store().request_approval(claim, claim.next_seq, vec![], approval).await.unwrap();
}

#[tokio::test]
async fn expired_approvals_are_not_awaited() {
    let folder = tempfile::tempdir().unwrap();
    let service = test_service(folder.path());
    let claim = begin(service.store(), "run_1");
    // More than are read at once.
    for call in 1..=120 {
        ask(&service, &claim, call, Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!service.has_pending("run_1").await.unwrap());
    assert_eq!(page(&service, "status=running").await.items.len(), 1);
    assert_eq!(page(&service, "status=awaiting_approval").await.items.len(), 0);
    ask(&service, &claim, 121, Duration::from_secs(600)).await;
    assert!(service.has_pending("run_1").await.unwrap());
    assert_eq!(page(&service, "status=running").await.items.len(), 0);
    assert_eq!(page(&service, "status=awaiting_approval").await.items.len(), 1);
}
