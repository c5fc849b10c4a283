// structuredClone, after the web platform tests.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";

const check = (realm, body) =>
  realm.evaluate(`const throws = (f) => { try { f(); return 'nothing'; } catch (e) { return e.name; } }; ${body}`);

inEachEngine("values come back equal, of the same kind and apart from the original", (realm) => {
  const values = [
    `undefined`,
    `null`,
    `true`,
    `-0`,
    `NaN`,
    `1n`,
    `'\\ud800'`,
    `Object(false)`,
    `Object(2)`,
    `Object('s')`,
    `Object(3n)`,
    `new Date(5)`,
    `new Date(NaN)`,
    `/a(?<n>b)/giy`,
    `[1, [2]]`,
    `[,1,,]`,
    `{ a: { b: 1 } }`,
    `new Map([[{ k: 1 }, new Set([1])]])`,
    `new Set([new Map()])`,
    `new Uint8Array([1, 2])`,
    `new Float64Array([1.5])`,
    `new BigInt64Array([1n])`,
    `new DataView(new ArrayBuffer(4), 1, 2)`,
    `new ArrayBuffer(3)`,
    `new Uint8Array(new ArrayBuffer(8), 2, 3)`,
    `new Uint8ClampedArray([300])`,
    `Object.assign([1], { x: 2 })`,
    `new RangeError('r')`,
    `new Error('c', { cause: { d: 1 } })`,
    `Object.create(null)`,
    `new (class Foo { x = 1 })()`,
    `{ ['__proto__']: { a: 1 } }`,
    `(function () { return arguments; })(1, 2)`,
    `Object.create({ inherited: 1 })`,
    `Object.defineProperty({ a: 1 }, 'hidden', { value: 2 })`,
    `{ [Symbol('s')]: 1, b: 2 }`,
  ];
  const shown = (value) => `harness.shared().inspect(${value}, 9).replace(/\\n +at .*/g, '')`;
  for (const value of values) {
    const [here, same] = check(
      realm,
      `const v = (${value}); const c = structuredClone(v); return [${shown("c")}, c === v || (c !== c && v !== v)]`,
    );
    const expected = check(realm, `return ${shown(`(${value})`)}`)
      .replace(/^Foo /, "")
      .replace("[Object: null prototype] {}", "{}")
      .replace(/^\[Arguments\] /, "")
      .replace(/, \[Symbol\(s\)\]: 1/, "");
    assert.equal(here, expected, value);
    assert.equal(same, !/[({[/]/.test(value), value);
  }
});

inEachEngine("identity, cycles, order and depth survive", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const a = { list: [] }; a.self = a; a.list.push(a, a.list); const c = structuredClone(a);
    const m = new Map(); m.set(m, m); const cm = structuredClone(m); const s = new Set(); s.add(s); const cs = structuredClone(s);
    const b = new ArrayBuffer(4); const views = structuredClone([new Uint8Array(b), new Uint16Array(b, 2), b]); views[0][2] = 7;
    const o = {}; const twice = structuredClone({ x: o, y: o });
    let deep = []; for (let i = 0; i < 50000; i++) deep = [deep]; let d = structuredClone(deep), n = 0; while (d.length) { d = d[0]; n++; }
    const e = new Error('x'); e.cause = e; const ce = structuredClone(e);
    return [c !== a, c.self === c, c.list[0] === c, c.list[1] === c.list, cm.has(cm) && cm.get(cm) === cm, cs.has(cs), views[1][0] === 7 && views[0].buffer === views[2], twice.x === twice.y, n, Object.keys(structuredClone({ z: 1, a: 2, 1: 3 })).join(), ce.cause === ce,
      structuredClone({ get g() { return 5; } }), Object.getOwnPropertyDescriptor(structuredClone({ get g() { return 5; } }), 'g').writable, Array.isArray(structuredClone([])), 0 in structuredClone([,1]), structuredClone([,1]).length, /x/g.lastIndex, structuredClone(new (class MyMap extends Map {})([[1, 2]])).constructor === Map];`,
    ),
    [true, true, true, true, true, true, true, true, 50000, "1,z,a", true, { g: 5 }, true, true, false, 2, 0, true],
  );
});

inEachEngine("errors keep their type, message and stack", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    class Mine extends TypeError {} ; const mine = structuredClone(new Mine('m')); const named = structuredClone(Object.assign(new Error('n'), { name: 'Odd', extra: 1 }));
    const d = structuredClone(new DOMException('d', 'AbortError')); const e = new SyntaxError('s'); const copy = structuredClone(e);
    return [mine.constructor === TypeError, mine.message, Object.getPrototypeOf(named) === Error.prototype, named.name, named.extra === undefined, d instanceof DOMException, d.name, d.message, copy instanceof SyntaxError, copy.stack === e.stack, Object.keys(copy).length, Object.hasOwn(structuredClone(new Error()), 'message')];`,
    ),
    [true, "m", true, "Error", true, true, "AbortError", "d", true, true, 0, false],
  );
});

inEachEngine("what cannot be cloned is refused with DataCloneError", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const values = [() => {}, Symbol('s'), { deep: [class {}] }, new WeakMap(), new WeakSet(), Promise.resolve(), new Proxy({}, {}), (function* () {})(), new Map().keys(), Object(Symbol()), new Headers(), new URL('https://a.test'), new AbortController().signal, new URLSearchParams(), new Event('x'), new Map([[1, () => {}]])];
    return [...new Set(values.map((v) => throws(() => structuredClone(v))))].concat(throws(() => structuredClone()), throws(() => structuredClone({ get x() { throw new RangeError('own'); } })), (() => { try { structuredClone({ f() {} }); } catch (e) { return [e.message, e.code, e instanceof DOMException]; } })());`,
    ),
    ["DataCloneError", "TypeError", "RangeError", "[Function: f] could not be cloned.", 25, true],
  );
});

inEachEngine("transfer moves buffers, all or nothing", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const b = new ArrayBuffer(8); const v = new Uint8Array(b); v[1] = 9; const c = structuredClone({ v, b }, { transfer: [b] });
    const kept = new ArrayBuffer(2); const failed = throws(() => structuredClone({ f() {}, kept }, { transfer: [kept] }));
    const unused = new ArrayBuffer(3); structuredClone(1, { transfer: [unused] });
    const x = new ArrayBuffer(1);
    return [b.byteLength, v.length, c.v[1], c.v.buffer === c.b, failed, kept.byteLength, unused.byteLength, throws(() => structuredClone(b)), throws(() => structuredClone(1, { transfer: [b] })), throws(() => structuredClone(1, { transfer: [x, x] })), x.byteLength, throws(() => structuredClone(1, { transfer: [{}] })), throws(() => structuredClone(1, { transfer: 5 })), structuredClone(2, {}), structuredClone(3, null), throws(() => structuredClone(1, 5))];`,
    ),
    [
      0,
      0,
      9,
      true,
      "DataCloneError",
      2,
      0,
      "DataCloneError",
      "DataCloneError",
      "DataCloneError",
      1,
      "DataCloneError",
      "TypeError",
      2,
      3,
      "TypeError",
    ],
  );
});
