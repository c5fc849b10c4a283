// Sorting beside insertion sort, which is stable; functions that lie, throw or change the array.
let seed = 3;
const random = (count) => (seed = (seed * 16807) % 2147483647) % count;
let checks = 0;
function same(found, expected, what) {
  checks++;
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}
function inserted(array, compare) {
  const sorted = [];
  for (const one of array) {
    let at = sorted.length;
    while (at > 0 && compare(sorted[at - 1], one) > 0) at--;
    sorted.splice(at, 0, one);
  }
  return sorted;
}
const orders = [
  (a, b) => a.key - b.key,
  (a, b) => b.key - a.key,
  (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
  (a, b) => (a.key % 3) - (b.key % 3),
  () => 0,
  (a, b) => BigInt(a.key) < BigInt(b.key) ? -0.5 : a.key === b.key ? NaN : '0.5',
];
for (let length = 0; length < 120; length++) {
  for (const order of orders) {
    const array = Array.from({ length }, (_, i) => ({ key: random(length + 1), i }));
    const expected = inserted(array, order);
    same(array.toSorted(order), expected, `${length} sorted to a copy`);
    same(array.sort(order), expected, `${length} sorted`);
    same(array.sort(order), expected, `${length} sorted again`);
  }
}
// In order: one call for each pair of neighbours.
let calls = 0;
const sorted = Array.from({ length: 1000 }, (_, i) => i);
sorted.sort((a, b) => (calls++, a - b));
same(calls, 999, 'calls for what is in order');
// Out of order: near the least that comparing needs, which is 8530.
calls = 0;
Array.from({ length: 1000 }, () => random(1e6)).sort((a, b) => (calls++, a - b));
same(calls < 9200, true, `${calls} calls for 1000 elements`);
// No element is lost or doubled, whatever the function answers.
for (let round = 0; round < 200; round++) {
  const array = Array.from({ length: 50 }, (_, i) => `${i}`);
  const all = array.toSorted().join();
  array.sort(() => random(3) - 1);
  same(array.toSorted().join(), all, 'after lies');
  let left = random(200);
  try {
    array.sort(() => { if (left-- === 0) throw new Error('enough'); return random(3) - 1; });
  } catch (error) {
    same(error.message, 'enough', 'what was thrown');
  }
  same(array.toSorted().join(), all, 'after an exception');
}
const changed = [3, 1, 2];
changed.sort((a, b) => { changed.length = 0; return a - b; });
same(changed, [1, 2, 3], 'an array that was emptied');
const holes = [3, , 1, undefined, 2];
holes.sort((a, b) => b - a);
same([Object.keys(holes), holes.length, holes.slice(0, 3)], [['0', '1', '2', '3'], 5, [3, 2, 1]], 'holes and undefined');
// Strings by their units.
const texts = ['a', 'b', 'ab', 'abcdefgh', 'abcdefgi', 'abcdefghi', 'Abcdefgh', '\u00ff', '\u0100', 'abcdefg\u0100', 'abcdefg\u0101', ''];
for (const a of texts) {
  for (const b of texts) {
    let at = 0;
    while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
    const less = at === b.length ? false : at === a.length ? true : a.charCodeAt(at) < b.charCodeAt(at);
    same([a < b, a === b, a >= b, a > b], [less, a.length === at && b.length === at, !less, !less && !(a.length === at && b.length === at)], `${a} < ${b}`);
  }
}
export default checks;
