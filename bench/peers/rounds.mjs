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
  const round = () => fresh(opened, workload);
  await repeat(round, budget * WARM_UP);
  const times = await repeat(round, budget, rounds);
  const evaluations = summary(times.map((time) => time.evaluation));
  const counted = workload.kind === 'kernel' ? evaluations : summary(times.map((time) => time.whole));
  return { ...counted, evaluation: evaluations.p50, rounds: times.length, resident: null };
}

// A fresh sandbox made, the script evaluated, the answer read, the sandbox disposed; and the evaluation alone, which
// a sandbox that is another process measures there.
async function fresh(opened, workload) {
  const start = now();
  const sandbox = await opened.fresh(workload);
  const made = now();
  const answer = await sandbox.evaluate(workload);
  const evaluated = now();
  await sandbox.dispose();
  const whole = now() - start;
  check(workload, answer);
  return { whole, evaluation: sandbox.microseconds ?? evaluated - made };
}

// A kernel as a function of one sandbox, called again and again: what an engine makes of code that it keeps.
export async function measureHot(opened, workload, { budget, rounds }) {
  if (workload.kind !== 'kernel') throw new Error(`--hot is for kernels, and ${workload.name} is none`);
  const sandbox = await opened.fresh(workload);
  await sandbox.evaluate({ ...workload, expression: `globalThis.kernel = () => {\n${workload.body}\n}; 0` });
  const call = { ...workload, expression: 'kernel()' };
  const round = async () => {
    const start = now();
    const answer = await sandbox.evaluate(call);
    const took = now() - start;
    check(workload, answer);
    return took;
  };
  await repeat(round, budget * WARM_UP);
  const times = await repeat(round, budget, rounds);
  await sandbox.dispose();
  return { ...summary(times), rounds: times.length, resident: null };
}

// All at once, each in a sandbox of its own: the time until the last has answered.
async function waiting(opened, workload, count) {
  await fresh(opened, workload);
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
