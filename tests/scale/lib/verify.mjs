// What must hold when all is over: every run ended, every effect counted once, calls in doubt named, nothing written or sent
// by a host that had lost the run.

import { summary } from './common.mjs';
import { STEPS } from './hosts.mjs';
import { fault } from './streams.mjs';

/** Compares runs with effects. `problems` is empty if all is well. */
export function verifyEffects(workload, effects, { allowRestarts = false } = {}) {
  const problems = [];
  const problem = (text) => problems.length < 50 && problems.push(text);
  const items = [...workload.items.values()];
  const states = {};
  const byKey = new Map();
  for (const arrival of effects.arrivals) {
    const list = byKey.get(arrival.key) ?? [];
    list.push(arrival);
    byKey.set(arrival.key, list);
  }
  let [countedOnce, missing, counted] = [0, 0, 0];
  for (const item of items) {
    states[item.status] = (states[item.status] ?? 0) + 1;
    if (item.status !== 'finished') problem(`run ${item.number} (${item.id}) is ${item.status} ${JSON.stringify(item.error ?? '')}`);
    for (let step = 1; step <= STEPS; step += 1) {
      const count = effects.applied.get(`${item.number}/${step}`) ?? 0;
      if (count === 1) countedOnce += 1;
      else if (count === 0) missing += 1;
      else counted += 1;
      if (count !== 1 && item.status === 'finished' && !(allowRestarts && count > 1)) problem(`effect ${step} of run ${item.number} (${item.id}) was counted ${count} times`);
    }
    if (item.status === 'finished') {
      const receipts = item.value?.receipts ?? [];
      const known = new Set(effects.receipts.values());
      if (receipts.length !== STEPS || !receipts.every((receipt) => known.has(receipt))) problem(`run ${item.number} has receipts ${JSON.stringify(receipts)}`);
    }
  }
  // What a client can try again is 503; 500 is a fault of the server.
  for (const [answer, count] of Object.entries(workload.refusals)) if (answer.startsWith('500')) problem(`${count} answers were ${answer}`);
  // A call that may not be repeated is sent again only after a person said that it did not happen.
  const saidNo = new Set(workload.inDoubt.filter((doubt) => doubt.outcome === 'didNotHappen').map((doubt) => `${doubt.run}/${doubt.call}`));
  let [repeated, repeatable] = [0, 0];
  for (const [key, list] of byKey) {
    if (list.length < 2) continue;
    if (list[0].kind === 'set') {
      repeatable += list.length - 1;
      continue;
    }
    repeated += list.length - 1;
    if (!allowRestarts) problem(`call ${key} was sent ${list.length} times${saidNo.has(key) ? ', once after a person said that it did not happen' : ''}`);
  }
  for (const doubt of workload.inDoubt) {
    const isNamed = typeof doubt.params.run === 'number' && typeof doubt.params.step === 'number' && doubt.params.run === doubt.number;
    if (!isNamed) problem(`a call in doubt of run ${doubt.run} is not named: ${JSON.stringify(doubt)}`);
  }
  const followed = workload.followed ?? [];
  for (const stream of followed) {
    const wrong = fault(stream);
    if (wrong) problem(`the stream of run ${stream.run} ${wrong}`);
  }
  if (effects.withoutKey > 0) problem(`${effects.withoutKey} requests had no idempotency key`);
  const times = items.filter((item) => item.ended && item.input.sleepMs === 0 && !item.input.asks).map((item) => item.ended - item.begun);
  const byOutcome = (outcome) => workload.inDoubt.filter((doubt) => doubt.outcome === outcome).length;
  return {
    problems,
    runs: items.length,
    states,
    effects: { expected: items.length * STEPS, countedOnce, missing, countedMore: counted },
    requests: { all: effects.arrivals.length, repeatedIdempotent: repeatable, repeatedOthers: repeated },
    inDoubt: { all: workload.inDoubt.length, happened: byOutcome('happened'), didNotHappen: byOutcome('didNotHappen') },
    streams: { followed: followed.length, events: followed.reduce((sum, { seen }) => sum + seen.length, 0), connections: followed.reduce((sum, { connections }) => sum + connections, 0) },
    approved: workload.approved,
    resumedByHand: workload.resumed,
    refusals: workload.refusals,
    lagOfCounterMs: effects.lag ? { p99: Math.round(effects.lag.percentile(99) / 1e6), max: Math.round(effects.lag.max / 1e6) } : null,
    seconds: Math.round((workload.elapsedMs ?? 0) / 100) / 10,
    msOfPlainRuns: summary(times),
  };
}

/** Looks at the journal in Postgres. */
export async function verifyJournal(database, effects, { schema = 'agent_spaces' } = {}) {
  const problems = [];
  const sql = (text) => database.sql(text);
  const one = async (text) => Number((await sql(text))[0][0]);
  const statuses = Object.fromEntries((await sql(`SELECT status, count(*) FROM ${schema}.runs GROUP BY 1`)).map(([name, count]) => [name, Number(count)]));
  const kinds = Object.fromEntries((await sql(`SELECT kind, count(*) FROM ${schema}.entries GROUP BY 1`)).map(([name, count]) => [name, Number(count)]));
  const gaps = await one(`SELECT count(*) FROM (SELECT count(*) AS held, max(seq) + 1 AS numbered FROM ${schema}.entries GROUP BY run) AS of_run WHERE held <> numbered`);
  if (gaps > 0) problems.push(`${gaps} runs have gaps in their entries`);
  const back = await one(
    `SELECT count(*) FROM (SELECT epoch < lag(epoch) OVER (PARTITION BY run ORDER BY seq) AS is_back FROM ${schema}.entries) AS pairs WHERE is_back`,
  );
  if (back > 0) problems.push(`${back} entries were written under an epoch that was over`);
  const moved = await one(`SELECT count(*) FROM ${schema}.runs WHERE epoch > 1`);
  const epochs = await one(`SELECT coalesce(max(epoch), 0) FROM ${schema}.runs`);
  const owned = await one(`SELECT count(*) FROM ${schema}.runs WHERE status = 'running'`);
  const late = await lateRequests(sql, schema, effects);
  late.slice(0, 20).forEach((text) => problems.push(text));
  return { problems, statuses, entries: kinds, runsThatMoved: moved, highestEpoch: epochs, stillOwned: owned, sentAfterTakeover: late.length };
}

/**
 * Requests that a host sent after another had taken the run over: the newest `sent` of the call before the request is of an
 * epoch that was over by then.
 */
async function lateRequests(sql, schema, effects) {
  const rows = await sql(
    `SELECT run, epoch, kind, at, CASE kind WHEN 'sent' THEN coalesce(convert_from(body, 'UTF8')::json->>'call', convert_from(body, 'UTF8')::json->>'id') END
     FROM ${schema}.entries WHERE run IN (SELECT id FROM ${schema}.runs WHERE epoch > 1) ORDER BY run, seq`,
  );
  const sent = new Map();
  const taken = new Map();
  for (const [run, epochText, kind, atText, call] of rows) {
    const [epoch, at] = [Number(epochText), Number(atText)];
    if (kind === 'sent') {
      const key = `${run}/${call}`;
      sent.set(key, [...(sent.get(key) ?? []), { epoch, at }]);
    }
    const list = taken.get(run) ?? [];
    if (list.length === 0 || list.at(-1).epoch < epoch) list.push({ epoch, at });
    taken.set(run, list);
  }
  const late = [];
  for (const arrival of effects.arrivals) {
    const run = arrival.key.split('/')[0];
    const epochs = taken.get(run);
    const entries = sent.get(arrival.key);
    if (!epochs || !entries) continue;
    const newest = entries.filter((entry) => entry.at <= arrival.at).at(-1);
    const came = arrival.at - (arrival.lag ?? 0);
    const ruling = epochs.filter((entry) => entry.at < came).at(-1);
    if (newest && ruling && newest.epoch < ruling.epoch) {
      late.push(`${arrival.host} sent ${arrival.key} ${came - ruling.at} ms after another host had taken the run over`);
    }
  }
  return late;
}
