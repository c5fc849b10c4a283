/**
 * Times of the timeline with long waits shortened: a call that waits an hour for a person would leave no room for the
 * others. Only gaps without any event are shortened, so that nothing is squeezed.
 */

export interface Gap {
  from: number;
  to: number;
}

/** Gaps that are shorter are part of the work. */
export const MIN_GAP_MS = 2000;
const MAX_GAPS = 16;
/** A shortened gap takes this share of the time in which something happened. */
const SHARE = 0.2;

/** Adds a gap, and keeps the longest ones. */
export function keepGap(gaps: Gap[], gap: Gap): void {
  if (gap.to - gap.from < MIN_GAP_MS) return;
  gaps.push(gap);
  if (gaps.length <= MAX_GAPS) return;
  let shortest = 0;
  gaps.forEach((one, i) => {
    const other = gaps[shortest];
    if (other && one.to - one.from < other.to - other.from) shortest = i;
  });
  gaps.splice(shortest, 1);
}

export class TimeScale {
  /** Shortened gaps, in order, with where they begin on the scale. */
  readonly gaps: (Gap & { at: number })[] = [];
  /** Length of a shortened gap on the scale. */
  readonly short: number;

  constructor(from: number, to: number, gaps: readonly Gap[]) {
    const work = gaps.reduce((rest, gap) => rest - (gap.to - gap.from), to - from);
    this.short = Math.max(20, work * SHARE);
    let removed = 0;
    for (const gap of [...gaps].sort((a, b) => a.from - b.from)) {
      const length = gap.to - gap.from;
      if (length < Math.max(MIN_GAP_MS, this.short * 2)) continue;
      this.gaps.push({ ...gap, at: gap.from - removed });
      removed += length - this.short;
    }
  }

  /** Place of a time on the scale. */
  place(time: number): number {
    let removed = 0;
    for (const gap of this.gaps) {
      if (time <= gap.from) break;
      const length = gap.to - gap.from;
      if (time < gap.to) return gap.at + ((time - gap.from) / length) * this.short;
      removed += length - this.short;
    }
    return time - removed;
  }

  /** Time at a place of the scale. */
  time(place: number): number {
    let removed = 0;
    for (const gap of this.gaps) {
      if (place <= gap.at) break;
      const length = gap.to - gap.from;
      if (place < gap.at + this.short) return gap.from + ((place - gap.at) / this.short) * length;
      removed += length - this.short;
    }
    return place + removed;
  }
}
