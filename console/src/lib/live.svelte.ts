/** Changes of runs and approvals, over one stream for the whole page. */

import { follow, type StreamState } from './stream';
import type { Change } from './types';

type Kind = 'run' | 'approval';
type Listener = (change: Change) => void;

class Live {
  /** State of the stream, for the indicator in the header. */
  state = $state<StreamState>('closed');
}

export const live = new Live();

const listeners: Record<Kind, Set<Listener>> = { run: new Set(), approval: new Set() };
let stop: (() => void) | undefined;
let opened = false;

function tell(kind: Kind, change: Change): void {
  for (const fn of [...listeners[kind]]) {
    try {
      fn(change);
    } catch (error) {
      console.error(error);
    }
  }
}

/** @internal Starts the stream; the session does so after a sign-in. */
export function startLive(): void {
  stopLive();
  opened = false;
  stop = follow('/v1/changes', {
    onEvent({ event, data }) {
      if ((event === 'run' || event === 'approval') && data !== null && typeof data === 'object') {
        tell(event, { type: event, ...data } as Change);
      }
    },
    onState(state) {
      live.state = state;
      if (state !== 'open') return;
      // What changed while the stream was cut is not told: lists load again.
      if (opened) {
        tell('run', { type: 'reload' });
        tell('approval', { type: 'reload' });
      }
      opened = true;
    },
  });
}

/** @internal */
export function stopLive(): void {
  stop?.();
  stop = undefined;
  live.state = 'closed';
}

/** Calls `fn` for changes of a kind, and with `{ type: 'reload' }` after a gap. Returns how to stop: use it as the result of `$effect`. */
export function onChange(kind: Kind, fn: (change: Change) => void): () => void {
  listeners[kind].add(fn);
  return () => listeners[kind].delete(fn);
}
