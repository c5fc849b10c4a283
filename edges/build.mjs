// Builds a script with its plugs for a host that is not ours.
import { transpileBytes } from '@bytecodealliance/jco-transpile';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose } from './compose.mjs';
import { httpAdapter } from './http/build.mjs';
import { Command, makePlug, modulesOf } from './plug.mjs';

const SERVICES = new URL('../guest-js/prebuilt/wasi-services.wasm', import.meta.url);

/** Compiles a script and the plugs of the capabilities that it imports. `flags`: `--config`, `--space`, `--capabilities`. */
export function compile({ binary = 'agent-spaces', script, flags = [] }) {
  const command = new Command(binary, dirname(resolve(script)));
  const folder = mkdtempSync(join(tmpdir(), 'agent-spaces-edge-'));
  try {
    const output = join(folder, 'program.wasm');
    const { interfaces } = command.json('compile', basename(script), '--target', 'wasi', '-o', output, '--json', ...flags);
    const valueOf = (flag) => (flags.includes(flag) ? [flags[flags.indexOf(flag) + 1]] : []);
    // Other verbs take the folder of definitions as an argument.
    const listed = [...valueOf('--config').map((file) => `--config=${file}`), ...valueOf('--capabilities')];
    const modules = modulesOf(command, interfaces, listed);
    const plugs = modules.map((module) => ({ ...module, wasm: makePlug(command, module, listed) }));
    return { program: readFileSync(output), plugs, interfaces };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One component for a WASI host: `wasmtime run -S http`. */
export async function forWasmtime({ program, plugs }, adapter) {
  const parts = [readFileSync(SERVICES), adapter ?? (await httpAdapter()), ...plugs.map(({ wasm }) => wasm), program];
  return compose('wasi-host', parts);
}

/** A folder of JavaScript and core modules, for node and browsers: `run.js` runs it. */
export async function forJavaScript({ program, plugs, interfaces }, folder) {
  const list = [];
  await write(join(folder, 'program'), 'program', program);
  for (const [index, { interfaces: exported, wasm }] of plugs.entries()) {
    for (const { id, export: name } of exported.filter((each) => interfaces.includes(each.id))) {
      const own = `plug-${index}-${name}`;
      await write(join(folder, own), 'plug', await compose('fetch-host', [readFileSync(SERVICES), wasm], id));
      // jco's imports have no versions.
      list.push({ interface: id.replace(/@[^@]*$/, ''), script: `${own}/plug.js`, export: name });
    }
  }
  writeFileSync(join(folder, 'edge.json'), JSON.stringify({ plugs: list }));
  mkdirSync(join(folder, 'http'), { recursive: true });
  for (const file of ['run.js', 'host.js', 'http/fetch.js']) copyFileSync(fileURLToPath(new URL(file, import.meta.url)), join(folder, file));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
}

// jco-transpile 0.15 takes a task that waits for the memory of an arrived answer for a deadlock, and ends the program. With an
// operation that is always pending it never looks. A program that waits for nothing is ended by the host's own time limit.
const DEADLOCK_CHECK = ['pendingHostOperations: 0 }', 'pendingHostOperations: 1 }'];

async function write(folder, name, component) {
  const { files } = await transpileBytes(component, { name, instantiation: 'async', emitTypescriptDeclarations: false, wasiShim: false, noComponentErrorWrapping: false });
  mkdirSync(folder, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) {
    if (file.endsWith('.d.ts')) continue;
    if (file !== `${name}.js`) {
      writeFileSync(join(folder, file), bytes);
      continue;
    }
    const text = Buffer.from(bytes).toString('utf8');
    const pieces = text.split(DEADLOCK_CHECK[0]);
    if (pieces.length !== 2) throw new Error('this version of jco is not known: use the one of package.json');
    writeFileSync(join(folder, file), pieces.join(DEADLOCK_CHECK[1]));
  }
}
