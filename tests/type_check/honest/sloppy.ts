// --- unused things
import { crm, weather } from '@capabilities/office';
const unused = 5;
function never() { return unused2; }
const unused2 = () => crm;
export default 'fine';
// --- unused parameters
const f = (a, b, _c) => a;
[1, 2].map((x, i, all) => x);
f(1, 2, 3);
// --- too many arguments
function one(a) { return a; }
one(1, 2, 3);
// --- too few arguments
function two(a, b) { return b === undefined ? a : a + b; }
two(1);
// --- too few of typed arguments
function greet(name: string, greeting: string) { return `${greeting ?? 'hi'} ${name}`; }
greet('x');
// --- a variable of two kinds
let result = '';
result = 5;
result = { done: true };
result.done;
// --- a list of two kinds
const list = [1, 2];
list.push('three');
list[5] = null;
list.length;
// --- a parameter that is changed
function norm(x: string | number) { x = String(x).trim(); return x.length; }
norm(12);
// --- var and hoisting
for (var i = 0; i < 3; i++) { var last = i; }
console.log(i, last);
hoisted();
function hoisted() { return 'h'; }
last;
// --- functions before they are defined
const answer = compute();
function compute() { return helper(20) + 2; }
function helper(n) { return n * 2; }
answer;
// --- compares what cannot be equal
const mode = 'fast';
if (mode === 'slow') console.log('never');
const n = 3;
n === '3' ? 'same' : 'other';
// --- plus with everything
'' + 5 + null + undefined + [1, 2] + {};
// --- numbers from texts
const total = '5' * '2' - '1';
const neg = -'3', pos = +'4';
[total, neg, pos, '10' / 2];
// --- dates in sums
const elapsed = new Date() - new Date(0);
const soon = Date.now() + 5 < new Date();
[elapsed > 0, soon];
// --- json of anything
const body = JSON.parse(JSON.stringify({ a: undefined, b: [undefined] }));
body.whatever ?? body.b[0];
// --- members of globals
globalThis.shared = { n: 1 };
globalThis.shared.n++;
globalThis.shared.n;
// --- asks whether something is there
const hasProcess = typeof process !== 'undefined' && process.versions;
const hasWindow = typeof window !== 'undefined';
[!!hasProcess, hasWindow];
// --- a member of a string or an array by mistake that does nothing
const arr = [1, 2];
arr.total = arr.length;
arr.total;
// --- a function that gets members
const api = () => 'called';
api.version = '1.0';
api.version;
// --- an object that is typed too narrowly
const opts: { a: number } = { a: 1 };
opts.b = 2;
(opts as any).c = 3;
Object.keys(opts).length;
// --- an object that is typed too widely
const bag: object = { x: 1 };
const anyBag: Object = bag;
Object.keys(anyBag)[0];
// --- an any here and there
const anything: any = { deep: { value: 1 } };
const typed: string = anything.deep.value;
anything.missing?.thing;
typed;
// --- casts
const el = { value: '5' } as unknown as { value: number };
const bang = [1].find((x) => x === 1)!;
const any1 = <any>el;
[el.value, bang, any1.value];
// --- a function type that does not fit
type Callback = (err: Error | null, data: string) => void;
const run = (cb: Callback) => cb(null, 5 as any);
let got;
run((err, data) => { got = data; });
got;
// --- ignored lines
// @ts-ignore
const wrong: number = 'text';
// @ts-expect-error it is known
const wrong2: string = 5;
[wrong, wrong2];
// --- eslint comments and strict mode
'use strict';
/* eslint-disable no-unused-vars */
var legacy = true;
legacy;
// --- jsdoc types
/** @type {{ a: number, b?: string }} */
const documented = { a: 1 };
documented.b = 'x';
/** @param {string} name @returns {string} */
function hello(name) { return 'hello ' + name; }
hello(documented.b);
// --- a missing return
function maybe(x: number): string { if (x > 0) return 'yes'; }
[maybe(1), maybe(-1) ?? 'nothing'];
// --- unreachable code
function early() { return 1; console.log('never'); }
early();
// --- an empty object as a dictionary of functions
const handlers = {};
handlers.add = (a, b) => a + b;
handlers['sub'] = (a, b) => a - b;
handlers.add(1, 2) + handlers.sub(5, 3);
// --- a namespace of helpers as an object
const util = { double: (x) => x * 2 };
util.triple = (x) => x * 3;
util.triple(util.double(2));
// --- arrays that begin empty, in an object, in a class
const ctx = { logs: [], last: undefined };
const log = (m) => { ctx.logs.push(m); ctx.last = m; };
log('a'); log({ b: 1 });
ctx.last.b;
// --- an array of lists
const grid = [[], []];
grid[0].push('x');
grid[1][3] = 5;
grid[1].length;
// --- chained assignment
let x, y;
x = y = { v: 1 };
x.v = 2;
x.w = 3;
y.v + y.w;
// --- a conditional member
const base = { id: 1, ...(Math.random() > 2 ? { extra: true } : {}) };
if (base.extra) console.log('extra');
base.extra ?? 'none';
// --- members of a union
const items = [{ type: 'a', x: 1 }, { type: 'b', y: 2 }];
items.map((it) => it.x ?? it.y);
// --- a tuple that is not declared as one
const pair = ['x', 1];
const [s, n2] = pair;
const at: [number, number] = [1, 2];
s.toUpperCase() + (n2 + at[0]);
// --- a Record with missing keys
const labels: Record<string, string> = { a: 'A' };
const label = labels['b'] || labels.c || 'unknown';
label;
// --- an enum compared with a number
enum Color { Red, Green }
const c: Color = 5;
c === Color.Red ? 'red' : Color[c] ?? 'strange';
// --- a getter that is assigned
const box = { get v() { return 1; } };
try { box.v = 2; } catch (e) { console.log(e.name); }
box.v;
// --- a constant that is assigned in a closure
let count = 0;
const inc = () => count++;
[1, 2, 3].forEach(inc);
count;
// --- arguments in another order
const replaceAll = (find, replace, text) => text.split(find).join(replace);
replaceAll('a', 'b', 'banana');
// --- a callback that returns a promise to forEach
const done = [];
[1, 2].forEach(async (v) => { done.push(v); });
done;
// --- a type of fetch
async function load(url: string, init?: RequestInit): Promise<Response> {
  const res: Response = await fetch(url, init);
  if (!res.ok) throw new Error(`HTTP ${res.status}`);
  return res;
}
const headers: HeadersInit = { accept: 'application/json' };
typeof load + Object.keys(headers).length;
// --- a type that there is not (check only)
let handle: NodeJS.Timeout;
handle = setTimeout(() => {}, 1);
clearTimeout(handle);
// --- names that there are not (check only)
console.log(document.title, process.env.HOME, window.location);
require('fs');
