// Followers of events: each reads the stream of a run at any host, and goes on at another one when it is cut.

import http from 'node:http';
import { sleep } from './common.mjs';

/** Milliseconds of silence after which a stream is given up: a comment comes every 15 seconds. */
const SILENCE = 20_000;

/** Reads the events of a run until its end. Returns their numbers, and how often it connected. */
export async function follow(host, token, run, isLate) {
  const seen = [];
  let [connections, isOver] = [0, false];
  while (!isOver && !isLate()) {
    connections += 1;
    try {
      isOver = await read(host(), token, run, seen);
    } catch {
      // Cut: another host goes on.
    }
    if (!isOver) await sleep(500);
  }
  return { seen, connections, isOver };
}

function read(host, token, run, seen) {
  return new Promise((done, failed) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    if (seen.length > 0) headers['last-event-id'] = String(seen.at(-1));
    const request = http.get({ host: '127.0.0.1', port: host.port, path: `/v1/runs/${run}/events`, headers, agent: false }, (response) => {
      if (response.statusCode !== 200) {
        request.destroy();
        failed(new Error(`status ${response.statusCode}`));
        return;
      }
      let [text, isOver] = ['', false];
      response.setEncoding('utf8');
      response.on('data', (part) => {
        timer.refresh();
        text += part;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          const id = lines.find((line) => line.startsWith('id: '));
          if (id) seen.push(Number(id.slice(4)));
          if (lines.includes('event: end')) isOver = true;
        }
      });
      response.on('end', () => done(isOver));
      response.on('error', failed);
    });
    const timer = setTimeout(() => request.destroy(new Error('silence')), SILENCE);
    request.on('close', () => clearTimeout(timer));
    request.on('error', failed);
  });
}

/** Says what is wrong with the numbers of a stream; nothing if they are 0, 1, 2, … */
export function fault({ seen, isOver }) {
  if (!isOver) return 'has no end';
  const index = seen.findIndex((number, place) => number !== place);
  if (index >= 0) return `has event ${seen[index]} in place ${index}`;
  return seen.length === 0 ? 'has no events' : null;
}
