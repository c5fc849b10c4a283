use super::*;
use crate::record::SessionLog as _;
use agent_spaces_journal::{Prune, Settings, SqliteStore};
use agent_spaces_models::Message;
use std::task::{Context, Waker};
use tempfile::TempDir;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn sessions(time_to_live: Duration) -> (TempDir, Sessions) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap();
    (folder, Sessions::with_time_to_live(Arc::new(store), time_to_live))
}

fn asked(text: &str) -> Record {
    Record::Asked { messages: vec![Message::user(text)] }
}

fn unknown<T>(result: Result<T, AgentError>) -> bool {
    matches!(result, Err(AgentError::UnknownSession(_)))
}

#[tokio::test]
async fn records_come_back_in_their_order() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "What is\nnew?").await.unwrap();
    let records: Vec<_> = (0..70).map(|number| asked(&format!("question {number}"))).collect();
    for record in &records {
        session.log.append(record).await.unwrap();
    }
    let (summary, read) = sessions.records("ann", &session.id).await.unwrap();
    assert_eq!(read, records);
    assert_eq!((summary.agent.as_str(), summary.title.as_str()), ("helper", "What is new?"));
    let again = sessions.open("ann", &session.id).await.unwrap();
    assert_eq!(again.records.len(), 70);
    again.log.append(&asked("last")).await.unwrap();
    assert_eq!(sessions.records("ann", &session.id).await.unwrap().1.len(), 71);
}

#[tokio::test]
async fn a_record_larger_than_a_document_is_kept_whole() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    let record = Record::Kept { handle: "h".into(), text: "\"quoted\" é\n".repeat(300_000) };
    session.log.append(&record).await.unwrap();
    session.log.append(&asked("next")).await.unwrap();
    assert_eq!(sessions.records("ann", &session.id).await.unwrap().1, [record, asked("next")]);
}

#[tokio::test]
async fn a_record_without_its_last_piece_is_left_out() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    session.log.append(&Record::Kept { handle: "h".into(), text: "a".repeat(2_000_000) }).await.unwrap();
    session.log.append(&asked("next")).await.unwrap();
    assert!(sessions.store.delete_document(RECORD, &record_id(&session.id, 1, 2), None).await.unwrap());
    let again = sessions.open("ann", &session.id).await.unwrap();
    assert_eq!(again.records, [asked("next")]);
    again.log.append(&asked("third")).await.unwrap();
}

#[tokio::test]
async fn of_two_processes_the_second_to_write_is_refused() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    let other = sessions.open("ann", &session.id).await.unwrap();
    other.log.append(&asked("other")).await.unwrap();
    let refused = session.log.append(&asked("own")).await;
    assert_eq!(refused, Err(AgentError::SessionBusy(session.id.clone())));
    // It stays refused: its view of the session is old.
    assert!(session.log.append(&asked("own")).await.is_err());
    assert_eq!(sessions.records("ann", &session.id).await.unwrap().1, [asked("other")]);
}

#[tokio::test]
async fn a_record_whose_writer_is_dropped_is_still_written_once() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    let record = asked("dropped");
    {
        let mut writing = session.log.append(&record);
        assert!(writing.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    session.log.append(&asked("next")).await.unwrap();
    assert_eq!(sessions.records("ann", &session.id).await.unwrap().1, [record, asked("next")]);
}

#[tokio::test]
async fn sessions_of_others_do_not_exist() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    for owner in ["bob", ""] {
        assert!(unknown(sessions.open(owner, &session.id).await));
        assert!(unknown(sessions.records(owner, &session.id).await));
        assert!(unknown(sessions.delete(owner, &session.id).await));
        assert!(sessions.list(owner, None, 10).await.unwrap().sessions.is_empty());
    }
    for id in ["", "ses_", "ses_0:1", "run_1", &"ses_a".repeat(1000)] {
        assert!(unknown(sessions.open("ann", id).await));
    }
    assert!(sessions.open("ann", &session.id).await.is_ok());
}

#[tokio::test]
async fn sessions_are_listed_in_pages_newest_first() {
    let (_folder, sessions) = sessions(DAY);
    let mut created = Vec::new();
    for number in 0..5 {
        created.push(sessions.create("ann", "helper", &format!("question {number}")).await.unwrap().id);
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    let (mut listed, mut before) = (Vec::new(), None);
    loop {
        let page = sessions.list("ann", before, 2).await.unwrap();
        assert!(page.sessions.len() <= 2);
        listed.extend(page.sessions.into_iter().map(|session| session.id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    created.reverse();
    assert_eq!(listed, created);
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    session.log.append(&Record::Kept { handle: "h".into(), text: "a".repeat(2_000_000) }).await.unwrap();
    for number in 0..40 {
        session.log.append(&asked(&number.to_string())).await.unwrap();
    }
    let filter = || DocumentFilter::of(RECORD);
    assert!(sessions.store.count_documents(filter()).await.unwrap() > 40);
    sessions.delete("ann", &session.id).await.unwrap();
    assert_eq!(sessions.store.count_documents(filter()).await.unwrap(), 0);
    assert!(unknown(sessions.records("ann", &session.id).await));
}

#[tokio::test]
async fn an_expired_session_is_gone_and_pruned() {
    let (_folder, sessions) = sessions(Duration::ZERO);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    session.log.append(&asked("q")).await.unwrap();
    assert!(unknown(sessions.open("ann", &session.id).await));
    assert!(sessions.list("ann", None, 10).await.unwrap().sessions.is_empty());
    let policy = Prune { older_than: None, max_bytes: None, now_ms: now_ms() + 10 };
    assert_eq!(sessions.store.prune(policy).await.unwrap().documents, 2);
}

#[tokio::test]
async fn a_question_keeps_records_as_long_as_its_session() {
    let (_folder, mut sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    session.log.append(&asked("q")).await.unwrap();
    // As if the first question were long ago: the session is to live longer than its record.
    sessions.time_to_live_ms *= 10;
    let opened = sessions.open("ann", &session.id).await.unwrap();
    assert_eq!(opened.records, [asked("q")]);
    let of_session = sessions.store.document(SESSION, &session.id).await.unwrap().unwrap().expires;
    let of_record = sessions.store.document(RECORD, &record_id(&session.id, 1, 0)).await.unwrap().unwrap().expires;
    assert!(of_record >= of_session);
    assert_eq!(sessions.open("ann", &session.id).await.unwrap().records, [asked("q")]);
}

fn answered(output_tokens: u64, cost: Option<f64>) -> Record {
    let usage = agent_spaces_models::Usage { input_tokens: 10, output_tokens, ..Default::default() };
    let origin = agent_spaces_models::Origin {
        provider: "local".to_owned(),
        model: "tiny".to_owned(),
        api: agent_spaces_models::Api::Ollama,
    };
    let finish = agent_spaces_models::Finish::Stop;
    let answer = agent_spaces_models::Answer { parts: Vec::new(), finish, usage, model: None };
    Record::Answered { origin, request: String::new(), answer, cost }
}

#[tokio::test]
async fn a_session_counts_what_its_questions_took() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    let listed = async || sessions.list_of(Some("ann"), "helper", None, 10).await.unwrap().sessions[0].totals;
    session.log.append(&asked("q")).await.unwrap();
    session.log.append(&answered(5, Some(0.5))).await.unwrap();
    assert_eq!(listed().await, SessionTotals::default(), "the question is being answered");
    session.log.append(&Record::Nested { tokens: 3, cost: 0.25 }).await.unwrap();
    session.log.append(&Record::Finished { ending: "done".to_owned() }).await.unwrap();
    let usage = SessionUsage { input_tokens: 10, output_tokens: 5, cost: Some(0.75) };
    assert_eq!(listed().await, SessionTotals { turns: 1, usage });
    // A second question that was killed is counted when the session is opened again.
    session.log.append(&answered(7, None)).await.unwrap();
    sessions.open("ann", &session.id).await.unwrap();
    assert_eq!((listed().await.turns, listed().await.usage.output_tokens), (2, 12));
}

#[tokio::test]
async fn sessions_of_an_agent_are_its_callers_or_the_operators() {
    let (_folder, sessions) = sessions(DAY);
    let own = sessions.create("ann", "helper", "q").await.unwrap();
    own.log.append(&asked("q")).await.unwrap();
    sessions.create("ann", "other", "q").await.unwrap();
    sessions.create("bob", "helper", "q").await.unwrap();
    let count = async |owner, agent| sessions.list_of(owner, agent, None, 10).await.unwrap().sessions.len();
    assert_eq!((count(Some("ann"), "helper").await, count(Some("eve"), "helper").await), (1, 0));
    assert_eq!((count(None, "helper").await, count(None, "nobody").await), (2, 0));
    let first = sessions.list_of(None, "helper", None, 1).await.unwrap();
    let second = sessions.list_of(None, "helper", first.next, 1).await.unwrap();
    assert_ne!(first.sessions[0].id, second.sessions[0].id);
    for owner in [Some("ann"), None] {
        let part = sessions.part_of(owner, "helper", &own.id, 1).await.unwrap();
        assert_eq!((part.records.as_slice(), part.next), ([asked("q")].as_slice(), None));
        assert!(unknown(sessions.part_of(owner, "other", &own.id, 1).await));
    }
    assert!(unknown(sessions.part_of(Some("bob"), "helper", &own.id, 1).await));
}

#[tokio::test]
async fn a_large_session_is_read_in_parts_of_whole_questions() {
    let (_folder, sessions) = sessions(DAY);
    let session = sessions.create("ann", "helper", "q").await.unwrap();
    let large = || Record::Notice { text: "a".repeat(3 << 20) };
    for number in 0..4 {
        session.log.append(&asked(&number.to_string())).await.unwrap();
        session.log.append(&large()).await.unwrap();
    }
    let first = sessions.part_of(None, "helper", &session.id, 0).await.unwrap();
    assert_eq!((first.records.len(), first.next), (4, Some(5)));
    let second = sessions.part_of(None, "helper", &session.id, 5).await.unwrap();
    assert_eq!((second.records.len(), second.records[0].clone(), second.next), (4, asked("2"), None));
}
