// --- waits a little
await new Promise((r) => setTimeout(r, 10));
export default 'waited';
// --- waits with a typed promise
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
await sleep(1);
'done';
// --- waits with a helper that nobody typed
const delay = (ms, value) => new Promise((resolve) => setTimeout(() => resolve(value), ms));
await delay(1, 'x');
// --- lets others run
await new Promise((r) => setImmediate(r));
await new Promise((r) => queueMicrotask(r));
await new Promise(setImmediate);
'ok';
// --- an interval that ends itself
let ticks = 0;
await new Promise((done) => {
  const timer = setInterval(() => { if (++ticks === 3) { clearInterval(timer); done(); } }, 1);
});
ticks;
// --- a timer with arguments
const said = await new Promise((resolve) => setTimeout((a, b) => resolve(a + b), 1, 'a', 'b'));
said;
// --- a timer kept in a variable
let timer = null;
const debounced = (f) => (...args) => { if (timer) clearTimeout(timer); timer = setTimeout(() => f(...args), 1); };
const calls = [];
const push = debounced((x) => calls.push(x));
push(1); push(2);
await new Promise((r) => setTimeout(r, 20));
calls;
// --- a race against a timeout
function withTimeout(promise, ms) {
  let id;
  const late = new Promise((_, reject) => { id = setTimeout(() => reject(new Error('timeout')), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(id));
}
await withTimeout(Promise.resolve('fast'), 50);
// --- tries again
async function retry(fn, times = 3) {
  for (let i = 0; ; i++) {
    try { return await fn(i); } catch (e) { if (i >= times - 1) throw e; }
  }
}
await retry(async (i) => { if (i < 2) throw new Error('no'); return i; });
// --- tries again with growing waits
async function backoff<T>(fn: () => Promise<T>, max = 3): Promise<T> {
  let last: unknown;
  for (let i = 0; i < max; i++) {
    try { return await fn(); } catch (e) { last = e; await new Promise((r) => setTimeout(r, 2 ** i)); }
  }
  throw last;
}
let attempts = 0;
await backoff(async () => { if (++attempts < 3) throw new Error('again'); return attempts; });
// --- everything at once
const squares = await Promise.all([1, 2, 3].map(async (n) => n * n));
squares;
// --- everything at once, failures too
const settled = await Promise.allSettled([Promise.resolve(1), Promise.reject(new Error('x'))]);
settled.map((s) => (s.status === 'fulfilled' ? s.value : s.reason.message));
// --- settled results by filter
const done2 = await Promise.allSettled([1, 2].map((n) => (n > 1 ? Promise.reject(n) : Promise.resolve(n))));
const good = done2.filter((r) => r.status === 'fulfilled').map((r) => r.value);
const bad = done2.filter((r) => r.status === 'rejected').map((r) => r.reason);
[good, bad];
// --- the first that succeeds
await Promise.any([Promise.reject(new Error('a')), Promise.resolve('b')]);
// --- a generator of pages
async function* pages(n) { for (let i = 0; i < n; i++) { await null; yield { page: i, items: [i, i + 1] }; } }
const all = [];
for await (const page of pages(3)) all.push(...page.items);
all;
// --- a generator with a return and a throw
function* steps() { try { yield 1; yield 2; } finally { console.log('over'); } }
for (const s of steps()) { if (s === 1) break; }
const it = steps(); it.next();
it.return(5).value;
// --- an async iterator by hand
const source = {
  [Symbol.asyncIterator]() {
    let i = 0;
    return { next: async () => (i < 2 ? { value: i++, done: false } : { value: undefined, done: true }) };
  },
};
const got = [];
for await (const v of source) got.push(v);
got;
// --- a queue with limited concurrency
async function pool(items, limit, worker) {
  const results = [];
  let next = 0;
  const run = async () => { while (next < items.length) { const i = next++; results[i] = await worker(items[i], i); } };
  await Promise.all(Array.from({ length: limit }, run));
  return results;
}
await pool([1, 2, 3, 4], 2, async (n) => n * 10);
// --- promises in a map
const pending = new Map();
const once = (key) => {
  if (!pending.has(key)) pending.set(key, new Promise((r) => setTimeout(() => r(key), 1)));
  return pending.get(key);
};
const [a, b] = await Promise.all([once('x'), once('x')]);
a === b;
// --- a promise that is remembered
let loading: Promise<number> | null = null;
function load() { if (loading) return loading; loading = Promise.resolve(7); return loading; }
(await load()) + (await load());
// --- a deferred promise
const deferred = {};
deferred.promise = new Promise((resolve, reject) => { deferred.resolve = resolve; deferred.reject = reject; });
setTimeout(() => deferred.resolve('later'), 1);
await deferred.promise;
// --- with resolvers
const { promise, resolve } = Promise.withResolvers();
queueMicrotask(() => resolve(3));
await promise;
// --- then and catch
const value = await Promise.reject(new Error('bad')).catch((e) => e.message).then((m) => m.toUpperCase());
value;
// --- finally
let closed = false;
try { await Promise.resolve(1).finally(() => { closed = true; }); } finally { closed &&= true; }
closed;
// --- one after the other with reduce
const order = [];
await [3, 1, 2].reduce((p, n) => p.then(() => { order.push(n); }), Promise.resolve());
order;
// --- a mutex
class Mutex {
  chain = Promise.resolve();
  run(fn) { const next = this.chain.then(fn); this.chain = next.catch(() => {}); return next; }
}
const mutex = new Mutex();
await Promise.all([mutex.run(async () => 1), mutex.run(async () => 2)]);
// --- aborts
const controller = new AbortController();
controller.signal.addEventListener('abort', () => console.log('aborted'));
controller.abort(new Error('stop'));
controller.signal.aborted && controller.signal.reason.message;
// --- an await in a condition
async function ready() { return true; }
if (await ready()) console.log('ready');
const state = (await ready()) ? 'yes' : 'no';
state;
// --- awaits something that is no promise
const five = await 5;
const nothing = await undefined;
[five, nothing ?? null];
// --- an async function in a sort of pipeline
const pipe = (...fns) => (x) => fns.reduce((p, f) => p.then(f), Promise.resolve(x));
await pipe((x) => x + 1, async (x) => x * 2)(3);
// --- events as promises
const target = new EventTarget();
const heard = new Promise((r) => target.addEventListener('go', (e) => r(e.type), { once: true }));
target.dispatchEvent(new Event('go'));
await heard;
// --- measures time
const start = performance.now();
await new Promise((r) => setTimeout(r, 1));
const took = Math.round(performance.now() - start);
took >= 0;
// --- a default export that is a function
export default async function main() {
  const parts = await Promise.all(['a', 'b'].map(async (x) => x.toUpperCase()));
  return parts.join('');
}
// --- a top-level return
const input = [1, 2, 3];
if (input.length === 0) return 'empty';
return input.map((x) => x + 1);
// --- polls until done
let status = 'pending';
setTimeout(() => { status = 'done'; }, 2);
while (status !== 'done') await new Promise((r) => setTimeout(r, 1));
status;
