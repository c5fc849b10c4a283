//! Error reports: cause, location and hint.

use agent_spaces::{CapabilityError, Handlers, RunError, Space};
use agent_spaces_tests::{empty_space, error, space, value};
use serde_json::json;
use std::time::Duration;

fn place(error: &RunError) -> Option<(u32, u32)> {
    error.location.as_ref().map(|location| (location.line, location.column))
}

/// A callee is named as written, at the location of its name.
#[tokio::test]
async fn a_non_function_is_named() {
    let mut wrong = Vec::new();
    for (source, message, line, column) in [
        ("const rows: any = [1];\nrows.mapp((r) => r)", "rows.mapp is not a function", 2, 6),
        ("const rows: any = [1];\nrows.mapp(1, rows)", "rows.mapp is not a function", 2, 6),
        ("const rows: any = [1];\n\n  rows.mapp()", "rows.mapp is not a function", 3, 8),
        ("const a: any = {};\nconst x = a.b.c, y = 1", "cannot read property 'c' of undefined", 2, 15),
        ("let f: any;\nconst g = (x: any) => x;\ng(f(1))", "f or g is not a function", 3, 3),
        ("let f: any;\nJSON.stringify(f(1))", "f is not a function", 2, 16),
        ("let f: any;\nfunction g(x: any) { return x }\ng(f(1))", "f is not a function", 3, 3),
        (
            "const o: any = {};\nawait Promise.all(o.list.mapp((x: any) => x))",
            "cannot read property 'mapp' of undefined",
            2,
            26,
        ),
        (
            "const o: any = { list: [] };\nawait Promise.all(o.list.mapp((x: any) => x))",
            "o.list.mapp is not a function",
            2,
            26,
        ),
        (
            "const rows: any = [1];\nconst out = rows\n  .filter((r: any) => r)\n  .mapp((r: any) => r.id)\n  .join(', ')",
            "rows.filter(…).mapp is not a function",
            4,
            4,
        ),
        ("const o: any = {};\nnew o.Thing(1)", "o.Thing is not a constructor", 2, 1),
        ("const o: any = {};\no['a b'](1)", "o['a b'] is not a function", 2, 1),
        ("const o: any = {};\no?.run(1)", "o?.run is not a function", 2, 4),
        ("const o: any = {};\no.run!<string>(1 as any)", "o.run is not a function", 2, 3),
        ("const n: any = 5;\nfor (const x of n) { }", "n is not iterable", 2, 17),
        ("const n: any = 5;\nconst l = [1, ...n]", "n is not iterable", 2, 18),
        // Inside of what the engine brings it is an argument that is wrong.
        ("const rows: any = [1];\nrows.map(5)", "an argument of rows.map is not a function", 2, 6),
        ("const rows: any = 1;\nawait Promise.all(rows)", "an argument of Promise.all is not iterable", 2, 15),
    ] {
        let ended = error(&empty_space(), source).await;
        if (ended.message.as_str(), place(&ended)) != (message, Some((line, column))) {
            wrong.push(format!(
                "{source:?}\n  {:?} {:?}, not {message:?} {line}:{column}",
                ended.message,
                place(&ended)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The place of a read is that of the property, not of the statement around it.
#[tokio::test]
async fn a_failed_property_read_is_located_at_the_property() {
    let mut wrong = Vec::new();
    for (source, line, column) in [
        ("const a: any = {};\nconst o = {\n  x: 1,\n  y: a.b.c,\n  z: 2,\n}", 4, 10),
        ("const rows: any[] = [{}];\nconst names = rows.map((row) =>\n  row.user\n    .name\n    .first)", 4, 6),
        ("const rows: any[] = [{}];\nrows.map((row) => ({\n  id: 1,\n  name: row.user.name,\n}))", 4, 18),
        ("class A {\n  x: any;\n  m() {\n    return [\n      1,\n      this.x.y,\n    ]\n  }\n}\nnew A().m()", 6, 14),
        ("const a: any = {};\nString(\n  1,\n  a.b.c\n)", 4, 7),
        ("const a: any = {};\nconst t = `one\n${a.b.c} two`", 3, 7),
        ("const a: any = {};\na.b.c = 1", 2, 5),
        ("const a: any = {};\nconst f = (x: any) => x\n\nf(1), f(a.b)\n  .c.d", 5, 4),
        ("const a: any = {};\nif (1 > 0 &&\n  a.b.c) { }", 3, 7),
        ("const a: any = {};\nconst i = 1;\na.list[i].name", 3, 8),
        ("type T = { a: number }\nconst a: any = {};\nconst x = (a.b as T)\n  .a", 4, 4),
    ] {
        let ended = error(&empty_space(), source).await;
        if place(&ended) != Some((line, column)) {
            wrong.push(format!("{source:?}\n  {:?} {:?}, not {line}:{column}", ended.message, place(&ended)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The engine tells these somewhere near: at the next statement, at the function, at an argument, in a constructor.
#[tokio::test]
async fn misplaced_engine_locations_are_corrected() {
    let mut wrong = Vec::new();
    for (source, line, column) in [
        ("const c: any = 5;\nlet n = 1;\nc++;\nn++;", 3, 1),
        ("const c: any = 5;\nlet n = 1;\nc = 6;\nn++;", 3, 1),
        ("const c: any = 5;\nlet n = 1;\nn = 2 + c--;\nn++;", 3, 9),
        ("const c: any = 5;\nlet n = 1;\nfor (let i = 0; i < 3; i++) {\n  c = i;\n  n++;\n}", 4, 3),
        ("function f({ a: { b } }: any) { return b }\nf({})", 1, 12),
        ("const f = (x: any, { a }: any) => a;\nf(1, null)", 1, 20),
        ("const x: any = {};\nconst { a: { b } } = x;", 2, 7),
        ("throw new Error('x', { cause: new TypeError('r') })", 1, 7),
        ("throw new Error('x', { cause: new Error('r') })", 1, 7),
        ("const e = new Error('a');\nthrow new AggregateError([e, new TypeError('t')], 'many')", 2, 7),
        (
            "class V extends Error { constructor(m: string) { super(m) } }\nfunction check() {\n  throw new V('bad')\n}\ncheck()",
            3,
            9,
        ),
        ("class V extends Error {}\nfunction check() {\n  throw new V('bad')\n}\ncheck()", 3, 9),
        (
            "class V extends Error { constructor(m: string) { super(m, { cause: new Error('i') }); this.name = 'V' } }\nclass W extends V { code = 1; constructor() { super('w') } }\nthrow new W()",
            3,
            7,
        ),
        (
            "let n = 1;\n  const V = class extends Error { code = 1 };\nfunction check() {\n  throw new V('bad')\n}\ncheck()",
            4,
            9,
        ),
        (
            "class A { constructor() { throw new Error('a') } }\nclass B extends A { constructor() { super() } }\nnew B()",
            1,
            33,
        ),
    ] {
        let ended = error(&empty_space(), source).await;
        if place(&ended) != Some((line, column)) {
            wrong.push(format!("{source:?}\n  {:?} {:?}, not {line}:{column}", ended.message, place(&ended)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let source = "class V extends Error { constructor(m: string) { super(m) } }\nfunction check() { throw new V('bad') }\ncheck()";
    let stack = error(&empty_space(), source).await.stack.unwrap_or_default();
    assert!(stack.starts_with("    at check (script.ts:2:26)\n") && stack.lines().count() == 2, "{stack}");
    let ended = error(&empty_space(), "throw new Error('x', { cause: new TypeError('r') })").await;
    assert_eq!(ended.causes[0].location.as_ref().map(|at| at.column), Some(31));
}

/// An undefined name is located where it is written, also among arguments.
#[tokio::test]
async fn an_undefined_name_is_located() {
    let ended = error(&empty_space(), "const f = (x: any) => x;\nf(missing)").await;
    assert_eq!(place(&ended), Some((2, 3)), "{ended:?}");
}

/// Each frame is where the next one was called.
#[tokio::test]
async fn stack_frames_are_located_at_their_calls() {
    let source = "const inner = (x: number): never => { throw new RangeError('deep') };\nconst twice = (x: number) => x * 2;\nconst outer = (a: number, b: number): void => {\n  inner(\n    twice(a)) };\nouter(1, 2);";
    let ended = error(&empty_space(), source).await;
    let stack = ended.stack.unwrap_or_default();
    for frame in ["inner (script.ts:1:45)", "outer (script.ts:4:3)", "(script.ts:6:1)"] {
        assert!(stack.contains(frame), "{frame} in {stack}");
    }
}

#[tokio::test]
async fn an_uncaught_dom_exception_has_its_name_and_message() {
    let ended = error(&empty_space(), "const c = new AbortController();\nc.abort();\nc.signal.throwIfAborted()").await;
    assert_eq!((ended.name.as_deref(), ended.message.as_str()), (Some("AbortError"), "This operation was aborted"));
    let ended = error(&empty_space(), "throw new DOMException('too much', 'QuotaExceededError')").await;
    assert_eq!((ended.name.as_deref(), ended.message.as_str()), (Some("QuotaExceededError"), "too much"));
    assert_eq!(place(&ended), Some((1, 7)), "{ended:?}");
}

#[tokio::test]
async fn causes_are_reported_with_locations() {
    let source = "function load() {\n  try { (null as any).rows }\n  catch (cause) { throw new Error('cannot load', { cause }) }\n}\ntry { load() } catch (cause) { throw new Error('cannot start', { cause }) }";
    let ended = error(&empty_space(), source).await;
    assert_eq!((ended.message.as_str(), place(&ended)), ("cannot start", Some((5, 38))));
    let causes: Vec<_> = ended
        .causes
        .iter()
        .map(|cause| (cause.message.as_str(), cause.location.as_ref().map(|at| (at.line, at.column))))
        .collect();
    let read = "TypeError: cannot read property 'rows' of null";
    assert_eq!(causes, [("Error: cannot load", Some((3, 25))), (read, Some((2, 23)))]);
    assert!(!ended.stack.unwrap_or_default().contains("Caused by"));
}

#[tokio::test]
async fn aggregate_errors_are_listed() {
    let ended =
        error(&empty_space(), "await Promise.any([1, 2].map(async (n) => { throw new RangeError(`no ${n}`) }))").await;
    let causes: Vec<&str> = ended.causes.iter().map(|cause| cause.message.as_str()).collect();
    assert_eq!(causes, ["[1 of 2] RangeError: no 1", "[2 of 2] RangeError: no 2"], "{ended:?}");
    assert_eq!(
        (ended.name.as_deref(), ended.message.as_str()),
        (Some("AggregateError"), "several errors, listed below")
    );
}

/// A script makes these chains: they end.
#[tokio::test]
async fn reported_causes_are_bounded() {
    let source = "let error: any = new Error('first');\nfor (let i = 0; i < 1000; i++) error = new Error('x\\ny', { cause: error });\nthrow error";
    let ended = error(&empty_space(), source).await;
    assert!(ended.causes.len() == 8 && ended.causes[0].message == "Error: x y", "{:?}", ended.causes);
    let ended = error(&empty_space(), "const e: any = new Error('a');\ne.cause = e;\nthrow e").await;
    assert!(ended.causes.is_empty(), "{ended:?}");
    let many = "throw new AggregateError(Array.from({ length: 500 }, (_, i) => new AggregateError([i, i + 0.5], 'e')))";
    assert!(error(&empty_space(), many).await.causes.len() <= 16);
    let long = "throw new Error('a', { cause: new Error('é'.repeat(1e6)) })";
    assert!(error(&empty_space(), long).await.causes[0].message.len() < 3_000);
    let thrown = error(&empty_space(), "throw new Error('a', { cause: { code: 7 } })").await;
    assert_eq!(thrown.causes[0].message, "{\"code\":7}");
}

const WIT: &str = "package test:far@1.0.0;
interface far {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record params { id: u32 }
    fail: async func(params: params) -> result<u32, capability-error>;
    refuse: async func(params: params) -> result<u32, capability-error>;
    now: func(params: params) -> result<u32, capability-error>;
}";

fn far() -> Space {
    let mut handlers = Handlers::new();
    let name = "test:far/far@1.0.0";
    handlers.add(name, "fail", |_| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err(CapabilityError::failed("it broke"))
    });
    handlers.add(name, "refuse", |_| async { Err(CapabilityError::new("call.denied", "far.refuse is not for you")) });
    handlers.add(name, "now", |_| async { Err(CapabilityError::failed("not now")) });
    space(WIT, handlers)
}

/// A missing import is suggested as it would be written.
#[tokio::test]
async fn a_missing_import_is_suggested_in_full() {
    let space = far();
    for (source, expected) in [
        ("await far.fail({ id: 1 })", "it is not imported: add `import { far } from '@test/far'`"),
        ("const ask = () => far.now({ id: 1 });\nask()", "it is not imported: add `import { far } from '@test/far'`"),
        (
            "import { far } from '@test/far';\nawait __agentSpaces.callCapability('far', 'fail', { id: 1 })",
            "nothing uses the import of '@test/far', so it was left out: write `import '@test/far'`, or call `far.fail(…)`",
        ),
        (
            "({ a: 5n })",
            "Convert it: `String(value)` keeps every digit, `Number(value)` is exact up to Number.MAX_SAFE_INTEGER.",
        ),
    ] {
        let ended = error(&space, source).await;
        assert_eq!(ended.hint.as_deref(), Some(expected), "{source}\n{ended:?}");
    }
    let own = error(&space, "const far = undefined as any;\n{ farther.x }").await;
    assert_eq!(own.hint, None, "{own:?}");
    let works = "import '@test/far';\nawait __agentSpaces.callCapability('far', 'fail', { id: 1 })";
    assert_eq!(error(&space, works).await.code, "call.failed");
}

/// A promise that the host rejects has the place of the call, and the function's name.
#[tokio::test]
async fn a_failed_call_has_function_and_call_site() {
    let space = far();
    let import = "import { far } from '@test/far';\n";
    for (source, function, line, column) in [
        ("const x = 1;\nawait far.fail({ id: 1 })", "far.fail", 3, 11),
        ("const ask = async (id: number) => {\n  return await far.fail({ id })\n};\nawait ask(1)", "far.fail", 3, 20),
        ("await Promise.all([\n  1,\n  far.refuse({ id: 1 }),\n])", "far.refuse", 4, 7),
        ("const ids = [1];\nfar.now({ id: ids[0] })", "far.now", 3, 5),
        ("await far.fail({ id: -1 })", "far.fail", 2, 11),
    ] {
        let ended = error(&space, &format!("{import}{source}")).await;
        assert_eq!(
            (ended.function.as_deref(), place(&ended)),
            (Some(function), Some((line, column))),
            "{source}\n{ended:?}"
        );
        let stack = ended.stack.as_deref().unwrap_or_default();
        assert!(stack.starts_with(&format!("    at {function} (capability)\n")), "{stack}");
    }
    let ended = error(
        &space,
        &format!(
            "{import}try {{ await far.fail({{ id: 1 }}) }} catch (cause) {{ throw new Error('no', {{ cause }}) }}"
        ),
    )
    .await;
    assert_eq!(ended.causes[0].message, "CapabilityError [call.failed]: it broke");
    assert_eq!(ended.causes[0].location.as_ref().map(|at| (at.line, at.column)), Some((2, 17)));
}

/// The script itself sees the same stack.
#[tokio::test]
async fn a_caught_call_error_has_its_stack() {
    let source =
        "import { far } from '@test/far';\ntry { await far.fail({ id: 1 }) } catch (error: any) { return error.stack }";
    let stack = agent_spaces_tests::value(&far(), source).await;
    let stack = stack.as_str().unwrap_or_default();
    assert!(stack.contains("    at far.fail (capability)\n") && stack.contains("script.ts:2:"), "{stack}");
}

/// Every frame is there, as an `Error` that is made at the same place has them.
#[tokio::test]
async fn the_stack_of_a_call_starts_at_its_call_site() {
    let source = "import { far } from '@test/far';
        let made = '';
        const ask = (id: number) => { made = new Error().stack!; return far.fail({ id }) };
        class Asker { asked; constructor() { this.asked = [1].map((id) => ask(id))[0] } }
        function within() { return new Asker().asked }
        const stack = await (within() as Promise<unknown>).catch((error: any) => error.stack);
        return { made, stack }";
    let stacks = agent_spaces_tests::value(&far(), source).await;
    let frames = |name: &str| -> Vec<String> {
        let text = stacks[name].as_str().unwrap_or_default();
        // The column of the call is another than that of the error.
        let frames = text.lines().filter(|line| line.starts_with("    at "));
        frames.map(|line| line.rsplit_once(':').map_or(line, |(place, _)| place).to_owned()).collect()
    };
    let (made, stack) = (frames("made"), frames("stack"));
    assert_eq!(stack[0], "    at far.fail (capability)");
    assert_eq!(stack[1..], made, "{stacks}");
    assert!(made.len() > 5, "{stacks}");
}

/// A script that formats stacks itself is not asked for the stack of a call, and keeps what it has set.
#[tokio::test]
async fn custom_stack_formatting_is_respected() {
    let source = "import { far } from '@test/far';
        let asked = 0;
        const mine = () => { asked++; return 'mine' };
        Error.prepareStackTrace = mine;
        const call = far.fail({ id: 1 });
        const before = asked;
        const stack = await call.catch((error: any) => error.stack);
        const is_kept = Error.prepareStackTrace === mine;
        Error.prepareStackTrace = undefined;
        Error.stackTraceLimit = { valueOf() { asked = 100; return 5 } } as any;
        const limited = await far.fail({ id: 1 }).catch((error: any) => error.stack);
        Error.stackTraceLimit = 1;
        const short = await far.fail({ id: 1 }).catch((error: any) => error.stack);
        return { before, is_kept, stack, limited, short }";
    let told = agent_spaces_tests::value(&far(), source).await;
    assert_eq!((&told["before"], &told["is_kept"]), (&json!(0), &json!(true)), "{told}");
    assert!(told["stack"].as_str().is_some_and(|stack| stack.contains("script.ts:5:")), "{told}");
    // A limit that is no number, or too low for more than the function itself.
    for name in ["limited", "short"] {
        let frames = told[name].as_str().unwrap_or_default().lines().filter(|line| line.starts_with("    at "));
        assert_eq!(frames.collect::<Vec<_>>(), ["    at far.fail (capability)"], "{told}");
    }
}

/// Programs print `error.stack` to say what happened: it begins with the error, as in other engines.
#[tokio::test]
async fn a_stack_begins_with_the_error_message() {
    let mut handlers = Handlers::new();
    handlers.add("test:desk/desk@1.0.0", "ask", |_call| async { Err(CapabilityError::failed("nobody is there")) });
    let desk = "package test:desk@1.0.0; interface desk { use agent-spaces:host/types@0.1.0.{capability-error};
        ask: async func() -> result<string, capability-error>; }";
    let space = space(desk, handlers);
    for (source, expected) in [
        ("null.x", "TypeError: cannot read property 'x' of null\n    at <anonymous> (script.ts:"),
        ("throw new RangeError('two\\nlines')", "RangeError: two\nlines\n    at <anonymous> (script.ts:"),
        ("class Odd extends Error { name = 'Odd' }; throw new Odd('x')", "Odd: x\n    at "),
        (
            "await desk.ask()",
            "CapabilityError: nobody is there\n    at desk.ask (capability)\n    at <anonymous> (script.ts:",
        ),
        ("Error.stackTraceLimit = 0; throw new Error('x')", "Error: x"),
        ("Error.prepareStackTrace = () => 'mine'; throw new Error('x')", "mine"),
    ] {
        let source = format!(
            "import {{ desk }} from '@test/desk';\ntry {{ {source} }} catch (e) {{ (globalThis as any).s = e.stack }}
             desk; export default (globalThis as any).s"
        );
        let stack = value(&space, &source).await;
        assert!(stack.as_str().unwrap().starts_with(expected), "{source}\n{stack}");
        assert!(!stack.as_str().unwrap().ends_with('\n'), "{stack:?}");
    }
}
