/** The signed-in caller. The session is a cookie that scripts cannot read. */

import { ApiError, get, onSignedOut, send } from './api';
import { startLive, stopLive } from './live.svelte';
import type { Me } from './types';

class Session {
  /** The caller; undefined before the sign-in. */
  me = $state.raw<Me | undefined>();
  /** False until the first answer about the session. */
  known = $state(false);
  /** Why nobody is signed in, if it is an error. */
  error = $state.raw<ApiError | undefined>();

  /** True if the caller may decide approvals at all. */
  get mayApprove(): boolean {
    return this.me?.operator === true || this.me?.mayApprove === true;
  }
}

export const session = new Session();

onSignedOut(() => {
  if (session.me) leave();
});

// All tabs have the same cookie: who signs in or out in one does so in all.
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('agent-spaces.session');
if (tabs) tabs.onmessage = () => void restore();

function leave(): void {
  session.me = undefined;
  stopLive();
}

/** Name of who was signed in last in this tab. */
let last: string | undefined;

function enter(me: Me): void {
  // Nothing of one caller stays on the page for another.
  if (last !== undefined && last !== me.name) return location.reload();
  last = me.name;
  session.me = me;
  session.error = undefined;
  session.known = true;
  startLive();
}

/** Asks who is signed in. */
export async function restore(): Promise<void> {
  try {
    enter(await get<Me>('/v1/me'));
  } catch (error) {
    session.error = error instanceof ApiError && error.status !== 401 ? error : undefined;
    session.known = true;
  }
}

/** Signs in with a caller's token. Throws an ApiError if it is refused. */
export async function signIn(token: string): Promise<void> {
  enter(await send<Me>('POST', '/console/session', { token }));
  tabs?.postMessage('changed');
}

/** Signs in with the code of a link that `agent-spaces console` made. */
export async function signInWithLink(code: string): Promise<void> {
  enter(await send<Me>('POST', '/console/session', { link: code }));
  tabs?.postMessage('changed');
}

export async function signOut(): Promise<void> {
  try {
    await send('DELETE', '/console/session');
  } finally {
    leave();
  }
  tabs?.postMessage('changed');
  // Nothing that the page knows stays in memory.
  location.reload();
}
