/** Runs of the list: pages as they are needed, and changes as they happen. */

import { get, type ApiError, type Query } from '../../lib/api';
import { onChange } from '../../lib/live.svelte';
import { asApiError } from '../../lib/load.svelte';
import type { Change, Paged, Run, RunStatus } from '../../lib/types';

const PAGE = 100;
/** Most runs that are kept: somebody who wants more narrows the filters. */
export const MAX_RUNS = 50_000;
/** Changes are shown together, so that a busy server does not cost a paint for each. */
const CALM_MS = 250;
/** Empty pages that are read at once: each stands for thousands of runs that the server looked through. */
const MAX_EMPTY_PAGES = 50;
/** Pages of new runs that are read after changes, before the list starts anew. */
const MAX_NEW_PAGES = 5;

export class RunList {
  items = $state.raw<Run[]>([]);
  /** True until the first page is there. */
  first = $state(true);
  loading = $state(false);
  error = $state.raw<ApiError | undefined>();
  /** True if the list has an end, and it is there. */
  complete = $state(false);
  #query: () => Query;
  #status: RunStatus | undefined;
  #next: string | undefined;
  #abort = new AbortController();
  #index = new Map<string, number>();
  #changes = new Map<string, { status: RunStatus; updatedAt: string; name: string }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stop: () => void;

  constructor(query: () => Query, status: RunStatus | undefined) {
    this.#query = query;
    this.#status = status;
    this.#stop = onChange('run', (change) => this.#changed(change));
    void this.more();
  }

  stop(): void {
    this.#stop();
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  reload = (): void => {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#next = undefined;
    this.#changes.clear();
    this.complete = false;
    this.loading = false;
    this.error = undefined;
    this.first = this.items.length === 0;
    void this.more(true);
  };

  /** Reads the next page. */
  more = async (anew = false): Promise<void> => {
    if (this.loading || this.complete || this.items.length >= MAX_RUNS) return;
    const { signal } = this.#abort;
    this.loading = true;
    try {
      // A page may be empty and still have a next one.
      for (let empty = 0, found = 0; found === 0 && empty < MAX_EMPTY_PAGES; empty++) {
        const page: Paged<Run> = await get('/v1/runs', { ...this.#query(), limit: PAGE, cursor: this.#next }, signal);
        if (signal.aborted) return;
        const fresh = anew ? page.items : page.items.filter((run) => !this.#index.has(run.id));
        found = fresh.length;
        this.#next = page.next;
        if (anew) this.#set(fresh);
        else if (found > 0) this.#set([...this.items, ...fresh]);
        anew = false;
        this.complete = page.next === undefined;
        if (this.complete) break;
      }
      this.error = undefined;
      this.first = false;
    } catch (error) {
      if (signal.aborted) return;
      this.error = asApiError(error);
    } finally {
      if (!signal.aborted) this.loading = false;
    }
  };

  #set(items: Run[]): void {
    this.items = items;
    this.#index = new Map(items.map((run, i) => [run.id, i]));
  }

  #changed(change: Change): void {
    if (change.type === 'reload') return this.reload();
    if (change.type !== 'run') return;
    this.#changes.set(change.id, { status: change.status, updatedAt: change.updatedAt, name: change.name });
    this.#later();
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#apply();
    }, CALM_MS);
  }

  async #apply(): Promise<void> {
    // An answer that is on its way may be older than the changes: they are applied after it.
    if (this.loading) return this.#later();
    const changes = this.#changes;
    this.#changes = new Map();
    let items = this.items;
    if (this.first) return;
    let unknown = false;
    let left = false;
    for (const [id, change] of changes) {
      const at = this.#index.get(id);
      const old = at === undefined ? undefined : items[at];
      if (at === undefined || old === undefined) {
        unknown ||= this.#status === undefined || this.#status === change.status;
        continue;
      }
      if (change.updatedAt < old.updatedAt) continue;
      if (items === this.items) items = [...items];
      items[at] = { ...old, status: change.status, updatedAt: change.updatedAt };
      left ||= this.#status !== undefined && this.#status !== change.status;
    }
    if (left) items = items.filter((run) => run.status === this.#status);
    if (items !== this.items) this.#set(items);
    if (unknown) await this.#news();
  }

  /** Reads runs that are newer than those in the list, and puts them in their places. */
  async #news(): Promise<void> {
    const { signal } = this.#abort;
    const found: Run[] = [];
    let cursor: string | undefined;
    try {
      for (let i = 0; i < MAX_NEW_PAGES; i++) {
        const page: Paged<Run> = await get('/v1/runs', { ...this.#query(), limit: i === 0 ? 20 : PAGE, cursor }, signal);
        if (signal.aborted) return;
        const fresh = page.items.filter((run) => !this.#index.has(run.id));
        found.push(...fresh);
        cursor = page.next;
        if (cursor === undefined || fresh.length < page.items.length) break;
        if (i === MAX_NEW_PAGES - 1) return this.reload();
      }
    } catch {
      // The next change, or the next reload, reads them.
      return;
    }
    // Another request may have brought some of them meanwhile.
    const missing = found.filter((run) => !this.#index.has(run.id));
    if (missing.length === 0) return;
    const all = [...missing, ...this.items];
    all.sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0));
    this.#set(all.slice(0, MAX_RUNS));
  }
}
