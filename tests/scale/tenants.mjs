// What a noisy tenant does to the latency of a quiet one.
//
//   node tests/scale/tenants.mjs --binary PATH [--noises none,burner,flood,compute,parked,large] [--rate 10] [--rounds 4] [--seconds 20] [--out FILE]
//
// The quiet tenant starts runs at a steady rate, each with three calls that are HTTP requests. It is measured alone and beside the noise by
// turns, and alone again at the end, so that what changes on the machine meanwhile is in both. `none` is a control: no noise at all. So is `burner`:
// a program outside that computes on the cores of the hosts, with the priority of the noise.
//
// To keep the load and Postgres off the host's core on a machine with two, and other programs off both:
//
//   nice -n -10 node tests/scale/tenants.mjs --binary PATH --host-cpus 0 --db-cpus 1 --load-cpus 1 --noise-nice 0

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Effects } from './lib/effects.mjs';
import { CpuShare } from './lib/cpu_share.mjs';
import { fail, generator, options, report, say, sleep, summary, table } from './lib/common.mjs';
import { project, startHosts } from './lib/hosts.mjs';
import { Lag, LoadProcess, pin, prioritize } from './lib/load_process.mjs';
import { database } from './lib/postgres.mjs';
import { changes, Cpu, p99, parts, Statements } from './lib/tenant_numbers.mjs';
import { descendants, Workroom } from './lib/workroom.mjs';

const KINDS = ['none', 'burner', 'flood', 'compute', 'parked', 'large'];
/** Those that say what the machine does. Their change is no fault of a host. */
const CONTROLS = ['none', 'burner'];
/** Milliseconds that the noise may be late without being less. */
const MOST_LAG = 50;
/** Cores that others may take without disturbing what is measured. */
const MOST_TAKEN = 0.2;
/** Between phases alone p99 may differ by this factor. */
const MOST_SPREAD = 2;
const SCHEMA = 'tenants';
const asked = options({
  binary: 'agent-spaces', hosts: 1, noises: KINDS.join(','), rate: 10, delay: 20, rounds: 4, seconds: 20, lead: 2, settle: 2, window: 64, large: 8, parked: 400, computeSeconds: 3,
  noisyCallers: 4, concurrency: 10, all: 300, noisyRuns: 0, most: 20, connections: 10, share: 0, hostCpus: '', dbCpus: '', loadCpus: '', noiseNice: 10, standby: false, storeOptions: '', seed: 1, out: '', keep: false,
});
const kinds = asked.noises.split(',');
for (const kind of kinds) if (!KINDS.includes(kind)) fail(`unknown noise ${kind}; known: ${KINDS.join(' ')}`);

const workroom = new Workroom(asked.keep);
const effects = await Effects.open(generator(asked.seed), [asked.delay, asked.delay]);
const store = await database(workroom, { single: !asked.standby, cpus: asked.dbCpus || undefined });
const callers = ['quiet', ...Array.from({ length: asked.noisyCallers }, (_, number) => `noisy-${number + 1}`)];
const tokenOf = (caller) => `token-of-the-caller-${caller}`;
const tenantOf = (caller) => caller.split('-')[0];
const serve = {
  concurrency: { rest: asked.concurrency, all: asked.all },
  tenants: { quiet: {}, noisy: asked.noisyRuns > 0 ? { runs: asked.noisyRuns } : {} },
  callers: Object.fromEntries(callers.map((caller) => [caller, { token: { file: `./${caller}.token` }, tenant: tenantOf(caller), spaces: ['scale'] }])),
};
const folder = project(workroom, effects.port, { lease: 30, settings: { serve } });
callers.forEach((caller) => writeFileSync(join(folder, `${caller}.token`), `${tokenOf(caller)}\n`, { mode: 0o600 }));
const pins = asked.hostCpus.split(';');
const hosts = await startHosts(workroom, asked.hosts, (number) => {
  const group = asked.share > 0 ? new CpuShare(`tenants-${number}`, asked.share) : undefined;
  const text = `&schema=${SCHEMA}&connections=${asked.connections}${asked.storeOptions}`;
  return { binary: asked.binary, project: folder, database: store, options: text, cpus: pins[(number - 1) % pins.length] || undefined, group, direct: true };
});
const targetsOf = (tenant) => callers.filter((caller) => tenantOf(caller) === tenant).flatMap((caller) => hosts.map(({ port }) => ({ port, token: tokenOf(caller) })));
const cpus = asked.loadCpus || undefined;
const quiet = new LoadProcess('./load_quiet.mjs', { cpus });
const noise = new LoadProcess('./load_noise.mjs', { cpus });
// From here on this process is the server of effects. Programs that it started before keep their priority.
const lag = new Lag();
prioritize(-10);
// Hosts and servers have processors of their own by now.
if (cpus) pin(cpus);
const cpu = new Cpu({ host: () => hosts.map((host) => host.child.pid), quiet: () => [quiet.pid], effects: () => [process.pid], noise: () => descendants([noise.pid]) }, store);
const statements = new Statements(store, SCHEMA);
let next = 1;

/** Measures the quiet tenant once. */
async function measure(lead = asked.lead, seconds = asked.seconds) {
  effects.arrivals = [];
  await statements.begin();
  lag.begin();
  const before = cpu.read();
  const measured = await quiet.ask('load', { targets: targetsOf('quiet'), rate: asked.rate, lead, seconds, first: next });
  const lagOfEffectsMs = lag.end();
  next = measured.next;
  const cores = cpu.since(before);
  return { ...measured, parts: parts(measured.samples, effects.arrivals, asked.delay), lagOfEffectsMs, cores, statements: await statements.end() };
}

/** Measures it beside the noise. */
async function measureBeside(kind) {
  const { window, large, parked, computeSeconds, noiseNice } = asked;
  await noise.ask('begin', { kind, targets: targetsOf('noisy'), window: kind === 'large' ? large : window, parked, computeSeconds, nice: noiseNice, cpus: asked.hostCpus.split(';')[0] });
  await noise.ask('reset');
  const measured = await measure();
  const made = await noise.ask('numbers');
  await noise.ask('end');
  await sleep(asked.settle * 1000);
  return { ...measured, noise: made };
}

await measure(0, 5);
const rows = [];
const problems = [];
const warnings = [];
for (const kind of kinds) {
  const alone = [await measure()];
  const beside = [];
  for (let round = 1; round <= asked.rounds; round += 1) {
    beside.push(await measureBeside(kind));
    alone.push(await measure());
    say(`${kind}, round ${round} of ${asked.rounds}: p99 ${p99(alone.at(-2))} ms alone, ${p99(beside.at(-1))} ms beside, ${p99(alone.at(-1))} ms alone; ${JSON.stringify(beside.at(-1).noise)}`);
  }
  const row = changes(kind, alone, beside, asked.seed);
  rows.push(row);
  for (const [failure, count] of Object.entries(row.failures)) problems.push(`${kind}: ${count} runs of the quiet tenant: ${failure}`);
  if (kind === 'none' && Math.abs(row.change.p99) > asked.most) problems.push(`none: p99 changes by ${row.change.p99} % without any noise: the machine is too restless, and the other rows say little`);
  else if (row.change.p99 > asked.most && !CONTROLS.includes(kind)) problems.push(`${kind}: p99 of the quiet tenant changes by ${row.change.p99} %, more than ${asked.most} %`);
  const late = Math.max(row.lagMs.quiet.beside - row.lagMs.quiet.alone, row.lagMs.effects.beside - row.lagMs.effects.alone);
  if (late > (row.alone.p99 * asked.most) / 400) warnings.push(`${kind}: the load generator itself is up to ${Math.round(late)} ms later beside the noise (p99); use --load-cpus`);
  if (row.lagMs.noise > MOST_LAG) warnings.push(`${kind}: the process of the noise is up to ${Math.round(row.lagMs.noise)} ms late (p99): there may be less noise than asked for; use --load-cpus or --noise-nice 0`);
  const taken = Math.max(...Object.values(row.cores).map(({ others, steal }) => others + steal));
  if (taken > MOST_TAKEN) warnings.push(`${kind}: other programs and machines take ${Math.round(taken * 10) / 10} of the cores: measure again when they do not`);
  const times = alone.map(p99);
  if (Math.max(...times) > Math.min(...times) * MOST_SPREAD) warnings.push(`${kind}: p99 alone is ${times.join(', ')} ms in its phases: a change may be hidden`);
  if (row.interval.low < asked.most && row.interval.high > asked.most) warnings.push(`${kind}: p99 changes by ${row.interval.low} to ${row.interval.high} %: too few runs to tell; use more --rounds or --seconds`);
}
// The server acts once per call.
const repeated = [...effects.applied.values()].filter((count) => count > 1).length;
if (repeated > 0) problems.push(`${repeated} effects happened more than once`);

const three = ({ p50, p95, p99 }) => `${p50} / ${p95} / ${p99}`;
const columns = ['noise', 'alone p50/p95/p99 ms', 'beside', 'change %', 'p99 90 % interval', 'requests/s', 'refused %', 'request to first call p50/p99 ms alone', 'beside', 'statement ms alone', 'beside', 'lag p99 ms quiet/effects/noise', 'cores host/database alone', 'beside', 'others and steal'];
const markdown = table(columns, rows.map((row) => [
  row.noise, three(row.alone), three(row.beside), three(row.change), `${row.interval.low} to ${row.interval.high}`, row.load.waiting > 0 ? `${row.load.waiting} wait` : row.load.perSecond, row.load.refused,
  `${row.parts.start.alone.p50} / ${row.parts.start.alone.p99}`, `${row.parts.start.beside.p50} / ${row.parts.start.beside.p99}`, row.statements.alone.meanMs, row.statements.beside.meanMs,
  `${row.lagMs.quiet.beside} / ${row.lagMs.effects.beside} / ${row.lagMs.noise}`, `${row.cores.alone.host} / ${row.cores.alone.database}`, `${row.cores.beside.host} / ${row.cores.beside.database}`, Math.round((row.cores.beside.others + row.cores.beside.steal) * 100) / 100,
]));
const isOk = problems.length === 0;
report({ ok: isOk, problems, warnings, settings: asked, rows }, asked.out);
process.stdout.write(`\n${markdown}\n`);
if (asked.out) writeFileSync(asked.out.replace(/(\.json)?$/, '.md'), `${markdown}\n`);
for (const host of hosts) await host.end();
process.exit(isOk ? 0 : 1);
