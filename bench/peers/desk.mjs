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
