// --- a map with lists
const groups = new Map();
for (const [k, v] of [['a', 1], ['b', 2], ['a', 3]]) {
  const list = groups.get(k) ?? [];
  list.push(v);
  groups.set(k, list);
}
Object.fromEntries(groups);
// --- a map with numbers
const counts = new Map<string, number>();
for (const c of 'hello') counts.set(c, (counts.get(c) ?? 0) + 1);
[...counts].filter(([, n]) => n > 1);
// --- a map that finds nothing
const ages = new Map([['ada', 36]]);
const age = ages.get('alan');
[age ?? 'unknown', ages.get('ada').toFixed(1)];
// --- set arithmetic
const a = new Set([1, 2, 3]), b = new Set([2, 3, 4]);
[[...a].filter((x) => b.has(x)), [...new Set([...a, ...b])].length];
// --- set arithmetic of the language
const left = new Set(['x', 'y']);
[...left.union(new Set(['z']))].concat([...left.intersection(new Set(['y']))]);
// --- an empty set that is filled
const seen = new Set();
for (const s of ['a', 'b', 'a']) { if (seen.has(s)) console.log('twice', s); seen.add(s); }
seen.size;
// --- an empty map with any keys
const memo = new Map();
const fib = (n) => { if (n < 2) return n; if (memo.has(n)) return memo.get(n); const v = fib(n - 1) + fib(n - 2); memo.set(n, v); return v; };
fib(50);
// --- a weak map
const meta = new WeakMap();
const key = {};
meta.set(key, { n: 1 });
meta.get(key).n;
// --- sorts a map by value
const sorted = new Map([...new Map([['a', 2], ['b', 1]])].sort((x, y) => x[1] - y[1]));
[...sorted.keys()];
// --- destructuring with defaults
const { name = 'anon', tags: [firstTag = 'none'] = [], ...others } = { tags: ['x'], extra: 1 };
[name, firstTag, others];
// --- destructuring arguments
const area = ({ w = 1, h = 1 } = {}) => w * h;
[area(), area({ w: 3 }), area({ w: 2, h: 5 })];
// --- swaps
let p = 1, q = 2;
[p, q] = [q, p];
[p, q];
// --- nested destructuring
const { user: { profile: { email } }, roles: [, second] } = { user: { profile: { email: 'e' } }, roles: ['r1', 'r2'] };
email + second;
// --- destructuring in a loop
const out = [];
for (const { id, children: [first] = [] } of [{ id: 1, children: ['c'] }, { id: 2 }]) out.push([id, first]);
out;
// --- closures that count
const counter = () => { let n = 0; return { inc: () => ++n, get value() { return n; } }; };
const c1 = counter();
c1.inc(); c1.inc();
c1.value;
// --- functions of functions
const compose = (...fs) => (x) => fs.reduceRight((v, f) => f(v), x);
const curry = (f) => (a) => (b) => f(a, b);
compose((x) => x + 1, curry((a, b) => a * b)(3))(4);
// --- once and memoize
const once = (f) => { let done = false, v; return (...args) => (done ? v : ((done = true), (v = f(...args)))); };
const init = once((x) => x * 2);
[init(2), init(9)];
// --- arguments and rest
function sum() { let t = 0; for (const x of arguments) t += x; return t; }
const sum2 = (first, ...rest) => rest.reduce((x, y) => x + y, first);
sum(1, 2, 3) + sum2(1, 2);
// --- spread of strings and objects
const base = { a: 1 };
[...'ab', { ...base, ...(true && { b: 2 }), ...(null) }];
// --- a queue
const queue = [1];
const visited = [];
while (queue.length) {
  const n = queue.shift();
  visited.push(n);
  if (n < 5) queue.push(n + 1);
}
visited;
// --- a graph search
const graph = { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] };
function path(from, to, seen = new Set()) {
  if (from === to) return [to];
  seen.add(from);
  for (const next of graph[from]) { if (!seen.has(next)) { const rest = path(next, to, seen); if (rest) return [from, ...rest]; } }
  return null;
}
path('a', 'd');
// --- a linked list
let head = null;
for (const v of [3, 2, 1]) head = { v, next: head };
const vs = [];
for (let n = head; n; n = n.next) vs.push(n.v);
vs;
// --- a binary tree
const insert = (t, v) => (t ? (v < t.v ? { ...t, l: insert(t.l, v) } : { ...t, r: insert(t.r, v) }) : { v, l: null, r: null });
const walk = (t) => (t ? [...walk(t.l), t.v, ...walk(t.r)] : []);
walk([5, 2, 8].reduce(insert, null));
// --- a priority queue
class Heap {
  items = [];
  push(priority, value) { this.items.push({ priority, value }); this.items.sort((a, b) => a.priority - b.priority); }
  pop() { return this.items.shift()?.value; }
}
const heap = new Heap();
heap.push(2, 'b'); heap.push(1, 'a');
heap.pop();
// --- an lru cache
class Lru {
  constructor(max = 2) { this.max = max; this.map = new Map(); }
  get(k) { if (!this.map.has(k)) return; const v = this.map.get(k); this.map.delete(k); this.map.set(k, v); return v; }
  set(k, v) { this.map.delete(k); this.map.set(k, v); if (this.map.size > this.max) this.map.delete(this.map.keys().next().value); }
}
const lru = new Lru();
lru.set('a', 1); lru.set('b', 2); lru.get('a'); lru.set('c', 3);
[...lru.map.keys()];
// --- array methods of late
const xs = [3, 1, 2];
[xs.toSorted(), xs.toReversed(), xs.with(0, 9), xs.findLast((x) => x < 3), xs.at(-1)];
// --- typed arrays
const bytes = new Uint8Array([1, 2, 255]);
const view = new DataView(bytes.buffer);
[view.getUint16(0), Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')];
// --- iterators helpers
const evens = [1, 2, 3, 4].values().filter((x) => x % 2 === 0).map((x) => x * 10).toArray();
evens;
// --- entries and keys
const obj = { x: 1, y: 2 };
for (const [k, v] of Object.entries(obj)) obj[k] = v * 2;
for (const k in obj) console.log(k, obj[k]);
obj;
// --- freeze and defineProperty
const frozen = Object.freeze({ a: 1, list: [1] });
const hidden = {};
Object.defineProperty(hidden, 'secret', { value: 42 });
[frozen.a, hidden.secret];
// --- assigns members to an object
const target = { id: 1 };
Object.assign(target, { label: 'x', size: 3 });
target.label + target.size;
// --- a proxy
const log = [];
const proxy = new Proxy({ a: 1 }, { get(t, k) { log.push(k); return t[k] ?? 'none'; } });
[proxy.a, proxy.b, log.length];
// --- symbols as keys
const tag = Symbol('tag');
const tagged = { [tag]: 'v' };
tagged[tag];
// --- structured clones
const deep = structuredClone({ d: new Date(0), m: new Map([['k', [1]]]) });
deep.m.get('k')[0];
// --- a switch over types
const kind = (x) => { switch (true) { case Array.isArray(x): return 'list'; case x === null: return 'null'; default: return typeof x; } };
[kind([]), kind(null), kind(1)];
