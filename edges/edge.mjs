#!/usr/bin/env node
// Builds a script and the plugs of its capabilities for a host that is not ours:
//
//   node edge.mjs wasmtime agent.ts -o agent.wasm [--space NAME] [--config FILE] [--capabilities DIR]
//   node edge.mjs javascript agent.ts -o FOLDER …
//
// AGENT_SPACES_BINARY is the command, `agent-spaces` by default.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compile, forJavaScript, forWasmtime } from './build.mjs';

const USAGE = 'usage: edge.mjs wasmtime|javascript SCRIPT -o OUTPUT [--space NAME] [--config FILE] [--capabilities DIR]';
const text = { type: 'string' };

async function main() {
  const options = { output: { ...text, short: 'o' }, space: text, config: text, capabilities: text };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [host, script] = positionals;
  if (!['wasmtime', 'javascript'].includes(host) || script === undefined || values.output === undefined) throw new Error(USAGE);
  // The command runs in the folder of the script.
  for (const name of ['config', 'capabilities']) if (values[name] !== undefined) values[name] = resolve(values[name]);
  const flags = ['space', 'config', 'capabilities'].flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, values[name]]));
  const built = compile({ binary: process.env.AGENT_SPACES_BINARY, script, flags });
  if (host === 'wasmtime') writeFileSync(values.output, await forWasmtime(built));
  else await forJavaScript(built, values.output);
  console.error(`${values.output}: ${built.interfaces.join(', ') || 'no capabilities'}`);
}

main().catch((error) => {
  console.error(error.stderr || error.stdout || error.message);
  process.exitCode = 1;
});
