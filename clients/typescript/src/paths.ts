/** Addresses of requests. */

/** Values of a query; undefined ones are left out. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** Encodes one segment of a path. A URL's `.` and `..` would address another resource, even if they are escaped. */
export function segment(value: string | number): string {
  const text = String(value);
  if (text === '' || text === '.' || text === '..') {
    throw new TypeError(`'${text}' cannot be a part of a path`);
  }
  return encodeURIComponent(text);
}

/** Encodes a relative file path. */
export function filePath(path: string): string {
  return path.split('/').map(segment).join('/');
}

/** Encodes a query, with its question mark. */
export function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Checks a server's address and returns it without a final slash. */
export function baseUrl(url: string | URL): string {
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') throw new TypeError('url must be http or https');
  if (parsed.username !== '' || parsed.password !== '') throw new TypeError('url must not contain a user or password: use token');
  if (parsed.search !== '' || parsed.hash !== '') throw new TypeError('url must not have a query or fragment');
  return parsed.href.replace(/\/+$/, '');
}
