//! Every function of every interface, with its documented types.

use crate::standard::support::{Project, Site, script};
use serde_json::{Value, json};

/// The value of a script in a space whose policy allows all of the standard library.
fn value(body: &str) -> Value {
    Project::with_policy(json!("permissive")).run(&script(body)).value()
}

#[test]
fn fs_reads_writes_lists_and_deletes() {
    let project = Project::with_policy(json!("standard"));
    project.write("files/data.json", r#"{"answer": [42]}"#);
    let done = project.run(&script(
        "const data = await fs.readFile('data.json');
        const parsed = json.parse(data);
        const made = [
            await fs.mkdir('out/deep'),
            await fs.writeFile('out/note.txt', 'grüße'),
            await fs.writeBytes('out/deep/raw.bin', new Uint8Array([0, 255, 7])),
            await fs.appendFile('out/note.txt', '!'),
            await fs.appendFile('out/fresh.txt', 'first'),
        ].every((value) => value === undefined);
        const raw = await fs.readBytes('out/deep/raw.bin');
        const stat = await fs.stat('out/note.txt');
        const before = {
            parsed, made,
            note: await fs.readFile('out/note.txt'), fresh: await fs.readFile('out/fresh.txt'),
            raw: [raw instanceof Uint8Array, ...raw],
            root: await fs.list(), out: await fs.list('out'),
            stat: { ...stat, modified: Math.abs(Date.parse(stat.modified) - Date.now()) < 600_000 },
            folder: (await fs.stat('out')).kind,
            exists: [await fs.exists('out/note.txt'), await fs.exists('out/none')],
            glob: await fs.glob('out/**/*.*'),
        };
        await fs.delete('out/fresh.txt');
        const full = await attempt(() => fs.delete('out'));
        await fs.delete('out', { recursive: true });
        ({ before, full, after: [await fs.exists('out/fresh.txt'), await fs.exists('out')] })",
    ));
    let out = json!([
        { "name": "deep", "kind": "directory" },
        { "name": "fresh.txt", "kind": "file", "size": 5 },
        { "name": "note.txt", "kind": "file", "size": 8 },
    ]);
    let root = json!([{ "name": "data.json", "kind": "file", "size": 16 }, { "name": "out", "kind": "directory" }]);
    let value = done.value();
    assert_eq!(
        value["before"],
        json!({
            "parsed": { "answer": [42] }, "made": true, "note": "grüße!", "fresh": "first", "raw": [true, 0, 255, 7],
            "root": root, "out": out, "stat": { "kind": "file", "size": 8, "modified": true }, "folder": "directory",
            "exists": [true, false], "glob": ["out/deep/raw.bin", "out/fresh.txt", "out/note.txt"],
        })
    );
    assert_eq!(value["full"]["reason"], "notEmpty", "{value}");
    assert_eq!(value["after"], json!([false, false]));
    assert!(!project.path("files/out").exists() && project.path("files/data.json").exists());
}

#[test]
fn http_sends_every_method() {
    let site = Site::echo();
    let policy = json!({ "preset": "permissive", "http": { "domains": ["localhost"], "private": ["localhost"] } });
    let project = Project::with_policy(policy);
    let body = format!(
        "const url = {:?};
        const answers = [
            await http.get(url, {{ query: {{ q: 'a b', n: 2 }}, headers: {{ 'X-Extra': 'yes' }} }}),
            await http.post(url, {{ a: [1] }}),
            await http.put(url, undefined, {{ text: 'words' }}),
            await http.patch(url, undefined, {{ bytes: new Uint8Array([104, 105]) }}),
            await http.delete(url, {{ timeoutMs: 5000 }}),
            await http.request('OPTIONS', url, {{ json: 'said' }}),
        ];
        answers.map(({{ status, ok, url: from, headers, json, text, bytes }}) =>
            ({{ status, ok, isSame: from.startsWith(url), seen: headers['x-seen'], json, text, bytes }}))",
        site.url("/echo")
    );
    let said = |method: &str, path: &str, kind: Value, extra: Value, body: &str| {
        json!({
            "status": 200, "ok": true, "isSame": true, "seen": "yes",
            "json": { "method": method, "path": path, "type": kind, "extra": extra, "body": body },
        })
    };
    let json_type = json!("application/json");
    let expected = json!([
        said("GET", "/echo?q=a+b&n=2", Value::Null, json!("yes"), ""),
        said("POST", "/echo", json_type.clone(), Value::Null, r#"{"a":[1]}"#),
        said("PUT", "/echo", json!("text/plain; charset=utf-8"), Value::Null, "words"),
        said("PATCH", "/echo", Value::Null, Value::Null, "hi"),
        said("DELETE", "/echo", Value::Null, Value::Null, ""),
        said("OPTIONS", "/echo", json_type, Value::Null, r#""said""#),
    ]);
    assert_eq!(project.run(&script(&body)).value(), expected);
}

#[test]
fn json_parses_and_stringifies_synchronously() {
    let found = value(
        r#"const wrong = await attempt(() => json.parse('{\n  "a": }'));
        ({ parsed: json.parse('{"a": [1, 2.5, null, true, "x"]}'), flat: json.stringify({ b: 1, a: [null] }),
           indented: json.stringify({ b: [1] }, 2), wrong: [wrong.code, wrong.message] })"#,
    );
    let expected = json!({
        "parsed": { "a": [1, 2.5, null, true, "x"] }, "flat": r#"{"b":1,"a":[null]}"#,
        "indented": "{\n  \"b\": [\n    1\n  ]\n}",
        "wrong": ["call.invalid", "The text is not JSON at line 2, column 8: expected value"],
    });
    assert_eq!(found, expected);
}

#[test]
fn csv_parses_and_stringifies_synchronously() {
    let found = value(
        r#"({ objects: csv.parse('name,age\n"Doe, J",7\n'),
            lists: csv.parse('a;b\n1;2', { header: false, delimiter: ';' }),
            text: csv.stringify([{ a: 1, b: 'x,y' }, { a: null, c: true }]),
            columns: csv.stringify([{ a: 1, b: 2 }], { columns: ['b', 'a'], delimiter: ';', header: false }),
            rows: csv.stringify([[1, 'two'], [3, 'four']]) })"#,
    );
    let expected = json!({
        "objects": [{ "name": "Doe, J", "age": "7" }], "lists": [["a", "b"], ["1", "2"]],
        "text": "a,b,c\r\n1,\"x,y\",\r\n,,true\r\n", "columns": "2;1\r\n", "rows": "1,two\r\n3,four\r\n",
    });
    assert_eq!(found, expected);
}

#[test]
fn crypto_hashes_encrypts_and_encodes_synchronously() {
    let found = value(
        "const bytes = (text) => new TextEncoder().encode(text);
        const hex = (data) => crypto.encode('hex', data);
        const key = crypto.randomBytes(32);
        const sealed = crypto.encrypt(key, bytes('plain'));
        const changed = new Uint8Array(sealed); changed[changed.length - 1] ^= 1;
        ({
            sha256: crypto.hash('sha256', 'abc'), blake3: crypto.hash('blake3', 'abc'),
            lengths: [crypto.hash('sha384', '').length, crypto.hash('sha512', '').length],
            same: crypto.hashBytes('sha512', bytes('abc')) === crypto.hash('sha512', 'abc'),
            hmac: crypto.hmac('sha256', bytes('key'), 'The quick brown fox jumps over the lazy dog'),
            plain: new TextDecoder().decode(crypto.decrypt(key, sealed)),
            sealed: [sealed instanceof Uint8Array, sealed.length > 5 + 16, hex(sealed).includes('706c61696e')],
            changed: (await attempt(() => crypto.decrypt(key, changed))).code,
            random: [crypto.randomBytes(16).length, hex(crypto.randomBytes(16)) !== hex(crypto.randomBytes(16))],
            uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.uuid()),
            encoded: ['hex', 'base64', 'base64url'].map((name) => crypto.encode(name, new Uint8Array([251, 255, 0]))),
            decoded: [['hex', 'fbff00'], ['base64', '+/8A'], ['base64url', '-_8A']].map((pair) => [...crypto.decode(...pair)]),
        })",
    );
    let expected = json!({
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "blake3": "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
        "lengths": [96, 128], "same": true,
        "hmac": "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
        "plain": "plain", "sealed": [true, true, false], "changed": "call.failed", "random": [16, true], "uuid": true,
        "encoded": ["fbff00", "+/8A", "-_8A"], "decoded": [[251, 255, 0], [251, 255, 0], [251, 255, 0]],
    });
    assert_eq!(found, expected);
}

#[test]
fn time_functions_are_synchronous_except_sleep() {
    let found = value(
        "const begun = Date.now();
        const slept = await time.sleep(60);
        ({
            now: Math.abs(Date.parse(time.now()) - Date.now()) < 5000 && time.now().endsWith('Z'),
            parsed: [
                time.parse('2024-02-29T12:00:00+02:00'), time.parse('Thu, 29 Feb 2024 12:00:00 +0000'),
                time.parse('2024-07-01 08:30', 'Europe/Berlin'),
            ],
            shown: [
                time.format('2024-07-01T06:30:00Z', '%d.%m.%Y %H:%M', 'Europe/Berlin'),
                time.format('2024-07-01T06:30:00Z', '%H:%M'),
            ],
            parts: time.parts('2024-07-01T06:30:05.25Z', 'Europe/Berlin'),
            added: [
                time.add('2024-01-31T00:00:00Z', 'P1M'), time.add('2024-01-01T00:00:00Z', '1h 30m'),
                time.add('2024-03-30T12:00:00Z', 'P1D', 'Europe/Berlin'),
            ],
            since: time.since('2024-01-01T00:00:00Z', '2024-01-01T00:00:01.5Z'),
            slept: slept === undefined && Date.now() - begun >= 55,
        })",
    );
    let expected = json!({
        "now": true,
        "parsed": ["2024-02-29T10:00:00Z", "2024-02-29T12:00:00Z", "2024-07-01T06:30:00Z"],
        "shown": ["01.07.2024 08:30", "06:30"],
        "parts": {
            "year": 2024, "month": 7, "day": 1, "hour": 8, "minute": 30, "second": 5, "millisecond": 250, "weekday": 1,
            "offset": "+02:00", "zone": "Europe/Berlin",
        },
        "added": ["2024-02-29T00:00:00Z", "2024-01-01T01:30:00Z", "2024-03-31T11:00:00Z"],
        "since": 1500, "slept": true,
    });
    assert_eq!(found, expected);
}

/// Only functions declared to return promises do.
#[test]
fn only_functions_with_io_return_promises() {
    let found = value(
        "const isPromise = (value) => value instanceof Promise;
        const waits = [fs.list(), fs.exists('x'), http.get('http://x.invalid'), time.sleep(1)];
        await Promise.allSettled(waits);
        const now = time.now();
        const at_once = [json.parse('1'), csv.parse('a'), crypto.uuid(), now, time.since(now, now)];
        [waits.map(isPromise), at_once.map(isPromise)]",
    );
    assert_eq!(found, json!([[true, true, true, true], [false, false, false, false, false]]));
}
