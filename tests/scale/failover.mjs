// Failover of the database alone: writers with psql, and every acknowledged row must be there at the end.
//
//   node tests/scale/failover.mjs [--failovers 3] [--writers 2] [--seed 1] [--out FILE]

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { generator, options, report, say, sleep } from './lib/common.mjs';
import { BIN, Cluster, DATABASE } from './lib/postgres.mjs';
import { Workroom } from './lib/workroom.mjs';

const asked = options({ failovers: 3, writers: 2, seed: 1, out: '', keep: false });
const random = generator(asked.seed);
const workroom = new Workroom(asked.keep);
const cluster = new Cluster(workroom);
await cluster.start();
say('the cluster is up');
await cluster.sql('CREATE TABLE written (writer int, number int, PRIMARY KEY (writer, number));\n');
await cluster.sql(`GRANT ALL ON written TO ${DATABASE};\n`);

const hosts = cluster.nodes.map((node) => `127.0.0.1:${node.port}`).join(',');
const acknowledged = [];
let isOver = false;
let longestGap = 0;

/** One statement at a time; a lost connection is opened again, and the number is tried again. */
async function write(writer) {
  let [number, last] = [0, Date.now()];
  while (!isOver) {
    const sql = `INSERT INTO written VALUES (${writer}, ${number}) ON CONFLICT DO NOTHING`;
    const url = `postgres://${DATABASE}@${hosts}/${DATABASE}?target_session_attrs=read-write&connect_timeout=3`;
    const child = spawn(join(BIN, 'psql'), [url, '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', sql], { stdio: 'ignore' });
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const code = await new Promise((done) => child.once('exit', done));
    clearTimeout(timer);
    if (code !== 0) {
      await sleep(200);
      continue;
    }
    longestGap = Math.max(longestGap, Date.now() - last);
    last = Date.now();
    acknowledged.push(`${writer}\t${number}`);
    number += 1;
  }
}

const writers = Array.from({ length: asked.writers }, (_, writer) => write(writer));
const faults = [];
for (let count = 0; count < asked.failovers; count += 1) {
  await sleep(random.between(2000, 5000));
  await cluster.healthy(300_000);
  const kind = ['crash', 'loss', 'switchover'][count % 3];
  const begun = Date.now();
  const former = await { crash: () => cluster.crashPrimary(), loss: () => cluster.losePrimary(), switchover: () => cluster.switchover() }[kind]();
  await cluster.promoted(former, 300_000);
  const promotedMs = Date.now() - begun;
  if (kind === 'loss') cluster.revive(former);
  await cluster.healthy(300_000);
  faults.push({ kind, promotedMs, healthyMs: Date.now() - begun });
  say(`${kind} of ${former.name}: another primary after ${promotedMs} ms, a synchronous standby after ${Date.now() - begun} ms`);
}
isOver = true;
await Promise.all(writers);
const stored = new Set((await cluster.sql('SELECT writer, number FROM written')).map((row) => row.join('\t')));
const lost = acknowledged.filter((row) => !stored.has(row));
report({ faults, acknowledged: acknowledged.length, stored: stored.size, lost: lost.length, longestGapMs: longestGap }, asked.out);
process.exit(lost.length === 0 ? 0 : 1);
