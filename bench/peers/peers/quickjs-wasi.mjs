import { addDesk, compile, sandboxOf } from '../quickjs-wasi-vm.mjs';

export default {
  name: 'quickjs-wasi',
  title: 'quickjs-wasi, a wasm instance to each VM',
  isolation: 'own memory',
  packages: ['quickjs-wasi'],
  async open() {
    const { QuickJS } = await import('quickjs-wasi');
    const wasm = await compile();
    return {
      async fresh({ calls }) {
        const vm = await QuickJS.create({ wasm });
        if (calls) addDesk(vm);
        return sandboxOf(vm);
      },
    };
  },
};
