//! Global objects available to scripts, and those that are not.

mod absent;
mod intl;

use agent_spaces_tests::{empty_space, error, run, value};
use serde_json::{Value, json};

/// Asserts the value of each expression.
async fn all(cases: &[(&str, Value)]) {
    let space = empty_space();
    let mut failures = Vec::new();
    for (source, expected) in cases {
        match run(&space, source).await.outcome {
            Ok(value) if value == *expected => {}
            other => failures.push(format!("{source}: expected {expected}, got {other:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn the_console_formats_and_levels() {
    let report = run(
        &empty_space(),
        "console.log('%s has %d', 'a', 2, { b: [1, 'x', null] }); console.info('i'); console.warn('w'); console.error(new TypeError('bad').message);
         console.debug(new Map([['k', 1]])); console.group('g'); console.log('in'); console.groupEnd();
         console.table([{ a: 1 }]); console.count(); console.count(); console.assert(1 === 2, 'no'); console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
         console.time('t'); console.timeEnd('t'); console.log(); console.trace('here')",
    )
    .await;
    report.outcome.unwrap();
    let lines: Vec<(Value, String)> =
        report.console.iter().map(|line| (serde_json::to_value(line.level).unwrap(), line.text.clone())).collect();
    let text = |index: usize| (lines[index].0.as_str().unwrap_or(""), lines[index].1.as_str());
    assert_eq!(text(0), ("log", "a has 2 { b: [ 1, 'x', null ] }"));
    assert_eq!(text(1), ("info", "i"));
    assert_eq!(text(2), ("warn", "w"));
    assert_eq!(text(3), ("error", "bad"));
    assert_eq!(text(4), ("debug", "Map(1) { 'k' => 1 }"));
    assert_eq!(text(5), ("log", "g"));
    assert_eq!(text(6), ("log", "  in"));
    assert!(lines[7].1.contains("(index)") && lines[7].1.contains('1'), "{}", lines[7].1);
    assert_eq!((text(8).1, text(9).1), ("default: 1", "default: 2"));
    assert_eq!(text(10), ("error", "Assertion failed: no"));
    assert_eq!(text(11).1, "{ a: [Object] }");
    assert!(text(12).1.starts_with("t: ") && text(12).1.ends_with('s'), "{}", text(12).1);
    assert_eq!(text(13), ("log", ""));
    assert!(text(14).1.starts_with("Trace: here") && text(14).1.contains("script.ts:4"), "{}", text(14).1);
}

#[tokio::test]
async fn text_encoder_and_decoder_work() {
    all(&[
        ("[...new TextEncoder().encode('é🚂')]", json!([195, 169, 240, 159, 154, 130])),
        ("new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 104, 105, 255]))", json!("hi\u{fffd}")),
        ("try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { e.name }; 0", json!(0)),
        ("(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })()", json!("TypeError")),
        ("btoa('hello') + atob('aGVsbG8=')", json!("aGVsbG8=hello")),
        ("(() => { try { atob('*') } catch (e) { return e.name } })()", json!("InvalidCharacterError")),
        ("encodeURIComponent('ä/b') + decodeURIComponent('%C3%A4')", json!("%C3%A4%2Fbä")),
    ])
    .await;
}

#[tokio::test]
async fn urls_are_parsed_and_serialized() {
    all(&[
        ("const u = new URL('../c?x=1#h', 'https://a.example:8443/p/q/r'); [u.href, u.host, u.searchParams.get('x'), u.hash]",
            json!(["https://a.example:8443/p/c?x=1#h", "a.example:8443", "1", "#h"])),
        ("const u = new URL('https://a.example'); u.searchParams.append('q', 'a b&c'); u.pathname = '/x y'; String(u)",
            json!("https://a.example/x%20y?q=a+b%26c")),
        ("[...new URLSearchParams({ a: '1', b: '2' })]", json!([["a", "1"], ["b", "2"]])),
        ("const p = new URLSearchParams('a=1&a=2&b'); p.delete('b'); [p.getAll('a'), p.toString(), p.size]", json!([["1", "2"], "a=1&a=2", 2])),
        ("(() => { try { new URL('nope') } catch (e) { return e.name } })()", json!("TypeError")),
        ("[URL.canParse('nope'), URL.canParse('https://ok.example')]", json!([false, true])),
        ("new URL('http://xn--mnchen-3ya.example/').hostname", json!("xn--mnchen-3ya.example")),
    ])
    .await;
}

#[tokio::test]
async fn structured_clone_works() {
    all(&[
        (
            "const a = { d: new Date(5), m: new Map([[1, new Set([2])]]), b: new Uint8Array([7]) }; a.self = a;
          const c = structuredClone(a); [c !== a, c.self === c, c.d.getTime(), [...c.m.get(1)], c.b[0]]",
            json!([true, true, 5, [2], 7]),
        ),
        ("(() => { try { structuredClone(() => 1) } catch (e) { return e.name } })()", json!("DataCloneError")),
    ])
    .await;
}

#[tokio::test]
async fn event_target_and_abort_controller_work() {
    all(&[
        ("const c = new AbortController(); let heard = 0; c.signal.addEventListener('abort', () => heard++); c.abort(); c.abort();
          [heard, c.signal.aborted, c.signal.reason.name]", json!([1, true, "AbortError"])),
        ("await new Promise(r => { AbortSignal.timeout(5).onabort = e => r(e.target.reason.name) })", json!("TimeoutError")),
        ("AbortSignal.any([AbortSignal.abort('x')]).reason", json!("x")),
        ("const t = new EventTarget(); let n = 0; t.addEventListener('a', () => n++, { once: true }); t.dispatchEvent(new Event('a')); t.dispatchEvent(new Event('a')); n", json!(1)),
        ("const h = new Headers({ 'X-A': '1' }); h.append('x-a', '2'); [h.get('X-a'), h.has('b'), [...h]]", json!(["1, 2", false, [["x-a", "1, 2"]]])),
    ])
    .await;
}

#[tokio::test]
async fn microtasks_and_timers_run_in_order() {
    all(&[
        ("const o = []; setTimeout(() => o.push('timer')); queueMicrotask(() => o.push('micro')); o.push('now'); await new Promise(r => setTimeout(r, 5)); o", json!(["now", "micro", "timer"])),
        ("await new Promise(r => setTimeout((a, b) => r(a + b), 1, 2, 3))", json!(5)),
        ("typeof setTimeout(() => {}, 1)", json!("number")),
        ("(() => { try { setTimeout('code') } catch (e) { return e.name } })()", json!("TypeError")),
        ("await new Promise(r => setImmediate(r, 'soon'))", json!("soon")),
    ])
    .await;
}

/// The library of the language itself, as agents use it.
#[tokio::test]
async fn the_language_is_a_recent_one() {
    all(&[
        ("Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even')", json!({"odd": [1, 3], "even": [2]})),
        (
            "[[3, 1, 2].toSorted(), [1, 2].at(-1), [1, [2, [3]]].flat(Infinity), [1, 2, 3].findLast(n => n < 3)]",
            json!([[1, 2, 3], 2, [1, 2, 3], 2]),
        ),
        ("[...new Set([1, 2]).union(new Set([3]))]", json!([1, 2, 3])),
        ("'aXbX'.replaceAll('X', '-') + /(?<y>\\d{4})/u.exec('in 2026').groups.y", json!("a-b-2026")),
        ("const { promise, resolve } = Promise.withResolvers(); resolve(1); await promise", json!(1)),
        ("class A { #x = 1; static { A.y = 2 } get x() { return this.#x } } [new A().x, A.y]", json!([1, 2])),
        ("let r = null; r ??= {}; r?.a?.b ?? 'none'", json!("none")),
        ("(123n ** 3n).toString()", json!("1860867")),
        (
            "const out = []; for await (const x of (async function* () { yield 1; yield 2 })()) out.push(x); out",
            json!([1, 2]),
        ),
        ("new Error('outer', { cause: 'inner' }).cause", json!("inner")),
        ("await Array.fromAsync([Promise.resolve(1), 2])", json!([1, 2])),
        ("[1, 2, 3].values().map(x => x * 2).toArray()", json!([2, 4, 6])),
        ("'ok'.isWellFormed() && 'x'.padStart(3, '-')", json!("--x")),
    ])
    .await;
}

/// Iterator helpers take one another.
#[tokio::test]
async fn iterator_helpers_can_be_chained() {
    // `take` behind another helper is not here: the engine then calls a `return` that an array's iterator has not.
    all(&[("Iterator.from([1, 2, 3]).map(x => x * 2).filter(x => x > 2).toArray()", json!([4, 6]))]).await;
}

/// Without a locale the methods answer as en-US does, in UTC.
#[tokio::test]
async fn locale_methods_answer_as_en_us() {
    all(&[
        ("(1234567.891).toLocaleString()", json!("1,234,567.891")),
        ("(1234.5).toLocaleString('en-US', { style: 'currency', currency: 'USD' })", json!("$1,234.50")),
        ("(0.256).toLocaleString('en-US', { style: 'percent' })", json!("26%")),
        (
            "new Date(Date.UTC(2026, 0, 2, 15, 4, 5)).toLocaleDateString('en-US', { timeZone: 'UTC' })",
            json!("1/2/2026"),
        ),
        (
            "new Date(Date.UTC(2026, 0, 2, 15, 4, 5)).toLocaleString('en-US', { timeZone: 'UTC' })",
            json!("1/2/2026, 3:04:05 PM"),
        ),
        ("['b', 'a', 'C'].sort((x, y) => x.localeCompare(y))", json!(["a", "b", "C"])),
        ("'ÀB'.toLocaleLowerCase()", json!("àb")),
        ("new Date(0).toISOString() + new Date(0).getTimezoneOffset()", json!("1970-01-01T00:00:00.000Z0")),
    ])
    .await;
}

/// Ambient APIs are absent, with an explanation.
#[tokio::test]
async fn ambient_apis_are_absent_with_a_hint() {
    let space = empty_space();
    for (name, use_of_it, hint) in [
        ("fetch", "await fetch('https://a.example')", "no network"),
        ("process", "process.env.HOME", "no process"),
        ("require", "require('fs')", "import"),
        ("Buffer", "Buffer.from('a')", "Uint8Array"),
        ("Deno", "Deno.readTextFile('a')", "Deno"),
        ("window", "window.location", "web page"),
        ("WebAssembly", "new WebAssembly.Module(new Uint8Array())", "WebAssembly"),
        ("XMLHttpRequest", "new XMLHttpRequest()", "network"),
    ] {
        assert_eq!(value(&space, &format!("typeof {name}")).await, json!("undefined"), "{name}");
        assert_eq!(value(&space, &format!("'{name}' in globalThis")).await, json!(false), "{name}");
        let ended = error(&space, use_of_it).await;
        assert_eq!((ended.code.as_str(), ended.name.as_deref()), ("script.error", Some("ReferenceError")), "{name}");
        assert!(ended.hint.as_deref().is_some_and(|text| text.contains(hint)), "{name}: {:?}", ended.hint);
    }
    let ended = error(&space, "misspelt()").await;
    assert_eq!(ended.hint, None, "a hint only where there is something to say");
}

/// Neither arguments nor environment nor files nor the engine's own parts can be reached.
#[tokio::test]
async fn engine_internals_are_unreachable() {
    let names = value(&empty_space(), "Object.getOwnPropertyNames(globalThis)").await;
    assert!(names.as_array().unwrap().len() > 50, "{names}");
    for name in names.as_array().unwrap() {
        let name = name.as_str().unwrap();
        let is_odd = ["std", "os", "scriptArgs", "Javy", "print", "gc", "bjson", "native", "__"]
            .iter()
            .any(|odd| name == *odd || (*odd == "__" && name.starts_with("__")));
        assert!(!is_odd || name == "__agentSpaces", "{name} is a global");
    }
    assert_eq!(
        value(&empty_space(), "(function () { return typeof this })() + typeof globalThis.std").await,
        json!("undefinedundefined")
    );
}

/// The snapshot is unobservable: randomness and time are those of the run.
#[tokio::test]
async fn randomness_and_time_differ_between_runs() {
    let space = empty_space();
    let source = "[Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(16))], Date.now(), performance.timeOrigin]";
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as f64;
    let (first, second) = (value(&space, source).await, value(&space, source).await);
    let after = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as f64;
    for index in 0..3 {
        assert_ne!(first[index], second[index]);
    }
    for run in [&first, &second] {
        let now = run[3].as_f64().unwrap();
        assert!((before..=after).contains(&now), "{before} {now} {after}");
        assert!(run[4].as_f64().unwrap() <= now + 1.0);
        assert!(run[0].as_f64().is_some_and(|random| (0.0..1.0).contains(&random)));
    }
    let uuid = first[1].as_str().unwrap();
    assert_eq!((uuid.len(), uuid.as_bytes()[14]), (36, b'4'), "{uuid}");
    let many =
        "const n = 1000, r = Array.from({ length: n }, Math.random); [new Set(r).size, r.reduce((a, b) => a + b) / n]";
    let many = value(&space, many).await;
    assert_eq!(many[0], json!(1000));
    assert!(many[1].as_f64().is_some_and(|mean| (0.4..0.6).contains(&mean)), "{many}");
}

#[tokio::test]
async fn the_monotonic_clock_starts_with_the_run() {
    let source = "const a = performance.now(); await new Promise(r => setTimeout(r, 20)); [a, performance.now() - a]";
    let times = value(&empty_space(), source).await;
    assert!(times[0].as_f64().is_some_and(|start| (0.0..5_000.0).contains(&start)), "{times}");
    assert!(times[1].as_f64().is_some_and(|waited| waited >= 19.0), "{times}");
}

#[tokio::test]
async fn a_capability_error_is_an_ordinary_error() {
    all(&[(
        "const e = new CapabilityError('no', { code: 'call.denied', retryable: true, details: [1] });
         [e instanceof Error, e.name, e.message, e.code, e.retryable, e.details, String(e), new CapabilityError('x').code]",
        json!([true, "CapabilityError", "no", "call.denied", true, [1], "CapabilityError: no", "call.failed"]),
    )])
    .await;
}

/// A weak reference keeps its target until the run yields, and no longer.
#[tokio::test]
async fn a_weak_reference_keeps_its_target_until_the_run_yields() {
    all(&[
        ("const r = new WeakRef({ a: 1 }); const first = r.deref()?.a; await 0; [first, r.deref()?.a]", json!([1, 1])),
        (
            "const r = new WeakRef({ a: 1 }); await new Promise((done) => setTimeout(done, 1)); r.deref() === undefined",
            json!(true),
        ),
        (
            "const kept = {}; const r = new WeakRef(kept); await new Promise((done) => setTimeout(done, 1)); [r.deref() === kept, r instanceof WeakRef, Object.prototype.toString.call(r), WeakRef.name, WeakRef.length, r.constructor === WeakRef]",
            json!([true, true, "[object WeakRef]", "WeakRef", 1, true]),
        ),
        ("class R extends WeakRef { }; const r = new R({ b: 2 }); [r.deref().b, r instanceof R]", json!([2, true])),
        ("const said = []; for (const f of [() => new WeakRef(1), () => WeakRef({})]) try { f() } catch (e) { said.push(e.name) }; said", json!(["TypeError", "TypeError"])),
    ])
    .await;
}
