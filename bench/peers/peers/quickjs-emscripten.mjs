import { openVariant } from '../quickjs-instance.mjs';

export default {
  name: 'quickjs-emscripten',
  title: 'quickjs-emscripten, a wasm instance to each VM',
  isolation: 'own memory',
  packages: ['quickjs-emscripten', '@jitl/quickjs-wasmfile-release-sync'],
  open: () => openVariant('@jitl/quickjs-wasmfile-release-sync'),
};
