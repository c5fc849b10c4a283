// Compiles a module of src/lib for node. Modules with runes or the DOM are tested in the browser instead.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

export async function load(name) {
  const folder = mkdtempSync(join(tmpdir(), 'console-test-'));
  try {
    await build({
      configFile: false,
      logLevel: 'error',
      build: { ssr: new URL(`../src/lib/${name}.ts`, import.meta.url).pathname, outDir: folder, minify: false, rollupOptions: { output: { entryFileNames: 'module.mjs' } } },
    });
    return await import(pathToFileURL(join(folder, 'module.mjs')).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
