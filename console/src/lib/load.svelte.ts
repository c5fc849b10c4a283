/** State of something that is loaded: its value, its error, and whether it is late. */

import { ApiError } from './api';

/** `slow` becomes true 150 ms after the start, so that fast answers show no loading state. */
export class Loaded<T> {
  value = $state.raw<T | undefined>();
  error = $state.raw<ApiError | undefined>();
  loading = $state(false);
  slow = $state(false);
  #load: (signal: AbortSignal) => Promise<T>;
  #abort: AbortController | undefined;

  constructor(load: (signal: AbortSignal) => Promise<T>) {
    this.#load = load;
  }

  /** Loads (again). The value stays until the new one is there. A later call cancels an earlier one. */
  reload = async (): Promise<void> => {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.loading = true;
    const timer = setTimeout(() => {
      if (!abort.signal.aborted) this.slow = true;
    }, 150);
    try {
      const value = await this.#load(abort.signal);
      if (abort.signal.aborted) return;
      this.value = value;
      this.error = undefined;
    } catch (error) {
      if (abort.signal.aborted) return;
      this.error = asApiError(error);
    } finally {
      clearTimeout(timer);
      if (!abort.signal.aborted) {
        this.loading = false;
        this.slow = false;
      }
    }
  };

  /** Cancels what is under way: call it when the page goes. */
  stop = (): void => {
    this.#abort?.abort();
    this.loading = false;
    this.slow = false;
  };
}

/** Any thrown thing as an ApiError. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({ status: 0, code: 'console', detail: error instanceof Error ? error.message : String(error) });
}
