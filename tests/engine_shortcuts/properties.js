// Lists and copies of properties beside what proxies of the same objects answer, which the engine cannot do at once.
let checks = 0;
const show = (value) => JSON.stringify(value, (_, one) => (typeof one === 'symbol' ? String(one) : one === undefined ? 'undefined' : one));
function same(found, expected, what) {
  checks++;
  if (show(found) !== show(expected)) throw new Error(`${what}: ${show(found)} instead of ${show(expected)}`);
}
const described = (object) => Reflect.ownKeys(object).map((key) => [String(key), Object.getOwnPropertyDescriptor(object, key)]);

class Point { constructor() { this.x = 1; this.y = 2; } get sum() { return 3; } }
class Secret { #hidden = 1; shown = 2; reveal() { return this.#hidden; } }
const makers = {
  plain: () => ({ b: 1, a: 'two', c: [3] }),
  empty: () => ({}),
  indices: () => ({ b: 1, 2: 'two', 1: 'one', a: 0 }),
  'large names': () => ({ 4294967295: 1, 4294967294: 2, '01': 3, '-1': 4, 1.5: 5, '': 6 }),
  symbols: () => ({ a: 1, [Symbol('s')]: 2, b: 3 }),
  getter: () => ({ a: 1, get b() { return this.a + 1; }, c: 3 }),
  hidden: () => Object.defineProperty({ a: 1, b: 2, c: 3 }, 'b', { enumerable: false }),
  'read only': () => Object.defineProperty({ a: 1, b: 2 }, 'b', { writable: false }),
  frozen: () => Object.freeze({ a: 1, b: 2 }),
  deleted: () => { const object = { a: 1, b: 2, c: 3 }; delete object.a; return object; },
  'deleted and set': () => { const object = { a: 1, b: 2, c: 3 }; delete object.a; object.a = 4; return object; },
  'changed from getter': () => Object.defineProperty({ get a() { return 1; }, b: 2 }, 'a', { value: 5, writable: true, enumerable: true }),
  instance: () => new Point(),
  private: () => new Secret(),
  'no prototype': () => Object.assign(Object.create(null), { a: 1, b: 2 }),
  inheriting: () => Object.assign(Object.create({ inherited: 1 }), { own: 2 }),
  proto: () => ({ ['__proto__']: 1, a: 2 }),
  many: () => Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`name${i}`, i])),
  array: () => [1, 2, 3],
  'named array': () => Object.assign([1], { name: 2 }),
  function: () => Object.assign(() => 1, { a: 1 }),
  text: () => new String('ab'),
  parsed: () => JSON.parse('{"a":{"b":1},"c":2}'),
};
const names = (object) => { const found = []; for (const name in object) found.push(name); return found; };
for (const [kind, make] of Object.entries(makers)) {
  const object = make();
  const proxy = new Proxy(make(), {});
  for (const list of [Object.keys, Object.values, Object.entries, Object.getOwnPropertyNames, Reflect.ownKeys, names]) {
    same(list(object), list(proxy), `${list.name} of ${kind}`);
  }
  const copies = {
    spread: (from) => ({ ...from }),
    'spread after': (from) => ({ a: 'first', z: 'last', ...from }),
    'spread before': (from) => ({ ...from, a: 'first', z: 'last' }),
    'spread over a getter': (from) => ({ get a() { return 'old'; }, ...from }),
    'spread twice': (from) => ({ ...from, ...from }),
    'spread with an index': (from) => ({ 7: 'seven', ...from }),
    rest: ({ a, ...rest }) => rest,
    'rest with a name': ({ ['b']: b, 1: one, ...rest }) => rest,
    assign: (from) => Object.assign({}, from),
    'assign over': (from) => Object.assign({ a: 0, c: 0 }, from),
    'assign to an array': (from) => Object.assign([], from),
    'assign to an instance': (from) => Object.assign(new Point(), from),
    'assign to no prototype': (from) => Object.assign(Object.create(null), from),
    'assign to a list that is closed': (from) => { try { return Object.assign(Object.preventExtensions({ a: 0 }), from); } catch (error) { return { error: error.name }; } },
  };
  for (const [how, copy] of Object.entries(copies)) {
    same(described(copy(object)), described(copy(proxy)), `${how} of ${kind}`);
    same(Object.getPrototypeOf(copy(object)) === Object.getPrototypeOf(copy(proxy)), true, `prototype: ${how} of ${kind}`);
  }
  // The original is its own.
  const copy = { ...object };
  copy.added = 1;
  copy.a = 'changed';
  delete copy.b;
  same(described(object), described(make()), `${kind} after its copy was changed`);
}

// Setters are called by assign and not by spread, and read-only names of the prototype refuse.
let told = [];
const observed = Object.assign({ set a(value) { told.push(value); } }, { a: 1, b: 2 });
same([told, Object.keys(observed), { ...{ set a(value) { told.push('never'); } }, ...{ a: 1 } }.a], [[1], ['a', 'b'], 1], 'setters');
Object.defineProperty(Object.prototype, 'guarded', { set(value) { told.push(`guarded ${value}`); }, configurable: true });
same([Object.keys(Object.assign({}, { guarded: 1, other: 2 })), { ...{ guarded: 1 } }.guarded, told.at(-1)], [['other'], 1, 'guarded 1'], 'a setter of the prototype');
delete Object.prototype.guarded;
// Getters that remove what comes next.
const removing = { get first() { delete this.second; return 1; }, second: 2, third: 3 };
same([Object.entries(removing), Object.keys({ ...removing })], [[['first', 1], ['third', 3]], ['first', 'third']], 'removed meanwhile');
// for-in: what is removed is not visited, what is added is not, what is inherited is, once.
const visited = [];
const walked = { a: 1, b: 2, c: 3 };
for (const name in walked) { visited.push(name); delete walked.b; walked.d = 4; }
same(visited, ['a', 'c'], 'for-in with changes');
same(names(Object.create({ x: 1, y: 2 }, { y: { value: 3 }, z: { value: 4, enumerable: true } })), ['z', 'x'], 'for-in hides what is not enumerable');
Object.prototype.everywhere = 1;
same(names({ a: 1 }), ['a', 'everywhere'], 'for-in with an inherited name');
delete Object.prototype.everywhere;
same(names({ a: 1 }), ['a'], 'for-in without it again');
const nested = [];
for (const a in { p: 1, q: 2 }) for (const b in { r: 1 }) nested.push(a + b);
same(nested, ['pr', 'qr'], 'for-in in for-in');
function* gone() { for (const name in { a: 1, b: 2 }) yield name; }
same(gone().next().value, 'a', 'for-in that is left');
// Shapes that are shared stay those of the others.
const [left, right] = [{ p: 1, q: 2 }, { p: 3, q: 4 }];
const third = { ...left };
Object.defineProperty(left, 'p', { enumerable: false });
same([Object.keys(left), Object.keys(right), Object.keys(third), { ...left }], [['q'], ['p', 'q'], ['p', 'q'], { q: 2 }], 'shared shapes');

// Objects that get the same properties in many orders, beside lists.
let seed = 5;
const random = (count) => (seed = (seed * 16807) % 2147483647) % count;
const kept = [];
for (let round = 0; round < 400; round++) {
  const object = random(8) === 0 ? new Point() : {};
  let list = Object.entries(object);
  for (let step = 0; step < 30; step++) {
    const name = 'abcdefghijklmnopqrstuvwx'[random(step < 15 ? 6 : 24)];
    if (random(6) === 0) {
      delete object[name];
      list = list.filter(([known]) => known !== name);
    } else {
      object[name] = step;
      const known = list.find((entry) => entry[0] === name);
      if (known) known[1] = step;
      else list.push([name, step]);
    }
  }
  same([Object.entries(object), { ...object }], [list, Object.fromEntries(list)], `properties in round ${round}`);
  kept[random(40)] = [object, list];
}
for (const [object, list] of kept.filter(Boolean)) same(Object.entries(object), list, 'properties at the end');

// Strings of one character, made once.
const text = 'abc\u00e9\u20ac\u{1F600}';
const characters = [text[0], text.charAt(1), text.at(2), text.slice(3, 4), text.substring(4, 5), [...text][5], text.split('')[5], text[99]];
same(characters, ['a', 'b', 'c', '\u00e9', '\u20ac', '\u{1F600}', '\ud83d', undefined], 'characters');
let joined = '';
for (const one of text) joined += one;
let first = text[0];
first += 'x';
same([joined, first, text[0], `${text[0]}`, 'a'[0] === text[0], { [text[1]]: 1 }, (text + text)[7]], [text, 'ax', 'a', 'a', true, { b: 1 }, 'a'], 'characters in use');
same(['k'.repeat(600) + 'é'][0][600], 'é', 'a character of a rope');

export default checks;
