import { svelte, vitePreprocess } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

const editor = /node_modules\/(@codemirror|@lezer|@marijn|codemirror|crelt|style-mod|w3c-keyname)\/|\/src\/(components\/CodeMirror\.svelte|lib\/typescript-mode)/;
const shared = /node_modules\/|\/src\/(lib|components)\/|vite\/preload-helper|rolldown\/runtime/;

// The host serves dist from a table made at build time: names are fixed, and the bytes depend on the sources alone.
export default defineConfig({
  base: './',
  plugins: [svelte({ preprocess: vitePreprocess(), compilerOptions: { css: 'external' } })],
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
