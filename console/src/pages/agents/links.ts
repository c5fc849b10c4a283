/** Addresses in text of a model: only plain http and https addresses become links. */

export interface Piece {
  text: string;
  /** Address, if the piece is one. */
  href?: string;
}

// Up to the next space: an address with other than plain characters is no link, and neither is its beginning.
const ADDRESS = /\bhttps?:\/\/\S+/gi;
const MAX_LINKS = 200;
const MAX_ADDRESS = 2000;

/** Address that is safe to follow and looks like what it is; undefined for all others. */
export function address(text: string): string | undefined {
  if (text.length > MAX_ADDRESS || !/^https?:\/\/[!-~]+$/i.test(text)) return undefined;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return undefined;
  }
  // A name before an @ is how an address pretends to be of another host.
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') return undefined;
  return url.href;
}

/** Splits text at its addresses. Punctuation after an address belongs to the sentence. */
export function pieces(text: string): Piece[] {
  const list: Piece[] = [];
  let from = 0;
  let found = 0;
  for (const match of text.matchAll(ADDRESS)) {
    if (++found > MAX_LINKS) break;
    let part = match[0].replace(/["'`<>\\^{|}].*$/, '').replace(/[.,;:!?*_~]+$/, '');
    while (part.endsWith(')') && part.split(')').length > part.split('(').length) part = part.slice(0, -1);
    while (part.endsWith(']') && part.split(']').length > part.split('[').length) part = part.slice(0, -1);
    const href = address(part);
    if (href === undefined) continue;
    if (match.index > from) list.push({ text: text.slice(from, match.index) });
    list.push({ text: part, href });
    from = match.index + part.length;
  }
  if (from < text.length) list.push({ text: text.slice(from) });
  return list;
}
