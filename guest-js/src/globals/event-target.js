// Event, CustomEvent and EventTarget, as the DOM standard has them outside a
// document: no tree, so no capture or bubble phases.
(function (native) {
  "use strict";
  const { shared } = native;
  const { expose, tag, push, mapGet, mapSet, apply } = shared;
  const { DOMException, Map } = globalThis;

  class Event {
    #type;
    #init;
    #target = null;
    #prevented = false;
    #stopped = false;
    #dispatching = false;
    #time;
    constructor(type, init = {}) {
      if (arguments.length === 0) throw new TypeError("Event needs a type: new Event('name')");
      this.#type = `${type}`;
      const { bubbles, cancelable, composed } = init ?? {};
      this.#init = { bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed };
    }
    get type() {
      return this.#type;
    }
    get target() {
      return this.#target;
    }
    get srcElement() {
      return this.#target;
    }
    get currentTarget() {
      return this.#dispatching ? this.#target : null;
    }
    get bubbles() {
      return this.#init.bubbles;
    }
    get cancelable() {
      return this.#init.cancelable;
    }
    get composed() {
      return this.#init.composed;
    }
    get defaultPrevented() {
      return this.#prevented;
    }
    get eventPhase() {
      return this.#dispatching ? 2 : 0;
    }
    get isTrusted() {
      return false;
    }
    // Read late: most events are never asked, and the clock is the host's.
    get timeStamp() {
      return (this.#time ??= native.monotonic());
    }
    get returnValue() {
      return !this.#prevented;
    }
    composedPath() {
      return this.#dispatching ? [this.#target] : [];
    }
    preventDefault() {
      if (this.#init.cancelable) this.#prevented = true;
    }
    stopPropagation() {}
    stopImmediatePropagation() {
      this.#stopped = true;
    }

    static {
      // Runs the listeners until one stops the event; false if prevented.
      shared.dispatch = (event, target, listeners) => {
        if (event === null || typeof event !== "object" || !(#type in event))
          throw new TypeError("dispatchEvent takes an Event");
        if (event.#dispatching) throw new DOMException("The event is already being dispatched", "InvalidStateError");
        event.#target = target;
        event.#dispatching = true;
        event.#stopped = false;
        for (let index = 0; index < listeners.length && !event.#stopped; index++) {
          const { callback, removed, once } = listeners[index];
          if (removed) continue;
          if (once) shared.forget(target, event.#type, listeners[index]);
          try {
            if (typeof callback === "function") apply(callback, target, [event]);
            else callback.handleEvent(event);
          } catch (error) {
            native.reportError(error);
          }
        }
        event.#dispatching = false;
        return !event.#prevented;
      };
      shared.eventTypeOf = (event) => (#type in event ? event.#type : undefined);
      mapSet(shared.views, Event.prototype, (event) =>
        #type in event
          ? { type: event.#type, defaultPrevented: event.#prevented, cancelable: event.#init.cancelable }
          : undefined,
      );
    }
  }
  tag(Event, "Event");
  ["NONE", "CAPTURING_PHASE", "AT_TARGET", "BUBBLING_PHASE"].forEach((name, value) => {
    Object.defineProperty(Event, name, { value, enumerable: true });
    Object.defineProperty(Event.prototype, name, { value, enumerable: true });
  });

  class CustomEvent extends Event {
    #detail;
    constructor(type, init) {
      super(type, init);
      this.#detail = init?.detail ?? null;
    }
    get detail() {
      return this.#detail;
    }
  }
  tag(CustomEvent, "CustomEvent");

  class EventTarget {
    // type → listeners in the order they were added. Lists are copied on
    // change, so that a dispatch under way keeps the list it began with.
    #listeners = new Map();

    addEventListener(type, callback, options) {
      if (callback === null || callback === undefined) return;
      if (typeof callback !== "function" && typeof callback !== "object")
        throw new TypeError("An event listener must be a function or an object with handleEvent");
      const {
        once = false,
        signal,
        capture = false,
      } = options !== null && typeof options === "object" ? options : { capture: !!options };
      if (signal !== undefined && !shared.isAbortSignal(signal))
        throw new TypeError("The signal of an event listener must be an AbortSignal");
      if (signal?.aborted) return;
      type = `${type}`;
      const listener = { __proto__: null, callback, once: !!once, capture: !!capture, removed: false };
      const before = mapGet(this.#listeners, type) ?? [];
      const after = [];
      for (let index = 0; index < before.length; index++) {
        if (before[index].callback === callback && before[index].capture === listener.capture) return;
        push(after, before[index]);
      }
      push(after, listener);
      mapSet(this.#listeners, type, after);
      if (signal !== undefined) shared.onAbort(signal, () => shared.forget(this, type, listener));
    }

    removeEventListener(type, callback, options) {
      const capture = !!(options !== null && typeof options === "object" ? options.capture : options);
      const list = mapGet(this.#listeners, `${type}`) ?? [];
      for (let index = 0; index < list.length; index++) {
        if (list[index].callback === callback && list[index].capture === capture)
          return shared.forget(this, `${type}`, list[index]);
      }
    }

    dispatchEvent(event) {
      const type = event !== null && typeof event === "object" ? shared.eventTypeOf(event) : undefined;
      return shared.dispatch(event, this, mapGet(this.#listeners, type) ?? []);
    }

    static {
      shared.forget = (target, type, listener) => {
        listener.removed = true;
        const after = [];
        const before = mapGet(target.#listeners, type) ?? [];
        for (let index = 0; index < before.length; index++) if (before[index] !== listener) push(after, before[index]);
        mapSet(target.#listeners, type, after);
      };
    }
  }
  tag(EventTarget, "EventTarget");

  // `on<type>`: one handler that keeps the place in the order it first took.
  shared.handlerProperty = function handlerProperty(prototype, type) {
    const handlers = new WeakMap();
    const get = shared.uncurryThis(WeakMap.prototype.get);
    const set = shared.uncurryThis(WeakMap.prototype.set);
    Object.defineProperty(prototype, `on${type}`, {
      __proto__: null,
      enumerable: true,
      configurable: true,
      get() {
        return get(handlers, this)?.handler ?? null;
      },
      set(handler) {
        handler = typeof handler === "function" ? handler : null;
        const slot = get(handlers, this);
        if (slot !== undefined) slot.handler = handler;
        else if (handler !== null) {
          const made = { __proto__: null, handler };
          set(handlers, this, made);
          this.addEventListener(type, function (event) {
            if (made.handler !== null) apply(made.handler, this, [event]);
          });
        }
      },
    });
  };

  expose("Event", Event);
  expose("CustomEvent", CustomEvent);
  expose("EventTarget", EventTarget);
})
