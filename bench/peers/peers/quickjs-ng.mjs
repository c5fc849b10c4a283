import { openVariant } from '../quickjs-instance.mjs';

export default {
  name: 'quickjs-ng',
  title: 'quickjs-emscripten with the quickjs-ng engine, a wasm instance to each VM',
  isolation: 'own memory',
  packages: ['quickjs-emscripten', '@jitl/quickjs-ng-wasmfile-release-sync'],
  open: () => openVariant('@jitl/quickjs-ng-wasmfile-release-sync'),
};
