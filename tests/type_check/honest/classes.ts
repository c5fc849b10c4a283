// --- a class that declares nothing
class Counter {
  constructor(start) { this.count = start || 0; }
  up(by) { this.count += by || 1; return this; }
}
new Counter(2).up().up(3).count;
// --- a class with fields set later
class Cache {
  entries;
  hits = 0;
  constructor() { this.entries = new Map(); }
  get(key, make) {
    if (this.entries.has(key)) { this.hits++; return this.entries.get(key); }
    const value = make(key);
    this.entries.set(key, value);
    return value;
  }
}
const cache = new Cache();
[cache.get('a', (k) => k + 1), cache.get('a', () => 0), cache.hits];
// --- a class with types
interface Shape { area(): number }
class Square implements Shape {
  constructor(private readonly side: number) {}
  area() { return this.side ** 2; }
}
class Circle implements Shape {
  constructor(public r: number) {}
  area() { return Math.PI * this.r * this.r; }
}
const shapes: Shape[] = [new Square(2), new Circle(1)];
shapes.reduce((sum, s) => sum + s.area(), 0).toFixed(2);
// --- a generic stack
class Stack<T> {
  private items: T[] = [];
  push(item: T): this { this.items.push(item); return this; }
  pop(): T | undefined { return this.items.pop(); }
  get size() { return this.items.length; }
}
const stack = new Stack<number>().push(1).push(2);
export default [stack.pop(), stack.size];
// --- a generic function with a constraint
function byKey<T, K extends keyof T>(list: T[], key: K): Map<T[K], T> {
  return new Map(list.map((item) => [item[key], item]));
}
byKey([{ id: 1, n: 'a' }, { id: 2, n: 'b' }], 'id').get(2).n;
// --- a result type of its own
type Result<T> = { ok: true; value: T } | { ok: false; error: string };
function parse(text: string): Result<number> {
  const n = Number(text);
  return Number.isNaN(n) ? { ok: false, error: `not a number: ${text}` } : { ok: true, value: n };
}
const results = ['1', 'x'].map(parse);
export default results.map((r) => (r.ok ? r.value : r.error));
// --- a result type asked with an early return
type Outcome = { ok: true; rows: string[] } | { ok: false; reason: string };
const load = (fine: boolean): Outcome => fine ? { ok: true, rows: ['a'] } : { ok: false, reason: 'no' };
function show(o: Outcome) {
  if (!o.ok) return o.reason;
  return o.rows.join();
}
[show(load(true)), show(load(false))];
// --- tagged unions and a switch
type Event2 = { type: 'add'; n: number } | { type: 'reset' };
const reduce = (s: number, e: Event2): number => {
  switch (e.type) {
    case 'add': return s + e.n;
    case 'reset': return 0;
    default: return s;
  }
};
([{ type: 'add', n: 2 }, { type: 'reset' }, { type: 'add', n: 5 }] as Event2[]).reduce(reduce, 0);
// --- an enum and a record
enum Level { Low = 1, Mid, High }
const names: Record<Level, string> = { [Level.Low]: 'low', [Level.Mid]: 'mid', [Level.High]: 'high' };
names[Level.High] + Level[2];
// --- a namespace of helpers
namespace Util {
  export const twice = (n: number) => n * 2;
  export function clamp(n: number, lo: number, hi: number) { return Math.min(hi, Math.max(lo, n)); }
}
Util.clamp(Util.twice(30), 0, 50);
// --- inheritance and super
class Animal {
  constructor(public name: string) {}
  speak() { return `${this.name} makes a sound`; }
}
class Dog extends Animal {
  speak() { return super.speak().replace('a sound', 'woof'); }
}
new Dog('Rex').speak();
// --- an error class of its own
class HttpError extends Error {
  constructor(public status: number, message?: string) { super(message ?? `HTTP ${status}`); this.name = 'HttpError'; }
}
try { throw new HttpError(404); } catch (e) { if (e instanceof HttpError) console.log(e.status); else throw e; }
// --- an error class without declarations
class ValidationError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}
const err = new ValidationError('email', 'bad');
`${err.field}: ${err.message}`;
// --- a private name and a static one
class Id {
  static #next = 1;
  #value = Id.#next++;
  get value() { return this.#value; }
  static reset() { Id.#next = 1; }
}
const ids = [new Id(), new Id()].map((i) => i.value);
Id.reset();
ids;
// --- accessors and chaining
class Query {
  parts = [];
  where(f, v) { this.parts.push(`${f}=${v}`); return this; }
  limit(n) { this.parts.push(`limit ${n}`); return this; }
  toString() { return this.parts.join(' '); }
}
`${new Query().where('a', 1).limit(3)}`;
// --- a mixin
const Timestamped = (Base) => class extends Base { created = 0; touch() { this.created = 1; return this; } };
class Doc { title = 't'; }
const TimedDoc = Timestamped(Doc);
new TimedDoc().touch().created;
// --- an abstract class
abstract class Job {
  abstract run(): string;
  go() { return `[${this.run()}]`; }
}
class Print extends Job { run() { return 'printed'; } }
new Print().go();
// --- overloads
function len(x: string): number;
function len(x: unknown[]): number;
function len(x: any) { return x.length; }
len('abc') + len([1, 2]);
// --- mapped and conditional types
type Nullable<T> = { [K in keyof T]: T[K] | null };
type Unwrap<T> = T extends Promise<infer U> ? U : T;
const n: Nullable<{ a: number }> = { a: null };
const u: Unwrap<Promise<string>> = 'x';
[n.a, u];
// --- satisfies and as const
const routes = { home: '/', user: '/u/:id' } as const satisfies Record<string, string>;
type Route = keyof typeof routes;
const go = (r: Route) => routes[r];
go('user');
// --- utility types
interface User { id: number; name: string; email?: string }
const draft: Partial<User> = { name: 'x' };
const full: User = { id: 1, name: 'y', ...draft };
const view: Pick<User, 'id' | 'name'> = full;
const { id, ...others }: Omit<User, 'email'> = view;
[id, others];
// --- a symbol for iteration
class Range {
  constructor(private from: number, private to: number) {}
  *[Symbol.iterator]() { for (let i = this.from; i < this.to; i++) yield i; }
}
[...new Range(1, 4)].join();
// --- a function with members
function greet(name) { greet.calls = (greet.calls || 0) + 1; return `hi ${name}`; }
greet('a'); greet('b');
greet.calls;
// --- a prototype by hand
function Point(x, y) { this.x = x; this.y = y; }
Point.prototype.norm = function () { return Math.hypot(this.x, this.y); };
new Point(3, 4).norm();
// --- an object with this
const account = {
  balance: 10,
  deposit(n) { this.balance += n; return this; },
  get rich() { return this.balance > 100; },
};
account.deposit(95).rich;
// --- a type guard
interface Cat { meow(): string }
const isCat = (x: any): x is Cat => typeof x?.meow === 'function';
const pets: unknown[] = [{ meow: () => 'm' }, 5];
pets.filter(isCat).map((c) => c.meow());
// --- an assertion function
function must(value: unknown, what: string): asserts value { if (!value) throw new Error(what); }
const maybe = [1, 2].find((x) => x === 2);
must(maybe, 'two');
maybe + 1;
// --- generics with defaults and tuples
type Pair<A = string, B = A> = [A, B];
const swap = <A, B>([a, b]: Pair<A, B>): Pair<B, A> => [b, a];
swap([1, 'x']);
// --- index signatures
interface Scores { [name: string]: number }
const scores: Scores = {};
scores.ada = 3;
scores['alan'] = 4;
Object.values(scores).reduce((a, b) => a + b);
// --- a builder that returns partial objects
interface Options { retries: number; delay: number; label?: string }
function withDefaults(o: Partial<Options> = {}): Options { return { retries: 3, delay: 10, ...o }; }
withDefaults({ label: 'x' }).retries;
// --- wrong annotations that do no harm
const total: string = 5 as any;
let size: number = JSON.parse('"three"');
function label(x: number): string { return x as unknown as string; }
[total, size, label(3)];
// --- an interface that is wider than its value
interface Config { host: string; port: number; extra?: Record<string, string> }
const config: Config = JSON.parse('{"host":"h","port":80}');
config.extra = { a: 'b' };
config.extra.c = 'd';
Object.keys(config.extra).length;
// --- decorators by hand
const logged = (fn, log) => function (...args) { log.push(args.length); return fn.apply(this, args); };
const log = [];
const add = logged((a, b) => a + b, log);
[add(1, 2), log];
// --- a singleton
class Settings {
  static instance: Settings;
  values: any = {};
  static get() { return (Settings.instance ??= new Settings()); }
}
Settings.get().values.theme = 'dark';
Settings.get().values.theme;
// --- an event emitter
class Emitter {
  private handlers: Record<string, Function[]> = {};
  on(name: string, f: Function) { (this.handlers[name] ??= []).push(f); return () => this.off(name, f); }
  off(name: string, f: Function) { this.handlers[name] = this.handlers[name].filter((h) => h !== f); }
  emit(name: string, ...args: any[]) { this.handlers[name]?.forEach((h) => h(...args)); }
}
const bus = new Emitter();
const got = [];
const off = bus.on('x', (v) => got.push(v));
bus.emit('x', 1); off(); bus.emit('x', 2);
got;
