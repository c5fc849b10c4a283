// node componentize.mjs FILE OUT
//
// Makes a component of a workload that calls nothing, with componentize-qjs. Its world is
// `export run: func() -> string`; what run answers is JSON.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing } from './installed.mjs';
import peer from './peers/componentize-qjs.mjs';
import { asBody } from './workloads.mjs';

const WIT = 'package bench:workload;\n\nworld workload {\n  export run: func() -> string;\n}\n';

async function make(file, out) {
  if (!file || !out) throw new Error('usage: node componentize.mjs FILE OUT');
  const why = missing(peer);
  if (why) throw new Error(why);
  const source = readFileSync(file, 'utf8');
  if (source.includes('@capabilities/')) throw new Error(`${file} calls the host, and the component's world has nothing to call`);
  const { componentize } = await import('componentize-qjs');
  const folder = mkdtempSync(join(tmpdir(), 'componentize-'));
  try {
    const witPath = join(folder, 'workload.wit');
    writeFileSync(witPath, WIT);
    const jsSource = `export function run() {\n  return JSON.stringify((() => {\n${asBody(source)}\n})());\n}\n`;
    // Without component-model async, which a script that waits for nothing has no use for.
    const { component } = await componentize({ witPath, jsSource, sync: true });
    writeFileSync(out, component);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  await make(...process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
