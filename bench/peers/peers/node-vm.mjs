import vm from 'node:vm';
import { desk } from '../desk.mjs';

export default {
  name: 'node-vm',
  title: 'node:vm, a context to each run',
  isolation: 'not a sandbox',
  packages: [],
  async open() {
    return {
      async fresh({ calls }) {
        const context = vm.createContext(calls ? { desk } : {});
        return {
          // The answer is an object of the other realm; a copy is one of ours.
          evaluate: async ({ expression }) => structuredClone(await vm.runInContext(expression, context)),
          dispose() {},
        };
      },
    };
  },
};
