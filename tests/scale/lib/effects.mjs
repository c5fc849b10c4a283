// Server whose requests have effects. It counts what arrives, and acts once per `Idempotency-Key`.

import http from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sleep } from './common.mjs';

/** Largest body; a run sends some bytes. */
const MAX_BODY = 64 << 10;

export class Effects {
  /** `delay` has the least and the most milliseconds between an effect and its answer. */
  static async open(random, delay = [2, 30]) {
    const effects = new Effects();
    // Every request, in order.
    effects.arrivals = [];
    // Receipt of each key.
    effects.receipts = new Map();
    // Number of effects of each run and step.
    effects.applied = new Map();
    effects.withoutKey = 0;
    // The time of a request is when this process gets to it, which is as late as this says.
    effects.lag = monitorEventLoopDelay({ resolution: 20 });
    effects.lag.enable();
    effects.ticked = Date.now();
    setInterval(() => (effects.ticked = Date.now()), 10).unref();
    effects.server = http.createServer((request, response) => {
      const at = Date.now();
      // It may have come at any time since this process last had its turn.
      const lag = at - effects.ticked;
      let body = '';
      request.on('data', (part) => {
        body += part;
        if (body.length > MAX_BODY) request.destroy();
      });
      request.on('end', async () => {
        const receipt = effects.#apply(at, lag, request, body);
        await sleep(random.between(...delay));
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ receipt }));
      });
    });
    effects.server.keepAliveTimeout = 60_000;
    await new Promise((done) => effects.server.listen(0, '127.0.0.1', done));
    effects.port = effects.server.address().port;
    return effects;
  }

  #apply(at, lag, request, body) {
    const { run, step } = JSON.parse(body);
    const key = (request.headers['idempotency-key'] ?? '').replace(/^"|"$/g, '');
    if (key === '') this.withoutKey += 1;
    this.arrivals.push({ at, lag, host: request.headers['x-host'], key, kind: request.url.slice(1), run, step });
    if (key !== '' && this.receipts.has(key)) return this.receipts.get(key);
    const receipt = this.receipts.size + 1;
    this.receipts.set(key, receipt);
    const name = `${run}/${step}`;
    this.applied.set(name, (this.applied.get(name) ?? 0) + 1);
    return receipt;
  }

  /** Receipt of a call if it took effect. */
  receipt(run, call) {
    return this.receipts.get(`${run}/${call}`);
  }
}
