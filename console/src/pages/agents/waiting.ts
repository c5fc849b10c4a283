/** Calls of agents that wait for a person. */

import { all } from '../../lib/api';
import { ofApproval, type Request } from '../../lib/approval-request';
import { calm } from '../../lib/counts.svelte';
import { onChange } from '../../lib/live.svelte';
import type { Approval } from '../../lib/types';

const MAX_WAITING = 2000;
const CALM_MS = 200;

/** Calls `fn` with those that wait, of one agent or of all, now and whenever they changed. Returns how to stop. */
export function watchWaiting(agent: string | undefined, fn: (requests: Request[]) => void): () => void {
  let abort = new AbortController();
  let last = '';

  async function look(): Promise<void> {
    // An older request that is answered later does not count.
    abort.abort();
    const { signal } = (abort = new AbortController());
    try {
      const found = await all<Approval>('/v1/approvals', { status: 'pending', limit: 100, ...(agent === undefined ? {} : { agent }) }, MAX_WAITING, signal);
      if (signal.aborted) return;
      const items = found.filter((one) => one.agent !== undefined).map(ofApproval);
      // What is open of a call stays so while nothing changed.
      const now = JSON.stringify(items);
      if (now !== last) fn(items);
      last = now;
    } catch {
      // They are read again with the next change; the stream of the answer tells of its own.
    }
  }

  void look();
  const again = calm(() => void look(), CALM_MS);
  const stop = onChange('approval', (change) => {
    if (change.type === 'reload' || (change.type === 'approval' && change.agent !== undefined)) again.call();
  });
  return () => {
    stop();
    again.stop();
    abort.abort();
  };
}
