// Who frees what, and when: weak references, finalization, disposal, promises and their jobs.

// case: a registry in a cycle with what it watches
// is: "alive"
for (let i = 0; i < 200; i++) {
    let target = {};
    let registry = new FinalizationRegistry(() => {});
    registry.register(target, registry);
    registry.of = target;
    target.of = registry;
}
churn();
return 'alive';

// case: a registry whose callback is in the cycle
// is: "alive"
class Watcher {
    #registry = new FinalizationRegistry(held => { this.held = held; });
    watch(key) { this.#registry.register(key, {}, new WeakRef(key)); key.watcher = new Set([this]); }
}
for (let i = 0; i < 200; i++) new Watcher().watch({});
churn();
await 0;
return 'alive';

// case: symbols as weak keys
// is: ["value", "TypeError", "alive"]
const map = new WeakMap();
let key = Symbol('key');
map.set(key, 'value');
const got = map.get(key);
const registry = new FinalizationRegistry(() => {});
registry.register(key, 42);
map.set(key, registry);
key = null;
churn();
return [got, thrown(() => map.set(Symbol.for('shared'), 1)), 'alive'];

// case: weak maps whose values hold their keys
// is: 300
const weak = new WeakMap();
const keys = Array.from({ length: 300 }, () => ({}));
for (const each of keys) weak.set(each, { each, weak });
for (let i = 0; i < 1000; i++) { const lost = {}; weak.set(lost, { lost, weak }); }
churn();
return keys.filter(each => weak.get(each).each === each).length;

// case: a weak reference in the turn that made it
// is: [true, true]
const reference = new WeakRef({ big: 'x' });
churn();
const first = reference.deref() === undefined || reference.deref().big === 'x';
await 0;
return [first, reference.deref() === undefined || reference.deref().big === 'x'];

// case: a disposer that collects garbage
// is: ["second", "first"]
const order = [];
const stack = new DisposableStack();
stack.adopt({ held: 1 }, () => { churn(); order.push('first'); });
stack.use({ [Symbol.dispose]() { order.push('second'); } });
stack.dispose();
churn();
return order;

// case: disposers of nothing between others
// is: [2, true]
let disposed = 0;
const mixed = new DisposableStack();
for (const resource of [null, { [Symbol.dispose]() { disposed++; churn(); } }, undefined, { [Symbol.dispose]() { disposed++; } }, null]) mixed.use(resource);
mixed.dispose();
return [disposed, mixed.disposed];

// case: disposers that throw are all told
// is: ["SuppressedError", "a", "b"]
const throwing = new DisposableStack();
throwing.defer(() => { throw new Error('a'); });
throwing.defer(() => { churn(); throw new Error('b'); });
try {
    throwing.dispose();
} catch (error) {
    return [error.constructor.name, error.error.message, error.suppressed.message];
}

// case: an async stack whose disposer rejects with nothing
// is: ["rejected", null, 1]
const asynchronous = new AsyncDisposableStack();
let ran = 0;
asynchronous.defer(() => { ran++; });
asynchronous.defer(() => ({ then(resolve, reject) { reject(); } }));
const outcome = await asynchronous.disposeAsync().then(() => 'fulfilled', error => ['rejected', error ?? null]);
churn();
return [...outcome, ran];

// case: an async stack whose disposers reject one after the other
// is: ["SuppressedError", "last"]
const several = new AsyncDisposableStack();
several.defer(() => ({ then(resolve, reject) { reject(new Error('last')); } }));
several.defer(() => ({ then(resolve, reject) { reject(new Error('first')); } }));
several.use(null);
return await several.disposeAsync().then(() => [], error => [error.constructor.name, error.error.message]);

// case: moving a stack that is being disposed
// is: "ReferenceError"
const moving = new DisposableStack();
let moved;
moving.defer(() => { moved = thrown(() => moving.move()); });
moving.dispose();
return moved;

// case: a promise that resolves itself, or is resolved twice
// is: ["TypeError", 1]
let resolveSelf;
const self = new Promise(resolve => { resolveSelf = resolve; });
resolveSelf(self);
const name = await self.catch(error => error.constructor.name);
let resolveTwice;
const twice = new Promise(resolve => { resolveTwice = resolve; });
resolveTwice(1);
resolveTwice(2);
return [name, await twice];

// case: thenables whose then throws, calls back late, and calls twice
// is: ["rejected", "once"]
const late = { then(resolve) { setTimeout(() => { resolve('once'); resolve('twice'); }, 1); throw undefined; } };
const kept = { then(resolve) { resolve('once'); throw new Error('ignored'); } };
return [await Promise.resolve(late).catch(() => 'rejected'), await Promise.resolve(kept)];

// case: a promise class whose executor is called twice
// is: ["TypeError", "TypeError"]
function Twice(executor) { executor(() => {}, () => {}); executor(() => {}, () => {}); }
function Never() {}
return [Twice, Never].map(Class => thrown(() => Promise.resolve.call(Class, 1)));

// case: Promise.all with a resolve that is replaced meanwhile
// is: [[1, 2], "TypeError"]
class Own extends Promise {}
const results = await Own.all([1, 2]);
Own.resolve = 5;
return [results, await Own.all([1]).catch(error => error.constructor.name)];

// case: Promise.any without promises, and its errors
// is: ["AggregateError", 0, 2]
const nobody = await Promise.any([]).catch(error => error);
const both = await Promise.any([Promise.reject(1), Promise.reject(2)]).catch(error => error);
return [nobody.constructor.name, nobody.errors.length, both.errors.length];

// case: many promises that wait for each other
// is: 20000
let chain = Promise.resolve(0);
for (let i = 0; i < 20_000; i++) chain = chain.then(value => value + 1);
return await chain;

// case: queueMicrotask that queues itself
// is: 100
let count = 0;
await new Promise(done => { (function again() { if (++count < 100) queueMicrotask(again); else done(); })(); });
return count;

// case: closures over the variables of a loop
// is: [[0, 1, 2], [0, 1, 2]]
const loops = [];
for (let i = 0; i < 3; i++) loops.push(() => i);
const others = [];
for (const i of [0, 1, 2]) others.push(async () => i);
churn();
return [loops.map(each => each()), await Promise.all(others.map(each => each()))];

// case: a structured clone of what changes meanwhile
// is: [1, true]
const source = { get a() { delete this.b; return 1; }, b: [2] };
const copied = structuredClone(source);
return [copied.a, copied.b === undefined || copied.b[0] === 2];
