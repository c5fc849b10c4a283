/** When a request is repeated, and after how long. */

/** `always`: repeating has no further effect. `refused`: only if the server certainly did nothing (429). */
export type Repeatable = 'always' | 'refused';

/** Longest wait that a server can ask for with Retry-After, in milliseconds. A longer one is an error for the caller to decide on. */
const MAX_RETRY_AFTER = 60_000;
/** First wait, in milliseconds; doubles with each attempt. */
const FIRST_DELAY = 100;
/** Longest wait between attempts, in milliseconds: short enough for a person who watches a run. */
const MAX_DELAY = 10_000;

/** True if an answer with this status may be followed by a better one. 502 and 504 come from proxies while a server restarts. */
export function mayRepeat(status: number, repeatable: Repeatable): boolean {
  return status === 429 || (repeatable === 'always' && (status === 502 || status === 503 || status === 504));
}

/** Returns the wait before the next attempt in milliseconds, or undefined if the server asks for too long a wait. */
export function delayBefore(attempt: number, retryAfter?: number): number | undefined {
  if (retryAfter !== undefined) {
    return retryAfter * 1000 <= MAX_RETRY_AFTER ? retryAfter * 1000 : undefined;
  }
  // Half of it is random, so that clients that were cut together do not come back together.
  const delay = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** Math.min(attempt, 10));
  return delay / 2 + Math.random() * (delay / 2);
}

/** Parses `Retry-After`, seconds or a date, into seconds. */
export function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}

/** Waits; rejects with the signal's reason if it is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
