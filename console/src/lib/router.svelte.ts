/** Hash routes: `#/runs/run_1?tab=source`. */

function parse(hash: string): { path: string[]; query: URLSearchParams } {
  const text = hash.startsWith('#/') ? hash.slice(2) : '';
  const mark = text.indexOf('?');
  const path = (mark < 0 ? text : text.slice(0, mark)).split('/').filter(Boolean).map(decode);
  return { path, query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

class Route {
  #now = $state.raw(parse(location.hash));

  /** Decoded parts of the path: `['runs', 'run_1']`. */
  get path(): string[] {
    return this.#now.path;
  }

  get query(): URLSearchParams {
    return this.#now.query;
  }

  /** @internal */
  read(): void {
    this.#now = parse(location.hash);
  }
}

export const route = new Route();
addEventListener('hashchange', () => route.read());

/** Href of a place in the console: `link('/runs/run_1')`, also with `#` in front, is `#/runs/run_1`. */
export function link(hash: string): string {
  const text = hash.startsWith('#') ? hash.slice(1) : hash;
  return `#${text.startsWith('/') ? '' : '/'}${text}`;
}

/** Href of parts that may have any character: `to('capabilities', name, { space })`. Members without a value are left out. */
export function to(...parts: (string | Record<string, string | undefined>)[]): string {
  let path = '#';
  let query = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      path += `/${encodeURIComponent(part)}`;
    } else {
      const given = Object.entries(part).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
      query = new URLSearchParams(given).toString();
    }
  }
  return query ? `${path}?${query}` : path;
}

/** Goes to a place. With `replace`, the back button skips the place that was left. */
export function go(hash: string, options: { replace?: boolean } = {}): void {
  const target = link(hash);
  if (options.replace) {
    history.replaceState(null, '', target);
    route.read();
  } else if (location.hash !== target) {
    location.hash = target;
  }
}

/** Changes members of the query and keeps the path; undefined and empty members are removed. Replaces the history entry. */
export function setQuery(change: Record<string, string | undefined>): void {
  const query = new URLSearchParams(route.query);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  go(to(...route.path, Object.fromEntries(query)), { replace: true });
}
