// The same workload on 1, 2 and 4 hosts: throughput, latency of claims, load of the database per run.
//
//   node tests/scale/growth.mjs --binary PATH [--hosts 1,2,4] [--runs 1000] [--share 0.2] [--host-cpus 1] [--db-cpus 0] [--out FILE]
//
// Each host has `--share` of a core (control groups; 0: no limit) or, without it, the cores of --host-cpus; a list such as
// `0;1;0;1` pins the hosts one by one. --standby measures with Patroni and a synchronous standby.

import { writeFileSync } from 'node:fs';
import { Effects } from './lib/effects.mjs';
import { CpuShare } from './lib/cpu_share.mjs';
import { generator, options, report, say, sleep, summary, table } from './lib/common.mjs';
import { project, startHosts } from './lib/hosts.mjs';
import { database } from './lib/postgres.mjs';
import { verifyEffects } from './lib/verify.mjs';
import { Workload } from './lib/workload.mjs';
import { cpuSeconds, descendants, Workroom } from './lib/workroom.mjs';

const asked = options({
  binary: 'agent-spaces', hosts: '1,2,4', runs: 1000, warm: 60, window: 24, seed: 1, share: 0, hostCpus: '', dbCpus: '', standby: false,
  connections: 10, storeOptions: '', sleeps: 0.1, out: '', keep: false, minutes: 20,
});
const workroom = new Workroom(asked.keep);
const effects = await Effects.open(generator(asked.seed), [1, 5]);
const store = await database(workroom, { single: !asked.standby, cpus: asked.dbCpus || undefined });
const folder = project(workroom, effects.port, { lease: 30, concurrency: 64 });
const pins = asked.hostCpus.split(';');
const rows = [];
let offset = 0;

for (const count of asked.hosts.split(',').map(Number)) {
  const schema = `growth_${count}_${rows.length}`;
  const shares = [];
  const settings = (number) => {
    const group = asked.share > 0 ? new CpuShare(`${rows.length}-${number}`, asked.share) : undefined;
    if (group) shares.push(group);
    const options = `&schema=${schema}&connections=${asked.connections}${asked.storeOptions}`;
    return { binary: asked.binary, project: folder, database: store, options, cpus: pins[(number - 1) % pins.length] || undefined, group };
  };
  const hosts = await startHosts(workroom, count, settings);
  const load = async (runs, name) => {
    const base = offset;
    offset += runs;
    const mix = { sleeps: asked.sleeps, asks: 0 };
    const workload = new Workload({ hosts, effects, runs, seed: asked.seed, window: asked.window * count, mostOpen: asked.window * count * 4, mix, sleepMs: [2500, 4000], prefix: `${schema}-${name}` });
    const input = workload.input.bind(workload);
    workload.input = (number) => ({ ...input(number), run: base + number });
    await workload.execute(Date.now() + asked.minutes * 60_000);
    workload.items = new Map([...workload.items.values()].map((item) => [base + item.number, { ...item, number: base + item.number }]));
    return workload;
  };
  await load(asked.warm * count, 'warm');
  await store.sql('SELECT pg_stat_statements_reset()');
  const before = await numbers(hosts);
  const workload = await load(asked.runs, 'load');
  await sleep(500);
  const after = await numbers(hosts);
  const { problems, states, msOfPlainRuns, refusals } = verifyEffects(workload, effects);
  const late = [...workload.items.values()].filter((item) => item.input.sleepMs > 0 && item.value).map((item) => item.value.late);
  const seconds = workload.elapsedMs / 1000;
  const per = (name) => Math.round(((after[name] - before[name]) / asked.runs) * 100) / 100;
  const statements = await store.sql(
    `SELECT calls, round(total_exec_time::numeric, 1), round(mean_exec_time::numeric, 3), round(stddev_exec_time::numeric, 3), regexp_replace(left(query, 160), '\\s+', ' ', 'g')
     FROM pg_stat_statements WHERE query LIKE '%${schema}%' ORDER BY total_exec_time DESC`,
  );
  const calls = statements.reduce((sum, [number]) => sum + Number(number), 0);
  const spent = statements.reduce((sum, [, ms]) => sum + Number(ms), 0);
  const [claim] = await store.sql(
    `SELECT round(mean_exec_time::numeric, 3), calls FROM pg_stat_statements WHERE query LIKE '%${schema}%' AND query LIKE '%epoch = found.epoch +%' ORDER BY calls DESC LIMIT 1`,
  );
  rows.push({
    hosts: count, runs: asked.runs, states, problems, refusals, seconds: Math.round(seconds * 10) / 10, runsPerSecond: Math.round((asked.runs / seconds) * 10) / 10,
    effectsPerSecond: Math.round((asked.runs * 3 * 10) / seconds) / 10, msOfPlainRuns, timerLateMs: summary(late),
    claimStatementMs: claim ? Number(claim[0]) : null, claimsPerRun: claim ? Math.round((Number(claim[1]) / asked.runs) * 100) / 100 : null, statementsPerRun: Math.round((calls / asked.runs) * 10) / 10, statementMsPerRun: Math.round((spent / asked.runs) * 100) / 100,
    commitsPerRun: per('commits'), walBytesPerRun: Math.round(per('wal')), rowsWrittenPerRun: per('written'), databaseCpuMsPerRun: per('databaseCpu'), hostCpuMsPerRun: per('hostCpu'),
    connections: after.connections, statements: statements.slice(0, 25).map(([number, ms, mean, deviation, query]) => ({ calls: Number(number), ms: Number(ms), meanMs: Number(mean), deviationMs: Number(deviation), query })),
  });
  say(JSON.stringify({ ...rows.at(-1), statements: undefined }));
  for (const host of hosts) await host.end();
  shares.forEach((share) => share.remove());
}

/** Counters of the database and of processes. */
async function numbers(hosts) {
  const [[commits, written, wal, connections]] = await store.sql(
    `SELECT xact_commit, tup_inserted + tup_updated + tup_deleted, (SELECT wal_bytes FROM pg_stat_wal), numbackends FROM pg_stat_database WHERE datname = current_database()`,
  );
  return {
    commits: Number(commits), written: Number(written), wal: Number(wal), connections: Number(connections),
    databaseCpu: cpuSeconds(descendants(store.pids())) * 1000, hostCpu: cpuSeconds(hosts.map((host) => host.child.pid)) * 1000,
  };
}

const columns = ['hosts', 'runs/s', 'run p50/p95 ms', 'timer late p50/p95 ms', 'claim ms', 'statements/run', 'statement ms/run', 'database CPU ms/run', 'WAL kB/run', 'host CPU ms/run', 'connections'];
const markdown = table(columns, rows.map((row) => [
  row.hosts, row.runsPerSecond, `${row.msOfPlainRuns.p50} / ${row.msOfPlainRuns.p95}`, `${row.timerLateMs.p50} / ${row.timerLateMs.p95}`, row.claimStatementMs, row.statementsPerRun, row.statementMsPerRun,
  row.databaseCpuMsPerRun, Math.round(row.walBytesPerRun / 100) / 10, row.hostCpuMsPerRun, row.connections,
]));
const isOk = rows.every((row) => row.problems.length === 0);
report({ ok: isOk, share: asked.share, hostCpus: asked.hostCpus, dbCpus: asked.dbCpus, standby: asked.standby, rows }, asked.out);
process.stdout.write(`\n${markdown}\n`);
if (asked.out) writeFileSync(asked.out.replace(/(\.json)?$/, '.md'), `${markdown}\n`);
process.exit(isOk ? 0 : 1);
