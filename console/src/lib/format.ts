/** Numbers and times for people. */

const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clockTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 });

const NONE = '–';

function short(n: number): string {
  return n >= 100 || Number.isInteger(n) ? Math.round(n).toString() : n >= 10 ? n.toFixed(1) : n.toFixed(2);
}

/** `1.5 MiB`. */
export function bytes(n: number | undefined): string {
  if (n === undefined || !Number.isFinite(n)) return NONE;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (Math.abs(n) >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${short(n)} ${units[unit]}`;
}

/** `12.3 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function duration(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return NONE;
  if (ms < 0) ms = 0;
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${short(Math.round(ms * 10) / 10)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${short(Math.round(seconds * 10) / 10)} s`;
  const pair = (high: number, low: number, a: string, b: string): string => (low ? `${high} ${a} ${low} ${b}` : `${high} ${a}`);
  const whole = Math.round(seconds);
  if (whole < 3600) return pair(Math.floor(whole / 60), whole % 60, 'min', 's');
  if (whole < 86400) return pair(Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), 'h', 'min');
  return pair(Math.floor(whole / 86400), Math.floor((whole % 86400) / 3600), 'd', 'h');
}

/** `1,234`; from a million on `1.2M`. */
export function count(n: number | undefined): string {
  if (n === undefined || !Number.isFinite(n)) return NONE;
  return Math.abs(n) >= 1_000_000 ? compact.format(n) : plain.format(n);
}

/** Cost in the currency of the configured prices, which has no name: `0.0126`. */
export function money(n: number | undefined): string {
  if (n === undefined || !Number.isFinite(n)) return NONE;
  return n === 0 ? '0' : n < 0.01 ? n.toFixed(4) : n < 1 ? n.toFixed(3) : n.toFixed(2);
}

/** `5 min ago`, `in 2 hr`; `now` can be given so that a clock drives it. */
export function relative(at: string | number | Date | undefined, now: number = Date.now()): string {
  const time = at === undefined ? NaN : new Date(at).getTime();
  if (Number.isNaN(time)) return NONE;
  const seconds = (time - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return 'now';
  if (size < 60) return ago.format(Math.round(seconds), 'second');
  if (size < 3600) return ago.format(Math.round(seconds / 60), 'minute');
  if (size < 86400) return ago.format(Math.round(seconds / 3600), 'hour');
  if (size < 86400 * 60) return ago.format(Math.round(seconds / 86400), 'day');
  return exact.format(time);
}

/** Date and time in the reader's time zone. */
export function absolute(at: string | number | Date | undefined): string {
  const time = at === undefined ? NaN : new Date(at).getTime();
  return Number.isNaN(time) ? NONE : exact.format(time);
}

/** Time of day with milliseconds, in the reader's time zone. */
export function clock(at: string | number | Date | undefined): string {
  const time = at === undefined ? NaN : new Date(at).getTime();
  return Number.isNaN(time) ? NONE : clockTime.format(time);
}

/** `1 run`, `2 runs`. */
export function plural(n: number, one: string, many: string = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
