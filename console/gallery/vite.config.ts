import { svelte, vitePreprocess } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// All shared components on one page, to look at: npm run gallery && npm run mock -- --dist gallery/dist
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [svelte({ preprocess: vitePreprocess() })],
  build: { outDir: 'dist', emptyOutDir: true, cssCodeSplit: false, assetsInlineLimit: 0, modulePreload: { polyfill: false }, assetsDir: '.', reportCompressedSize: false },
});
