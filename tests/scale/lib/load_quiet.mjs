// The quiet tenant: runs at a steady rate, whether or not earlier ones were answered.

import { performance } from 'node:perf_hooks';
import { sleep } from './common.mjs';
import { SOURCE } from './hosts.mjs';
import { answer, Client, Lag, prioritize, spaceOf } from './load_process.mjs';

/** Runs in progress at once; beyond that nothing can be measured any more. */
const MOST_OPEN = 1000;

const client = new Client();
const lag = new Lag();
const spaces = new Map();
prioritize(-10);

/** Sends runs for `seconds`. Those of the first `lead` seconds are not returned. */
async function load({ targets, rate, lead, seconds, first }) {
  for (const target of targets) if (!spaces.has(target.port)) spaces.set(target.port, await spaceOf(client, target));
  const interval = 1000 / rate;
  const count = Math.round(rate * (lead + seconds));
  const skipped = Math.round(rate * lead);
  const samples = [];
  const open = new Set();
  let unsent = 0;
  const begun = performance.now();
  for (let number = 0; number < count; number += 1) {
    const planned = begun + number * interval;
    const early = planned - performance.now();
    if (early > 0) await sleep(early);
    if (number === skipped) lag.begin();
    if (open.size >= MOST_OPEN) {
      unsent += 1;
      continue;
    }
    const task = execute(targets[number % targets.length], first + number, performance.now() - planned).then((sample) => {
      open.delete(task);
      if (number >= skipped) samples.push(sample);
    });
    open.add(task);
  }
  const lagMs = lag.end();
  await Promise.all(open);
  return { samples, unsent, lagMs, next: first + count };
}

/** One run. `late` is how much later than planned it is sent. */
async function execute(target, run, late) {
  const body = Buffer.from(JSON.stringify({ name: 'quiet.ts', source: SOURCE, input: { run, sleepMs: 0, asks: false } }));
  const [at, begun] = [Date.now(), performance.now()];
  try {
    const answered = await client.send('POST', target, `/v1/spaces/${spaces.get(target.port)}/runs?wait=60`, { body });
    const ms = performance.now() - begun;
    const shown = answered.json();
    const isFinished = answered.status === 201 && shown.status === 'finished';
    return { run, at, ms, late, failure: isFinished ? undefined : `${answered.status} ${shown.code ?? shown.status} ${shown.error?.code ?? ''}`.trim() };
  } catch (error) {
    return { run, at, ms: performance.now() - begun, late, failure: `no answer: ${error.code ?? error.message}` };
  }
}

answer({ load });
