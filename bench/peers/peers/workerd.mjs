import { fileURLToPath } from 'node:url';
import { startWorkerd } from '../workerd-process.mjs';

const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

// Its evaluation is timed apart from its start.
const isTimedApart = (kind) => kind === 'kernel' || kind === 'agent';

export default {
  name: 'workerd',
  title: 'workerd, a fresh worker to each run in one process, over a Unix socket',
  isolation: 'own heap, one process',
  packages: ['workerd'],
  async open() {
    const workerd = await startWorkerd([['main', file('workerd-guest.js')], ['desk', file('desk.mjs')]]);
    let ids = 0;
    return {
      ...workerd,
      async fresh({ body, kind }) {
        const id = isTimedApart(kind) ? ids++ : undefined;
        if (id !== undefined) await workerd.post('/start', { body, id });
        return {
          evaluate: () => workerd.post('/evaluate', { body, id }),
          dispose() {},
        };
      },
    };
  },
};
