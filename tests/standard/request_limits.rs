//! Limits of requests: body size, response size and time.

use crate::standard::support::{Project, Reply, Site, script};
use serde_json::json;
use std::time::{Duration, Instant};

fn project(more: serde_json::Value) -> Project {
    let mut http = json!({ "domains": ["localhost"], "private": ["localhost"], "methods": ["GET", "POST"] });
    for (name, value) in more.as_object().unwrap() {
        http[name] = value.clone();
    }
    Project::with_policy(json!({ "http": http }))
}

#[test]
fn an_oversized_response_is_refused() {
    let site = Site::start(|request| {
        let (way, size) = request.path.trim_start_matches('/').split_once('/').unwrap();
        let body = vec![b'x'; size.parse().unwrap()];
        if way == "measured" { Reply::Whole(200, "text/plain", body) } else { Reply::Unmeasured(body) }
    });
    let body = format!(
        "const get = async (path) => {{
            const {{ value, message }} = await attempt(() => http.get({:?} + path));
            return value?.text.length ?? message;
        }};
        [await get('/measured/1000'), await get('/measured/1001'), await get('/unmeasured/1000'),
         await get('/unmeasured/1001'), await get('/unmeasured/50000000')]",
        site.url("")
    );
    let refused = "The answer has more than 1000 bytes, the most that may be received";
    let value = project(json!({ "maxResponseBytes": 1000 })).run(&script(&body)).value();
    assert_eq!(value, json!([1000, refused, 1000, refused, refused]));
}

#[test]
fn an_oversized_body_is_not_sent() {
    let site = Site::echo();
    let body = format!(
        "const post = async (size) => {{
            const options = {{ text: 'x'.repeat(size) }};
            const {{ value, message }} = await attempt(() => http.post({:?}, undefined, options));
            return value?.status ?? message;
        }};
        [await post(100), await post(101)]",
        site.url("/")
    );
    let value = project(json!({ "maxRequestBytes": 100 })).run(&script(&body)).value();
    assert_eq!(value, json!([200, "The body has more than 100 bytes, the most that may be sent"]));
    assert_eq!(site.asked().len(), 1);
}

#[test]
fn a_slow_response_times_out() {
    let site = Site::start(|_| Reply::Silence);
    let body = format!(
        "const tell = ({{ code, message }}) => [code, message];
        [tell(await attempt(() => http.get({url:?}))),
         tell(await attempt(() => http.get({url:?}, {{ timeoutMs: 100 }}))),
         tell(await attempt(() => http.get({url:?}, {{ timeoutMs: 60_000 }})))]",
        url = site.url("/")
    );
    let begun = Instant::now();
    let value = project(json!({ "timeout": "300ms" })).run(&script(&body)).value();
    let late = |ms: u32| json!(["call.timeout", format!("Timed out: no complete answer within {ms} ms")]);
    assert_eq!(value, json!([late(300), late(100), late(300)]));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
