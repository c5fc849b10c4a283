// Maps and sets beside lists of pairs that are searched from the start.
let seed = 11;
const random = (count) => (seed = (seed * 16807) % 2147483647) % count;
let checks = 0;
function same(found, expected, what) {
  checks++;
  if (!Object.is(found, expected)) throw new Error(`${what}: ${String(found)} instead of ${String(expected)}`);
}
const equal = (a, b) => a === b || (a !== a && b !== b);

const objects = Array.from({ length: 40 }, (_, i) => ({ i }));
const symbols = Array.from({ length: 10 }, (_, i) => Symbol(i));
const long = 'kl'.repeat(4500);
// The same text in one piece, and in pieces of other lengths.
const pieces = (end) => {
  const cut = random(9000);
  return [long.concat(end), long + end, long.slice(0, cut) + (long.slice(cut) + end), `${long.slice(0, cut)}${long.slice(cut)}` + end, [long, end].join('')][random(5)];
};
const kinds = [
  () => random(50) - 25,
  () => (random(50) - 25) * 65536,
  () => 2 ** 31 + random(20),
  () => (random(50) - 25) / 8,
  () => 2 ** random(1000),
  () => -(2 ** random(60)),
  () => [0, -0, NaN, Infinity, -Infinity, Number.MIN_VALUE][random(6)],
  () => (random(2) ? 8 / 4 : 2.0) * random(3),
  () => `key-${random(50)}`,
  () => String(random(50)),
  () => ['', 'é', 'ß€', '\u{1F600}', '\u00ff'][random(5)] + random(3),
  () => pieces(['a', 'b', '\u20ac'][random(3)]),
  () => BigInt(random(20) - 10),
  () => BigInt(random(5)) ** 30n,
  () => random(2) === 1,
  () => [null, undefined][random(2)],
  () => objects[random(objects.length)],
  () => symbols[random(symbols.length)],
];
for (const mixed of [false, true]) {
  for (let round = 0; round < 60; round++) {
    const [map, set, list] = [new Map(), new Set(), []];
    const kind = kinds[round % kinds.length];
    for (let step = 0; step < 150; step++) {
      const key = (mixed ? kinds[random(kinds.length)] : kind)();
      const at = list.findIndex(([known]) => equal(known, key));
      const what = `${String(key).slice(0, 20)} in round ${round}`;
      switch (random(4)) {
        case 0:
        case 1:
          map.set(key, step);
          set.add(key);
          if (at < 0) list.push([key, step]);
          else list[at][1] = step;
          break;
        case 2:
          same(map.delete(key), at >= 0, `delete ${what}`);
          same(set.delete(key), at >= 0, `delete ${what}`);
          if (at >= 0) list.splice(at, 1);
          break;
        default:
          same(map.get(key), at < 0 ? undefined : list[at][1], `get ${what}`);
          same(set.has(key), at >= 0, `has ${what}`);
      }
      same(map.size, list.length, `size after ${what}`);
    }
    same([...map.keys()].every((key, i) => equal(key, list[i][0])), true, 'the order of keys');
    same([...set].length, list.length, 'the length of the set');
  }
}
// -0 becomes 0 as a key.
same(Object.is([...new Map([[-0, 1]]).keys()][0], 0), true, 'minus zero');
// Changes while it is iterated.
const changing = new Map([[1, 'a'], [2, 'b'], [3, 'c']]);
const seen = [];
for (const [key] of changing) {
  seen.push(key);
  if (key === 1) changing.delete(2), changing.set(4, 'd');
}
same(seen.join(), '1,3,4', 'keys that go and come');
const weak = new WeakMap(objects.map((object) => [object, object.i]));
same(objects.every((object) => weak.get(object) === object.i && !weak.has({})), true, 'weak keys');

export default checks;
