/** Calls of agents that wait for a person. The stream of changes does not tell of them: they live as long as their question. */

import { ApiError, get } from '../../lib/api';
import type { AgentApproval, Paged } from '../../lib/types';

const EVERY_MS = 4000;

/** Calls `fn` with all that wait, now and whenever they changed; looks every few seconds while the page is visible. Returns how to stop. */
export function watchWaiting(fn: (approvals: AgentApproval[]) => void): () => void {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = '';

  async function look(): Promise<void> {
    if (!document.hidden) {
      try {
        const { items } = await get<Paged<AgentApproval>>('/v1/agents/approvals', {}, abort.signal);
        // What is open of a call stays so while nothing changed.
        const now = JSON.stringify(items);
        if (now !== last) fn(items);
        last = now;
      } catch (error) {
        if (abort.signal.aborted) return;
        // A server without agents has no such list.
        if (error instanceof ApiError && error.status === 404) return;
      }
    }
    if (!abort.signal.aborted) timer = setTimeout(() => void look(), EVERY_MS);
  }

  void look();
  return () => {
    abort.abort();
    clearTimeout(timer);
  };
}
