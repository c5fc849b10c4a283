import { svelte, vitePreprocess } from '@sveltejs/vite-plugin-svelte';
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

const editor = /node_modules\/(@codemirror|@lezer|@marijn|codemirror|crelt|style-mod|w3c-keyname)\/|\/src\/(components\/CodeMirror\.svelte|lib\/typescript-mode)/;
const shared = /node_modules\/|\/src\/(lib|components)\/|vite\/preload-helper|rolldown\/runtime/;

/** Writes the licenses of all packages that are in the page. */
function licenses(): Plugin {
  return {
    name: 'licenses',
    generateBundle(_options, bundle) {
      const folders = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const id of Object.keys(chunk.modules)) {
          const found = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
          if (found) folders.add(found);
        }
      }
      const texts = [...folders].map((folder) => {
        const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { name: string; version: string };
        const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
        if (!file) this.error(`${name} has no license file`);
        return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
      });
      const source = `The console contains these packages.\n\n${texts.sort().join('\n----\n\n')}`;
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source });
    },
  };
}

// The host serves dist from a table made at build time: names are fixed, and the bytes depend on the sources alone.
export default defineConfig({
  base: './',
  plugins: [svelte({ preprocess: vitePreprocess(), compilerOptions: { css: 'external' } }), licenses()],
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: 'chunk-[name].js',
        assetFileNames: (asset) => (asset.names.some((name) => name.endsWith('.css')) ? 'app.css' : '[name][extname]'),
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'editor', test: editor, priority: 3 },
            { name: 'shared', test: shared, priority: 2 },
            // Each page is one file with a fixed name.
            { debugName: 'page', name: (id: string) => /\/src\/pages\/([a-z]+)\//.exec(id)?.[1] ?? null, priority: 1 },
          ],
        },
      },
    },
  },
});
