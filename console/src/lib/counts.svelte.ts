/** Numbers beside the navigation: what is under way and what needs a person. */

import { get } from './api';
import { onChange } from './live.svelte';
import type { Approval, McpServer, Paged, Run } from './types';

/** Most that are counted. */
export const MAX = 100;

class Counts {
  runs = $state(0);
  servers = $state(0);
  /** Pending ones, of runs and agents. */
  approvals = $state(0);
}

export const counts = new Counts();

/** `99+` for more than the list says. */
export function shown(n: number): string {
  return n >= MAX ? `${MAX - 1}+` : String(n);
}

/** Newest request of each list: an older one that is answered later does not count. */
const newest = new Map<string, AbortController>();

async function load<T>(path: string, query: Record<string, string | number>, set: (items: T[]) => void): Promise<void> {
  newest.get(path)?.abort();
  const abort = new AbortController();
  newest.set(path, abort);
  try {
    const { items } = await get<Paged<T>>(path, query, abort.signal);
    if (!abort.signal.aborted) set(items);
  } catch {
    // A number that cannot be had stays as it was; the page itself says why.
  }
}

function runs(): void {
  void load<Run>('/v1/runs', { status: 'running', limit: MAX }, (items) => (counts.runs = items.length));
}

function approvals(): void {
  void load<Approval>('/v1/approvals', { status: 'pending', limit: MAX }, (items) => (counts.approvals = items.length));
}

function servers(): void {
  void load<McpServer>('/v1/servers', { limit: MAX }, (items) => {
    counts.servers = items.filter(({ status }) => status === 'failed' || status === 'changed' || status === 'needs_login').length;
  });
}

/** Calls `fn` at most once in `ms`, and once after the last call, until it is stopped. */
export function calm(fn: () => void, ms = 1000): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  return {
    call() {
      if (stopped) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        fn();
      }, ms);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Keeps the numbers up to date. Returns how to stop. */
export function watchCounts(): () => void {
  runs();
  approvals();
  servers();
  const ofRuns = calm(runs, 3000);
  const ofApprovals = calm(approvals);
  const stops = [onChange('run', ofRuns.call), onChange('approval', ofApprovals.call), ofRuns.stop, ofApprovals.stop];
  const timer = setInterval(servers, 60_000);
  return () => {
    for (const stop of stops) stop();
    clearInterval(timer);
    for (const abort of newest.values()) abort.abort();
    newest.clear();
  };
}
