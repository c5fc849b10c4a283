/** Entries that a search finds, newest first, page by page. */

import { get, type ApiError } from '../../lib/api';
import { asApiError } from '../../lib/load.svelte';
import type { AuditEntry, Paged } from '../../lib/types';

export interface Search {
  type?: string;
  caller?: string;
  run?: string;
  from?: string;
  until?: string;
  q?: string;
}

const LIMIT = 100;
/** One request reads a part of the log. A search without a match stops after so many, and asks whether to go on. */
const MAX_EMPTY = 12;
/** Entries that are kept: beyond it the search must be narrower. */
export const MAX_ENTRIES = 50_000;

export class Entries {
  items = $state.raw<AuditEntry[]>([]);
  error = $state.raw<ApiError | undefined>();
  loading = $state(false);
  /** True if older entries may match. */
  more = $state(false);
  /** True once the first answer is there. */
  known = $state(false);
  #search: Search = {};
  #next: string | undefined;
  #abort: AbortController | undefined;

  /** Searches anew. What is shown stays until the first answer. */
  start = async (search: Search): Promise<void> => {
    this.#search = search;
    this.#next = undefined;
    await this.#read(true);
  };

  /** Reads on. */
  further = async (): Promise<void> => {
    if (this.loading || !this.more || this.items.length >= MAX_ENTRIES) return;
    await this.#read(false);
  };

  stop = (): void => this.#abort?.abort();

  async #read(anew: boolean): Promise<void> {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.loading = true;
    let replace = anew;
    try {
      for (let round = 0; round < MAX_EMPTY; round++) {
        const page: Paged<AuditEntry> = await get('/v1/audit', { ...this.#search, order: 'newest', limit: LIMIT, cursor: this.#next }, abort.signal);
        if (abort.signal.aborted) return;
        this.#next = page.next;
        this.items = replace ? page.items : this.items.concat(page.items);
        replace = false;
        this.more = page.next !== undefined;
        this.known = true;
        this.error = undefined;
        if (page.items.length > 0 || !this.more) return;
      }
    } catch (error) {
      if (!abort.signal.aborted) this.error = asApiError(error);
    } finally {
      if (this.#abort === abort) this.loading = false;
    }
  }
}
