// Asks scripted models (npm package @copilotkit/aimock) with `agent-spaces agent`, over every wire, with faults.
//
//   AGENT_SPACES_BINARY=target/release/agent-spaces AGENT_SPACES_AIMOCK=FOLDER node tests/agent-models/run.mjs [NAME…]
//
// FOLDER is where the package is installed. With names, only cases whose name contains one of them are run.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cases } from './cases.mjs';
import { KEY, Project, WIRES } from './project.mjs';
import { startCounter, startProxy } from './servers.mjs';

/** Accuracy of the clock of requests, in milliseconds. */
const CLOCK_MS = 50;

function missing(what) {
  console.log(`${process.env.AGENT_SPACES_CI ? 'FAIL' : 'skipped'}: ${what}`);
  process.exit(process.env.AGENT_SPACES_CI ? 1 : 0);
}

const binary = resolve(process.env.AGENT_SPACES_BINARY ?? 'target/release/agent-spaces');
const aimock = join(resolve(process.env.AGENT_SPACES_AIMOCK ?? '.'), 'node_modules/@copilotkit/aimock/dist/index.js');
if (!existsSync(binary)) missing(`there is no ${binary}: set AGENT_SPACES_BINARY`);
if (!existsSync(aimock)) missing(`there is no ${aimock}: set AGENT_SPACES_AIMOCK`);
const { LLMock } = await import(pathToFileURL(aimock));

const mock = new LLMock({ port: 0, journalMaxEntries: 0 });
const plans = new Map();
const modelsUrl = await mock.start();
const proxy = await startProxy(modelsUrl, plans);
const counter = await startCounter();
const proxyUrl = `http://127.0.0.1:${proxy.port}`;
const project = new Project(binary, { modelsUrl, proxyUrl, counterPort: counter.port });

/** Requests of a case that reached the scripted server. */
function requestsOf(name) {
  return mock.getRequests().filter((entry) => JSON.stringify(entry.body).includes(`[case ${name}]`));
}

/** Runs a case, and returns what is wrong. */
async function faultsOf(wire, { name, agent, models, on, plan, expected }) {
  const scripts = typeof on === 'function' ? on(name) : on;
  for (const [match, answer, settings] of scripts) {
    mock.on({ userMessage: `[case ${name}]`, ...match }, answer, settings);
  }
  plans.set(name, plan);
  const { status, stdout, stderr, object } = await project.ask(agent, `What is it? [case ${name}]`, models);
  const requests = requestsOf(name);
  const faults = [];
  const check = (what, is, shouldBe) => {
    if (JSON.stringify(is) !== JSON.stringify(shouldBe)) {
      faults.push(`${what} is ${JSON.stringify(is)}, expected ${JSON.stringify(shouldBe)}`);
    }
  };
  check('exit status', status, expected.status);
  check('ok', object.ok, expected.status === 0);
  check('ending', object.ending, expected.ending);
  check('text', object.text, expected.text);
  check('session', object.session, null);
  check('effects', counter.calls(name).sort(), expected.effects ?? []);
  if (expected.model) check('model', object.model, expected.model);
  if (expected.turns) check('turns', object.turns, expected.turns);
  if (expected.requests) check('number of requests', requests.length, expected.requests);
  // The scripted Ollama always reports no tokens.
  if (expected.usage && wire !== 'ollama') {
    check('usage', [object.usage.inputTokens, object.usage.outputTokens], expected.usage);
  }
  if (expected.pause) {
    const [first, next] = requests.map((request) => request.timestamp);
    if (!(next - first >= expected.pause - CLOCK_MS)) faults.push(`asked again after ${next - first} ms`);
  }
  if (expected.stderr && !stderr.includes(expected.stderr)) faults.push(`stderr does not contain ${expected.stderr}`);
  for (const part of expected.message ?? []) {
    if (!object.message?.includes(part)) faults.push(`message does not contain ${part}: ${object.message}`);
  }
  const first = requests[0]?.path ?? '';
  if (!first.startsWith(WIRES[wire].path)) faults.push(`the first request went to ${first}`);
  if ((stdout + stderr).includes(KEY)) faults.push('the key is in the output');
  if (faults.length) faults.push(`stderr: ${stderr.trim().replaceAll('\n', '\n    ')}`);
  return faults;
}

let count = 0;
let failures = 0;
try {
  const trusted = await project.run('trust', 'agent-spaces.config.json');
  if (trusted.status !== 0) throw new Error(`trust failed: ${trusted.stderr}`);
  const wires = Object.keys(WIRES);
  for (const [number, wire] of wires.entries()) {
    for (const each of cases(wire, wires[(number + 1) % wires.length])) {
      const names = process.argv.slice(2);
      if (names.length && !names.some((name) => each.name.includes(name))) continue;
      const faults = await faultsOf(wire, each).catch((error) => [error.message]);
      count += 1;
      failures += faults.length ? 1 : 0;
      console.log(`${faults.length ? 'FAIL' : 'PASS'} ${each.name}`);
      for (const fault of faults) console.log(`    ${fault}`);
    }
  }
  if (!count) throw new Error('no case has such a name');
} catch (error) {
  failures += 1;
  console.log(`FAIL ${error.message}`);
} finally {
  project.remove();
  proxy.close();
  counter.close();
  await mock.stop();
}
console.log(`${count - failures} of ${count} passed`);
process.exit(failures ? 1 : 0);
