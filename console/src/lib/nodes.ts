/** Sizes of values that are shown as trees or forms: a value of a megabyte must not become a hundred thousand elements. */

function inner(value: unknown): unknown[] {
  if (value === null || typeof value !== 'object') return [];
  return Array.isArray(value) ? value : Object.values(value);
}

/** True if a value has more than `max` values in it, at any depth. */
export function hasMoreThan(value: unknown, max: number): boolean {
  let left = max;
  const rest: unknown[] = [value];
  for (let one = rest.pop(); left >= 0; one = rest.pop()) {
    const parts = inner(one);
    left -= parts.length;
    if (left < 0) return true;
    rest.push(...parts);
    if (rest.length === 0) return false;
  }
  return true;
}

/** Levels of a tree, at most `wanted`, that can be open with no more than `max` rows if each branch shows `step` of its members. */
export function levelsWithin(value: unknown, wanted: number, step: number, max = 1000): number {
  let level: unknown[] = [value];
  let rows = 0;
  for (let depth = 0; depth < wanted; depth++) {
    const next: unknown[] = [];
    for (const one of level) {
      for (const part of inner(one).slice(0, step)) next.push(part);
      if (rows + next.length > max) return Math.max(1, depth);
    }
    rows += next.length;
    level = next;
  }
  return wanted;
}
