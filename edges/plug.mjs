// Makes the plug of a capability module: a component that exports the module's interfaces and answers each call by a run on
// the server. Its types are those of the definition, so the engine in it converts values exactly as the server does.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FORWARD = fileURLToPath(new URL('./plug/forward.ts', import.meta.url));
// Package that `--wit` nests behind that of the module.
const NESTED = /\n+package agent-spaces:host@[^]*$/;
const MAX_OUTPUT = 64 * 1024 * 1024;

/** The command, in the folder of a project. */
export class Command {
  constructor(binary, folder) {
    this.run = (...args) => execFileSync(binary, args, { cwd: folder, encoding: 'utf8', maxBuffer: MAX_OUTPUT, stdio: ['ignore', 'pipe', 'pipe'] });
    this.json = (...args) => JSON.parse(this.run(...args));
  }
}

/** Modules of a project that export these interfaces: `{ module, wit, interfaces }`. */
export function modulesOf(command, interfaces, project = []) {
  const standard = interfaces.filter((name) => name.startsWith('agent-spaces:std/'));
  if (standard.length > 0) throw new Error(`${standard.join(', ')}: the standard library is the host's and cannot be plugged. Call it in a capability`);
  if (interfaces.length === 0) return [];
  const wanted = new Set(interfaces);
  const { capabilities } = command.json('capabilities', 'list', '--json', ...project);
  const modules = new Set(Object.values(capabilities).map(({ module }) => module));
  const found = [];
  for (const module of modules) {
    const wit = command.run('capabilities', 'show', module, '--wit', ...project).replace(NESTED, '\n');
    const exported = interfacesOf(wit);
    if (exported.some(({ id }) => wanted.has(id))) found.push({ module, wit, interfaces: exported });
  }
  for (const { interfaces: exported } of found) exported.forEach(({ id }) => wanted.delete(id));
  if (wanted.size > 0) throw new Error(`no capability of the project exports ${[...wanted].join(', ')}`);
  return found;
}

/** Compiles the plug of a module. */
export function makePlug(command, { module, wit, interfaces }, project = []) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-spaces-plug-'));
  try {
    const name = module.slice(module.indexOf('/') + 1);
    const file = join(folder, `${name}.${writeDefinition(command, module, wit, join(folder, name), project)}`);
    copyFileSync(FORWARD, join(folder, 'forward.ts'));
    writeFileSync(join(folder, `${name}.ts`), handlers(module, interfaces));
    const output = join(folder, 'plug.wasm');
    const here = command.run('capabilities', 'show', `@capabilities/${name}`, file, '--wit').replace(NESTED, '\n');
    const body = (text) => text.slice(text.indexOf(';')).trim();
    if (body(here) !== body(wit)) throw new Error(`the interfaces of ${module} cannot be made again from its schemas: write its plug by hand`);
    command.run('compile', file, '--provider', '-o', output);
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the definition without what implements it; returns the ending of its name. */
function writeDefinition(command, module, wit, path, project) {
  let schema;
  try {
    schema = command.json('capabilities', 'show', module, '--schema', ...project);
  } catch {
    // Hand-written WIT has no schemas.
    writeFileSync(`${path}.wit`, wit);
    return 'wit';
  }
  const pick = (from, ...names) => Object.fromEntries(names.filter((name) => from[name] != null).map((name) => [name, from[name]]));
  const tools = schema.capabilities.map((capability) => ({
    ...pick(capability, 'name', 'description', 'version'),
    functions: capability.functions.map((each) => pick(each, 'name', 'title', 'description', 'parameters', 'returns', 'annotations')),
  }));
  writeFileSync(`${path}.json`, JSON.stringify(tools.length === 1 ? tools[0] : tools));
  return 'json';
}

function handlers(module, interfaces) {
  const lines = interfaces.flatMap(({ export: capability, functions }) =>
    functions.map(({ name, takes }) => `export const ${name} = forward(${JSON.stringify({ module, capability, function: name, takes })});`),
  );
  const names = interfaces.flatMap(({ functions }) => functions.map(({ name }) => name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`two capabilities of ${module} have a function ${twice}: write its plug by hand`);
  return ["import { forward } from './forward.ts';", ...lines, ''].join('\n');
}

/** Interfaces of a package's WIT, with their functions as scripts name them. */
export function interfacesOf(wit) {
  const text = wit.replace(/\/\/[^\n]*/g, '');
  const [, name, version] = /\bpackage\s+([^;@\s]+)(@[^;\s]+)?\s*;/.exec(text) ?? [];
  if (!name) throw new Error('the WIT of a module has no package');
  return [...text.matchAll(/\binterface\s+%?([a-z0-9-]+)\s*\{/g)].map((match) => {
    const body = block(text, match.index + match[0].length);
    const records = new Set([...body.matchAll(/\brecord\s+%?([a-z0-9-]+)/g)].map(([, record]) => record));
    const functions = [...body.matchAll(/%?([a-z0-9-]+)\s*:\s*async\s+func\s*\(([^)]*)\)/g)].map(([, id, parameters]) => ({
      name: camelCase(id),
      takes: takes(parameters.trim(), records),
    }));
    return { id: `${name}/${match[1]}${version ?? ''}`, export: camelCase(match[1]), functions };
  });
}

function takes(parameters, records) {
  if (parameters === '') return 'nothing';
  const [, type] = /^%?[a-z0-9-]+\s*:\s*%?([a-z0-9-]+),?$/.exec(parameters) ?? [];
  return type !== undefined && records.has(type) ? 'object' : 'values';
}

/** Text up to the brace that closes the block. */
function block(text, from) {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return text.slice(from, at);
  }
  return text.slice(from);
}

function camelCase(name) {
  return name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
}
