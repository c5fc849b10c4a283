import { sandboxOf } from '../quickjs-context.mjs';

export default {
  name: 'quickjs-emscripten-shared',
  title: 'quickjs-emscripten, all VMs in one wasm instance',
  isolation: 'shared memory',
  packages: ['quickjs-emscripten'],
  async open() {
    const { getQuickJS } = await import('quickjs-emscripten');
    const quickjs = await getQuickJS();
    return { fresh: async (workload) => sandboxOf(quickjs.newContext(), workload) };
  },
};
