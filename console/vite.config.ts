import { svelte, vitePreprocess } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

const codemirror = /node_modules\/(@codemirror|@lezer|codemirror|crelt|style-mod|w3c-keyname|@marijn)\//;

/** Name of the page whose folder a module is in, so that each page is one file with a fixed name. */
function pageOf(id: string): string | undefined {
  return /\/src\/pages\/([a-z]+)\//.exec(id)?.[1];
}

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
    modulePreload: false,
    sourcemap: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: 'chunk-[name].js',
        assetFileNames: (asset) => (asset.names.some((name) => name.endsWith('.css')) ? 'app.css' : '[name][extname]'),
        manualChunks(id: string) {
          if (codemirror.test(id) || id.endsWith('/src/components/CodeMirror.svelte')) return 'editor';
          return pageOf(id);
        },
      },
    },
  },
});
