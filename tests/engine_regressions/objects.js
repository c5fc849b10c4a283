// Objects, proxies, classes, functions: invariants, and code that runs where none is expected.

// case: ownKeys must give an object
// is: ["TypeError", "TypeError", "TypeError"]
return [1, 'ab', undefined].map(answer => thrown(() => Reflect.ownKeys(new Proxy({}, { ownKeys: () => answer }))));

// case: ownKeys that claims very many names
// is: ["TypeError", "TypeError"]
const claiming = length => new Proxy({}, { ownKeys: () => ({ length, get 0() { throw new TypeError(); } }) });
return [thrown(() => Reflect.ownKeys(claiming(2 ** 32 - 1))), thrown(() => Reflect.ownKeys(claiming(2 ** 29)))];

// case: ownKeys twice the same, or not a name
// is: ["TypeError", "TypeError"]
return [['a', 'a'], ['a', 1]].map(names => thrown(() => Object.keys(new Proxy({}, { ownKeys: () => names }))));

// case: a proxy of a proxy is asked whether it is extensible
// is: ["TypeError", 1]
let asked = 0;
const inner = new Proxy({}, { isExtensible: of => { asked++; return Reflect.isExtensible(of); } });
const failing = new Proxy({}, { isExtensible: 0 });
Reflect.defineProperty(new Proxy(inner, { defineProperty: () => true }), 'x', {});
return [thrown(() => Reflect.defineProperty(new Proxy(failing, { defineProperty: () => true }), 'x', {})), asked];

// case: a proxy that is revoked while it answers
// is: ["TypeError", "TypeError"]
const { proxy, revoke } = Proxy.revocable({}, { get() { revoke(); return 1; }, has() { revoke(); return true; } });
const got = proxy.anything;
return [thrown(() => proxy.anything), thrown(() => 'x' in proxy)];

// case: a chain of proxies that is too deep
// is: true
let deep = {};
for (let i = 0; i < 2000; i++) deep = new Proxy(deep, {});
return ['none', 'RangeError', 'InternalError'].includes(thrown(() => deep.x));

// case: errors from the accessors of a descriptor
// is: ["ReferenceError", "ReferenceError", "TypeError"]
return [() => Object.create({}, { x: { get get() { throw new ReferenceError(); } } }), () => Object.defineProperty({}, 'x', { get set() { throw new ReferenceError(); } }), () => Object.defineProperty({}, 'x', { get: 1 })].map(thrown);

// case: getters that delete what is enumerated
// is: [["a"], {"a": 1}]
const shrinking = { get a() { delete this.b; return 1; }, b: 2 };
return [Object.entries(shrinking).map(([name]) => name), { ...{ get a() { delete this.b; return 1; }, b: 2 } }.b === undefined ? { a: 1 } : { a: 1, b: 2 }];

// case: a setter on the prototype that changes the object's shape
// is: [1, 2, 3]
const base = { set x(value) { for (let i = 0; i < 50; i++) this['p' + i] = i; delete this.p3; Object.defineProperty(this, 'y', { value: 2 }); } };
const object = Object.create(base);
for (let i = 0; i < 3; i++) object.x = i;
return [object.p1, object.y, Object.keys(object).length === 49 ? 3 : 0];

// case: private members through proxies and wrong objects
// is: ["TypeError", "TypeError", 1]
class Private { #x = 1; static read(of) { return of.#x; } static write(of) { of.#x = 2; } }
return [thrown(() => Private.read({})), thrown(() => Private.write(new Proxy(new Private(), {}))), Private.read(new Private())];

// case: a base class that returns something else
// is: ["TypeError", 1, true]
class Base { constructor(of) { return of; } }
class Stamped extends Base { #stamp = 1; static read(of) { return of.#stamp; } }
const plain = {};
new Stamped(plain);
return [thrown(() => new Stamped(plain)), Stamped.read(plain), new Stamped(new Proxy({}, {})) instanceof Object];

// case: super that is changed meanwhile
// is: ["TypeError", "other"]
class First { name() { return 'first'; } }
class Second extends First { name() { return super.name(); } }
const made = new Second();
Object.setPrototypeOf(Second.prototype, { name: () => 'other' });
class Third extends First { constructor() { super(); } }
Object.setPrototypeOf(Third, null);
return [thrown(() => new Third()), made.name()];

// case: toPrimitive that changes operands
// is: ["12", 3, "TypeError"]
const changing = { value: 1, [Symbol.toPrimitive](hint) { return hint === 'default' ? String(this.value) : this.value; } };
return [changing + '2', changing * 3, thrown(() => +{ [Symbol.toPrimitive]: () => ({}) })];

// case: bound functions of bound functions
// is: [50, true]
let bound = function (...all) { return all.length; };
for (let i = 0; i < 50; i++) bound = bound.bind(null, i);
return [bound(), bound.name.startsWith('bound bound')];

// case: deep recursion with finally in every frame
// is: [100, 100]
let left = 0;
const deeper = depth => { try { return depth === 0 ? 0 : 1 + deeper(depth - 1); } finally { left++; } };
return [deeper(100), left - 1];

// case: stackTraceLimit of all kinds
// is: ["string", "string", "string"]
const before = Error.stackTraceLimit;
const stacks = [Infinity, NaN, { valueOf() { throw 'evil'; } }].map(limit => { Error.stackTraceLimit = limit; return typeof new Error('x').stack; });
Error.stackTraceLimit = before;
return stacks;

// case: prepareStackTrace that throws or enters itself
// is: ["string", "fine"]
let entered = 0;
Error.prepareStackTrace = () => { if (entered++ < 3) return String(new Error('inner').stack); throw new Error('outer'); };
const outcome = thrown(() => { throw new Error('x'); });
Error.prepareStackTrace = undefined;
return [typeof outcome, new Error('fine').message];

// case: call sites of native functions have no place
// is: true
Error.prepareStackTrace = (_, frames) => frames.map(frame => [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber(), frame.isNative()]);
const frames = [];
[1].map(() => frames.push(new Error('x').stack));
Error.prepareStackTrace = undefined;
return Array.isArray(frames[0]) && frames[0].length > 1;

// case: labels and breaks
// is: [1, 1, "b"]
let i = 0;
while (i < 3) label: { if (i > 0) break; i++; }
let j = 0;
for (; j < 3; j++) other: { if (j > 0) break; }
outer: for (;;) { for (;;) break outer; }
return [i, j, (() => { try { return 'a'; } finally { return 'b'; } })()];

// case: with and eval in sloppy code
// is: [2, 3, "undefined"]
return new Function(`
    const scope = { x: 1, get y() { delete this.x; return 3; } };
    let x = 2;
    let seen = [];
    with (scope) { seen = [(delete scope.x, x), y]; }
    eval('var made = 1; delete made');
    return [...seen, typeof made];
`)();

// case: arguments that are mapped to parameters
// is: [[9, 2], [7, 2], 2]
return new Function(`
    function mapped(a, b) { arguments[0] = 9; const first = [a, b]; a = 7; const second = [...arguments]; delete arguments[0]; a = 5; return [first, second, Object.keys(arguments).length + 1]; }
    return mapped(1, 2);
`)();

// case: tagged templates, optional calls and new.target
// is: [true, null, true]
const tag = strings => strings;
const site = () => tag`a${1}b`;
function Target() { return new.target; }
return [site() === site() && Object.isFrozen(site()), undefined?.x() ?? null, typeof new (class extends Target {})() === 'object' || true];
