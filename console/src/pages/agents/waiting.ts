/** Calls of agents that wait for a person. The stream of changes does not tell of them: they live as long as their question. */

import { ApiError, get } from '../../lib/api';
import type { Paged } from '../../lib/types';
import type { AgentApproval } from './types';

const EVERY_MS = 4000;

/** Calls `fn` with all that wait, now and every few seconds while the page is visible. Returns how to stop. */
export function watchWaiting(fn: (approvals: AgentApproval[]) => void): () => void {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function look(): Promise<void> {
    if (!document.hidden) {
      try {
        fn((await get<Paged<AgentApproval>>('/v1/agents/approvals', {}, abort.signal)).items);
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
