// Runs a workload in a peer, round by round, and holds every answer against the expected one.

import { isDeepStrictEqual } from 'node:util';
import { rss } from './resident.mjs';

const now = () => performance.now() * 1000;
// A tenth of a microsecond is below what the clock tells.
const rounded = (time) => Math.round(time * 10) / 10;

// Runs that wait at the same time, where the command line names no other number.
const WAITING = 1000;

// Milliseconds between two looks at the memory: several while a run waits.
const LOOK_EVERY = 10;

// A quarter of the budget goes to warming up: wasm is compiled twice, the second time while it runs.
const WARM_UP = 0.25;
const LEAST_ROUNDS = 3;

export async function measure(opened, workload, { budget, rounds }) {
  if (workload.name === 'waiting') return waiting(opened, workload, rounds ?? WAITING);
  const round = () => (workload.kind === 'kernel' ? evaluation(opened, workload) : whole(opened, workload));
  await repeat(round, budget * WARM_UP);
  const times = await repeat(round, budget, rounds);
  return { ...summary(times), rounds: times.length, resident: null };
}

// A fresh sandbox made, the script evaluated, the answer read, the sandbox disposed.
async function whole(opened, workload) {
  const start = now();
  const sandbox = await opened.fresh(workload);
  const answer = await sandbox.evaluate(workload);
  await sandbox.dispose();
  const took = now() - start;
  check(workload, answer);
  return took;
}

// The evaluation alone. A sandbox that is another process measures it there.
async function evaluation(opened, workload) {
  const sandbox = await opened.fresh(workload);
  const start = now();
  const answer = await sandbox.evaluate(workload);
  const took = sandbox.microseconds ?? now() - start;
  await sandbox.dispose();
  check(workload, answer);
  return took;
}

// All at once, each in a sandbox of its own: the time until the last has answered.
async function waiting(opened, workload, count) {
  await whole(opened, workload);
  const before = rss(opened);
  let most = before;
  const look = () => (most = Math.max(most, rss(opened)));
  const looking = setInterval(look, LOOK_EVERY);
  const start = now();
  const open = Array.from({ length: count }, async () => {
    const sandbox = await opened.fresh(workload);
    return { sandbox, answer: await sandbox.evaluate(workload) };
  });
  const ended = await Promise.all(open);
  look();
  clearInterval(looking);
  for (const { sandbox } of ended) await sandbox.dispose();
  const took = rounded(now() - start);
  for (const { answer } of ended) check(workload, answer);
  return { p50: took, p99: took, mean: took, rounds: count, resident: most - before };
}

async function repeat(round, budget, rounds = Infinity) {
  const times = [];
  const end = now() + budget * 1000;
  while (times.length < rounds && (times.length < LEAST_ROUNDS || now() < end)) times.push(await round());
  return times;
}

function check(workload, answer) {
  if (isDeepStrictEqual(answer, workload.expected)) return;
  throw new Error(`${workload.name} answered ${JSON.stringify(answer)}, not ${JSON.stringify(workload.expected)}`);
}

function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
  return { p50: at(0.5), p99: at(0.99), mean: rounded(times.reduce((sum, time) => sum + time, 0) / times.length) };
}
