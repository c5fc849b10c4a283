// The workloads, and their scripts in the forms that sandboxes without modules take.

import { readFileSync } from 'node:fs';

const folder = new URL('../workloads/', import.meta.url);

export const workloads = JSON.parse(readFileSync(new URL('workloads.json', folder), 'utf8')).workloads;

export function load(name) {
  const workload = workloads.find((each) => each.name === name);
  if (!workload) throw new Error(`no workload is called ${name}; there are ${workloads.map((each) => each.name).join(', ')}`);
  const source = readFileSync(new URL(workload.file, folder), 'utf8');
  const body = asBody(source);
  const calls = source.includes('@capabilities/');
  return { ...workload, calls, source, body, expression: asExpression(source, body, workload.kind, calls) };
}

// The body of a function that returns the answer; `desk` is a global.
export function asBody(source) {
  if (!source.includes('export default')) return `return (${source.trim()});`;
  const match = /^(?:import \{ desk \} from '@capabilities\/desk';\n)?([^]*)^export default ([^]*);\n$/m.exec(source);
  if (!match) throw new Error('a workload ends in one `export default EXPRESSION;`');
  return `'use strict';\n${match[1]}return (${match[2]});`;
}

// An expression whose value is the answer, or a promise of it where the script calls.
function asExpression(source, body, kind, calls) {
  if (kind === 'script') return source;
  return `(${calls ? 'async ' : ''}() => {\n${body}\n})()`;
}
