// Methods of plain arrays beside the same methods on a proxy of an array, which the engine cannot do at once.
let seed = 7;
const random = (count) => (seed = (seed * 16807) % 2147483647) % count;
const show = (value) => JSON.stringify(value, (_, one) => (one === undefined ? 'undefined' : Object.is(one, -0) ? '-0' : one));
let checks = 0;
function same(found, expected, what) {
  checks++;
  if (show(found) !== show(expected)) throw new Error(`${what}: ${show(found)} instead of ${show(expected)}`);
}
/** The array, what the method answers, and which elements exist. */
function outcome(array, method, values) {
  let answer;
  try {
    answer = array[method](...values);
  } catch (error) {
    answer = error.name;
  }
  const holes = Array.from({ length: array.length }, (_, i) => i in array);
  const list = Array.isArray(answer) ? [...answer] : answer;
  return [[...array], array.length, holes, list, Array.isArray(answer) ? Object.keys(answer) : null];
}

const makers = [
  () => Array.from({ length: random(9) }, () => random(100)),
  () => Array.from({ length: random(9) }, () => ({ n: random(5) })),
  () => ['a', undefined, null, -0, 1.5],
  () => { const array = [1, 2, 3, 4, 5]; delete array[2]; return array; },
  () => { const array = [1, 2, 3]; array.length = 6; return array; },
  () => [],
  () => Object.defineProperty([1, 2, 3], 'length', { writable: false }),
  () => Object.assign([1, 2, 3], { name: 'named' }),
];
const index = () => [random(12) - 6, undefined, '2', 1.7, NaN, -Infinity, Infinity, null][random(8)];
const values = {
  splice: () => [[], [index()], [index(), index()], [index(), index(), 'x'], [index(), index(), 'x', 'y', 'z']][random(5)],
  slice: () => [[], [index()], [index(), index()]][random(3)],
  unshift: () => [[], ['x'], ['x', 'y', 'z']][random(3)],
  concat: () => [[], [[1, 2]], [[1, , 3], 4], [[[5]], 'six'], [{ length: 2, 0: 'l', [Symbol.isConcatSpreadable]: true }]][random(5)],
  filter: () => [(value) => value],
  map: () => [(value, i) => [value, i]],
  flatMap: () => [(value) => [value, [value]]],
  toSpliced: () => [1, 1, 'x'],
};
for (let round = 0; round < 3000; round++) {
  const make = makers[random(makers.length)];
  for (const method of Object.keys(values)) {
    const before = seed;
    const plain = make();
    seed = before;
    const proxied = new Proxy(make(), {});
    const given = values[method]();
    same(outcome(plain, method, given), outcome(proxied, method, given), `${method}(${show(given)})`);
  }
}

// Closed arrays refuse what would add or remove, and stay as they were.
for (const close of [Object.freeze, Object.seal, Object.preventExtensions]) {
  for (const [method, given] of [['splice', [1, 0, 'x']], ['splice', [0, 0, 'x', 'y']], ['unshift', ['x']]]) {
    const closed = close([1, 2, 3]);
    same([outcome(closed, method, given)[3], [...closed]], ['TypeError', [1, 2, 3]], `${method} of what ${close.name} closed`);
    same([closed.slice(1), closed.concat([4]), closed.filter((n) => n > 1)], [[2, 3], [1, 2, 3, 4], [2, 3]], `copies of what ${close.name} closed`);
  }
}

// A species of one's own is asked, also one that changes the array meanwhile.
class Listed extends Array {}
const listed = Listed.from([1, 2, 3, 4]);
for (const part of [listed.slice(1), listed.splice(1, 1), listed.concat([5]), listed.map((n) => n), listed.filter(() => true)]) {
  same([part instanceof Listed, Array.isArray(part)], [true, true], 'a subclass');
}
const own = [1, 2, 3, 4];
own.constructor = { [Symbol.species]: function () { own.length = 2; return []; } };
same(own.slice(0), Object.assign([1, 2], { length: 4 }), 'elements that went away');
same([own.length, own.splice(0, 1).length, own.length], [2, 1, 1], 'spliced with a species');
const itself = [1, 2];
itself.constructor = { [Symbol.species]: function () { return itself; } };
same(itself.concat([3]), [1, 2, 3], 'concat into itself');

// Conversions of arguments may change the array.
const shrinking = [1, 2, 3, 4, 5];
same(shrinking.slice({ valueOf() { shrinking.length = 2; return 0; } }).length, 5, 'a slice of what went away');
const growing = [1, 2, 3];
same([growing.splice({ valueOf() { growing.push(4, 5); return 1; } }, 1), growing], [[2], [1, 3]], 'a splice of what came');

// Getters in prototypes are called.
let asked = 0;
const sparse = [1, , 3];
Object.defineProperty(Array.prototype, '1', { get() { asked++; return 'inherited'; }, set() { asked += 100; }, configurable: true });
same([sparse.slice(), [...sparse], sparse.concat(), sparse.map((value) => value)].map(String), ['1,inherited,3', '1,inherited,3', '1,inherited,3', '1,inherited,3'], 'inherited elements');
const short = [0];
short.unshift('first');
delete Array.prototype[1];
same([asked >= 104, short[0], 1 in short], [true, 'first', false], 'a setter of the prototype');

// Spread follows a changed iterator.
const { next } = Object.getPrototypeOf([][Symbol.iterator]());
let steps = 0;
Object.getPrototypeOf([][Symbol.iterator]()).next = function () { steps++; return next.call(this); };
same([[...[1, 2, 3]], steps], [[1, 2, 3], 4], 'a changed next');
Object.getPrototypeOf([][Symbol.iterator]()).next = next;
const iterable = [1, 2];
iterable[Symbol.iterator] = function* () { yield 'own'; };
same([[...iterable], Math.max(...[3, 9, 4]), [...[1, , 2]]], [['own'], 9, [1, undefined, 2]], 'an iterator of its own');

// Long arrays.
const long = Array.from({ length: 70000 }, (_, i) => i);
same([long.splice(10, 69980).length, long.length, long[10]], [69980, 20, 69990], 'a long splice');
const copied = [...Array(100000).keys(), ...long];
copied.unshift(...copied.slice(0, 1000));
same([copied.length, copied[999], copied[1000], copied.at(-1)], [101020, 999, 0, 69999], 'a long unshift');

// A shorter length, of an array with holes.
for (let count = 1; count < 60; count++) {
  const holes = [];
  for (let i = 0; i < count; i++) holes[i] = i;
  holes[10_000] = 1;
  holes.length = 1;
  same(Object.keys(holes), ['0'], `a shorter length of ${count} elements`);
}

export default checks;
