// What the host answers. The benchmark's Rust side answers the same; workloads/README.md has the formulas.

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const CITIES = ['Aarhus', 'Bergen', 'Cork', 'Delft', 'Evora'];

const trains = [5, 8, 11, 14, 17, 20].map((hour, i) => ({
  id: `train-${i}`,
  hour,
  minute: (i * 13) % 60,
  destination: 'Lakeside',
  platform: String(1 + (i % 4)),
}));

const record = (i) => ({
  id: i,
  name: `name-${i}`,
  city: CITIES[i % 5],
  score: (i * 7919) % 1000,
  active: i % 3 === 0,
  tags: [`t${i % 10}`, `u${i % 7}`],
});

const STATUSES = ['paid', 'open', 'paid', 'cancelled'];
const two = (number) => String(number).padStart(2, '0');

const purchase = (i) => ({
  record: (i * 7907) % 10000,
  amount: ((i * 613) % 8000) / 4,
  day: `2026-${two(1 + (i % 12))}-${two(1 + (i % 28))}`,
  status: STATUSES[i % 4],
});

// A text, so that both sides of the benchmark write it letter by letter the same.
const item = (i) =>
  `{"id":${i},"title":" Item ${i} of \\"the shop\\" ","price":${((i * 37) % 4000) / 4},"inStock":${i % 3 !== 0},` +
  `"tags":["t${i % 10}","u${i % 7}"],"size":{"width":${i % 50},"height":${i % 70}},` +
  `"note":${i % 5 === 0 ? 'null' : `"fragile, lot ${i}"`}}`;

const ITEMS_OF_SHELF = 100;

function document(items) {
  const shelves = Array.from({ length: Math.ceil(items / ITEMS_OF_SHELF) }, (_, shelf) => {
    const first = shelf * ITEMS_OF_SHELF;
    const length = Math.min(ITEMS_OF_SHELF, items - first);
    return `{"name":"shelf ${shelf}","items":[${Array.from({ length }, (_, i) => item(first + i)).join(',')}]}`;
  });
  return `{"version":1,"shelves":[${shelves.join(',')}]}`;
}

const SERVICES = ['api', 'auth', 'billing', 'search', 'mail'];
const CAUSES = ['timeout', 'connection refused', 'disk full'];
const PATHS = ['orders', 'users', 'files'];

function line(i) {
  const at = `2026-03-${two(1 + (Math.floor(i / 86400) % 28))}T${two(Math.floor(i / 3600) % 24)}:${two(Math.floor(i / 60) % 60)}:${two(i % 60)}Z`;
  const level = i % 50 === 0 ? 'ERROR' : i % 10 === 0 ? 'WARN' : i % 3 === 0 ? 'DEBUG' : 'INFO';
  const [took, user] = [(i * 7919) % 2000, `user${(i * 31) % 997}@example.org`];
  const head = `${at} ${level} [${SERVICES[(i * 7) % 5]}]`;
  if (level === 'ERROR') return `${head} request r${i} failed after ${took}ms: ${CAUSES[(i / 50) % 3]} (${user})`;
  return `${head} GET /v1/${PATHS[i % 3]}/${i % 1000} ${level === 'WARN' ? 503 : 200} in ${took}ms ${user}`;
}

// Made once for each size: what making them costs is no part of any sandbox.
const kept = new Map();
function once(key, make) {
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key);
}

export const desk = {
  trains: async ({ to }) => ({ trains: trains.map((train) => ({ ...train, destination: to })) }),
  train: async ({ id }) => ({ id, operator: 'Northern Line', stops: ['Harbour', 'Mill', 'Lakeside'] }),
  note: async ({ text, count }) => ({ text, count }),
  records: async ({ count }) => once(`records ${count}`, () => ({ records: Array.from({ length: count }, (_, i) => record(i)) })),
  text: async ({ bytes }) => once(`text ${bytes}`, () => ({ text: LETTERS.repeat(Math.ceil(bytes / 26)).slice(0, bytes) })),
  purchases: async ({ count }) => once(`purchases ${count}`, () => ({ purchases: Array.from({ length: count }, (_, i) => purchase(i)) })),
  document: async ({ items }) => once(`document ${items}`, () => ({ text: document(items) })),
  log: async ({ lines }) => once(`log ${lines}`, () => ({ text: Array.from({ length: lines }, (_, i) => line(i)).join('\n') })),
  wait: ({ milliseconds }) => new Promise((resolve) => setTimeout(() => resolve({ milliseconds }), milliseconds)),
};

export const names = Object.keys(desk);

// For sandboxes whose border carries text: the answer of a call as JSON.
export async function callAsText(name, params) {
  return JSON.stringify(await desk[name](JSON.parse(params)));
}

// Makes `desk` in a sandbox with a global `callDesk(name, paramsAsText)` that answers with text.
export const deskOfTexts = guestDesk('async (params) => JSON.parse(await callDesk(name, JSON.stringify(params)))');

// The same where `callDesk` answers with the value itself.
export const deskOfValues = guestDesk('(params) => callDesk(name, JSON.stringify(params))');

function guestDesk(call) {
  return `globalThis.desk = {}; for (const name of ${JSON.stringify(names)}) desk[name] = ${call};`;
}
