// What the other globals files share: the built-ins as they were before any
// script ran (so a script that patches a prototype cannot break or trick the
// console, structuredClone, …), and the few helpers that define globals.
(function (native) {
  "use strict";
  const { apply, getPrototypeOf, ownKeys } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor: descriptorOf } = Object;
  const { bind, call } = Function.prototype;
  // method(receiver, ...arguments), whatever Function.prototype.call becomes.
  const uncurryThis = bind.bind(call);
  const getterOf = (prototype, key) => uncurryThis(descriptorOf(prototype, key).get);
  const TypedArray = getPrototypeOf(Uint8Array);
  const { iterator: iteratorSymbol } = Symbol;

  function hidden(target, key, value) {
    defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  }

  // A string read from a data property along the prototype chain; accessors
  // and proxies in the chain are never run.
  function dataString(object, key) {
    for (let depth = 0; object !== null && depth < 100; depth++) {
      const descriptor = descriptorOf(object, key);
      if (descriptor !== undefined) return typeof descriptor.value === "string" ? descriptor.value : undefined;
      object = prototypeOf(object);
    }
    return undefined;
  }

  // The object behind any number of proxies; null when one was revoked.
  function unwrap(object) {
    for (;;) {
      const target = native.proxyTarget(object);
      if (target === undefined) return object;
      if (target === null) return null;
      object = target;
    }
  }

  function prototypeOf(object) {
    const prototype = getPrototypeOf(object);
    return prototype === null ? null : unwrap(prototype);
  }

  native.shared = {
    __proto__: null,
    apply,
    descriptorOf,
    getPrototypeOf,
    ownKeys,
    uncurryThis,
    getterOf,
    hidden,
    dataString,
    unwrap,
    prototypeOf,
    TypedArray,
    keys: Object.keys,
    isArray: Array.isArray,
    hasOwn: Object.hasOwn,
    isEnumerable: uncurryThis(Object.prototype.propertyIsEnumerable),
    push: uncurryThis(Array.prototype.push),
    join: uncurryThis(Array.prototype.join),
    sort: uncurryThis(Array.prototype.sort),
    splice: uncurryThis(Array.prototype.splice),
    indexOf: uncurryThis(Array.prototype.indexOf),
    charCodeAt: uncurryThis(String.prototype.charCodeAt),
    stringIndexOf: uncurryThis(String.prototype.indexOf),
    stringSlice: uncurryThis(String.prototype.slice),
    startsWith: uncurryThis(String.prototype.startsWith),
    split: uncurryThis(String.prototype.split),
    repeat: uncurryThis(String.prototype.repeat),
    padStart: uncurryThis(String.prototype.padStart),
    padEnd: uncurryThis(String.prototype.padEnd),
    toLowerCase: uncurryThis(String.prototype.toLowerCase),
    toUpperCase: uncurryThis(String.prototype.toUpperCase),
    toWellFormed: uncurryThis(String.prototype.toWellFormed),
    matches: (
      (exec) => (expression, text) =>
        exec(expression, text) !== null
    )(uncurryThis(RegExp.prototype.exec)),
    numberToString: uncurryThis(Number.prototype.toString),
    dateGetTime: uncurryThis(Date.prototype.getTime),
    mapGet: uncurryThis(Map.prototype.get),
    mapSet: uncurryThis(Map.prototype.set),
    mapHas: uncurryThis(Map.prototype.has),
    mapDelete: uncurryThis(Map.prototype.delete),
    mapSize: getterOf(Map.prototype, "size"),
    mapForEach: uncurryThis(Map.prototype.forEach),
    setSize: getterOf(Set.prototype, "size"),
    setForEach: uncurryThis(Set.prototype.forEach),
    setAdd: uncurryThis(Set.prototype.add),
    viewLength: getterOf(TypedArray.prototype, "length"),
    viewBuffer: getterOf(TypedArray.prototype, "buffer"),
    viewByteOffset: getterOf(TypedArray.prototype, "byteOffset"),
    viewByteLength: getterOf(TypedArray.prototype, "byteLength"),
    bufferByteLength: getterOf(ArrayBuffer.prototype, "byteLength"),

    // An own data property, whatever setters the prototype has.
    put(target, key, value) {
      defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    },

    // A global as browsers and Node define theirs: there, but not enumerated.
    expose(name, value) {
      hidden(globalThis, name, value);
    },

    // Names a class in Object.prototype.toString, as Web IDL asks.
    tag(constructor, name) {
      defineProperty(constructor.prototype, Symbol.toStringTag, { __proto__: null, value: name, configurable: true });
    },

    // prototype → function (object) giving what the console shows inside the
    // braces (a plain object, a Map, …), or undefined for an impostor. The
    // same list tells structuredClone which objects it must refuse.
    views: new Map(),

    // Sequences and records as Web IDL converts them; `what` opens the message.
    pairsOf(init, what, each) {
      const iterator = init[iteratorSymbol];
      if (iterator !== undefined && iterator !== null) {
        for (const pair of { [iteratorSymbol]: () => apply(iterator, init, []) }) {
          if (pair === null || typeof pair !== "object")
            throw new TypeError(`${what}: each item must be a [name, value] pair`);
          const items = [...pair];
          if (items.length !== 2)
            throw new TypeError(`${what}: each item must be a [name, value] pair, not ${items.length} items`);
          each(items[0], items[1]);
        }
        return;
      }
      const names = ownKeys(init);
      for (let index = 0; index < names.length; index++) {
        const descriptor = descriptorOf(init, names[index]);
        if (descriptor !== undefined && descriptor.enumerable) {
          if (typeof names[index] === "symbol") throw new TypeError(`${what}: a symbol cannot be a name`);
          each(names[index], init[names[index]]);
        }
      }
    },
  };
})
