// The worker that loads a fresh worker for each script, and answers its calls.

import { RpcTarget } from 'cloudflare:workers';
import { desk } from 'desk';

class Desk extends RpcTarget {}
for (const [name, call] of Object.entries(desk)) Desk.prototype[name] = (params) => call(params);

const codeOf = (body) => ({
  compatibilityDate: '2026-01-01',
  mainModule: 'script.js',
  modules: {
    'script.js': `
      import { WorkerEntrypoint } from 'cloudflare:workers';
      export default class extends WorkerEntrypoint {
        ready() {}
        async evaluate(desk) {\n${body}\n}
      }`,
  },
  globalOutbound: null,
});

export default {
  async fetch(request, { LOADER }) {
    const { body, id } = await request.json();
    if (id === undefined) return Response.json(await LOADER.load(codeOf(body)).getEntrypoint().evaluate(new Desk()));
    // Started by one request and evaluated by the next, so that the two can be timed apart.
    const entrypoint = LOADER.get(String(id), () => codeOf(body)).getEntrypoint();
    const started = new URL(request.url).pathname === '/start';
    return Response.json((started ? await entrypoint.ready() : await entrypoint.evaluate(new Desk())) ?? null);
  },
};
