/** Line diff (Myers' greedy algorithm), bounded. */

export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
  /** 1-based line in the text before. */
  before?: number;
  /** 1-based line in the text after. */
  after?: number;
}

export interface DiffResult {
  lines: DiffLine[];
  /** True if the texts were too long: what follows the bound is not compared. */
  cut: boolean;
}

const MAX_LINES = 5000;
/** Beyond this many edits, the rest is told as one replacement: the time is quadratic in the number of edits. */
const MAX_EDITS = 2000;

/** Pairs of equal lines, by Myers' greedy algorithm with the trace kept; undefined if there are too many edits. */
function matches(a: string[], b: string[]): [number, number][] | undefined {
  const n = a.length;
  const m = b.length;
  const limit = Math.min(n + m, MAX_EDITS);
  const offset = limit + 1;
  const v = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d++) {
    trace.push(v.slice(offset - d - 1, offset + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (v[offset + k - 1] ?? 0) < (v[offset + k + 1] ?? 0));
      let x = down ? (v[offset + k + 1] ?? 0) : (v[offset + k - 1] ?? 0) + 1;
      let y = x - k;
      while (x < n && y < m && a[x] === b[y]) {
        x++;
        y++;
      }
      v[offset + k] = x;
      if (x >= n && y >= m) return walk(trace, n, m);
    }
  }
  return undefined;
}

function walk(trace: Int32Array[], n: number, m: number): [number, number][] {
  const pairs: [number, number][] = [];
  let x = n;
  let y = m;
  for (let d = trace.length - 1; d >= 0; d--) {
    const row = trace[d] ?? new Int32Array(0);
    const at = (k: number): number => row[k + d + 1] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const before = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : at(before);
    const fromY = d === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) {
      x--;
      y--;
      pairs.push([x, y]);
    }
    x = fromX;
    y = fromY;
  }
  return pairs.reverse();
}

/** Lines of two texts, with what was added and removed. At most 5,000 lines of each are compared. */
export function diff(before: string, after: string): DiffResult {
  let a = before === '' ? [] : before.split('\n');
  let b = after === '' ? [] : after.split('\n');
  const cut = a.length > MAX_LINES || b.length > MAX_LINES;
  if (cut) {
    a = a.slice(0, MAX_LINES);
    b = b.slice(0, MAX_LINES);
  }
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;

  const middle = matches(a.slice(start, a.length - end), b.slice(start, b.length - end)) ?? [];
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  const upTo = (x: number, y: number): void => {
    for (; i < x; i++) lines.push({ kind: 'removed', text: a[i] ?? '', before: i + 1 });
    for (; j < y; j++) lines.push({ kind: 'added', text: b[j] ?? '', after: j + 1 });
  };
  const same = (): void => {
    lines.push({ kind: 'same', text: a[i] ?? '', before: i + 1, after: j + 1 });
    i++;
    j++;
  };
  while (i < start) same();
  for (const [x, y] of middle) {
    upTo(start + x, start + y);
    same();
  }
  upTo(a.length - end, b.length - end);
  while (i < a.length) same();
  return { lines, cut };
}

/**
 * Parts of lines that differ from the line that they replace or are replaced by, as offsets from and to. Only as many
 * added lines as removed ones are compared, one by one: other lines have no counterpart.
 */
export function changedParts(lines: readonly DiffLine[]): Map<DiffLine, [from: number, to: number]> {
  const parts = new Map<DiffLine, [number, number]>();
  let at = 0;
  const count = (kind: DiffLine['kind']): number => {
    const from = at;
    while (lines[at]?.kind === kind) at++;
    return at - from;
  };
  while (at < lines.length) {
    count('same');
    const removed = count('removed');
    const added = count('added');
    if (removed !== added) continue;
    for (let i = 0; i < added; i++) {
      const before = lines[at - 2 * added + i];
      const after = lines[at - added + i];
      if (!before || !after) continue;
      const [start, end] = commonEnds(before.text, after.text);
      if (start + end === 0) continue;
      parts.set(before, [start, before.text.length - end]);
      parts.set(after, [start, after.text.length - end]);
    }
  }
  return parts;
}

/** Lengths of the common beginning and of the common end, which do not overlap and do not split characters. */
function commonEnds(a: string, b: string): [start: number, end: number] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  if (start > 0 && /[\ud800-\udbff]/.test(a[start - 1] ?? '')) start--;
  if (end > 0 && /[\udc00-\udfff]/.test(a[a.length - end] ?? '')) end--;
  return [start, end];
}

/** Text of a value for a diff: strings as they are, others as JSON with sorted members. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(sorted(value, 0), null, 2) ?? 'undefined');
}

function sorted(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object' || depth > 100) return value;
  if (Array.isArray(value)) return value.map((item) => sorted(item, depth + 1));
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(members.map(([name, item]) => [name, sorted(item, depth + 1)]));
}
