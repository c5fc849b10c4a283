/** Requests that wait, of runs and agents, as they come and go. */

import { all, get, pages, path, type ApiError } from '../../lib/api';
import { ofApproval, type Request } from '../../lib/approval-request';
import { onChange } from '../../lib/live.svelte';
import { asApiError } from '../../lib/load.svelte';
import type { Approval, Change } from '../../lib/types';

const MAX_PENDING = 2000;
/** Most decided requests of each outcome that are read, the newest ones. */
const MAX_DECIDED = 2000;
const CALM_MS = 300;
/** Decisions of others that are read one by one. */
const MAX_SINGLE = 20;

export type DecidedStatus = 'approved' | 'denied' | 'expired';

export class Inbox {
  /** Those that wait, the oldest first. */
  pending = $state.raw<Request[]>([]);
  decided = $state.raw<Request[]>([]);
  decidedCut = $state(false);
  loaded = $state(false);
  error = $state.raw<ApiError | undefined>();
  decidedError = $state.raw<ApiError | undefined>();
  decidedLoaded = $state(false);
  /** Grows when a request may have changed: pages that show one read it again. */
  changes = $state(0);

  #onnew: () => void;
  #known: Set<string> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stop: () => void;
  #abort = new AbortController();
  #decided: Promise<void> | undefined;
  #settled = new Set<string>();
  /** Reads of the lists so far, and the newest ones whose answers count: an answer that comes late is older than what is shown. */
  #reads = 0;
  #newest = 0;
  /** Decided requests, with the number of reads until then: their answers may still list them as pending. */
  #gone = new Map<string, number>();
  #reread = false;

  constructor(onnew: () => void) {
    this.#onnew = onnew;
    this.#stop = onChange('approval', (change) => this.#changed(change));
    void this.reload();
  }

  stop(): void {
    this.#stop();
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  reload = async (): Promise<void> => {
    const read = ++this.#reads;
    try {
      const found = await all<Approval>('/v1/approvals', { status: 'pending', limit: 100 }, MAX_PENDING, this.#abort.signal);
      if (read < this.#newest) return;
      this.#newest = read;
      this.pending = found.map(ofApproval).filter(({ id }) => read > (this.#gone.get(id) ?? 0));
      for (const [id, until] of this.#gone) if (until < read) this.#gone.delete(id);
      this.error = undefined;
      this.loaded = true;
      this.#tellNew();
    } catch (error) {
      if (!this.#abort.signal.aborted && read > this.#newest) this.error = asApiError(error);
    }
  };

  #tellNew(): void {
    const ids = new Set(this.pending.map((request) => request.id));
    const known = this.#known;
    this.#known = ids;
    if (known && [...ids].some((id) => !known.has(id))) this.#onnew();
  }

  #changed(change: Change): void {
    if (change.type === 'approval' && change.status !== 'pending') {
      this.pending = this.pending.filter((request) => request.id !== change.id);
      this.#gone.set(change.id, this.#reads);
      this.#settled.add(change.id);
    } else if (change.type === 'reload') this.#reread = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.changes++;
      void this.reload();
      void this.#updateDecided();
    }, CALM_MS);
  }

  /** Adds what others decided, one by one; after a gap all are read again. */
  async #updateDecided(): Promise<void> {
    const ids = [...this.#settled];
    const reread = this.#reread || ids.length > MAX_SINGLE;
    this.#settled.clear();
    this.#reread = false;
    if (!this.decidedLoaded) return;
    if (reread) return this.#readDecided();
    for (const id of ids) {
      try {
        const request = await this.one(id, this.#abort.signal);
        if (request.status !== 'pending') this.decided = [request, ...this.decided.filter((other) => other.id !== id)];
      } catch {
        // It is read with the next list.
      }
    }
  }

  /** Reads one request. Those of agents are gone some time after they were decided. */
  async one(id: string, signal?: AbortSignal): Promise<Request> {
    return ofApproval(await get<Approval>(path`/v1/approvals/${id}`, undefined, signal));
  }

  /** Takes over a decision that was made here. */
  settle(request: Request): void {
    this.#gone.set(request.id, this.#reads);
    this.pending = this.pending.filter((one) => one.id !== request.id);
    if (this.decidedLoaded) this.decided = [request, ...this.decided.filter((one) => one.id !== request.id)];
    this.#known?.delete(request.id);
  }

  /** Reads what was decided, once. */
  loadDecided(): Promise<void> {
    this.#decided ??= this.#readDecided();
    return this.#decided;
  }

  async #readDecided(): Promise<void> {
    const found: Request[] = [];
    let cut = false;
    try {
      for (const status of ['approved', 'denied', 'expired'] satisfies DecidedStatus[]) {
        let read = 0;
        for await (const page of pages<Approval>('/v1/approvals', { status, order: 'newest', limit: 100 }, this.#abort.signal)) {
          found.push(...page.map(ofApproval));
          read += page.length;
          if (read < MAX_DECIDED) continue;
          cut = true;
          break;
        }
      }
      const when = (request: Request): string => request.decision?.decidedAt ?? request.createdAt;
      found.sort((a, b) => (when(a) < when(b) ? 1 : when(a) > when(b) ? -1 : 0));
      this.decided = found;
      this.decidedCut = cut;
      this.decidedError = undefined;
      this.decidedLoaded = true;
    } catch (error) {
      this.#decided = undefined;
      if (!this.#abort.signal.aborted) this.decidedError = asApiError(error);
    }
  }

  /** The last approved call of the same function, before this one. */
  lastApproved(request: Request): Request | undefined {
    const [call] = request.calls;
    if (!call || call.functionId === '') return undefined;
    return this.decided.find((other) => other.status === 'approved' && other.id !== request.id && other.calls[0]?.functionId === call.functionId && other.createdAt <= request.createdAt);
  }
}
