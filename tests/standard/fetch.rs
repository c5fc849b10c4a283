//! `fetch`, under the same rules as `http`.

use crate::standard::requests::project;
use crate::standard::support::{Project, Reply, Site, script};
use serde_json::json;
use std::io::{ErrorKind, Read as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn fetch_gives_a_response_with_its_usual_methods() {
    let site = Site::start(|request| match request.path.as_str() {
        "/moved" => Reply::Redirect(301, "/text".to_owned()),
        "/gone" => Reply::Whole(404, "application/json", br#"{"why": "gone"}"#.to_vec()),
        _ => Reply::text("grüße"),
    });
    let source = format!(
        "const url = {:?};
        const text = await fetch(url + '/text');
        const copy = text.clone();
        const moved = await fetch(new URL('/moved#part', url));
        const gone = await fetch(url + '/gone');
        const again = await fetch(url + '/text');
        const failure = async (work) => {{
            try {{ await work(); }} catch (error) {{ return error instanceof TypeError; }}
        }};
        export default {{
            head: [text.ok, text.status, text.statusText, text.url === url + '/text', text.redirected, text.bodyUsed],
            headers: [text.headers instanceof Headers, text.headers.get('X-SEEN'), text.headers.get('content-type')],
            text: [await text.text(), text.bodyUsed, await failure(() => text.text())],
            copy: [...await copy.bytes()].length,
            moved: [moved.redirected, moved.url === url + '/text', (await moved.arrayBuffer()).byteLength],
            gone: [gone.ok, gone.status, await gone.json()],
            wrong: await failure(() => again.json().catch((error) => {{ throw new TypeError(error.message); }})),
        }};",
        site.url("")
    );
    assert_eq!(
        project().run(&source).value(),
        json!({
            "head": [true, 200, "", true, false, false], "headers": [true, "yes", "text/plain; charset=utf-8"],
            "text": ["grüße", true, true], "copy": 7, "moved": [true, true, 7],
            "gone": [false, 404, { "why": "gone" }], "wrong": true,
        })
    );
}

#[test]
fn fetch_sends_bodies_of_every_kind() {
    let site = Site::echo();
    let source = format!(
        "const send = async (init) => {{
            const {{ method, type, body, extra }} = await (await fetch({:?}, init)).json();
            return [method, type, body, extra];
        }};
        const own = new Headers({{ 'X-Extra': 'own' }});
        export default [
            await send({{ method: 'post', body: 'words' }}),
            await send({{ method: 'PUT', body: new Uint8Array([104, 105]), headers: [['X-Extra', 'list']] }}),
            await send({{ method: 'POST', body: new URLSearchParams({{ a: 'b c' }}), headers: own }}),
            await send({{ method: 'POST', body: JSON.stringify({{ a: 1 }}), headers: {{ 'Content-Type': 'x/json' }} }}),
            await send(),
        ];",
        site.url("/")
    );
    let expected = json!([
        ["POST", "text/plain;charset=UTF-8", "words", null],
        ["PUT", null, "hi", "list"],
        ["POST", "application/x-www-form-urlencoded;charset=UTF-8", "a=b+c", "own"],
        ["POST", "x/json", r#"{"a":1}"#, null],
        ["GET", null, "", null],
    ]);
    assert_eq!(project().run(&source).value(), expected);
}

/// A denial is a `TypeError`, as it is elsewhere, with the call's own error as its cause.
#[test]
fn fetch_fails_with_the_text_of_the_denial() {
    let source = "let found;
        try { await fetch('http://elsewhere.example/'); }
        catch (error) { found = [error instanceof TypeError, error.message, error.cause.code]; }
        export default found;";
    assert_eq!(
        project().run(source).value(),
        json!([true, "Domain \"elsewhere.example\" is not allowed", "call.denied"])
    );
}

#[test]
fn an_aborted_fetch_rejects_at_once() {
    let site = Site::start(|_| Reply::Silence);
    let source = format!(
        "const abort = new AbortController();
        setTimeout(() => abort.abort(new Error('enough')), 50);
        const begun = Date.now();
        let said; try {{ await fetch({:?}, {{ signal: abort.signal }}); }} catch (error) {{ said = error.message; }}
        export default [said, Date.now() - begun < 5000];",
        site.url("/")
    );
    assert_eq!(project().run(&source).value(), json!(["enough", true]));
}

/// An abort ends the request in the host: the server sees its connection closed while the script goes on.
#[test]
fn an_aborted_fetch_closes_its_connection() {
    let (closed, told) = (TcpListener::bind(("127.0.0.1", 0)).unwrap(), mpsc::channel());
    let port = closed.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = closed.accept().unwrap();
        let mut bytes = Vec::new();
        // Ends when the other side closes; a request alone does not.
        let _ = stream.set_read_timeout(Some(Duration::from_secs(15)));
        let ended = stream.read_to_end(&mut bytes);
        let _ = told.0.send(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    });
    let source = format!(
        "const abort = new AbortController();
        setTimeout(() => abort.abort(), 50);
        let said; try {{ await fetch('http://localhost:{port}/', {{ signal: abort.signal }}); }} catch (error) {{ said = error.name; }}
        await new Promise((done) => setTimeout(done, 3000));
        export default said;"
    );
    let run = thread::spawn(move || project().run(&source).value());
    assert_eq!(told.1.recv_timeout(Duration::from_secs(30)), Ok(true));
    assert!(!run.is_finished(), "the script went on");
    assert_eq!(run.join().unwrap(), json!("AbortError"));
}

/// `fetch` captures its dependencies before the script runs.
#[test]
fn a_script_that_patches_prototypes_does_not_break_fetch() {
    let site = Site::echo();
    let source = format!(
        "const broken = () => {{ throw new Error('patched'); }};
        const patches = [
            [String.prototype, ['toUpperCase', 'toLowerCase', 'toWellFormed', 'split', Symbol.iterator]],
            [Promise.prototype, ['then', 'catch', 'finally']], [Promise, ['resolve', 'reject', 'all']],
            [Headers.prototype, ['get', 'set', 'append', 'has', 'forEach', 'entries', Symbol.iterator]],
            [Map.prototype, ['get', 'set', 'has']], [Function.prototype, ['call', 'apply', 'bind']],
            [Object, ['keys', 'defineProperty', 'entries', 'assign', 'fromEntries']], [JSON, ['parse', 'stringify']],
            [TextDecoder.prototype, ['decode']], [URLSearchParams.prototype, ['toString']],
            [ArrayBuffer, ['isView']], [Reflect, ['apply', 'get', 'has']],
            [Array.prototype, ['push', 'map', 'join', 'forEach', Symbol.iterator]],
        ];
        for (let at = 0; at < patches.length; at++)
            for (let name = 0; name < patches[at][1].length; name++) patches[at][0][patches[at][1][name]] = broken;
        const names = ['headers', 'text', 'bytes', 'json', 'timeoutMs', 'value', 'get', 'set', 'method'];
        for (let at = 0; at < names.length; at++) Object.prototype[names[at]] = 'polluted';
        const response = await fetch({:?}, {{ method: 'POST', body: 'words', headers: {{ 'X-Extra': 'own' }} }});
        const body = await response.text();
        export default body;",
        site.url("/")
    );
    let done = project().run(&source);
    let said: serde_json::Value = serde_json::from_str(done.value().as_str().unwrap()).unwrap();
    assert_eq!((&said["method"], &said["body"], &said["extra"]), (&json!("POST"), &json!("words"), &json!("own")));
    assert_eq!(site.asked().len(), 1);
}

/// A script cannot put its own function under `http`, which `fetch` calls.
#[test]
fn fetch_internals_cannot_be_replaced() {
    let site = Site::echo();
    let body = format!(
        "let seen = 0; try {{ http.request = () => {{ seen++; }}; }} catch {{}}
        const response = await fetch({:?}); [response.status, seen]",
        site.url("/")
    );
    assert_eq!(project().run(&script(&body)).value(), json!([200, 0]));
}

#[test]
fn without_network_there_is_no_fetch() {
    for policy in
        [json!("restrictive"), json!("standard"), json!({ "http": { "enabled": false, "domains": ["a.example"] } })]
    {
        let project = Project::with_policy(policy.clone());
        assert_eq!(
            project.run("export default [typeof fetch, 'fetch' in globalThis];").value(),
            json!(["undefined", false]),
            "{policy}"
        );
        let done = project.run("await fetch('http://a.example/')");
        let report = done.json();
        assert_eq!(report["error"]["name"], "ReferenceError", "{report}");
        assert_eq!(report["error"]["message"], "fetch is not defined", "{report}");
        let shown = project.run_with("await fetch('http://a.example/')", &["--space", "work"]);
        assert!(shown.stderr.contains("hint: ") && shown.stderr.contains("network"), "{}", shown.stderr);
        assert_eq!((done.status, shown.status), (Some(1), Some(1)));
    }
}
