// console: levels, placeholders, groups, tables, bounds, and hostile values.
import assert from "node:assert/strict";
import { Console } from "node:console";
import { Writable } from "node:stream";
import util from "node:util";
import { inEachEngine } from "./realm.mjs";

const texts = (lines) => lines.map(([, text]) => text);

inEachEngine("each method writes at its level", (realm) => {
  const lines = realm.written(`
    console.log('a'); console.info('b'); console.warn('c'); console.error('d'); console.debug('e');
    console.assert(true, 'no'); console.assert(false, 'is %s', 'so'); console.assert(0); console.log();
    const { log } = console; log('unbound'); log('\\ud800');`);
  assert.deepEqual(lines, [
    ["log", "a"],
    ["info", "b"],
    ["warn", "c"],
    ["error", "d"],
    ["debug", "e"],
    ["error", "Assertion failed: is so"],
    ["error", "Assertion failed"],
    ["log", ""],
    ["log", "unbound"],
    ["log", "\ufffd"],
  ]);
});

inEachEngine("placeholders as in Node", (realm) => {
  const calls = [
    `'%s is %d years and %i, %f', 'Bob', 42.5, 42.9, '1.5'`,
    `'%j', { a: [1] }`,
    `'%O', { a: { b: { c: { d: 1 } } } }`,
    `'%c styled', 'color: red'`,
    `'100%', 1`,
    `'%%s %s', 'x'`,
    `'%s'`,
    `'%s %s', 'one'`,
    `'%d', '0x10'`,
    `'%s', -0`,
    `'%s', 5n`,
    `'%d', 5n`,
    `'%i', 'abc'`,
    `'%s', null`,
    `'%s', undefined`,
    `'%s', Symbol('q')`,
    `'%s', { a: { b: 1 } }`,
    `'%x', 1`,
    `'a', 'b', { c: 1 }, ['d']`,
    `1, '%s', 2`,
    `'%s', [1, [2, [3]]]`,
    `'%o', [1]`,
    `'end %', 1`,
    `'%', 2`,
    `'%s', 'a', 'b', 3`,
    `'%%'`,
    `'%% %s', 1`,
    `{}, 'text'`,
    `'%f', 'x'`,
  ].filter((call) => !call.startsWith("'%o'"));
  for (const call of calls) {
    const expected = new Function("format", `return format(${call})`)(util.format);
    assert.equal(texts(realm.written(`console.log(${call})`))[0], expected, call);
  }
});

inEachEngine("tables as Node draws them", (realm) => {
  for (const data of [
    `[{ a: 1, b: 'x' }, { a: 2, c: true }]`,
    `[1, 'two', { x: 3 }]`,
    `{ r1: { c: 1 }, r2: { c: 2 } }`,
    `[[1, 2], [3, 4]]`,
    `new Map([['k', 1], ['l', { m: 2 }]])`,
    `new Set([1, 'b'])`,
    `[]`,
    `[{ a: 1, b: 2 }], ['b']`,
    `[{ name: '日本' }, { name: 'é' }]`,
    `5`,
    `'text'`,
    `null`,
  ]) {
    let expected = "";
    const stdout = new Writable({
      write(chunk, _, done) {
        expected += chunk;
        done();
      },
    });
    new Function("console", `console.table(${data})`)(new Console({ stdout }));
    assert.equal(`${texts(realm.written(`console.table(${data})`))[0]}\n`, expected, data);
  }
});

inEachEngine("groups indent, counters count, timers time", (realm) => {
  assert.deepEqual(
    texts(
      realm.written(`
    console.group('outer'); console.log('a\\nb'); console.group(); console.log({ x: 1 }); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log('c');
    console.count(); console.count(); console.count('x'); console.countReset(); console.count(); console.countReset('none');
    console.time('t'); await new Promise((done) => setTimeout(done, 12)); console.timeLog('t', 'so far'); await new Promise((done) => setTimeout(done, 2000)); console.timeEnd('t'); console.timeEnd('t');
    console.dir({ a: { b: { c: { d: {} } } } }, { depth: 0 });`),
    ),
    [
      "outer",
      "  a\n  b",
      "    { x: 1 }",
      "c",
      "default: 1",
      "default: 2",
      "x: 1",
      "default: 1",
      "Count for 'none' does not exist",
      "t: 12ms so far",
      "t: 2.012s",
      "No such label 't' for console.timeEnd()",
      "{ a: [Object] }",
    ],
  );
});

inEachEngine("errors show name, message, frames, cause and own properties", (realm) => {
  const show = (expression) =>
    texts(realm.written(`console.log(${expression})`))[0].replace(/(\n *at [^{\n]*)+/g, "\n    at …");
  assert.equal(show(`new TypeError('bad')`), "TypeError: bad\n    at …");
  assert.equal(show(`new (class ValidationError extends Error {})('bad')`), "ValidationError: bad\n    at …");
  assert.equal(
    show(
      `(() => { class NotFound extends Error { constructor(m) { super(m); this.name = 'NotFound'; } } return new NotFound('x'); })()`,
    ),
    "NotFound: x\n    at …",
  );
  assert.match(show(`Object.assign(new Error('x'), { code: 'E1' })`), /^Error: x\n {4}at …\{\n {2}code: 'E1'\n\}$/);
  assert.match(show(`new Error('x', { cause: new RangeError('y') })`), /\[cause\]: RangeError: y\n/);
  assert.match(
    show(`new AggregateError([new Error('one')], 'all')`),
    /^AggregateError: all[^]*\[errors\]: \[\n +Error: one/,
  );
  assert.match(
    show(`new CapabilityError('no', { code: 'call.denied', details: { a: 1 } })`),
    /^CapabilityError: no\n[^]*code: 'call.denied',\n {2}retryable: false,\n {2}details: \{ a: 1 \}/,
  );
  assert.match(show(`new DOMException('gone', 'AbortError')`), /AbortError\]?: gone/);
  assert.equal(show(`(() => { const e = new Error('x'); e.stack = undefined; return e; })()`), "[Error: x]");
  assert.doesNotMatch(
    texts(realm.written(`try { new URL('x y') } catch (e) { console.log(e) } console.trace('here')`)).join("\n"),
    /agent-spaces:globals/,
  );
});

inEachEngine("nothing of a script's runs, whatever the value", (realm) => {
  const lines = realm.written(`
    let ran = 0;
    const trap = () => { ran++; throw new Error('ran'); };
    const handler = new Proxy({}, { get: () => trap });
    const made = () => { const error = new Error('x'); void error.stack; return error; }; // V8 writes the stack when first read
    const { proxy, revoke } = Proxy.revocable({}, {}); revoke();
    const values = [
      new Proxy({ a: 1 }, handler), new Proxy([1], handler), new Proxy(new Proxy(function f() {}, handler), handler), proxy, { inner: proxy },
      Object.create(new Proxy({}, handler)), { get x() { trap(); } }, { toJSON: trap, toString: trap, valueOf: trap, inspect: trap, [Symbol.for('nodejs.util.inspect.custom')]: trap, [Symbol.toPrimitive]: trap },
      new (class { get [Symbol.toStringTag]() { trap(); } })(), Object.defineProperty({}, 'constructor', { get: trap }),
      Object.defineProperty(made(), 'message', { get: trap }), Object.defineProperty(made(), 'stack', { get: trap }), Object.defineProperty(made(), 'name', { get: trap }),
      new (class extends Map { get size() { trap(); } entries() { trap(); } [Symbol.iterator]() { trap(); } })([[1, 2]]),
      new (class extends Array { get length2() { trap(); } map() { trap(); } })(1, 2), Object.defineProperty(function () {}, 'name', { get: trap }),
      class { static [Symbol.hasInstance]() { trap(); } }, new (class Foo { static [Symbol.hasInstance]() { trap(); } })(),
      Object.defineProperty(new Date(0), 'toISOString', { value: trap }), Object.defineProperty(/x/, 'source', { get: trap }), Object.setPrototypeOf(new Uint8Array(2), null),
      Object.setPrototypeOf(new Map([[1, 2]]), null), Object.setPrototypeOf(new Date(0), null), Object.setPrototypeOf([1], null), Object.setPrototypeOf(function f() {}, null), Object.setPrototypeOf(new Error('e'), null),
    ];
    for (const value of values) { console.log(value); console.log('%s %o', value, value); console.table([value]); console.table(value); console.log('%d %i', value, value); }
    console.log('ran', ran);`);
  assert.equal(lines.at(-1)[1], "ran 0");
});

inEachEngine("a script that patches prototypes does not reach the console", (realm) => {
  const lines = realm.written(`
    const broken = () => { throw new Error('patched'); };
    const saved = [];
    const value = { a: [1, 'two'], b: new Map([[1, { c: 2 }]]), 'x-y': 'e' };
    for (const [object, names] of [[Array.prototype, ['push', 'join', 'indexOf', 'map', 'splice', Symbol.iterator]], [String.prototype, ['slice', 'split', 'indexOf', 'repeat', 'padStart']],
      [Map.prototype, ['get', 'set', 'entries', 'forEach']], [RegExp.prototype, ['exec', 'test']], [Object, ['keys', 'getOwnPropertyDescriptor']], [Reflect, ['ownKeys', 'apply']], [Function.prototype, ['call', 'apply']], [JSON, ['stringify']]]) {
      for (const name of names) saved.push([object, name, object[name]]);
    }
    for (let i = 0; i < saved.length; i++) { const s = saved[i]; s[0][s[1]] = broken; }
    console.log(value, '%s');
    console.log('%s and %d', 'text', 4);
    for (let i = 0; i < saved.length; i++) { const s = saved[i]; s[0][s[1]] = s[2]; }`);
  assert.deepEqual(texts(lines), ["{ a: [ 1, 'two' ], b: Map(1) { 1 => { c: 2 } }, 'x-y': 'e' } %s", "text and 4"]);
});

inEachEngine("one call's text and work are bounded", (realm) => {
  const lines = texts(
    realm.written(`
    console.log('x'.repeat(1e6));
    console.log(Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => ({ a: 1 })))));
    console.log(Object.fromEntries(Array.from({ length: 50000 }, (_, i) => ['k' + i, i])));
    console.log(new Array(1e9)); console.log(new Uint8Array(1e6).length); console.log(new Uint8Array(1e6));
    let deep = {}; const top = deep; for (let i = 0; i < 1e5; i++) deep = deep.d = {}; console.log(top); console.dir(top, { depth: 50 });
    let proto = {}; for (let i = 0; i < 1000; i++) proto = Object.create(proto); console.log(proto);`),
  );
  for (const text of lines) assert.ok(text.length < 66000, `${text.length}`);
  assert.match(lines[0], /^x{65536}\n\.\.\. cut here: 934464 more characters/);
  assert.match(lines[3], /1000000000 more items/);
  assert.match(lines[5], /^Uint8Array\(1000000\) \[[^]*\.\.\. 999900 more items\n\]$/);
});

inEachEngine("host objects show their state", (realm) => {
  assert.deepEqual(
    texts(
      realm.written(`
    console.log(new Headers({ a: '1', 'Content-Type': 'x' })); console.log(new URLSearchParams('a=1&b=2')); console.log(new AbortController());
    console.log(AbortSignal.abort('no')); console.log({ h: new Headers() }); console.log({ a: { b: { c: new Headers({ x: '1' }) } } });`),
    ),
    [
      "Headers { a: '1', 'content-type': 'x' }",
      "URLSearchParams { 'a' => '1', 'b' => '2' }",
      "AbortController { signal: AbortSignal { aborted: false } }",
      "AbortSignal { aborted: true }",
      "{ h: Headers {} }",
      "{ a: { b: { c: [Headers] } } }",
    ],
  );
  const node = util.inspect(new URL("https://u:p@example.com:8080/a?b=c#d"));
  assert.equal(texts(realm.written(`console.log(new URL('https://u:p@example.com:8080/a?b=c#d'))`))[0], node);
});

inEachEngine("neither do replaced globals and a polluted Object.prototype", (realm) => {
  const lines = realm.written(`
    const { Map: M, Symbol: S } = globalThis;
    const value = { a: 1, b: new M([[1, 2]]) };
    Object.assign(Object.prototype, { get: () => 1, value: "v", text: "t", done: true, content: () => {}, cause: 1 });
    for (const name of ["Map", "Set", "Symbol", "Uint8Array", "Reflect", "Math"]) globalThis[name] = undefined;
    console.log(value, new Error("e").message);
    console.log({ get g() { return 1; }, set s(v) {} });
    const copy = structuredClone({ list: [1, value] });
    console.log(new Headers({ x: "1" }), new URLSearchParams("q=a+b"), copy.list[1]);`);
  assert.deepEqual(texts(lines), [
    "{ a: 1, b: Map(1) { 1 => 2 } } e",
    "{ g: [Getter], s: [Setter] }",
    "Headers { x: '1' } URLSearchParams { 'q' => 'a b' } { a: 1, b: Map(1) { 1 => 2 } }",
  ]);
});
