// node main.mjs --list
// node main.mjs PEER WORKLOAD [--budget MS] [--rounds N] [--hot]

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { missing, packagedNode } from './installed.mjs';
import { peers } from './list.mjs';
import { measure, measureHot } from './rounds.mjs';
import { load, workloads } from './workloads.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean' }, budget: { type: 'string' }, rounds: { type: 'string' }, hot: { type: 'boolean' } },
});

let opened;

const runs = (peer, workload) => peer.cannot?.(workload) == null;

function list() {
  return peers.map((peer) => {
    const why = missing(peer);
    const names = workloads.filter((workload) => runs(peer, workload)).map(({ name }) => name);
    return { name: peer.name, title: peer.title, isolation: peer.isolation, available: why === null, why, workloads: names };
  });
}

async function run(peerName, workloadName) {
  const peer = peers.find(({ name }) => name === peerName);
  if (!peer) throw new Error(`no peer is called ${peerName}; there are ${peers.map(({ name }) => name).join(', ')}`);
  const workload = load(workloadName);
  const names = { peer: peer.name, workload: workload.name };
  const skipped = missing(peer) ?? peer.cannot?.(workload);
  if (skipped) return { ...names, skipped };
  opened = await peer.open(workload);
  const options = { budget: number('budget') ?? 2000, rounds: number('rounds') };
  const measured = await (values.hot ? measureHot : measure)(opened, workload, options);
  return { ...names, ...measured };
}

function number(option) {
  if (values[option] === undefined) return undefined;
  const value = Number(values[option]);
  if (!(value > 0)) throw new Error(`--${option} takes a number above 0, not ${values[option]}`);
  return value;
}

// All peers run in the same node, the one that was installed with them.
// isolated-vm wants it started without a snapshot.
function inPackagedNode() {
  const started = spawn(packagedNode, ['--no-node-snapshot', fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve) => {
    started.once('message', (code) => resolve(started.kill('SIGKILL') && code));
    started.once('exit', (code) => resolve(code ?? 1));
  });
}

// The one that started this one is told how it went, and ends it: at an exit of its own, isolated-vm may
// wait for ever for a thread that waits for this one.
function end(code) {
  opened?.close?.();
  if (!process.send) process.exit(code);
  process.channel.ref();
  process.send(code);
}

function fail(error) {
  console.error(error);
  end(1);
}

// Nothing is to go on measuring when the one that started it was killed.
process.once('disconnect', () => {
  opened?.close?.();
  process.kill(process.pid, 'SIGKILL');
});
process.channel?.unref();
process.once('uncaughtException', fail);

try {
  if (values.list) console.log(JSON.stringify(list(), null, 2));
  else if (positionals.length !== 2) throw new Error('usage: node main.mjs --list | PEER WORKLOAD [--budget MS] [--rounds N] [--hot]');
  else if (packagedNode && process.execPath !== packagedNode) process.exit(await inPackagedNode());
  else process.stdout.write(`${JSON.stringify(await run(...positionals))}\n`);
  end(0);
} catch (error) {
  fail(error);
}
