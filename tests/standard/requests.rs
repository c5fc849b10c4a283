//! Sent requests and returned responses of `http`.

use crate::standard::support::{Project, Reply, Site, script};
use serde_json::json;

/// A project that may ask this machine, in any way.
pub(crate) fn project() -> Project {
    Project::with_policy(
        json!({ "preset": "permissive", "http": { "domains": ["localhost"], "private": ["localhost"] } }),
    )
}

/// A server with an answer of every kind.
fn kinds() -> Site {
    Site::start(|request| match request.path.as_str() {
        "/json" => Reply::Whole(200, "application/problem+json", br#"{"a": [1, null]}"#.to_vec()),
        "/broken" => Reply::Whole(200, "application/json", b"{".to_vec()),
        "/latin" => Reply::Whole(200, "text/plain; charset=iso-8859-1", vec![b'g', 0xfc]),
        "/bytes" => Reply::Whole(200, "application/octet-stream", vec![0, 255, 10]),
        "/teapot" => Reply::Whole(418, "text/html", b"<p>short</p>".to_vec()),
        _ => Reply::text("plain"),
    })
}

#[test]
fn the_body_form_follows_media_type_or_option() {
    let site = kinds();
    let body = format!(
        "const get = async (path, responseType) => {{
            const {{ status, ok, json, text, bytes }} = await http.get({:?} + path, {{ responseType }});
            return [status, ok, json ?? null, text ?? null, bytes ? [bytes instanceof Uint8Array, ...bytes] : null];
        }};
        [await get('/json'), await get('/json', 'text'), await get('/broken'), await get('/latin'), await get('/bytes'),
         await get('/teapot'), await get('/plain', 'bytes'), await attempt(() => get('/plain', 'json'))]",
        site.url("")
    );
    let value = project().run(&script(&body)).value();
    assert_eq!(
        value.as_array().unwrap()[..7],
        [
            json!([200, true, { "a": [1, null] }, null, null]),
            json!([200, true, null, r#"{"a": [1, null]}"#, null]),
            json!([200, true, null, "{", null]),
            json!([200, true, null, "gü", null]),
            json!([200, true, null, null, [true, 0, 255, 10]]),
            json!([418, false, null, "<p>short</p>", null]),
            json!([200, true, null, null, [true, 112, 108, 97, 105, 110]]),
        ]
    );
    assert_eq!(value[7]["code"], "call.failed", "{value}");
    assert!(value[7]["message"].as_str().unwrap().starts_with("The answer is not JSON"), "{value}");
}

#[test]
fn a_script_cannot_set_connection_headers() {
    let site = Site::echo();
    let body = format!(
        "const codes = [];
        const names = ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Proxy-Authorization', 'X\\nY'];
        for (const name of names)
            codes.push((await attempt(() => http.get({url:?}, {{ headers: {{ [name]: 'x' }} }}))).code);
        codes.push((await attempt(() => http.get({url:?}, {{ headers: {{ 'X-Extra': 'a\\r\\nHost: b' }} }}))).code);
        codes.push((await attempt(() => http.get({url:?}, {{ json: 1 }}))).code);
        codes.push((await attempt(() => http.post({url:?}, 1, {{ text: 'two' }}))).code);
        codes.push((await attempt(() => http.request('TRACE', {url:?}))).code);
        codes",
        url = site.url("/")
    );
    assert_eq!(project().run(&script(&body)).value(), json!(vec!["call.invalid"; 10]));
    assert!(site.asked().is_empty(), "{:?}", site.paths());
}

/// Secrets do not follow a redirect to another host; what is asked for does.
#[test]
fn redirects_drop_secrets_for_other_origins() {
    let target = Site::echo();
    let away = target.url("/there");
    let site = Site::start(move |request| match request.path.as_str() {
        "/away" => Reply::Redirect(302, away.clone()),
        "/near" => Reply::Redirect(307, "/echo".to_owned()),
        "/round" => Reply::Redirect(302, "/round".to_owned()),
        _ => Reply::text(request.header("authorization").unwrap_or("none")),
    });
    let body = format!(
        "const headers = {{ authorization: 'secret', 'x-extra': 'open' }};
        const near = await http.post({:?}, {{ a: 1 }}, {{ headers }});
        const away = await http.post({:?}, {{ a: 1 }}, {{ headers }});
        const round = await attempt(() => http.get({:?}));
        ({{ near: [near.text, near.url], away: [away.json, away.url], round: round.message }})",
        site.url("/near"),
        site.url("/away"),
        site.url("/round")
    );
    let value = project().run(&script(&body)).value();
    assert_eq!(value["near"], json!(["secret", site.url("/echo")]));
    let told = json!({ "method": "GET", "path": "/there", "type": null, "extra": "open", "body": "" });
    assert_eq!(value["away"], json!([told, target.url("/there")]));
    assert_eq!(value["round"], "There were more than 5 redirects");
    assert_eq!(target.asked().iter().map(|request| request.header("authorization")).collect::<Vec<_>>(), [None]);
    let kept = site.asked().into_iter().find(|request| request.path == "/echo").unwrap();
    assert_eq!((kept.method.as_str(), &kept.body[..]), ("POST", &br#"{"a":1}"#[..]));
}

#[test]
fn proxy_variables_are_ignored() {
    let (site, proxy) = (Site::echo(), Site::start(|_| Reply::text("by the proxy")));
    let project = project();
    project.write("script.ts", script(&format!("(await http.get({:?})).json.path", site.url("/direct"))));
    let mut command = project.command(&["run", "script.ts", "--space", "work", "--json"]);
    for variable in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy", "HTTPS_PROXY"] {
        command.env(variable, proxy.url(""));
    }
    command.env_remove("no_proxy").env_remove("NO_PROXY");
    assert_eq!(crate::standard::support::RunningCommand::start(command).finish().value(), "/direct");
    assert!(proxy.asked().is_empty(), "{:?}", proxy.asked());
}
