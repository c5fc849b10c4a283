// Servers that the command talks to: scripted models, a proxy that damages their answers, and a counter of effects.

import http from 'node:http';

/** Members of a request's headers that a proxy does not forward. */
const OWN_HEADERS = ['host', 'connection', 'content-length', 'transfer-encoding'];

/** Longest pause of a stream that stalls. The provider's timeout is shorter. */
const STALL_MS = 20_000;

/** Name of the case that a question belongs to; the question contains it in brackets. */
export const caseIn = (text) => /\[case ([a-z0-9-]+)\]/.exec(text)?.[1];

/** Serves on a free port of this machine, and returns the port. */
export async function listen(handler) {
  const server = http.createServer((request, response) => {
    handler(request, response).catch((error) => {
      console.error(`test server: ${error.message}`);
      response.destroy();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: server.address().port, close };
}

async function body(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Counts the calls of the capability by label. */
export async function startCounter() {
  const calls = new Map();
  const server = await listen(async (request, response) => {
    const { label, amount } = JSON.parse(await body(request));
    calls.set(label, [...(calls.get(label) ?? []), amount]);
    const total = calls.get(label).reduce((sum, number) => sum + number, 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ total }));
  });
  return { ...server, calls: (label) => calls.get(label) ?? [] };
}

/** A proxy to the scripted models. `plans` has a list of faults by case: one for each request, none for those after. */
export async function startProxy(target, plans) {
  const seen = new Map();
  const server = await listen(async (request, response) => {
    const sent = await body(request);
    const name = caseIn(sent.toString());
    const number = seen.get(name) ?? 0;
    seen.set(name, number + 1);
    const fault = plans.get(name)?.[number];
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([key]) => !OWN_HEADERS.includes(key)));
    const answer = await fetch(target + request.url, { method: 'POST', headers, body: sent });
    const whole = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
    await deliver(response, whole, fault);
  });
  return { ...server, requests: (name) => seen.get(name) ?? 0 };
}

/** Events of a stream, each with its end: blocks of SSE, or lines of JSON. */
export function events(whole) {
  const text = whole.toString();
  const end = text.startsWith('{') ? '\n' : '\n\n';
  return text.split(end).filter((event) => event.trim()).map((event) => event + end);
}

/** Sends an answer with a fault after `events` of its events. */
async function deliver(response, whole, fault) {
  if (!fault) return response.end(whole);
  const all = events(whole);
  if (fault.kind === 'bytes') {
    for (const byte of whole) await written(response, Buffer.from([byte]));
    return response.end();
  }
  for (const event of all.slice(0, fault.events)) await written(response, event);
  switch (fault.kind) {
    case 'disconnect':
      return response.destroy();
    case 'end':
      return response.end();
    case 'half':
      await written(response, all[fault.events].slice(0, -12));
      return response.end();
    case 'torn':
      await written(response, all[fault.events].replace(/\}(\s*)$/, '$1'));
      for (const event of all.slice(fault.events + 1)) await written(response, event);
      return response.end();
    case 'malformed':
      // The rest is intact: only the event itself shows the damage.
      await written(response, all[fault.events].replace(/\{.*\}/s, '{"broken": ]}'));
      for (const event of all.slice(fault.events + 1)) await written(response, event);
      return response.end();
    case 'stall':
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, STALL_MS);
        response.on('close', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      return response.end();
    default:
      throw new Error(`unknown fault ${fault.kind}`);
  }
}

/** Writes and lets the bytes leave before the next ones. */
async function written(response, data) {
  if (response.destroyed) return;
  await new Promise((resolve) => response.write(data, resolve));
  await new Promise(setImmediate);
}
