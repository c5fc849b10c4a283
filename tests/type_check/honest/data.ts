// --- sums by key into an empty object
const orders = [{ customer: 'a', total: 10 }, { customer: 'b', total: 5 }, { customer: 'a', total: 7 }];
const totals = orders.reduce((acc, order) => {
  acc[order.customer] = (acc[order.customer] || 0) + order.total;
  return acc;
}, {});
totals;
// --- sums into an empty object and reads a member by name
const sales = [{ region: 'north', amount: 3 }, { region: 'south', amount: 4 }];
const byRegion = {};
for (const sale of sales) {
  if (!byRegion[sale.region]) byRegion[sale.region] = 0;
  byRegion[sale.region] += sale.amount;
}
byRegion.north + byRegion.south;
// --- a member is added to an object
const data = { a: 1 };
data.b = 2;
data.c = data.a + data.b;
export default data;
// --- lists in an object are filled later
const state = { items: [], errors: [] };
state.items.push({ id: 1 });
state.items.push({ id: 2, name: 'two' });
state.errors.push('none');
export default state.items.length;
// --- rows get another column
const rows = [{ n: 1 }, { n: 2 }];
rows.forEach((r) => { r.double = r.n * 2; });
rows.map((r) => r.double);
// --- nothing becomes something
const user = { name: 'x', address: null };
user.address = {};
user.address.city = 'Oslo';
user.address = { city: 'Bergen', zip: '5003' };
export default user;
// --- groups with a helper that nobody typed
function groupBy(list, key) {
  const out = {};
  for (const item of list) (out[item[key]] ||= []).push(item);
  return out;
}
Object.entries(groupBy([{ k: 'a', v: 1 }, { k: 'b', v: 2 }], 'k')).map(([k, v]) => `${k}:${v.length}`);
// --- groups with the language's own function
const people = [{ name: 'A', age: 30 }, { name: 'B', age: 17 }];
const grouped = Object.groupBy(people, (p) => (p.age >= 18 ? 'adult' : 'minor'));
export default { adults: grouped.adult?.length ?? 0, minors: grouped.minor.length };
// --- pivots a table
const cells = [['2024', 'q1', 10], ['2024', 'q2', 20], ['2025', 'q1', 30]];
const table = {};
for (const [year, quarter, value] of cells) {
  table[year] = table[year] || {};
  table[year][quarter] = value;
}
export default table;
// --- reads JSON and digs in
const text = '{"users":[{"id":1,"tags":["x","y"]},{"id":2}]}';
const parsed = JSON.parse(text);
export default parsed.users.flatMap((u) => u.tags ?? []);
// --- reads lines of JSON and skips what is broken
const lines = '{"a":1}\n{"a":2}\nnot json\n'.split('\n').filter(Boolean);
const values = [];
for (const line of lines) {
  try { values.push(JSON.parse(line)); } catch { continue; }
}
values.map((v) => v.a);
// --- reads a table of text by hand
const csvText = 'name,age\nAda,36\nAlan,41';
const [header, ...body] = csvText.split('\n').map((line) => line.split(','));
const records = body.map((cols) => Object.fromEntries(header.map((h, i) => [h, cols[i]])));
records.map((r) => `${r.name} is ${Number(r.age) + 1}`);
// --- joins two lists by id
const users = [{ id: 1, name: 'A' }, { id: 2, name: 'B' }];
const posts = [{ userId: 1, title: 'x' }, { userId: 1, title: 'y' }];
users.map((u) => ({ ...u, posts: posts.filter((p) => p.userId === u.id).map((p) => p.title) }));
// --- indexes by id and looks up
const index = Object.fromEntries([{ id: 'a', v: 1 }, { id: 'b', v: 2 }].map((x) => [x.id, x]));
index.a.v + index['b'].v;
// --- sorts by two keys
const list = [{ a: 2, b: 'x' }, { a: 1, b: 'z' }, { a: 1, b: 'y' }];
list.sort((l, r) => l.a - r.a || l.b.localeCompare(r.b));
list.map((it) => it.b).join('');
// --- sorts by date strings
const events = [{ at: '2026-02-01' }, { at: '2026-01-05' }];
events.sort((a, b) => new Date(a.at) - new Date(b.at));
events[0].at;
// --- finds the largest with a start of nothing
let best = null;
for (const item of [{ n: 3 }, { n: 9 }, { n: 4 }]) {
  if (best === null || item.n > best.n) best = item;
}
export default best.n;
// --- finds the largest with a start of undefined
let longest;
['a', 'ccc', 'bb'].forEach((w) => { if (!longest || w.length > longest.length) longest = w; });
longest;
// --- counts words into a null-prototype object
const counts = Object.create(null);
for (const w of 'a b a c b a'.split(' ')) counts[w] = (counts[w] ?? 0) + 1;
Object.entries(counts).sort((x, y) => y[1] - x[1])[0][0];
// --- flattens a tree without types
const tree = { v: 1, children: [{ v: 2, children: [] }, { v: 3 }] };
const flatten = (node) => [node.v, ...(node.children || []).flatMap(flatten)];
flatten(tree);
// --- compares two objects
const before = { a: 1, b: 2 }, after = { b: 3, c: 4 };
const diff = { added: [], removed: [], changed: [] };
for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
  if (!(key in before)) diff.added.push(key);
  else if (!(key in after)) diff.removed.push(key);
  else if (before[key] !== after[key]) diff.changed.push(key);
}
export default diff;
// --- merges deeply
function merge(target, source) {
  for (const [k, v] of Object.entries(source)) {
    if (v && typeof v === 'object' && !Array.isArray(v)) target[k] = merge(target[k] ?? {}, v);
    else target[k] = v;
  }
  return target;
}
merge({ a: { b: 1 } }, { a: { c: 2 }, d: [1] });
// --- picks and leaves out
const pick = (o, ...keys) => Object.fromEntries(keys.filter((k) => k in o).map((k) => [k, o[k]]));
const { secret, ...rest } = { id: 1, secret: 's', name: 'n' };
[pick(rest, 'id'), rest, secret.length];
// --- chunks and zips
const chunk = (xs, n) => xs.length ? [xs.slice(0, n), ...chunk(xs.slice(n), n)] : [];
const zip = (a, b) => a.map((x, i) => [x, b[i]]);
zip(chunk([1, 2, 3, 4, 5], 2), ['a', 'b', 'c']);
// --- averages and rounds
const nums = [1, 2, 3.5];
const avg = nums.reduce((a, b) => a + b, 0) / nums.length;
const stats = { avg: +avg.toFixed(2), max: Math.max(...nums) };
stats.median = nums.toSorted((a, b) => a - b)[Math.floor(nums.length / 2)];
export default stats;
// --- walks over keys of anything
const config = { host: 'h', port: 1, tls: { on: true } };
const flat = {};
(function walk(o, path) {
  for (const k in o) {
    const p = path ? `${path}.${k}` : k;
    if (typeof o[k] === 'object') walk(o[k], p); else flat[p] = o[k];
  }
})(config, '');
export default flat;
// --- reduce with a list to begin with
const evens = [1, 2, 3, 4].reduce((acc, n) => n % 2 ? acc : acc.concat(n), []);
const spread = [[1], [2, 3]].reduce((acc, xs) => [...acc, ...xs], []);
[evens, spread];
// --- reduce into a map of lists
const m = [['a', 1], ['b', 2], ['a', 3]].reduce((map, [k, v]) => {
  if (!map.has(k)) map.set(k, []);
  map.get(k).push(v);
  return map;
}, new Map());
[...m.entries()];
// --- a report object that grows
const report = { title: 'Report' };
report.generated = new Date(0).toISOString();
report.sections = [];
report.sections.push({ heading: 'One', body: '' });
report.sections[0].body += 'text';
report.count = report.sections.length;
export default report;
// --- numbers that are texts
const prices = ['1.50', '2.25'];
const sum = prices.reduce((total, p) => total + parseFloat(p), 0);
const qty = '3';
export default { sum, times: sum * qty, minus: qty - 1 };
// --- compares loosely
const id = 5;
const found = [{ id: '5' }, { id: '6' }].find((x) => x.id == id);
found.id;
// --- copies and deletes
const original = { a: 1, b: 2 };
const copy = { ...original };
delete copy.b;
copy['c'] = 3;
export default copy;
// --- a matrix
const size = 3;
const matrix = Array.from({ length: size }, () => new Array(size).fill(0));
for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) matrix[i][j] = i * j;
const transposed = matrix[0].map((_, c) => matrix.map((row) => row[c]));
transposed.flat().filter(Boolean).length;
// --- checks its input by hand
const input = JSON.parse('{"name":"x","count":"3"}');
if (typeof input.name !== 'string') throw new Error('name');
const count = Number.isFinite(+input.count) ? +input.count : 0;
export default { name: input.name, count };
// --- a histogram
const buckets = new Array(5).fill(0);
[1, 12, 25, 37, 44].forEach((n) => { buckets[Math.floor(n / 10)]++; });
buckets.map((n, i) => `${i * 10}: ${'#'.repeat(n)}`).join('\n');
// --- running totals and pairs
const steps = [3, 1, 2];
let total = 0;
const running = steps.map((n) => (total += n));
const pairs = steps.slice(1).map((n, i) => [steps[i], n]);
export default { running, pairs };
// --- unique by key
const seen = new Set();
const unique = [{ id: 1 }, { id: 1 }, { id: 2 }].filter((x) => !seen.has(x.id) && seen.add(x.id));
unique.length;
// --- parses numbers of texts
const parts = '10px 20px'.split(' ').map((x) => parseInt(x));
const strange = parseInt(42.7);
[parts, strange, isNaN('x'), Math.max('3', 2)];
