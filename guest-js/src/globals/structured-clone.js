// structuredClone. A work list instead of recursion: a deeply nested value
// must not exhaust the stack.
(function (native) {
  "use strict";
  const { shared } = native;
  const {
    expose,
    push,
    keys: keysOf,
    hasOwn,
    className,
    uncurryThis,
    getterOf,
    mapGet,
    mapSet,
    mapHas,
    mapForEach,
    setForEach,
    setAdd,
    viewBuffer,
    viewByteOffset,
    viewLength,
    bufferByteLength,
    prototypeOf,
    views,
    descriptorOf,
    hidden,
    put,
    typedArrays,
  } = shared;
  const { DOMException, Map, Set, Date, RegExp, ArrayBuffer, DataView, Array, Uint8Array } = globalThis;
  const boxed = Object;
  const transferBuffer = uncurryThis(ArrayBuffer.prototype.transfer);
  const sliceBuffer = uncurryThis(ArrayBuffer.prototype.slice);
  const isDetached = getterOf(ArrayBuffer.prototype, "detached");
  const isResizable = getterOf(ArrayBuffer.prototype, "resizable");
  const maxByteLength = getterOf(ArrayBuffer.prototype, "maxByteLength");
  const dataViewBuffer = getterOf(DataView.prototype, "buffer");
  const dataViewOffset = getterOf(DataView.prototype, "byteOffset");
  const dataViewLength = getterOf(DataView.prototype, "byteLength");
  const sourceOf = getterOf(RegExp.prototype, "source");
  const flagsOf = getterOf(RegExp.prototype, "flags");
  const setBytes = uncurryThis(Uint8Array.prototype.set);
  const valueOf = {
    __proto__: null,
    Number: uncurryThis(Number.prototype.valueOf),
    String: uncurryThis(String.prototype.valueOf),
    Boolean: uncurryThis(Boolean.prototype.valueOf),
    BigInt: uncurryThis(BigInt.prototype.valueOf),
  };
  const errors = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  const refuse = (what) => new DOMException(`${what} could not be cloned.`, "DataCloneError");

  function cloneBuffer(buffer) {
    if (isDetached(buffer)) throw refuse("A detached ArrayBuffer");
    if (!isResizable(buffer)) return sliceBuffer(buffer, 0);
    const copy = new ArrayBuffer(bufferByteLength(buffer), { __proto__: null, maxByteLength: maxByteLength(buffer) });
    setBytes(new Uint8Array(copy), new Uint8Array(buffer));
    return copy;
  }

  function cloneError(value) {
    const name = value.name;
    const constructor = errors[name === undefined ? "Error" : `${name}`] ?? errors.Error;
    const message = descriptorOf(value, "message");
    const copy = message !== undefined && "value" in message ? new constructor(`${message.value}`) : new constructor();
    const { stack } = value;
    if (typeof stack === "string") hidden(copy, "stack", stack);
    return copy;
  }

  // An empty copy of an object, to be filled by fill(); throws for what
  // cannot be cloned.
  function shell(value, work, clone) {
    const kind = className(value);
    if (kind in valueOf) return boxed(valueOf[kind](value));
    if (kind in typedArrays) {
      const tracking =
        isResizable(viewBuffer(value)) &&
        viewLength(new typedArrays[kind](viewBuffer(value), viewByteOffset(value))) === viewLength(value);
      const buffer = clone(viewBuffer(value));
      return tracking
        ? new typedArrays[kind](buffer, viewByteOffset(value))
        : new typedArrays[kind](buffer, viewByteOffset(value), viewLength(value));
    }
    let copy;
    switch (kind) {
      case "Date":
        return new Date(shared.dateGetTime(value));
      case "RegExp":
        return new RegExp(sourceOf(value), flagsOf(value));
      case "ArrayBuffer":
        return cloneBuffer(value);
      case "DataView":
        return new DataView(clone(dataViewBuffer(value)), dataViewOffset(value), dataViewLength(value));
      case "Map":
        copy = new Map();
        break;
      case "Set":
        copy = new Set();
        break;
      case "Array":
        copy = new Array(value.length);
        break;
      case "DOMException": {
        const { name, message } = shared.domException(value);
        return new DOMException(message, name);
      }
      case "Error":
        copy = cloneError(value);
        break;
      case "Object":
      case "Arguments":
      case "MappedArguments":
        if (isHostObject(value)) throw refuse("An object of a host class");
        copy = {};
        break;
      default:
        // Promises, weak collections, iterators, and (of no class here) proxies.
        throw refuse(`An object of class ${kind ?? "unknown"}`);
    }
    push(work, value, copy, kind);
    return copy;
  }

  // Headers, URL, AbortSignal, …: their state is not in properties.
  function isHostObject(value) {
    for (let link = prototypeOf(value), depth = 0; link !== null && depth < 100; link = prototypeOf(link), depth++) {
      const view = mapGet(views, link);
      if (view !== undefined) return view(value) !== undefined;
    }
    return false;
  }

  function fill(value, copy, kind, clone) {
    if (kind === "Map") {
      // Copied first: cloning an entry may run getters that change the map.
      const entries = [];
      mapForEach(value, (item, key) => push(entries, key, item));
      for (let index = 0; index < entries.length; index += 2)
        mapSet(copy, clone(entries[index]), clone(entries[index + 1]));
    } else if (kind === "Set") {
      const items = [];
      setForEach(value, (item) => push(items, item));
      for (let index = 0; index < items.length; index++) setAdd(copy, clone(items[index]));
    } else if (kind === "Error") {
      const cause = descriptorOf(value, "cause");
      if (cause !== undefined && "value" in cause) hidden(copy, "cause", clone(cause.value));
    } else {
      const names = keysOf(value);
      for (let index = 0; index < names.length; index++) {
        if (hasOwn(value, names[index])) put(copy, names[index], clone(value[names[index]]));
      }
    }
  }

  function transferList(options) {
    if (options === undefined || options === null) return [];
    if (typeof options !== "object" && typeof options !== "function")
      throw new TypeError("structuredClone: the options must be an object");
    const { transfer } = options;
    if (transfer === undefined) return [];
    const list = [...transfer];
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      if (item === null || typeof item !== "object")
        throw new TypeError("structuredClone: only objects can be transferred");
      if (className(item) !== "ArrayBuffer")
        throw new DOMException("Only an ArrayBuffer can be transferred here.", "DataCloneError");
      if (isDetached(item))
        throw new DOMException("A detached ArrayBuffer could not be transferred.", "DataCloneError");
      if (shared.indexOf(list, item) !== index)
        throw new DOMException("An ArrayBuffer is twice in the transfer list.", "DataCloneError");
    }
    return list;
  }

  function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError("structuredClone needs a value");
    const transfer = transferList(options);
    const copies = new Map();
    const work = [];
    function clone(item) {
      if (typeof item === "symbol") throw refuse(`${shared.inspect(item)}`);
      if (typeof item === "function") throw refuse(shared.inspect(item, 0));
      if (item === null || typeof item !== "object") return item;
      if (mapHas(copies, item)) return mapGet(copies, item);
      const copy = shell(item, work, clone);
      mapSet(copies, item, copy);
      return copy;
    }
    const result = clone(value);
    for (let index = 0; index < work.length; index += 3) fill(work[index], work[index + 1], work[index + 2], clone);
    // Only now, when nothing can fail any more: to the script, a copy whose
    // original is detached is a transferred buffer.
    for (let index = 0; index < transfer.length; index++) transferBuffer(transfer[index], 0);
    return result;
  }
  expose("structuredClone", structuredClone);
})
