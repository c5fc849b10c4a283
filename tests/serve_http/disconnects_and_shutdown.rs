//! Disconnecting clients, ended sessions, and server shutdown.

use crate::mcp::support::{Project, eventually, hostile_logging, signal};
use crate::serve_http::raw_http::{open, read};
use crate::serve_http::server::{
    ANN, BOB, HttpServer, Session, bearer, message, own_headers, program, project, stateless,
};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(15);

/// So that who ended their last session is gone soon.
const IMPATIENT: [&str; 2] = ["--silence", "1"];

/// Returns how often the server behind received a `hang` call, and a cancellation.
pub(crate) fn hangs(served: &HttpServer) -> (usize, usize) {
    let log = served.project.lines("log.jsonl");
    let count = |is: &dyn Fn(&Value) -> bool| log.iter().filter(|message| is(message)).count();
    (
        count(&|message| message["params"]["name"] == "hang"),
        count(&|message| message["method"] == "notifications/cancelled"),
    )
}

/// Returns the text of an answer.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// A request for a program in a session, whose id is 2.
fn begin_in(session: &Session<'_>, arguments: Value) -> TcpStream {
    let call = message(2, "tools/call", json!({ "name": "run_code", "arguments": arguments }));
    session.open("POST", &[], &call.to_string())
}

/// The same for a program that hangs.
fn hang_in(session: &Session<'_>) -> TcpStream {
    begin_in(session, program("await hostile.hang();"))
}

/// A request for a program without a session.
fn hang_alone(served: &HttpServer, token: &str, arguments: Value) -> TcpStream {
    let (extra, call) = stateless("tools/call", json!({ "name": "run_code", "arguments": arguments }));
    let authorization = bearer(token);
    let mut headers = own_headers(&authorization);
    headers.extend(extra.iter().map(|(name, value)| (*name, value.as_str())));
    open(served.port, "POST", &headers, &call.to_string())
}

fn a_client_goes_away(begin: impl Fn(&HttpServer) -> TcpStream) {
    let Some(served) = HttpServer::with_callers() else { return };
    // So that the server behind is up.
    served.session(BOB).run(program("export default await hostile.echo({ message: 'up' });"));
    let going = begin(&served);
    assert!(eventually(TIMEOUT, || hangs(&served).0 == 1), "{:?}", served.project.lines("log.jsonl"));
    let staying = hang_alone(&served, BOB, program("await hostile.sleep({ ms: 7000 }); export default 'slept';"));
    assert!(eventually(TIMEOUT, || served.project.read("log.jsonl").contains("\"sleep\"")));
    drop(going);
    assert!(eventually(TIMEOUT, || hangs(&served).1 == 1), "the call is cancelled where it goes");
    let answer = read(staying).answer();
    assert!(text(&answer).contains("slept"), "{answer}");
    assert_eq!(hangs(&served), (1, 1), "nobody else's is");
    // That no process is left is seen when the project ends.
}

#[test]
fn a_disconnect_ends_only_its_run() {
    a_client_goes_away(|served| hang_alone(served, ANN, program("await hostile.hang();")));
}

#[test]
fn a_disconnect_within_a_session_ends_only_its_run() {
    a_client_goes_away(|served| hang_in(&served.session(ANN)));
}

/// Ten programs of a caller run at one time; others of theirs wait in line.
#[test]
fn a_disconnected_queued_request_never_runs() {
    let Some(served) = HttpServer::with_callers() else { return };
    let mut hanging: Vec<TcpStream> =
        (0..10).map(|_| hang_alone(&served, ANN, program("await hostile.hang();"))).collect();
    assert!(eventually(TIMEOUT, || hangs(&served).0 == 10), "{:?}", hangs(&served));
    let echo = |message: &str| program(&format!("export default await hostile.echo({{ message: '{message}' }});"));
    let impatient = hang_alone(&served, ANN, echo("impatient"));
    std::thread::sleep(Duration::from_millis(500));
    let patient = hang_alone(&served, ANN, echo("patient"));
    drop(impatient);
    let other = read(hang_alone(&served, BOB, echo("another caller"))).answer();
    assert!(text(&other).contains("another caller"), "{other}");
    // Longer than the detection of a disconnect takes.
    std::thread::sleep(Duration::from_secs(3));
    assert!(!served.project.read("log.jsonl").contains("patient"), "there is a line");
    drop(hanging.pop());
    let answer = read(patient).answer();
    assert!(text(&answer).contains("patient"), "{answer}");
    assert!(!served.project.read("log.jsonl").contains("impatient"));
}

#[test]
fn a_resumed_stream_loses_nothing() {
    let Some(served) = HttpServer::with_callers() else { return };
    let session = served.session(ANN);
    let mut stream = begin_in(&session, program("await hostile.sleep({ ms: 4000 }); export default 'slept';"));
    // The first event is there at once and says how the stream is called.
    let mut seen = String::new();
    assert!(eventually(TIMEOUT, || {
        let mut bytes = [0; 4096];
        let count = std::io::Read::read(&mut stream, &mut bytes).unwrap();
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        seen.contains("id: ")
    }));
    let event = seen.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    drop(stream);
    let answer = read(session.open("GET", &[("last-event-id", &event)], "")).answer();
    assert!(text(&answer).contains("slept"), "{answer}");
}

#[test]
fn ending_a_session_cancels_its_requests() {
    let Some(served) = HttpServer::with_callers() else { return };
    let session = served.session(ANN);
    let _waiting = hang_in(&session);
    assert!(eventually(TIMEOUT, || hangs(&served).0 == 1));
    let ended = read(session.open("DELETE", &[], ""));
    assert_eq!(ended.status, 202, "{ended:?}");
    assert!(eventually(TIMEOUT, || hangs(&served).1 == 1), "{:?}", served.project.lines("log.jsonl"));
}

/// Returns the number of running servers behind.
fn servers(served: &HttpServer) -> usize {
    let is_server = |arguments: &str| arguments.contains("/hostile") && !arguments.contains("supervise");
    served.project.processes().iter().filter(|(_, arguments)| is_server(arguments)).count()
}

#[test]
fn a_callers_servers_end_with_their_last_session() {
    let Some(project) = project() else { return };
    let served = HttpServer::start(project, &IMPATIENT);
    let echo = || program("export default await hostile.echo({ message: 'up' });");
    let (first, last, bobs) = (served.session(ANN), served.session(ANN), served.session(BOB));
    for session in [&first, &last, &bobs] {
        assert_eq!(session.run(echo())["status"], "done");
    }
    assert_eq!(servers(&served), 2, "one for each caller");
    first.end();
    assert_eq!(last.run(echo())["status"], "done");
    assert_eq!(servers(&served), 2, "she is still there");
    last.end();
    assert!(eventually(TIMEOUT, || servers(&served) == 1), "{:?}", served.project.processes());
    assert_eq!(bobs.run(echo())["status"], "done");
    assert_eq!(served.session(ANN).run(echo())["status"], "done", "she may come back");
}

/// A server with a toolbox, and with callers.
fn with_toolbox(options: &[&str]) -> Option<HttpServer> {
    let toolbox = json!({ "description": "x", "mcpServers": { "hostile": hostile_logging(&[])? } });
    let callers =
        json!({ "ann": { "token": { "env": "TOKEN_OF_ANN" } }, "bob": { "token": { "env": "TOKEN_OF_BOB" } } });
    let project = Project::new(json!({ "toolboxes": { "box": toolbox }, "serve": { "callers": callers } }));
    Some(HttpServer::start(project, &[&["--mode", "toolbox"], options].concat()))
}

fn opening() -> Value {
    json!({ "name": "open_toolbox", "arguments": { "toolbox": "box" } })
}

fn using() -> Value {
    let tool = json!({ "toolbox": "box", "server": "hostile", "tool": "echo" });
    json!({ "name": "use_tool", "arguments": { "tool": tool, "arguments": { "message": "hello" } } })
}

#[test]
fn a_toolbox_closes_with_its_callers_last_session() {
    let Some(served) = with_toolbox(&IMPATIENT) else { return };
    let (anns, bobs) = (served.session(ANN), served.session(BOB));
    for session in [&anns, &bobs] {
        let opened = session.request("tools/call", opening());
        assert!(opened.get("isError").is_none(), "{opened}");
    }
    assert_eq!(servers(&served), 2);
    anns.end();
    assert!(eventually(TIMEOUT, || servers(&served) == 1), "{:?}", served.project.processes());
    assert!(bobs.request("tools/call", using()).to_string().contains("hello"));
    let again = served.session(ANN).request("tools/call", using());
    assert!(again.to_string().contains("Toolbox 'box' is not open"), "{again}");
}

/// Some clients make a session for each call.
#[test]
fn a_toolbox_stays_open_from_one_session_to_the_next() {
    let Some(served) = with_toolbox(&[]) else { return };
    let short = served.session(ANN);
    let opened = short.request("tools/call", opening());
    assert!(opened.get("isError").is_none(), "{opened}");
    short.end();
    // Longer than it takes to close one.
    std::thread::sleep(Duration::from_secs(2));
    let used = served.session(ANN).request("tools/call", using());
    assert_eq!(used["structuredContent"]["message"], "hello", "{used}");
    assert_eq!(servers(&served), 1);
}

/// A caller without sessions has not ended its last one.
#[test]
fn a_toolbox_stays_open_from_one_stateless_request_to_the_next() {
    let Some(served) = with_toolbox(&IMPATIENT) else { return };
    let opened = served.ask(ANN, "tools/call", opening()).answer();
    assert!(opened["result"].get("isError").is_none(), "{opened}");
    std::thread::sleep(Duration::from_secs(3));
    let used = served.ask(ANN, "tools/call", using()).answer();
    assert_eq!(used["result"]["structuredContent"]["message"], "hello", "{used}");
}

#[test]
fn a_detached_run_outlives_its_session() {
    let Some(project) = project() else { return };
    let served = HttpServer::start(project, &IMPATIENT);
    let first = served.session(ANN);
    let mut arguments = program("await hostile.sleep({ ms: 5000 }); export default 'slept';");
    arguments["wait"] = json!(0);
    let ran = first.run(arguments);
    assert_eq!(ran["status"], "running", "{ran}");
    first.end();
    // She is silent for longer than it takes to be gone, and her run is not over.
    std::thread::sleep(Duration::from_secs(3));
    let done = served.session(ANN).run(json!({ "resume": ran["runId"] }));
    assert_eq!((&done["status"], &done["value"]), (&json!("done"), &json!("slept")), "{done}");
}

/// State of a request whose answer goes elsewhere would be kept until the end of the session.
#[test]
fn duplicate_request_ids_in_a_session_are_refused() {
    let Some(served) = HttpServer::with_callers() else { return };
    let session = served.session(ANN);
    let waiting = hang_in(&session);
    assert!(eventually(TIMEOUT, || hangs(&served).0 == 1));
    let refused = session.post(&message(2, "ping", json!({})));
    assert!(refused.status == 500 && refused.body.contains("duplicate request id"), "{refused:?}");
    assert_eq!(session.post(&message(3, "ping", json!({}))).status, 200);
    drop(waiting);
    assert!(eventually(TIMEOUT, || session.post(&message(2, "ping", json!({}))).status == 200), "it was given up");
}

/// Requests in progress are answered if that is immediate, and cancelled otherwise.
#[test]
fn the_server_shuts_down_promptly_and_cleanly() {
    for name in ["TERM", "INT"] {
        let Some(mut served) = HttpServer::with_callers() else { return };
        served.session(BOB).run(program("export default await hostile.echo({ message: 'up' });"));
        let hanging = hang_in(&served.session(ANN));
        let short = hang_alone(&served, BOB, program("await hostile.sleep({ ms: 1000 }); export default 'slept';"));
        let listening = served.session(BOB).open("GET", &[], "");
        assert!(eventually(TIMEOUT, || hangs(&served).0 == 1 && served.project.read("log.jsonl").contains("\"sleep\"")));
        let began = Instant::now();
        signal(served.pid(), name);
        let (status, _) = served.end_within(Duration::from_secs(10));
        assert_eq!(status, Some(0));
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        let answer = read(short).answer();
        assert!(text(&answer).contains("slept"), "{answer}");
        let told = read(hanging).answer();
        assert_eq!(told["result"]["structuredContent"]["error"]["code"], "run.cancelled", "{told}");
        assert_eq!(read(listening).status, 200);
        assert!(TcpStream::connect(("127.0.0.1", served.port)).is_err());
        served.project.assert_nothing_left();
    }
}
