/** Lists that are read page by page. */
import { ConnectionFailed } from './errors.js';

/** Page as the server sends it. */
export interface PageOf<T> {
  items: T[];
  next?: string | null;
}

/** List of a server: `for await` returns its items and asks for further pages as needed; `pages()` returns whole pages. */
export class List<T> implements AsyncIterable<T> {
  readonly #load: (cursor: string | undefined) => Promise<PageOf<T>>;

  constructor(load: (cursor: string | undefined) => Promise<PageOf<T>>) {
    this.#load = load;
  }

  async *pages(): AsyncGenerator<T[], void, void> {
    let cursor: string | undefined;
    const seen = new Set<string>();
    do {
      const page = await this.#load(cursor);
      const next = page.next ?? undefined;
      // A server that returns a cursor again would be asked forever.
      if (next !== undefined && seen.has(next)) throw new ConnectionFailed('the server repeats a page');
      if (next !== undefined) seen.add(next);
      yield page.items;
      cursor = next;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for await (const page of this.pages()) yield* page;
  }

  /** Returns all items, or the first `most`. */
  async all(most = Infinity): Promise<T[]> {
    const items: T[] = [];
    if (most <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= most) break;
    }
    return items;
  }
}

/** Options of a list. */
export interface ListOptions {
  /** Items per page: 1 to 100; 20 by default. */
  limit?: number;
}
