//! Processes, a receiver, and what is in the store.

use crate::approval_request;
use crate::service::{Service, ServiceSettings};
use crate::source::NoSpaces;
use crate::space_documents;
use crate::time::now_ms;
use crate::webhooks::stored_messages::{Delivery, KIND};
use crate::webhooks::{Webhooks, signature};
use agent_spaces_approvals::{ApproverToken, Request};
use agent_spaces_durable::DurableRuns;
use agent_spaces_journal::{
    Claim, Document, DocumentFilter, Entry, Expected, NewDocument, NewRun, SqliteStore, Status, Store, Summary,
};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

const PROJECT: &str = "/project";
pub(super) const SPACE: &str = "spc_1";
pub(super) const RUN: &str = "run_1";
pub(super) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub(super) fn store(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&folder.join("journal"), agent_spaces_journal::Settings::default()).unwrap())
}

/// A process that serves the runs of a store.
pub(super) fn service(store: &Arc<dyn Store>, webhooks_reach_private: bool) -> Service {
    let settings = ServiceSettings {
        audit: None,
        project: PROJECT.to_owned(),
        config: "/project/config.json".to_owned(),
        workspaces: "/nowhere".into(),
        pins: None,
        concurrency: 1,
        places: 100,
        tenants: Default::default(),
        approver: ApproverToken::new().unwrap(),
        webhooks_reach_private,
    };
    let runs = DurableRuns::new(store.clone(), agent_spaces_durable::Settings::default());
    Service::new(runs, Arc::new(NoSpaces), settings)
}

/// Server that answers one request with each of these statuses.
pub(super) struct Receiver {
    pub(super) url: String,
    pub(super) requests: mpsc::UnboundedReceiver<String>,
}

impl Receiver {
    pub(super) fn start(statuses: &'static [u16]) -> Receiver {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://127.0.0.1:{}/hook?key=k1", listener.local_addr().unwrap().port());
        let (sender, requests) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for (status, stream) in statuses.iter().zip(listener.incoming()) {
                let mut stream = stream.unwrap();
                sender.send(read(&mut stream)).unwrap();
                let end = "content-length: 0\r\nconnection: close\r\n\r\n";
                write!(stream, "HTTP/1.1 {status} Status\r\n{end}").unwrap();
            }
        });
        Receiver { url, requests }
    }

    pub(super) async fn next(&mut self) -> Message {
        let request = tokio::time::timeout(Duration::from_secs(20), self.requests.recv()).await.unwrap().unwrap();
        Message::read(&request)
    }
}

/// One request: up to the empty line, and as many bytes as its length says.
fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "the request ended early: {text}");
        bytes.extend_from_slice(&piece[..count]);
    }
}

/// Message as it was received.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) body: Value,
}

impl Message {
    /// Reads a request, and verifies it as a receiver does.
    fn read(request: &str) -> Message {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /hook?key=k1 HTTP/1.1\r\n"), "{head}");
        let header = |name: &str| {
            let found = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            found.unwrap_or_else(|| panic!("{name} is missing: {head}")).to_owned()
        };
        assert_eq!(header("content-type"), "application/json");
        assert!(header("user-agent").starts_with("agent-spaces/"));
        let (id, timestamp): (String, i64) = (header("webhook-id"), header("webhook-timestamp").parse().unwrap());
        assert!((now_ms() / 1_000 - timestamp).abs() < 60);
        assert_eq!(Some(header("webhook-signature")), signature::sign(SECRET, &id, timestamp, body));
        Message { id, body: serde_json::from_str(body).unwrap() }
    }
}

/// The webhooks of a process that serves the runs of a store.
pub(super) fn webhooks(store: &Arc<dyn Store>, reaches_private: bool) -> Webhooks {
    service(store, reaches_private).0.webhooks.clone()
}

pub(super) async fn put_space(store: &Arc<dyn Store>, url: &str) {
    put_webhook(store, json!({ "url": url, "events": ["run.ended", "approval.needed"], "secret": SECRET })).await;
}

/// Stores a space with this webhook, or changes that of the space.
pub(super) async fn put_webhook(store: &Arc<dyn Store>, webhook: Value) {
    let new = NewDocument {
        kind: space_documents::KIND.to_owned(),
        id: SPACE.to_owned(),
        owner: "ann".to_owned(),
        body: json!({ "name": "hooked", "webhook": webhook }).to_string(),
        expires: None,
    };
    store.put_document(new, Expected::Any).await.unwrap();
}

pub(super) fn begin_run(store: &Arc<dyn Store>, id: &str) -> Claim {
    let summary = Summary {
        space: SPACE.to_owned(),
        project: PROJECT.to_owned(),
        caller: "ann".to_owned(),
        ..Summary::default()
    };
    let new = NewRun { id: id.to_owned(), summary, lease: Duration::from_secs(30), content: vec![] };
    store.create(new, store.owner(), vec![Entry::new("start", 0, "{}")]).0
}

pub(super) async fn end_run(store: &Arc<dyn Store>, id: &str) {
    let claim = begin_run(store, id);
    store.finish(&claim, 1, Vec::new(), Status::Finished, "{}".to_owned()).await.unwrap();
}

pub(super) fn request(run: &str) -> Request {
    approval_request::of_ticket(run, 1, Duration::from_secs(600))
}

pub(super) async fn messages(store: &Arc<dyn Store>, kind: &str) -> Vec<Document> {
    store.documents(DocumentFilter::of(kind)).await.unwrap()
}

/// Changes a stored message.
pub(super) async fn change(store: &Arc<dyn Store>, id: &str, change: impl FnOnce(&mut Delivery)) {
    let document = store.document(KIND, id).await.unwrap().unwrap();
    let mut delivery = Delivery::read(&document).unwrap();
    change(&mut delivery);
    store.put_document(delivery.document(id, &document.owner).unwrap(), Expected::Any).await.unwrap();
}
