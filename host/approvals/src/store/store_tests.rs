use super::{ApproverKey, ApproverToken, MAX_REQUEST, Store, StoreChannel, StoreError};
use crate::channel::{Channel, ChannelError};
use crate::decision::{Decision, Lasts};
use crate::fixtures::{LONG, question, request, request_of};
use crate::request::Request;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

struct Fixture {
    _folder: tempfile::TempDir,
    path: PathBuf,
    store: Store,
    token: ApproverToken,
    reports: Arc<Mutex<Vec<String>>>,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approvals");
        let store = Store::open(&path).unwrap();
        let token = ApproverToken::new().unwrap();
        Fixture { _folder: folder, path, store, token, reports: Arc::default() }
    }

    fn channel(&self) -> StoreChannel {
        self.channel_for(self.token.key())
    }

    fn channel_for(&self, key: ApproverKey) -> StoreChannel {
        let reports = Arc::clone(&self.reports);
        StoreChannel::new(self.store.clone(), key, move |text| reports.lock().unwrap().push(text.to_string()))
    }

    fn pending(&self, id: &str) -> PathBuf {
        self.path.join("pending").join(format!("{id}.json"))
    }

    fn decided(&self, id: &str) -> PathBuf {
        self.path.join("decided").join(format!("{id}.json"))
    }

    fn listed(&self) -> Vec<String> {
        self.store.list().unwrap().requests.into_iter().map(|request| request.id).collect()
    }

    fn files(&self) -> usize {
        ["pending", "decided"].iter().map(|name| fs::read_dir(self.path.join(name)).unwrap().count()).sum()
    }
}

#[tokio::test]
async fn the_holder_of_the_token_decides_from_another_process() {
    let place = Fixture::new();
    let channel = place.channel();
    let asked = request();
    let answer = channel.ask(asked.clone());
    // As another process has it.
    let other = Store::open(&place.path).unwrap();
    let listing = other.list().unwrap();
    assert_eq!((listing.requests.as_slice(), listing.unreadable.len()), ([(*asked).clone()].as_slice(), 0));
    let decision = Decision::approve("ada").lasting(Lasts::Arguments);
    other.decide(&other.get(&asked.id).unwrap(), decision.clone(), &place.token).unwrap();
    assert!(place.listed().is_empty(), "what is decided waits no more");
    assert_eq!(answer.await.unwrap(), decision);
    assert_eq!(place.files(), 0);
    assert!(place.reports.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_request_is_decided_once() {
    let place = Fixture::new();
    let channel = place.channel();
    let asked = request();
    let answer = channel.ask(asked.clone());
    place.store.decide(&asked, Decision::deny("ada", None), &place.token).unwrap();
    let again = place.store.decide(&asked, Decision::approve("eve"), &place.token);
    assert!(matches!(again, Err(StoreError::Decided { .. })), "{again:?}");
    assert_eq!(answer.await.unwrap(), Decision::deny("ada", None));
    let late = place.store.decide(&asked, Decision::approve("eve"), &place.token);
    assert!(matches!(late, Err(StoreError::Gone { .. })), "{late:?}");
    assert_eq!(place.files(), 0);
}

#[tokio::test]
async fn a_withdrawn_request_disappears_with_its_decision() {
    let place = Fixture::new();
    let channel = place.channel();
    let (one, two) = (request(), request());
    let (first, second) = (channel.ask(one.clone()), channel.ask(two.clone()));
    assert_eq!(place.listed().len(), 2);
    drop(first);
    assert_eq!(place.listed(), std::slice::from_ref(&two.id));
    assert!(matches!(place.store.get(&one.id), Err(StoreError::Gone { .. })));
    place.store.decide(&two, Decision::approve("ada"), &place.token).unwrap();
    drop(second);
    assert_eq!(place.files(), 0);
}

#[tokio::test]
async fn forged_decisions_are_refused_and_the_approvers_still_counts() {
    let place = Fixture::new();
    let channel = place.channel();
    let (asked, other) = (request(), request());
    let (answer, _other) = (channel.ask(asked.clone()), channel.ask(other.clone()));
    place.store.decide(&other, Decision::approve("ada"), &place.token).unwrap();
    let of_other: Value = serde_json::from_slice(&fs::read(place.decided(&other.id)).unwrap()).unwrap();
    let forged = super::SignedDecision::new(&asked, Decision::approve("eve"), &ApproverToken::new().unwrap());
    let mut unsigned = serde_json::to_value(&forged).unwrap();
    unsigned["signature"] = json!("");
    let mut renamed = of_other.clone();
    renamed["id"] = json!(asked.id);
    let decide = async {
        for (index, text) in [
            String::new(),
            json!({ "id": asked.id, "decision": "approve", "by": "eve" }).to_string(),
            unsigned.to_string(),
            serde_json::to_string(&forged).unwrap(),
            of_other.to_string(),
            renamed.to_string(),
            "x".repeat(100_000),
        ]
        .into_iter()
        .enumerate()
        {
            fs::write(place.decided(&asked.id), text).unwrap();
            crate::fixtures::until("it is taken away", || !place.decided(&asked.id).exists()).await;
            assert_eq!(place.reports.lock().unwrap().len(), (index + 1).min(5), "not more than a few are reported");
        }
        place.store.decide(&asked, Decision::deny("ada", Some("no".into())), &place.token).unwrap();
    };
    let (answer, ()) = tokio::join!(answer, decide);
    assert_eq!(answer.unwrap(), Decision::deny("ada", Some("no".into())));
}

#[tokio::test]
async fn deciding_with_the_wrong_token_is_refused() {
    let place = Fixture::new();
    let channel = place.channel();
    let asked = request();
    let _answer = channel.ask(asked.clone());
    let refused = place.store.decide(&asked, Decision::approve("eve"), &ApproverToken::new().unwrap());
    assert!(matches!(refused, Err(StoreError::WrongToken { .. })), "{refused:?}");
    assert!(!place.decided(&asked.id).exists());
}

#[tokio::test]
async fn a_changed_file_cannot_get_another_call_approved() {
    let place = Fixture::new();
    let channel = place.channel();
    let asked = request();
    let answer = channel.ask(asked.clone());
    let original: Value = serde_json::from_slice(&fs::read(place.pending(&asked.id)).unwrap()).unwrap();
    let write = |value: &Value| fs::write(place.pending(&asked.id), value.to_string()).unwrap();

    // Other arguments under the true digest.
    let mut changed = original.clone();
    changed["request"]["params"] = json!({ "number": 0 });
    write(&changed);
    let listing = place.store.list().unwrap();
    assert!(listing.requests.is_empty() && matches!(listing.unreadable[..], [StoreError::Changed { .. }]));

    // A harmless call under the real id, swapped back before approval: it is never shown.
    let harmless = (*request_of("createTicket", 0, LONG)).clone();
    let harmless = Request { id: asked.id.clone(), ..harmless };
    for redacted in [false, true] {
        changed["request"] = json!(Request { redacted, ..harmless.clone() });
        write(&changed);
        assert!(place.store.list().unwrap().requests.is_empty(), "redacted: {redacted}");
        assert!(matches!(place.store.get(&asked.id), Err(StoreError::Changed { .. })));
    }

    // Signed anyway by a program that does not check: the run refuses it.
    let signed = super::SignedDecision::new(&harmless, Decision::approve("ada"), &place.token);
    fs::write(place.decided(&asked.id), serde_json::to_string(&signed).unwrap()).unwrap();
    write(&original);
    let deny = async {
        crate::fixtures::until("a report", || !place.reports.lock().unwrap().is_empty()).await;
        place.store.decide(&asked, Decision::deny("ada", None), &place.token).unwrap();
    };
    let (answer, ()) = tokio::join!(answer, deny);
    assert_eq!(answer.unwrap(), Decision::deny("ada", None));
    assert!(place.reports.lock().unwrap()[0].contains("for other arguments"));
}

#[tokio::test]
async fn a_request_of_an_earlier_version_is_refused_with_an_explanation() {
    let place = Fixture::new();
    let channel = place.channel();
    let asked = request();
    let _answer = channel.ask(asked.clone());
    let mut stored: Value = serde_json::from_slice(&fs::read(place.pending(&asked.id)).unwrap()).unwrap();
    for key in ["functionId", "module", "source"] {
        stored["request"].as_object_mut().unwrap().remove(key);
    }
    fs::write(place.pending(&asked.id), stored.to_string()).unwrap();
    let listing = place.store.list().unwrap();
    assert!(listing.requests.is_empty() && matches!(listing.unreadable[..], [StoreError::Outdated { .. }]));
    assert!(listing.unreadable[0].to_string().contains("approves nothing"), "{:?}", listing.unreadable);
    let decided = place.store.decide(&asked, Decision::approve("ada"), &place.token);
    assert!(matches!(decided, Err(StoreError::Outdated { .. })), "{decided:?}");
}

#[tokio::test]
async fn expired_requests_are_removed_and_cannot_be_decided() {
    let place = Fixture::new();
    let channel = place.channel();
    let asked = request_of("f", 1, Duration::from_millis(300));
    let answer = channel.ask(asked.clone());
    let decided = place.store.decide(&asked, Decision::approve("ada"), &place.token);
    assert!(matches!(decided, Err(StoreError::Expired { .. })), "the last moment is too late: {decided:?}");
    assert!(matches!(answer.await, Err(ChannelError::Expired)));
    assert!(matches!(place.store.get(&asked.id), Err(StoreError::Gone { .. })));
    assert_eq!(place.files(), 0);
}

#[tokio::test]
async fn expired_requests_of_crashed_runs_are_removed() {
    let place = Fixture::new();
    let channel = place.channel();
    let asked = request_of("f", 1, Duration::from_secs(1));
    let answer = channel.ask(asked.clone());
    place.store.decide(&asked, Decision::approve("ada"), &place.token).unwrap();
    // As if its process had been killed.
    std::mem::forget(answer);
    assert_eq!(place.files(), 2);
    while asked.expires > SystemTime::now() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(place.listed().is_empty());
    assert_eq!(place.files(), 0);
    fs::write(place.decided("apr_1"), "a decision on nothing").unwrap();
    place.listed();
    assert_eq!(place.files(), 0);
}

#[tokio::test]
async fn unrelated_files_in_the_folder_are_left_alone() {
    let place = Fixture::new();
    let channel = place.channel();
    let _answer = channel.ask(request());
    for name in ["notes.txt", "apr_X.json", "apr_.json", "apr_1.json.bak"] {
        fs::write(place.path.join("pending").join(name), "x").unwrap();
        fs::write(place.path.join("decided").join(name), "x").unwrap();
    }
    fs::write(place.pending("apr_1"), "no request").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.pending("apr_2")).unwrap();
    fs::write(place.pending("apr_3"), vec![b' '; MAX_REQUEST + 1]).unwrap();
    let listing = place.store.list().unwrap();
    assert_eq!((listing.requests.len(), listing.unreadable.len()), (1, 3));
    assert_eq!(place.files(), 1 + 8 + 3);
    for id in ["../../x", "apr_../x", "", "notes", "apr_X"] {
        assert!(matches!(place.store.get(id), Err(StoreError::Gone { .. })), "{id}");
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_stored_is_not_approved() {
    let place = Fixture::new();
    let channel = place.channel();
    let large = Request::new(question("f", json!({ "text": "x".repeat(MAX_REQUEST) })), LONG);
    let Err(ChannelError::Nobody(why)) = channel.ask(Arc::new(large)).await else { panic!("it was approved") };
    assert!(!why.contains('/'), "a script must not learn of folders: {why}");
    assert!(place.reports.lock().unwrap()[0].contains("is larger than 1048576 bytes"));
    let twice = request();
    let _first = channel.ask(twice.clone());
    assert!(matches!(channel.ask(twice).await, Err(ChannelError::Nobody(_))));
    fs::remove_dir_all(&place.path).unwrap();
    assert!(matches!(channel.ask(request()).await, Err(ChannelError::Nobody(_))));
}

#[tokio::test]
async fn requests_are_listed_oldest_first() {
    let place = Fixture::new();
    let channel = place.channel();
    let mut answers = Vec::new();
    let mut ids = Vec::new();
    for number in 0..5 {
        let asked = request_of("f", number, LONG);
        ids.push(asked.id.clone());
        answers.push(channel.ask(asked));
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    assert_eq!(place.listed(), ids);
}

#[tokio::test]
async fn a_decision_with_an_older_token_is_refused() {
    let place = Fixture::new();
    let renewed = ApproverToken::new().unwrap();
    let channel = place.channel_for(renewed.key());
    let asked = request();
    let _answer = channel.ask(asked.clone());
    assert!(matches!(
        place.store.decide(&asked, Decision::approve("ada"), &place.token),
        Err(StoreError::WrongToken { .. })
    ));
    place.store.decide(&asked, Decision::approve("ada"), &renewed).unwrap();
}

#[tokio::test]
async fn the_token_current_at_decision_time_counts() {
    let place = Fixture::new();
    let current: Arc<Mutex<Option<ApproverKey>>> = Arc::default();
    let (known, reports) = (Arc::clone(&current), Arc::clone(&place.reports));
    let look_up = move || known.lock().unwrap().clone();
    let report = move |text: &agent_spaces_types::shown::Shown| reports.lock().unwrap().push(text.to_string());
    let channel = Arc::new(StoreChannel::looking_up(place.store.clone(), look_up, report));
    let asked = request();
    let (waiting, asking) = (Arc::clone(&channel), Arc::clone(&asked));
    let answer = tokio::spawn(async move { waiting.ask(asking).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!channel.has_somebody() && place.listed().is_empty(), "nobody could decide it");
    let first = ApproverToken::new().unwrap();
    *current.lock().unwrap() = Some(first.key());
    assert!(channel.has_somebody());
    let is_listed = async || {
        while place.listed().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    is_listed().await;
    // A new token replaces the first, which then decides nothing.
    *current.lock().unwrap() = Some(place.token.key());
    tokio::time::sleep(Duration::from_millis(600)).await;
    is_listed().await;
    assert!(place.store.decide(&asked, Decision::approve("eve"), &first).is_err());
    place.store.decide(&asked, Decision::approve("ada"), &place.token).unwrap();
    assert_eq!(answer.await.unwrap().unwrap(), Decision::approve("ada"));
}
