// A variant of quickjs-emscripten, compiled once, with a wasm instance of its own for each sandbox.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sandboxOf } from './quickjs-context.mjs';

export async function openVariant(packageName) {
  const { newQuickJSWASMModuleFromVariant, newVariant } = await import('quickjs-emscripten');
  const { default: variant } = await import(packageName);
  const wasm = readFileSync(fileURLToPath(import.meta.resolve(`${packageName}/wasm`)));
  const compiled = newVariant(variant, { wasmModule: await WebAssembly.compile(wasm) });
  return {
    // The instance has nothing to dispose: it goes when nothing refers to it.
    fresh: async (workload) => sandboxOf((await newQuickJSWASMModuleFromVariant(compiled)).newContext(), workload),
  };
}
