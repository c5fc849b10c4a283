//! Requests to a small server that answers with prepared bytes.

use std::sync::Mutex;

use agent_spaces_secrets::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use url::Url;

use super::*;
use crate::bounds::{MAX_ERROR_BODY, MAX_ERROR_TEXT, MAX_EVENT};
use crate::{Api, Delta, Finish, Header, Message, ModelErrorKind, Part};

const KEY: &str = "sk-very-secret-1234";
const HEADER_KEY: &str = "other-secret-5678";
const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// One step of the server after it has read a request.
enum Step {
    Write(String),
    Wait(Duration),
    /// Sends the text again and again, until nobody reads.
    Flood(String),
}

use Step::{Flood, Wait, Write};

/// Serves one request. Gives the address of the server, and the request at the end of the steps.
async fn serve(steps: Vec<Step>) -> (Url, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        for step in steps {
            match step {
                Write(text) => {
                    // The client may be gone.
                    let _ = stream.write_all(text.as_bytes()).await;
                    let _ = stream.flush().await;
                }
                Wait(time) => tokio::time::sleep(time).await,
                Flood(text) => while stream.write_all(text.as_bytes()).await.is_ok() {},
            }
        }
        request
    });
    (Url::parse(&address).unwrap(), served)
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await.unwrap();
        text.extend_from_slice(&piece[..length]);
        let so_far = String::from_utf8_lossy(&text).into_owned();
        let is_whole = so_far.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            body.len() >= length.map_or(0, |length| length.trim().parse().unwrap())
        });
        if is_whole || length == 0 {
            return so_far;
        }
    }
}

fn provider(base_url: Url) -> Provider {
    Provider {
        name: "local".to_owned(),
        api: Api::OpenaiChat,
        base_url,
        key: Some(Secret::new(KEY)),
        headers: vec![Header { name: "x-more".to_owned(), value: Secret::new(HEADER_KEY) }],
        timeout: Duration::from_secs(20),
        openrouter: false,
    }
}

fn request(stream: bool) -> Request {
    Request { model: "m1".to_owned(), messages: vec![Message::user("Hi")], stream, ..Request::default() }
}

/// An event with a piece of text.
fn text(piece: &str) -> String {
    let choice = serde_json::json!({"index": 0, "delta": {"content": piece}, "finish_reason": null});
    event(&choice)
}

fn event(choice: &serde_json::Value) -> String {
    let chunk = serde_json::json!({
        "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m1", "choices": [choice]
    });
    format!("data: {chunk}\n\n")
}

/// The end of a stream.
fn end() -> String {
    let choice = serde_json::json!({"index": 0, "delta": {}, "finish_reason": "stop"});
    event(&choice) + "data: [DONE]\n\n"
}

fn whole() -> String {
    let body = serde_json::json!({
        "id": "c", "object": "chat.completion", "created": 0, "model": "m1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    });
    answer("200 OK", "application/json", &body.to_string())
}

fn answer(status: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Asks a server that does these steps. Gives the outcome and the texts that were told.
async fn ask(steps: Vec<Step>, stream: bool, timeout: Duration) -> (Result<Answer, ModelError>, Vec<String>) {
    let (url, _served) = serve(steps).await;
    let provider = Provider { timeout, ..provider(url) };
    let mut told = Vec::new();
    let mut watch = |delta: Delta<'_>| {
        if let Delta::Text(text) = delta {
            told.push(text.to_owned());
        }
    };
    let answered = Client::new().unwrap().answer(&provider, &request(stream), &mut watch).await;
    (answered, told)
}

const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_stream_is_told_and_answered() {
    let (url, served) = serve(vec![Write(STREAM.to_owned() + &text("Hel") + &text("lo") + &end())]).await;
    let mut told = Vec::new();
    let mut watch = |delta: Delta<'_>| told.push(format!("{delta:?}"));
    let client = Client::new().unwrap();
    let answer = client.answer(&provider(url), &request(true), &mut watch).await.unwrap();
    assert_eq!(answer.parts, [Part::Text("Hello".to_owned())]);
    assert_eq!(answer.finish, Finish::Stop);
    assert_eq!(told, ["Text(\"Hel\")", "Text(\"lo\")"]);
    let sent = served.await.unwrap();
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    let head = sent.to_ascii_lowercase();
    for line in [
        format!("authorization: bearer {KEY}"),
        format!("x-more: {HEADER_KEY}"),
        "content-type: application/json".to_owned(),
        "accept: text/event-stream".to_owned(),
        concat!("user-agent: agent-spaces/", env!("CARGO_PKG_VERSION")).to_owned(),
    ] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
    let body: serde_json::Value = serde_json::from_str(sent.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body["model"], "m1");
    assert_eq!(body["stream"], true);
}

#[tokio::test]
async fn the_timeout_of_a_stream_begins_anew_with_each_chunk() {
    let timeout = Duration::from_millis(1_500);
    let pause = || Wait(Duration::from_millis(600));
    let mut steps = vec![pause(), Write(STREAM.to_owned())];
    for piece in ["a", "b", "c", "d"] {
        steps.extend([pause(), Write(text(piece))]);
    }
    steps.extend([pause(), Write(end())]);
    let (answered, _) = ask(steps, true, timeout).await;
    assert_eq!(answered.unwrap().parts, [Part::Text("abcd".to_owned())]);
}

#[tokio::test]
async fn a_stalled_stream_is_late() {
    let timeout = Duration::from_millis(400);
    for before in [String::new(), STREAM.to_owned(), STREAM.to_owned() + &text("a")] {
        let (answered, told) = ask(vec![Write(before.clone()), Wait(LONG)], true, timeout).await;
        let error = answered.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
        assert!(error.is_transient() && error.message.starts_with("local, model m1: "), "{error}");
        assert_eq!(told.len(), usize::from(before.contains("data")));
    }
}

#[tokio::test]
async fn the_timeout_of_a_whole_answer_is_for_all_of_it() {
    let text = whole();
    let pieces = text.as_bytes().chunks(text.len() / 8).map(|piece| String::from_utf8(piece.to_vec()).unwrap());
    let steps = pieces.flat_map(|piece| [Wait(Duration::from_millis(200)), Write(piece)]).collect();
    let (answered, _) = ask(steps, false, Duration::from_millis(700)).await;
    assert_eq!(answered.unwrap_err().kind, ModelErrorKind::Timeout);
}

#[tokio::test]
async fn a_stream_without_its_end_is_cut() {
    let chunked = STREAM.replace("connection: close", "transfer-encoding: chunked");
    let piece = text("a");
    let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
    for steps in
        [vec![Write(STREAM.to_owned() + &piece)], vec![Write(chunked + &chunk)], vec![Write(STREAM.to_owned())]]
    {
        let (answered, _) = ask(steps, true, LONG).await;
        let error = answered.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Cut, "{error}");
    }
    let short = whole();
    let (answered, _) = ask(vec![Write(short[..short.len() - 9].to_owned())], false, LONG).await;
    assert_eq!(answered.unwrap_err().kind, ModelErrorKind::Cut);
}

#[tokio::test]
async fn a_server_that_ignores_streaming_is_understood() {
    for stream in [true, false] {
        let (answered, told) = ask(vec![Write(whole())], stream, LONG).await;
        let answer = answered.unwrap();
        assert_eq!(answer.parts, [Part::Text("Hello".to_owned())]);
        assert_eq!(answer.usage.total(), 5);
        assert_eq!(told.concat(), if stream { "Hello" } else { "" });
    }
}

#[tokio::test]
async fn refusals_say_status_words_and_wait() {
    let body = r#"{"error": {"message": "Slow\u001b[2J down", "type": "requests", "code": "rate_limit_exceeded"}}"#;
    let refused = answer("429 Too Many Requests", "application/json", body)
        .replace("\r\ncontent-type", "\r\nretry-after: 7\r\ncontent-type");
    for stream in [true, false] {
        let (answered, _) = ask(vec![Write(refused.clone())], stream, LONG).await;
        let error = answered.unwrap_err();
        assert_eq!((error.kind, error.status), (ModelErrorKind::RateLimited, Some(429)));
        assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
        assert_eq!(error.code.as_deref(), Some("rate_limit_exceeded"));
        assert_eq!(error.message, "local, model m1: HTTP 429: Slow<U+001B>[2J down");
    }
}

#[tokio::test]
async fn refusals_in_other_formats_are_bounded() {
    let page = answer("502 Bad Gateway", "text/html", "<html>gateway</html>");
    let (answered, _) = ask(vec![Write(page)], true, LONG).await;
    let error = answered.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Server, "local, model m1: HTTP 502"));
    let long = answer("500 Internal Server Error", "text/plain", &"é".repeat(MAX_ERROR_BODY));
    let (answered, _) = ask(vec![Write(long)], false, LONG).await;
    let error = answered.unwrap_err();
    assert!(error.message.contains("éé") && error.message.len() < MAX_ERROR_TEXT + 64, "{error}");
    // The body never ends.
    let head = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 99\r\n\r\nno".to_owned();
    let (answered, _) = ask(vec![Write(head), Wait(LONG)], true, Duration::from_millis(400)).await;
    assert_eq!(answered.unwrap_err().kind, ModelErrorKind::Unauthorized);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (elsewhere, other) = serve(vec![Write(whole())]).await;
    let moved =
        format!("HTTP/1.1 307 Moved\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let (answered, _) = ask(vec![Write(moved)], false, LONG).await;
    let error = answered.unwrap_err();
    assert_eq!((error.kind, error.status), (ModelErrorKind::Configuration, Some(307)));
    assert!(error.message.contains("base URL"), "{error}");
    assert!(!other.is_finished(), "nobody asked the other server");
    other.abort();
}

#[tokio::test]
async fn a_huge_event_is_refused() {
    let piece = "x".repeat(1 << 20);
    let steps = vec![Write(STREAM.to_owned() + "data: "), Flood(piece)];
    let (answered, _) = ask(steps, true, LONG).await;
    let error = answered.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TooLarge);
    assert!(error.message.contains(&MAX_EVENT.to_string()), "{error}");
}

#[tokio::test]
async fn a_huge_whole_answer_is_refused() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n".to_owned();
    let (answered, _) = ask(vec![Write(head), Flood("x".repeat(1 << 20))], false, LONG).await;
    assert_eq!(answered.unwrap_err().kind, ModelErrorKind::TooLarge);
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/?api_key=hush", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let answered = Client::new().unwrap().answer(&provider(url), &request(true), &mut |_| {}).await;
    let error = answered.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unreachable);
    assert!(!error.message.contains("hush") && !error.message.contains("http://"), "{error}");
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let (url, served) = serve(vec![Write(STREAM.to_owned()), Flood(text("a"))]).await;
    let provider = provider(url);
    let client = Client::new().unwrap();
    let wanted = request(true);
    let mut watch = |_: Delta<'_>| {};
    let answered =
        tokio::time::timeout(Duration::from_millis(300), client.answer(&provider, &wanted, &mut watch)).await;
    assert!(answered.is_err(), "{answered:?}");
    tokio::time::timeout(LONG, served).await.expect("the server still sends").unwrap();
}

#[tokio::test]
async fn an_answer_can_be_awaited_in_a_task() {
    let (url, _served) = serve(vec![Write(whole())]).await;
    let task = tokio::spawn(async move {
        let mut watch = |_: Delta<'_>| {};
        Client::new().unwrap().answer(&provider(url), &request(false), &mut watch).await
    });
    assert_eq!(task.await.unwrap().unwrap().finish, Finish::Stop);
}

#[tokio::test]
async fn an_error_in_an_answer_is_redacted_before_it_is_cut() {
    // Wherever the message is cut, a part of the key is not in what is left.
    for before in [MAX_ERROR_TEXT - 5, 2 * MAX_ERROR_TEXT - 60] {
        let message = format!("{}{KEY}{}", "x".repeat(before), "y".repeat(MAX_ERROR_TEXT));
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        for answered in [STREAM.to_owned() + &format!("data: {body}\n\n"), answer("200 OK", "application/json", &body)]
        {
            let (answered, _) = ask(vec![Write(answered)], true, LONG).await;
            let error = answered.unwrap_err();
            assert!(error.message.contains("xxx") && !error.message.contains("sk-"), "{error}");
            assert!(error.message.len() <= 2 * MAX_ERROR_TEXT, "{}", error.message.len());
        }
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl Trace for Kept {
    fn request(&self, text: &str) {
        self.0.lock().unwrap().push(format!("> {text}"));
    }

    fn response(&self, text: &str) {
        self.0.lock().unwrap().push(format!("< {text}"));
    }
}

#[tokio::test]
async fn keys_are_neither_in_errors_nor_in_traces() {
    let said = format!("bad key {KEY} and {HEADER_KEY}");
    let body = serde_json::json!({"error": {"message": said, "type": KEY, "code": KEY}}).to_string();
    let refused = answer("401 Unauthorized", "application/json", &body);
    let refused = refused.replace("\r\ncontent-type", &format!("\r\nx-echo: {KEY}\r\ncontent-type"));
    let streamed = STREAM.to_owned() + &text(KEY) + &format!("data: {body}\n\n");
    for (steps, is_refused) in [(vec![Write(refused)], true), (vec![Write(streamed)], false)] {
        let (url, _served) = serve(steps).await;
        let kept = Arc::new(Kept::default());
        let client = Client::new().unwrap().with_trace(Arc::clone(&kept) as Arc<dyn Trace>);
        let mut asked = request(true);
        asked.messages.push(Message::user(format!("{KEY} is my key")));
        let error = client.answer(&provider(url), &asked, &mut |_| {}).await.unwrap_err();
        let traced = kept.0.lock().unwrap().join("\n");
        for secret in [KEY, HEADER_KEY] {
            assert!(!format!("{error:?}").contains(secret), "{error:?}");
            assert!(!traced.contains(secret), "{traced}");
        }
        assert!(traced.contains("> POST http://127.0.0.1:") && traced.contains("[redacted] is my key"), "{traced}");
        assert!(traced.contains("< HTTP ") && traced.contains("[redacted] and [redacted]"), "{traced}");
        assert_eq!(error.status == Some(401), is_refused, "{error:?}");
    }
}
