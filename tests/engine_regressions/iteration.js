// Iterators, their helpers, generators and async iteration: closed twice, entered while running, never finished.

// case: helpers over an iterator without return
// is: [[2], [2, 4], [2, 3], [1, 10, 2]]
const of = (...items) => Iterator.from(items);
return [of(1, 2, 3).filter(x => x > 1).take(1), of(1, 2, 3).map(x => x * 2).take(2), of(1, 2, 3, 4).drop(1).take(2), of(1, 2, 3).flatMap(x => [x, x * 10]).take(3)].map(helper => helper.toArray());

// case: closing a helper closes what it reads once
// is: [1, 1, 1, 1, 1]
return ['map', 'filter', 'take', 'drop', 'flatMap'].map(method => {
    let closed = 0;
    class Source extends Iterator {
        next() { return { done: false, value: 1 }; }
        return() { closed++; return {}; }
    }
    const helper = new Source()[method](method === 'flatMap' ? x => [x] : method.length === 4 ? 2 : x => x);
    helper.next();
    helper.return();
    helper.return();
    return closed;
});

// case: a helper that is entered while it runs
// is: ["TypeError", "TypeError"]
const names = [];
const entered = [1, 2].values().map(() => names.push(thrown(() => entered.next())));
entered.next();
const generator = (function* () { names.push(thrown(() => generator.next())); yield 1; })();
generator.next();
return names;

// case: Iterator.concat is not entered from within
// is: ["TypeError", true]
let concatenated;
const inside = [];
concatenated = Iterator.concat({ [Symbol.iterator]() { inside.push(thrown(() => concatenated.return())); return [][Symbol.iterator](); } });
return [inside.concat(concatenated.next().done ? [] : 'more', inside)[0] ?? inside[0], concatenated.next().done];

// case: Iterator.from reads next once
// is: [1, [1, 2], "RangeError"]
let reads = 0;
let count = 0;
const wrapped = Iterator.from({ [Symbol.iterator]: () => ({ get next() { reads++; return () => ({ value: ++count, done: count > 2 }); } }) });
const values = [...wrapped];
return [reads, values, thrown(() => Iterator.from({ [Symbol.iterator]: () => ({ get next() { throw new RangeError(); } }) }))];

// case: limits of take and drop
// is: ["RangeError", "RangeError", "RangeError", 2]
const two = () => [1, 2].values();
return [thrown(() => two().take(-1)), thrown(() => two().drop(NaN)), thrown(() => two().take(2 ** 53)), two().take(Infinity).toArray().length];

// case: filter and find let go of what they pass over
// is: [0, true]
const passed = Array.from({ length: 2000 }, () => ({}));
const left = passed.values().filter(() => false).toArray().length;
churn();
return [left, passed.values().find(() => false) === undefined];

// case: a generator that a closure alone holds
// is: [true, false, true]
let leaked;
(function () {
    let generator;
    function* make() {
        const held = {};
        held.generator = generator;
        leaked = () => held;
        yield 1;
        yield 2;
    }
    generator = make();
    generator.next();
    generator = null;
})();
churn();
const again = leaked().generator;
return [again !== undefined, again.next().done, again.next().done];

// case: an async function that a closure alone holds
// is: ["function", 5]
let escaped;
(function () {
    (async () => {
        const waiting = Promise.withResolvers();
        escaped = () => waiting;
        await waiting.promise;
    })();
})();
churn();
const waiting = escaped();
setTimeout(() => waiting.resolve(5), 1);
return [typeof waiting.reject, await waiting.promise];

// case: arguments of a function that waits for ever
// is: 123
const AsyncFunction = (async () => {}).constructor;
const told = {};
AsyncFunction('told', 'a', 'told.get = () => arguments; await new Promise(() => {})')(told, 123);
churn();
return told.get()[1];

// case: an async generator whose promises are looked at from within
// is: [true, "number"]
let hits = 0;
let running;
async function* make() { try { yield 1; await null; yield 2; } finally { await null; } }
Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { if (hits++ < 4 && running) { running.return(0); running.next(1); } return undefined; } });
try {
    running = make();
    running.next();
    for (let i = 0; i < 20; i++) await undefined;
} finally {
    delete Object.prototype.then;
}
return [hits > 0, typeof hits];

// case: for await closes what it leaves, and only that
// is: [["closed"], []]
const log = async leave => {
    const events = [];
    const source = { [Symbol.asyncIterator]() { let i = 0; return { next: async () => ({ value: i, done: i++ > 1 }), async return() { events.push('closed'); return {}; } }; } };
    for await (const each of source) if (leave) break;
    return events;
};
return [await log(true), await log(false)];

// case: leaving for await waits for the closing
// is: ["closing", "closed", "after"]
const order = [];
const slow = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1, done: false }), async return() { order.push('closing'); await null; order.push('closed'); return {}; } }) };
for await (const each of slow) break;
order.push('after');
return order;

// case: destructuring closes iterators that are not done
// is: [1, 0, [1, 2]]
let closings = 0;
const closing = max => ({ [Symbol.iterator]() { let i = 0; return { next: () => ({ value: ++i, done: i > max }), return() { closings++; return {}; } }; } });
const [first, second] = closing(9);
const after = closings;
const [only, nothing] = closing(1);
return [after, closings - after, [first, second]];

// case: yield* over an iterator that throws in return
// is: ["EvalError", true]
const bad = { [Symbol.iterator]() { return this; }, next: () => ({ done: false }), return() { throw new EvalError(); } };
const delegating = (function* () { yield* bad; })();
delegating.next();
return [thrown(() => delegating.return()), delegating.next().done];

// case: a generator that returns its argument
// is: [[], {"value": {}, "done": true}]
const returning = (function* (argument) { return argument; })({});
return [[...(function* (r) { return r; })({})], returning.next()];

// case: maps and sets that change under their iterators
// is: [[1, 2, 4], [1, 2, 3, 4], 0]
const map = new Map([[1, 1], [2, 2], [3, 3]]);
const visited = [];
for (const [key] of map) { visited.push(key); if (key === 1) { map.delete(3); map.set(4, 4); } }
const set = new Set([1]);
const members = [];
for (const each of set) { members.push(each); set.delete(each); if (each < 4) set.add(each + 1); }
return [visited, members, set.size];

// case: set operations with a set that changes meanwhile
// is: [[1, 2, 3], "TypeError", []]
const changing = new Set([1, 2, 3]);
const like = { size: 3, has() { changing.clear(); return true; }, keys: () => [1, 2, 3].values() };
return [[...new Set([1]).union(new Set([2, 3]))], thrown(() => new Set().union([1])), [...changing.difference(like)]];

// case: Map.groupBy and Object.groupBy over what throws
// is: ["RangeError", [[1, [1, 3]], [0, [2]]]]
return [thrown(() => Map.groupBy([1], () => { throw new RangeError(); })), [...Map.groupBy([1, 2, 3], x => x % 2)]];
