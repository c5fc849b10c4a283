//! Actions through the API, with a log that takes entries or refuses them.

use crate::api;
use crate::approval_request::of_agent;
use crate::audit::{
    ApiAction, AuditFault, AuditLimits, AuditLines, AuditLog, AuditPosition, AuditVerdict, AuditVerification, Auditing,
};
use crate::service::{Service, ServiceSettings};
use crate::source::NoSpaces;
use crate::who::Who;
use agent_spaces_approvals::{ApproverToken, CallListener, Decision, NotWaiting, Settled, WaitingCall, WaitingCalls};
use agent_spaces_durable::DurableRuns;
use agent_spaces_http_server::Client;
use agent_spaces_journal::SqliteStore;
use agent_spaces_types::caller::Caller;
use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tempfile::TempDir;
use tower::ServiceExt;

/// Log in memory, which can be full.
#[derive(Default)]
struct MemoryLog {
    entries: Mutex<Vec<Value>>,
    is_full: AtomicBool,
}

impl AuditLog for MemoryLog {
    fn record(&self, action: ApiAction) -> Auditing<'_, ()> {
        Box::pin(async move {
            if self.is_full.load(Ordering::Relaxed) {
                return Err(AuditFault("cannot write /home/ann/log.jsonl: no space left".to_owned()));
            }
            self.entries.lock().unwrap().push(serde_json::to_value(&action).unwrap());
            Ok(())
        })
    }

    fn read(&self, _: Option<AuditPosition>, _: AuditLimits) -> Auditing<'_, AuditLines> {
        Box::pin(async { Err(AuditFault("cannot read /home/ann/log.jsonl: denied".to_owned())) })
    }

    fn read_newest(&self, before: Option<AuditPosition>, limits: AuditLimits) -> Auditing<'_, AuditLines> {
        self.read(before, limits)
    }

    fn verify(&self) -> Auditing<'_, Option<AuditVerification>> {
        let verdict = AuditVerdict::Changed;
        let (entries, files, recovered, lost, gaps, unwritten) = (None, None, None, None, None, None);
        let (waiting, removed, line, message) = (None, None, Some(3), Some("was changed".to_owned()));
        Box::pin(async move {
            Ok(Some(AuditVerification {
                ok: false,
                verdict,
                entries,
                files,
                recovered,
                lost,
                gaps,
                unwritten,
                waiting,
                removed,
                line,
                message,
            }))
        })
    }
}

impl MemoryLog {
    /// Returns the entries since the last look, without their times.
    fn news(&self) -> Vec<Value> {
        let mut entries = std::mem::take(&mut *self.entries.lock().unwrap());
        for entry in &mut entries {
            entry.as_object_mut().unwrap().remove("timestamp").unwrap();
        }
        entries
    }
}

/// Service with a store of its own.
struct Server {
    service: Service,
    router: Router,
    _folder: TempDir,
}

impl Server {
    fn new(audit: Option<Arc<dyn AuditLog>>) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("journal"), Default::default()).unwrap();
        let settings = ServiceSettings {
            webhooks_reach_private: false,
            project: "/project".to_owned(),
            config: "/project/agent-spaces.config.json".to_owned(),
            workspaces: folder.path().join("workspaces"),
            pins: None,
            concurrency: 1,
            places: 100,
            tenants: Default::default(),
            approver: ApproverToken::new().unwrap(),
            audit,
        };
        let runs = DurableRuns::new(Arc::new(store), Default::default());
        let service = Service::new(runs, Arc::new(NoSpaces), settings);
        Server { router: api::router().with_state(service.clone()), service, _folder: folder }
    }

    async fn send(&self, who: &Who, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let mut request = request.body(Body::from(body.to_string())).unwrap();
        request.extensions_mut().insert(who.clone());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn status(&self, who: &Who, method: &str, path: &str, body: Value) -> StatusCode {
        self.send(who, method, path, body).await.0
    }
}

fn ann() -> Who {
    Who(Client::named("ann", Caller { name: Some("ann".to_owned()), ..Caller::default() }))
}

fn program() -> Value {
    json!({ "name": "report", "source": "export default 'private'", "description": "private" })
}

#[tokio::test]
async fn actions_are_recorded_under_the_name_of_the_caller_without_contents() {
    let log = Arc::new(MemoryLog::default());
    let server = Server::new(Some(log.clone()));
    let entry = |action: &str, program: &str| json!({ "type": "apiAction", "action": action, "caller": "ann", "program": program });
    assert_eq!(server.status(&ann(), "POST", "/v1/programs", program()).await, StatusCode::CREATED);
    assert_eq!(log.news(), [entry("program.published", "report@1")]);
    // What changes nothing is not recorded.
    assert_eq!(server.status(&ann(), "POST", "/v1/programs", program()).await, StatusCode::OK);
    assert_eq!(server.status(&ann(), "GET", "/v1/programs/report", Value::Null).await, StatusCode::OK);
    assert_eq!(server.status(&ann(), "POST", "/v1/runs/run_1/cancel", Value::Null).await, StatusCode::NOT_FOUND);
    assert_eq!(log.news(), Vec::<Value>::new());
    let second = json!({ "name": "report", "source": "export default 2" });
    assert_eq!(server.status(&ann(), "POST", "/v1/programs", second).await, StatusCode::CREATED);
    assert_eq!(server.status(&ann(), "DELETE", "/v1/programs/report", Value::Null).await, StatusCode::NO_CONTENT);
    assert_eq!(server.status(&ann(), "DELETE", "/v1/programs/report", Value::Null).await, StatusCode::NOT_FOUND);
    assert_eq!(log.news(), [entry("program.published", "report@2"), entry("program.deleted", "report")]);
    let operator = Who(Client::of_process(Caller::default()));
    assert_eq!(server.status(&operator, "POST", "/v1/programs", program()).await, StatusCode::CREATED);
    let expected =
        json!({ "type": "apiAction", "action": "program.published", "operator": true, "program": "report@1" });
    assert_eq!(log.news(), [expected]);
}

#[tokio::test]
async fn nothing_is_done_that_a_required_log_does_not_take() {
    let log = Arc::new(MemoryLog::default());
    let server = Server::new(Some(log.clone()));
    log.is_full.store(true, Ordering::Relaxed);
    let (status, problem) = server.send(&ann(), "POST", "/v1/programs", program()).await;
    assert_eq!((status, &problem["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("host.audit")));
    assert!(!problem.to_string().contains("/home"), "{problem}");
    assert_eq!(server.status(&ann(), "GET", "/v1/programs/report", Value::Null).await, StatusCode::NOT_FOUND);

    log.is_full.store(false, Ordering::Relaxed);
    assert_eq!(server.status(&ann(), "POST", "/v1/programs", program()).await, StatusCode::CREATED);
    log.is_full.store(true, Ordering::Relaxed);
    let status = server.status(&ann(), "DELETE", "/v1/programs/report", Value::Null).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(server.status(&ann(), "GET", "/v1/programs/report", Value::Null).await, StatusCode::OK);
}

/// One call of an agent.
struct OneCall(Mutex<Arc<WaitingCall>>);

impl WaitingCalls for OneCall {
    fn calls(&self, owner: Option<&str>) -> Vec<Arc<WaitingCall>> {
        let call = self.0.lock().unwrap().clone();
        if owner.is_none_or(|owner| call.owner == owner) { vec![call] } else { Vec::new() }
    }

    fn call(&self, id: &str) -> Option<Arc<WaitingCall>> {
        Some(self.0.lock().unwrap().clone()).filter(|call| call.id == id)
    }

    fn decide(&self, _: &str, caller: &str, decision: Decision) -> Result<Arc<WaitingCall>, NotWaiting> {
        let settled = Some(Settled::Decided { decision, caller: caller.to_owned(), at: SystemTime::now() });
        let mut call = self.0.lock().unwrap();
        *call = Arc::new(WaitingCall { settled, ..WaitingCall::clone(&call) });
        Ok(call.clone())
    }

    fn listen(&self, _: CallListener) {}
}

#[tokio::test]
async fn a_decision_on_a_call_of_an_agent_is_recorded_before_it_takes_effect() {
    const DECISION: &str = "/v1/approvals/apr_1/decision";
    let log = Arc::new(MemoryLog::default());
    let server = Server::new(Some(log.clone()));
    server.service.show_waiting_calls(Arc::new(OneCall(Mutex::new(Arc::new(of_agent())))));
    let approve = json!({ "decision": "approve", "by": "Ann" });
    let ann_approves = Who(ann().0.approving());
    log.is_full.store(true, Ordering::Relaxed);
    let status = server.status(&ann_approves, "POST", DECISION, approve.clone()).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let (_, waiting) = server.send(&ann(), "GET", "/v1/approvals/apr_1", Value::Null).await;
    assert_eq!((&waiting["status"], &waiting["agent"]), (&json!("pending"), &json!("planner")), "{waiting}");
    log.is_full.store(false, Ordering::Relaxed);
    assert_eq!(server.status(&ann(), "POST", DECISION, approve.clone()).await, StatusCode::FORBIDDEN);
    let bob = Who(Client::named("bob", Caller::default()).approving());
    assert_eq!(server.status(&bob, "POST", DECISION, approve.clone()).await, StatusCode::NOT_FOUND);
    assert_eq!(log.news(), Vec::<Value>::new());
    assert_eq!(server.status(&ann_approves, "POST", DECISION, approve.clone()).await, StatusCode::OK);
    let entry = json!({
        "type": "apiAction", "action": "approval.decided", "caller": "ann", "approvalId": "apr_1", "agent": "planner",
        "decision": "approve", "by": "Ann",
    });
    assert_eq!(log.news(), [entry]);
    assert_eq!(server.status(&ann_approves, "POST", DECISION, approve).await, StatusCode::CONFLICT);
    assert_eq!(log.news(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_log_that_is_off_or_unreadable_is_a_problem() {
    let off = Server::new(None);
    assert_eq!(off.status(&ann(), "POST", "/v1/programs", program()).await, StatusCode::CREATED);
    assert_eq!(off.status(&ann(), "GET", "/v1/audit", Value::Null).await, StatusCode::NOT_FOUND);
    let unreadable = Server::new(Some(Arc::new(MemoryLog::default())));
    let (status, problem) = unreadable.send(&ann(), "GET", "/v1/audit", Value::Null).await;
    assert_eq!((status, &problem["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("host.audit")));
    assert!(!problem.to_string().contains("/home"), "{problem}");
    for query in ["limit=0", "cursor=x", "cusor=abc", "order=up"] {
        let path = format!("/v1/audit?{query}");
        assert_eq!(unreadable.status(&ann(), "GET", &path, Value::Null).await, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn only_the_operator_verifies_the_log() {
    let server = Server::new(Some(Arc::new(MemoryLog::default())));
    let (status, problem) = server.send(&ann(), "GET", "/v1/audit/verification", Value::Null).await;
    assert_eq!((status, &problem["code"]), (StatusCode::FORBIDDEN, &json!("auth.denied")));
    let operator = Who(Client::of_process(Caller::default()));
    let (status, verified) = server.send(&operator, "GET", "/v1/audit/verification", Value::Null).await;
    let expected = json!({ "ok": false, "verdict": "changed", "line": 3, "message": "was changed" });
    assert_eq!((status, verified), (StatusCode::OK, expected));
    let (status, problem) = server.send(&ann(), "GET", "/v1/audit/export", Value::Null).await;
    assert_eq!((status, &problem["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("host.audit")));
}
