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

/** Messages between the tabs of a browser. */
type Message = { kind: 'change'; event: Kind; data: object } | { kind: 'state'; state: StreamState } | { kind: 'hello' };

function onState(state: StreamState): void {
  const before = live.state;
  live.state = state;
  if (state !== 'open' || before === 'open') return;
  // What changed while the stream was cut is not told: lists load again.
  if (opened) {
    tell('run', { type: 'reload' });
    tell('approval', { type: 'reload' });
  }
  opened = true;
}

function onMessage(message: Message): void {
  if (message.kind === 'change') tell(message.event, { type: message.event, ...message.data } as Change);
  else if (message.kind === 'state') onState(message.state);
}

/** Follows the stream, and tells other tabs. */
function lead(channel: BroadcastChannel | undefined): () => void {
  const share = (message: Message): void => {
    onMessage(message);
    channel?.postMessage(message);
  };
  if (channel) {
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'hello') channel.postMessage({ kind: 'state', state: live.state } satisfies Message);
    };
  }
  return follow('/v1/changes', {
    background: true,
    onEvent({ event, data }) {
      if ((event === 'run' || event === 'approval') && data !== null && typeof data === 'object') share({ kind: 'change', event, data });
    },
    onState: (state) => share({ kind: 'state', state: state === 'closed' ? 'waiting' : state }),
    onError: () => queueMicrotask(() => onState('closed')),
  });
}

/**
 * @internal Starts the stream; the session does so after a sign-in. All tabs share one, because browsers allow few
 * connections to a server: the tab that holds a lock follows it.
 */
export function startLive(): void {
  stopLive();
  opened = false;
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') {
    stop = lead(undefined);
    return;
  }
  const channel = new BroadcastChannel('agent-spaces.changes');
  const abort = new AbortController();
  let end = (): void => {};
  live.state = 'waiting';
  channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data);
  channel.postMessage({ kind: 'hello' } satisfies Message);
  navigator.locks
    .request('agent-spaces.changes', { signal: abort.signal }, () => {
      if (abort.signal.aborted) return undefined;
      const unfollow = lead(channel);
      return new Promise<void>((resolve) => {
        end = () => {
          unfollow();
          resolve();
        };
      });
    })
    .catch(() => {
      // Aborted before this tab had the lock.
    });
  stop = () => {
    end();
    abort.abort();
    channel.close();
  };
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
