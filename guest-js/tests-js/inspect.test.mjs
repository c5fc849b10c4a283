// The console's inspector against Node's own, on the same values.
import assert from "node:assert/strict";
import util from "node:util";
import { inEachEngine } from "./realm.mjs";

// Each is evaluated in the realm and in Node; the texts must be the same.
const SAME = String.raw`
1 | -0 | NaN | 1n | true | null | undefined | 'text' | Symbol('s') | Symbol() | Symbol.iterator
[] | {} | [1, 2, 3] | ['a', "it's", 'say "hi" it\'s', 'line\nbreak', '\u0000\x7f\\'] | [undefined, null] | [,1] | [1,,,2] | new Array(5) | [1,,3,,]
Object.assign([1, 2], { name: 'x' }) | { a: 1, 'b-c': 2, 3: 4, [Symbol('k')]: 5 } | { a: { b: { c: { d: 1 } } } } | { a: { b: { c: {} } } } | [[[[1]]]] | [[[[]]]]
{ f() {}, g: () => {}, h: class {}, i: class A {}, j: class B extends Array {}, k: async () => {}, l: function* gen() {}, m: async function* () {} }
Object.assign(function named() {}, { extra: 1 }) | Math.max | Object | (() => {})
{ get a() { return 1; }, set a(v) {}, get b() { throw 1; }, set c(v) {} } | { undefined: undefined, null: null }
new Map([['a', 1], [{ k: 1 }, [2]]]) | new Map() | new Set([1, 'two', { three: 3 }]) | new Set() | new Map([[1, new Map([[2, new Map([[3, new Map([[4, 5]])]])]])]])
new Date(0) | new Date(NaN) | /a\/b/gi | Object.assign(/x/, { p: 1 }) | new Uint8Array([1, 2, 255]) | new Float64Array(3) | new BigInt64Array(2) | new Uint8Array(0)
new ArrayBuffer(4) | new Uint8Array([1, 2, 3]).buffer | new DataView(new ArrayBuffer(2), 1) | new ArrayBuffer(200)
Promise.resolve(42) | Promise.resolve({ a: [1] }) | new Promise(() => {}) | new WeakMap() | new WeakSet()
new Number(3) | new String('boxed') | Object(true) | Object(1n) | Object(Symbol('s')) | Object.assign(new String('ab'), { p: 1 }) | new Number(-0)
Object.create(null) | Object.assign(Object.create(null), { a: 1 }) | Object.create({}) | Object.create(Object.create(null)) | Object.create({ a: 1 })
new (class Foo { constructor() { this.x = 1; } })() | new (class Foo {})() | new (class extends Map {})([[1, 2]]) | new (class Bag extends Array {})(3) | new (class Bar extends (class Foo {}) {})()
(class Foo {}).prototype | { [Symbol.toStringTag]: 'T' } | Object.defineProperty({}, Symbol.toStringTag, { value: 'T' }) | new (class Foo { get [Symbol.toStringTag]() { return 'Foo'; } })()
(() => { const a = {}; a.self = a; return a; })() | (() => { const a = { b: {} }; a.b.a = a; a.b.b = a.b; return a; })() | (() => { const m = new Map(); m.set('m', m); return m; })() | (() => { const a = [1]; a.push(a); return a; })()
Array.from({ length: 7 }, (_, i) => i) | Array.from({ length: 30 }, (_, i) => i * 100) | Array.from({ length: 101 }, (_, i) => i) | Array.from({ length: 250 }, (_, i) => i)
Array.from({ length: 27 }, (_, i) => 'item' + i) | Array.from({ length: 10 }, (_, i) => 'x'.repeat(i * 3)) | Array.from({ length: 8 }, (_, i) => ({ id: i })) | [1.5, 2.25, 'x', 3, 4, 5, 6, 7]
Array.from({ length: 3 }, (_, i) => ({ id: i, name: 'name ' + i, tags: ['a', 'b'], nested: { deep: { deeper: 1 } } })) | new Set(Array.from({ length: 120 }, (_, i) => i))
{ a: 'x'.repeat(30), b: 'y'.repeat(30) } | { a: 'x'.repeat(29), b: 'y'.repeat(27) } | { a: 'x'.repeat(100) } | ['x'.repeat(80), 'line one\nline two\n' + 'z'.repeat(70)] | { text: 'a'.repeat(10010) }
{ a: { b: 'x'.repeat(60), c: ['y', 'z'] }, d: new Map([['key', { v: 1 }]]) } | { 'ключ': 'значение', 'a b': 1, a1: 2, '1a': 3, $: 4, _: 5 } | ['é', '日本', '👍', 'x', 'y', 'z', 'w', 'v']
(function () { return arguments; })() | Object.freeze({ a: 1 }) | { __proto__: { inherited: 1 }, own: 2 } | { ['__proto__']: 1 } | [Symbol('a'), 2n, -0] | [[1, 2, [3, 4, [5, [6]]]], { a: 1 }]
new Proxy({ a: 1 }, {}) | new Proxy([1, 2], {}) | new Proxy(function f() {}, {}) | { users: [{ id: 1, name: 'Ann', roles: ['admin'] }, { id: 2, name: 'Bob', roles: [] }], total: 2, next: null }
new Float32Array([1.5, -2]) | new Map([[{ a: 1 }, 'x'], ['y', new Set([1])]]) | [function foo() {}, class Bar {}] | { a: [[]], b: [{}] } | '\ud800' | ['\ud83d\ude00', '\udc00']
Object.assign(Object.create({ constructor: 5 }), { a: 1 }) | JSON | Math | globalThis.Reflect | new (class { static name = 'Odd'; })() | new (class Foo extends Object {})()
`
  .split(/ \| |\n/)
  .filter((line) => line !== "");

// The test runner's async hooks add two symbols to every promise in Node.
function withoutHooks(text) {
  return text.replace(
    /Promise \{\n  (.*),\n  \[Symbol\(async_id_symbol\)\]: \d+,\n  \[Symbol\(trigger_async_id_symbol\)\]: \d+\n\}/,
    "Promise { $1 }",
  );
}

inEachEngine("the inspector writes what Node's does", (realm) => {
  const different = [];
  for (const expression of SAME) {
    const expected = withoutHooks(util.inspect(new Function(`return ${expression}`)()));
    const actual = withoutHooks(realm.evaluate(`return harness.shared().inspect((${expression}))`));
    if (actual !== expected) different.push(`${expression}\n--- node\n${expected}\n--- here\n${actual}`);
  }
  assert.equal(different.length, 0, different.join("\n\n"));
  assert.ok(SAME.length > 100);
});
