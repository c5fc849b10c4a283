// Every peer, in the order of the reports.

import cloudflareCodemode from './peers/cloudflare-codemode.mjs';
import componentizeQjs from './peers/componentize-qjs.mjs';
import deno from './peers/deno.mjs';
import isolatedVm from './peers/isolated-vm.mjs';
import nodeVm from './peers/node-vm.mjs';
import quickjsEmscripten from './peers/quickjs-emscripten.mjs';
import quickjsEmscriptenShared from './peers/quickjs-emscripten-shared.mjs';
import quickjsNg from './peers/quickjs-ng.mjs';
import quickjsWasi from './peers/quickjs-wasi.mjs';
import quickjsWasiRestore from './peers/quickjs-wasi-restore.mjs';
import utcpCodeMode from './peers/utcp-code-mode.mjs';
import vercelCodeMode from './peers/vercel-code-mode.mjs';
import workerd from './peers/workerd.mjs';

export const peers = [
  quickjsEmscripten,
  quickjsEmscriptenShared,
  quickjsNg,
  quickjsWasi,
  quickjsWasiRestore,
  isolatedVm,
  workerd,
  utcpCodeMode,
  cloudflareCodemode,
  vercelCodeMode,
  deno,
  componentizeQjs,
  nodeVm,
];
