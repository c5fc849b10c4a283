// Resident memory in bytes: this process, and those a peer says it runs in.

import { readFileSync } from 'node:fs';

export function rss(opened) {
  const others = (opened.processes?.() ?? []).map(ofProcess);
  return others.reduce((sum, bytes) => sum + bytes, process.memoryUsage.rss());
}

function ofProcess(id) {
  const status = readFileSync(`/proc/${id}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
