import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startWorkerd } from '../workerd-process.mjs';

const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

export default {
  name: 'cloudflare-codemode',
  title: '@cloudflare/codemode in workerd, a fresh worker to each run, over a Unix socket',
  isolation: 'own heap, one process',
  packages: ['@cloudflare/codemode', 'acorn', 'workerd'],
  cannot: ({ kind }) => (kind === 'kernel' || kind === 'agent' ? 'making a worker and evaluating are one call; its engine is that of workerd' : null),
  async open() {
    const workerd = await startWorkerd([['main', file('cloudflare-guest.js')], ['desk', file('desk.mjs')], ...packaged()]);
    return {
      ...workerd,
      fresh: async () => ({
        evaluate: ({ body }) => workerd.post('/', { body }),
        dispose() {},
      }),
    };
  },
};

// The package's own modules, and the one package they import.
function packaged() {
  const entry = fileURLToPath(import.meta.resolve('@cloudflare/codemode'));
  const folder = dirname(entry);
  const chunks = readdirSync(folder).filter((name) => /-[\w-]{8}\.js$/.test(name));
  return [
    ['codemode', entry],
    ['acorn', join(dirname(fileURLToPath(import.meta.resolve('acorn'))), 'acorn.mjs')],
    ...chunks.map((name) => [name, join(folder, name)]),
  ];
}
