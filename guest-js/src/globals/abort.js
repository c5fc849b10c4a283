// AbortController and AbortSignal.
(function (native) {
  "use strict";
  const { shared } = native;
  const { expose, tag, push, mapSet, indexOf } = shared;
  const { DOMException, Event, EventTarget } = globalThis;
  const dispatchEvent = shared.uncurryThis(EventTarget.prototype.dispatchEvent);
  // Only this file makes signals: `new AbortSignal()` is refused.
  const key = {};
  let signalAbort;
  let follow;

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    // What happens on abort before the event: listeners' own clean-up, calls
    // to cancel. Emptied when it has run.
    #algorithms = [];
    // Signals made by AbortSignal.any from this one, and where this one came from.
    #dependents = [];
    #sources = [];

    constructor(secret) {
      if (secret !== key)
        throw new TypeError(
          "Illegal constructor: use new AbortController().signal, AbortSignal.timeout(ms) or AbortSignal.any([...])",
        );
      super();
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }

    static abort(reason) {
      const signal = new AbortSignal(key);
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
      return signal;
    }

    static timeout(milliseconds) {
      const delay = +milliseconds;
      if (!(delay >= 0 && delay <= 9007199254740991))
        throw new TypeError("AbortSignal.timeout takes a number of milliseconds from 0 up");
      const signal = new AbortSignal(key);
      native.setTimer(
        () => signalAbort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")),
        delay,
        false,
      );
      return signal;
    }

    static any(signals) {
      const list = [...signals];
      for (let index = 0; index < list.length; index++) {
        if (!shared.isAbortSignal(list[index]))
          throw new TypeError("AbortSignal.any takes an iterable of AbortSignals");
      }
      const result = new AbortSignal(key);
      for (let index = 0; index < list.length; index++) {
        if (list[index].#aborted) {
          result.#aborted = true;
          result.#reason = list[index].#reason;
          return result;
        }
      }
      for (let index = 0; index < list.length; index++) follow(result, list[index]);
      return result;
    }

    static {
      // A dependent follows the signals its sources follow, so that all
      // signals one abort reaches are marked before any event fires.
      follow = (result, source) => {
        const sources = source.#sources.length === 0 ? [source] : source.#sources;
        for (let index = 0; index < sources.length; index++) {
          if (indexOf(result.#sources, sources[index]) !== -1) continue;
          push(result.#sources, sources[index]);
          push(sources[index].#dependents, result);
        }
      };

      const mark = (signal, reason) => {
        signal.#aborted = true;
        signal.#reason = reason;
      };
      const run = (signal) => {
        const algorithms = signal.#algorithms;
        signal.#algorithms = [];
        for (let index = 0; index < algorithms.length; index++) algorithms[index](signal.#reason);
        dispatchEvent(signal, new Event("abort"));
      };
      signalAbort = (signal, reason = new DOMException("This operation was aborted", "AbortError")) => {
        if (signal.#aborted) return;
        mark(signal, reason);
        const reached = [signal];
        for (let index = 0; index < signal.#dependents.length; index++) {
          const dependent = signal.#dependents[index];
          if (!dependent.#aborted) {
            mark(dependent, reason);
            push(reached, dependent);
          }
        }
        for (let index = 0; index < reached.length; index++) run(reached[index]);
      };

      shared.isAbortSignal = (value) => value !== null && typeof value === "object" && #aborted in value;
      // For host calls that take a signal: `algorithm(reason)` runs once, at
      // once when the signal is aborted already.
      shared.onAbort = (signal, algorithm) => {
        if (signal.#aborted) algorithm(signal.#reason);
        else push(signal.#algorithms, algorithm);
      };
      mapSet(shared.views, AbortSignal.prototype, (signal) =>
        #aborted in signal ? { aborted: signal.#aborted } : undefined,
      );
    }
  }
  tag(AbortSignal, "AbortSignal");
  shared.handlerProperty(AbortSignal.prototype, "abort");

  class AbortController {
    #signal = new AbortSignal(key);
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      signalAbort(this.#signal, reason);
    }
    static {
      mapSet(shared.views, AbortController.prototype, (controller) =>
        #signal in controller ? { signal: controller.#signal } : undefined,
      );
    }
  }
  tag(AbortController, "AbortController");

  expose("AbortSignal", AbortSignal);
  expose("AbortController", AbortController);
})
