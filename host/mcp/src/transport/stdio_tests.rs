//! Tests of the stdio transport with shell scripts as servers.

use super::*;
use crate::trace::Trace;
use crate::transport::{MALFORMED, TOO_LARGE};
use crate::{Endpoint, Warnings};
use agent_spaces_process::StartError;
use agent_spaces_secrets::Secret;
use rmcp::model::{JsonRpcMessage, RequestId};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Recorded warnings and trace lines.
#[derive(Clone, Default)]
struct Said {
    warnings: Arc<Mutex<Vec<String>>>,
    trace: Arc<Mutex<Vec<String>>>,
}

impl Said {
    fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap().clone()
    }

    fn traced(&self, text: &str) -> usize {
        self.trace.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }
}

fn open_with(script: &str, limit: usize) -> (StdioTransport, Said) {
    let said = Said::default();
    let (warnings, trace) = (said.warnings.clone(), said.trace.clone());
    let context = Context {
        warnings: Warnings::to(move |text| warnings.lock().unwrap().push(text.to_string())),
        trace: Trace::to(Default::default(), move |text| trace.lock().unwrap().push(text.to_string())),
        ..Context::default()
    };
    let args = vec![Secret::new("-c"), Secret::new(script)];
    let endpoint = ProcessSpec { program: "sh".to_owned(), args, env: Default::default(), cwd: None, confine: None };
    let mut settings = ServerSettings::new("small", Endpoint::Stdio(endpoint.clone()));
    settings.max_message = limit;
    (StdioTransport::open(&settings, &endpoint, &context).unwrap(), said)
}

fn open(script: &str) -> (StdioTransport, Said) {
    open_with(script, 1 << 20)
}

async fn ask(transport: &mut StdioTransport, id: i64) {
    let request = serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).unwrap();
    transport.send(request).await.unwrap();
}

async fn receive(transport: &mut StdioTransport) -> Option<Value> {
    let received = timeout(Duration::from_secs(20), transport.receive()).await.expect("an answer or an end in time");
    received.map(|message| serde_json::to_value(message).unwrap())
}

#[tokio::test]
async fn requests_are_answered_in_the_order_they_are_sent() {
    let script = r#"while read -r line; do id=${line##*'"id":'}; id=${id%%[,\}]*}
        printf '{"jsonrpc":"2.0","id":%s,"result":{"echo":%s}}\n' "$id" "$id"; done"#;
    let (mut transport, said) = open(script);
    let mut sends = Vec::new();
    for id in 0..100 {
        let request = serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).unwrap();
        sends.push(transport.send(request));
    }
    // Awaited the other way round, as tasks may be.
    for send in sends.into_iter().rev() {
        send.await.unwrap();
    }
    for id in 0..100 {
        assert_eq!(receive(&mut transport).await.unwrap()["result"], json!({ "echo": id }));
    }
    let began = Instant::now();
    transport.close().await.unwrap();
    assert!(began.elapsed() < GRACE, "the end of its input ends it");
    assert_eq!(transport.diagnosis().exit_status().as_deref(), Some("exit status 0"));
    assert_eq!((said.traced("→ ping"), said.traced("← answer 7 ")), (100, 1));
}

#[tokio::test]
async fn noise_is_warned_of_once() {
    let script = r#"read -r line; i=0; while [ $i -lt 5000 ]; do echo "noise $i"; i=$((i+1)); done
        echo '{"level":30}'; echo; head -c 3000000 /dev/zero | tr '\0' a; echo
        echo '{"jsonrpc":"2.0","id":1,"result":{}}'; cat >/dev/null"#;
    let (mut transport, said) = open(script);
    ask(&mut transport, 1).await;
    assert_eq!(receive(&mut transport).await.unwrap()["id"], 1);
    assert_eq!(said.warnings().len(), 1);
    assert!(said.warnings()[0].contains("small") && said.warnings()[0].ends_with("noise 0"), "{:?}", said.warnings());
    assert_eq!(said.traced("noise 4999"), 1);
    assert_eq!(said.traced("more than 1048576 bytes"), 1);
    transport.close().await.unwrap();
}

#[tokio::test]
async fn a_response_over_the_size_limit_is_an_error_to_its_request() {
    let script = r#"read -r line; printf '{"jsonrpc":"2.0","result":{"id":9,"text":"'
        head -c 3000000 /dev/zero | tr '\0' a; echo '"},"id":1}'; read -r line
        echo '{"jsonrpc":"2.0","id":2,"result":{}}'; cat >/dev/null"#;
    let (mut transport, said) = open_with(script, 100_000);
    ask(&mut transport, 1).await;
    let refused = receive(&mut transport).await.unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(TOO_LARGE)));
    assert_eq!(refused["error"]["message"], "the server's answer is larger than 100000 bytes");
    ask(&mut transport, 2).await;
    assert_eq!(receive(&mut transport).await.unwrap()["id"], 2, "the connection goes on");
    assert!(said.warnings().is_empty());
    transport.close().await.unwrap();
}

#[tokio::test]
async fn only_malformed_responses_and_batches_of_pending_requests_are_received() {
    let script = r#"read -r line; read -r line; read -r line
        echo '{"jsonrpc":"2.0","id":7,"result":{"invented":true}}'
        echo '{"jsonrpc":"2.0","id":1,"result":NaN}'
        echo '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":"3","result":{}}]'
        echo '{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"twice"}}'; cat >/dev/null"#;
    let (mut transport, said) = open(script);
    for id in 1..=3 {
        ask(&mut transport, id).await;
    }
    let refused = receive(&mut transport).await.unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(MALFORMED)));
    assert_eq!(receive(&mut transport).await.unwrap()["id"], 2);
    assert_eq!(receive(&mut transport).await.unwrap()["id"], "3");
    assert!(timeout(Duration::from_millis(300), transport.receive()).await.is_err(), "nothing else comes");
    assert_eq!(said.traced("no pending request"), 3);
    transport.close().await.unwrap();
}

#[tokio::test]
async fn stderr_and_exit_status_are_kept() {
    let (mut transport, said) = open("echo 'no token given' >&2; exit 3");
    let diagnosis = transport.diagnosis();
    assert_eq!(receive(&mut transport).await, None);
    drop(transport);
    let ended = ConnectError::Ended { status: "exit status 3".to_owned(), stderr: "no token given".to_owned() };
    assert_eq!(diagnosis.ended(), Some(ended));
    assert_eq!(said.traced("stderr: no token given"), 1);
}

#[tokio::test]
async fn a_server_that_never_reads_can_be_closed() {
    let (mut transport, _said) = open("exec sleep 1000");
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "t", "arguments": { "text": "a".repeat(1 << 20) } } });
    let sent = transport.send(serde_json::from_value(large).unwrap());
    timeout(Duration::from_secs(1), sent).await.expect("sending does not wait for the server").unwrap();
    let began = Instant::now();
    transport.close().await.unwrap();
    assert!(began.elapsed() < 2 * GRACE + Duration::from_secs(1));
    assert!(transport.diagnosis().exit_status().unwrap().contains("15"));
}

#[tokio::test]
async fn a_server_that_closes_its_stdin_ends_the_connection() {
    let (mut transport, _said) = open("exec <&-; sleep 1000");
    let began = Instant::now();
    while transport.deadline.is_none() && began.elapsed() < Duration::from_secs(10) {
        let ping = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let _ = transport.send(serde_json::from_value(ping).unwrap()).await;
        let _ = timeout(Duration::from_millis(50), transport.receive()).await;
    }
    assert!(transport.deadline.is_some());
    assert_eq!(receive(&mut transport).await, None);
    transport.close().await.unwrap();
}

#[tokio::test]
async fn a_missing_program_is_an_error() {
    let endpoint = ProcessSpec {
        program: "no-such-program-anywhere".to_owned(),
        args: Vec::new(),
        env: Default::default(),
        cwd: None,
        confine: None,
    };
    let settings = ServerSettings::new("s", Endpoint::Stdio(endpoint.clone()));
    let Err(error) = StdioTransport::open(&settings, &endpoint, &Context::default()) else { panic!("it started") };
    assert!(
        matches!(&error, ConnectError::Start(StartError { program, .. }) if program == "no-such-program-anywhere"),
        "{error}"
    );
}

#[tokio::test]
async fn session_over_stdio() {
    let script = r#"read -r line
        echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
        read -r line; read -r line
        echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"old","parameters":{"type":"object"}},{"name":"bare"}]}}'
        cat >/dev/null"#;
    let (transport, _said) = open(script);
    let diagnosis = transport.diagnosis();
    let service = rmcp::serve_client((), transport).await.unwrap();
    let tools = service.peer().list_tools(None).await.unwrap().tools;
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["old", "bare"]);
    service.cancel().await.unwrap();
    assert!(diagnosis.exit_status().is_some());
}

#[tokio::test]
async fn requests_of_the_server_are_never_taken_for_responses() {
    let script = r#"read -r line; printf '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"x":"'
        head -c 300000 /dev/zero | tr '\0' a; echo '"}}'; echo '{"jsonrpc":"2.0","id":1,"method":"ping"}'; cat >/dev/null"#;
    let (mut transport, said) = open_with(script, 100_000);
    ask(&mut transport, 1).await;
    let request = receive(&mut transport).await.unwrap();
    assert_eq!((&request["id"], &request["method"]), (&json!(1), &json!("ping")));
    assert_eq!(said.warnings().len(), 1);
    let taken: RxJsonRpcMessage<RoleClient> = JsonRpcMessage::error(
        rmcp::model::ErrorData::new(rmcp::model::ErrorCode(1), "m", None),
        Some(RequestId::Number(1)),
    );
    assert!(transport.pending.takes(&taken), "our own request still waits");
}
