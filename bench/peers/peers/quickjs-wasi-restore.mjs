import { addDesk, callDesk, compile, sandboxOf } from '../quickjs-wasi-vm.mjs';

export default {
  name: 'quickjs-wasi-restore',
  title: 'quickjs-wasi, each VM restored from a snapshot',
  isolation: 'own memory',
  packages: ['quickjs-wasi'],
  async open({ calls }) {
    const { QuickJS } = await import('quickjs-wasi');
    const wasm = await compile();
    const first = await QuickJS.create({ wasm });
    if (calls) addDesk(first);
    const snapshot = first.snapshot();
    first.dispose();
    return {
      async fresh() {
        const vm = await QuickJS.restore(snapshot, { wasm });
        if (calls) vm.registerHostCallback('callDesk', callDesk(vm));
        return sandboxOf(vm);
      },
    };
  },
};
