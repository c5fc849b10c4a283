import { callAsText, names } from '../desk.mjs';

// The largest answer is 10 MB, and the default of 128 MB holds it a few times over.
const MEMORY_LIMIT = 128;

const guestDesk = `
  globalThis.desk = {};
  for (const name of ${JSON.stringify(names)})
    desk[name] = async (params) =>
      JSON.parse(await callDesk.apply(undefined, [name, JSON.stringify(params)], { result: { promise: true } }));
`;

export default {
  name: 'isolated-vm',
  title: 'isolated-vm, an isolate to each run',
  isolation: 'own heap, one process',
  // The dependency called isolated-vm is the older one that @utcp/code-mode asks for.
  packages: ['isolated-vm-7'],
  node: 24,
  async open() {
    const { default: ivm } = await import('isolated-vm-7');
    return {
      async fresh({ calls }) {
        const isolate = new ivm.Isolate({ memoryLimit: MEMORY_LIMIT });
        const context = await isolate.createContext();
        if (calls) {
          await context.global.set('callDesk', new ivm.Reference(callAsText));
          await context.eval(guestDesk);
        }
        return {
          evaluate: ({ expression }) => context.eval(expression, { promise: calls, copy: true }),
          dispose: () => isolate.dispose(),
        };
      },
    };
  },
};
