// What the console shows of each built-in kind of object: the entries of a
// Map, the bytes of a buffer, the stack of an error, … (see inspect.js).
(function (native) {
  "use strict";
  const { shared } = native;
  const {
    push,
    join,
    indexOf,
    splice,
    isArray,
    hasOwn,
    descriptorOf,
    dataString,
    startsWith,
    stringIndexOf,
    stringSlice,
    split,
    padStart,
    numberToString,
    uncurryThis,
    getterOf,
    inspectParts,
  } = shared;
  const { MAX_ITEMS, primitive, formatValue, arrayItems, moreItems, plural } = inspectParts;
  const { min } = Math;
  const { Uint8Array } = globalThis;
  const mapEntries = uncurryThis(Map.prototype.entries);
  const mapNext = uncurryThis(new Map().entries().next);
  const setValues = uncurryThis(Set.prototype.values);
  const setNext = uncurryThis(new Set().values().next);
  const dateToString = uncurryThis(Date.prototype.toString);
  const dateToISO = uncurryThis(Date.prototype.toISOString);
  const sourceOf = getterOf(RegExp.prototype, "source");
  const flagsOf = getterOf(RegExp.prototype, "flags");
  const viewProperties = ["byteLength", "byteOffset", "buffer"];
  const viewGetters = viewProperties.map((name) => getterOf(DataView.prototype, name));
  const unboxers = {
    __proto__: null,
    Number: uncurryThis(Number.prototype.valueOf),
    String: uncurryThis(String.prototype.valueOf),
    Boolean: uncurryThis(Boolean.prototype.valueOf),
    Symbol: uncurryThis(Symbol.prototype.valueOf),
    BigInt: uncurryThis(BigInt.prototype.valueOf),
  };
  // Frames of these files are the engine's own business.
  const OWN_FRAME = "agent-spaces:globals/";

  // Indented as what stands inside braces is.
  function nested(context, value, level) {
    context.indentation += 2;
    const text = formatValue(context, value, level);
    context.indentation -= 2;
    return text;
  }

  function array(context, value, { constructor, tag, length, shape, prefix }) {
    shape.open = constructor === "Array" && tag === "" ? "[" : `${prefix("Array", `(${length})`)}[`;
    shape.close = "]";
    if (length === 0 && shape.keys.length === 0) return void (shape.text = `${shape.open}]`);
    shape.array = { extra: false, numeric: true };
    shape.content = (context, value, level, parts) => {
      shape.array.extra = arrayItems(context, value, level, parts);
      for (let index = 0; index < parts.length && shape.array.numeric; index++) {
        const type = typeof descriptorOf(value, index)?.value;
        shape.array.numeric = type === "number" || type === "bigint";
      }
    };
  }

  function typedArray(context, value, { length, kind, shape, prefix }) {
    shape.open = `${prefix(kind, `(${length})`)}[`;
    shape.close = "]";
    if (length === 0 && shape.keys.length === 0) return void (shape.text = `${shape.open}]`);
    shape.array = { extra: length > MAX_ITEMS, numeric: true };
    shape.content = (context, value, level, parts) => {
      for (let index = 0; index < length && index < MAX_ITEMS; index++) push(parts, primitive(value[index], 0));
      if (length > MAX_ITEMS) push(parts, moreItems(length - MAX_ITEMS));
    };
  }

  // Maps and Sets: `step` writes the next entry, or answers undefined.
  function collection(name, sizeOf, begin, step) {
    return function (context, value, { shape, prefix }) {
      const size = sizeOf(value);
      shape.open = `${prefix(name, `(${size})`)}{`;
      if (size === 0 && shape.keys.length === 0) return void (shape.text = `${shape.open}}`);
      shape.content = (context, value, level, parts) => {
        const iterator = begin(value);
        for (let count = 0; count < MAX_ITEMS; count++) {
          const text = step(context, iterator, level);
          if (text === undefined) return;
          push(parts, text);
        }
        if (size > MAX_ITEMS) push(parts, moreItems(size - MAX_ITEMS));
      };
    };
  }

  function nextMapEntry(context, iterator, level) {
    const { done, value } = mapNext(iterator);
    return done ? undefined : `${nested(context, value[0], level)} => ${nested(context, value[1], level)}`;
  }

  function nextSetValue(context, iterator, level) {
    const { done, value } = setNext(iterator);
    return done ? undefined : nested(context, value, level);
  }

  // Kinds whose whole text is one base, with any extra properties in braces.
  function based(baseOf) {
    return function (context, value, about) {
      about.shape.base = baseOf(value, about, context);
      if (about.shape.keys.length === 0) about.shape.text = about.shape.base;
    };
  }

  function prefixed(name, text, prefix) {
    const start = prefix(name);
    return start === `${name} ` ? text : start + text;
  }

  function boxed(value, { kind, constructor, tag }) {
    const odd = constructor === kind ? "" : ` (${constructor ?? "null prototype"})`;
    return `[${kind}${odd}: ${primitive(unboxers[kind](value), 0)}]${tag !== "" && tag !== constructor ? ` [${tag}]` : ""}`;
  }

  // The frames of an error's stack, without those of the globals themselves.
  function framesOf(stack) {
    const lines = split(stack, "\n");
    const frames = [];
    for (let index = 0; index < lines.length; index++) {
      if (startsWith(lines[index], "    at ") && stringIndexOf(lines[index], OWN_FRAME) === -1)
        push(frames, lines[index]);
    }
    return frames;
  }

  function errorBase(value, { constructor, tag, shape }, context) {
    const known = shared.domException(value);
    const name = known?.name ?? dataString(value, "name") ?? "Error";
    const message = known?.message ?? dataString(value, "message") ?? "";
    let header = message === "" ? name : `${name}: ${message}`;
    // A subclass that did not set `name` is still shown by its own name.
    if (constructor !== null && constructor !== name && stringSlice(name, -5) === "Error") {
      header = `${stringIndexOf(constructor, name) !== -1 ? constructor : `${constructor} [${name}]`}${stringSlice(header, name.length)}`;
    }
    const { keys } = shape;
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index];
      if (
        key === "stack" ||
        ((key === "name" || key === "message") && stringIndexOf(header, `${dataString(value, key)}`) !== -1)
      )
        splice(keys, index, 1);
    }
    if (hasOwn(value, "cause") && indexOf(keys, "cause") === -1) push(keys, "cause");
    if (isArray(descriptorOf(value, "errors")?.value) && indexOf(keys, "errors") === -1) push(keys, "errors");
    const stack = dataString(value, "stack");
    const frames = stack === undefined ? [] : framesOf(stack);
    const text = frames.length === 0 ? `[${header}]` : `${header}\n${join(frames, "\n")}`;
    return context.indentation === 0 ? text : join(split(text, "\n"), `\n${shared.repeat(" ", context.indentation)}`);
  }

  function arrayBuffer(context, value, { kind, shape, prefix }) {
    shape.open = `${prefix(kind)}{`;
    shape.content = (context, value, level, parts) => {
      let bytes;
      try {
        bytes = new Uint8Array(value);
      } catch {
        push(parts, "(detached)", "byteLength: 0");
        return;
      }
      const length = shared.viewLength(bytes);
      const shown = [];
      for (let index = 0; index < min(length, MAX_ITEMS); index++)
        push(shown, padStart(numberToString(bytes[index], 16), 2, "0"));
      const rest = length > MAX_ITEMS ? ` ... ${plural(length - MAX_ITEMS, "more byte")}` : "";
      push(parts, `[Uint8Contents]: <${join(shown, " ")}${rest}>`, `byteLength: ${length}`);
    };
  }

  function dataView(context, value, { shape, prefix }) {
    shape.open = `${prefix("DataView")}{`;
    shape.content = (context, value, level, parts) => {
      for (let index = 0; index < 3; index++)
        push(parts, `${viewProperties[index]}: ${nested(context, viewGetters[index](value), level)}`);
    };
  }

  function promise(context, value, { shape, prefix }) {
    shape.open = `${prefix("Promise")}{`;
    shape.content = (context, value, level, parts) => {
      const state = native.promiseState(value);
      if (state[0] === 0) push(parts, "<pending>");
      else push(parts, `${state[0] === 2 ? "<rejected> " : ""}${nested(context, state[1], level)}`);
    };
  }

  const weak =
    (name) =>
    (context, value, { shape, prefix }) => {
      shape.open = `${prefix(name)}{`;
      shape.content = (context, value, level, parts) => void push(parts, "<items unknown>");
    };

  const error = based(errorBase);
  const box = based(boxed);
  const kinds = {
    __proto__: null,
    Array: array,
    Map: collection("Map", shared.mapSize, mapEntries, nextMapEntry),
    Set: collection("Set", shared.setSize, setValues, nextSetValue),
    Date: based((value, { prefix }) =>
      prefixed(
        "Date",
        shared.dateGetTime(value) !== shared.dateGetTime(value) ? dateToString(value) : dateToISO(value),
        prefix,
      ),
    ),
    RegExp: based((value, { prefix }) => prefixed("RegExp", `/${sourceOf(value)}/${flagsOf(value)}`, prefix)),
    Error: error,
    DOMException: error,
    Number: box,
    String: box,
    Boolean: box,
    Symbol: box,
    BigInt: box,
    ArrayBuffer: arrayBuffer,
    SharedArrayBuffer: arrayBuffer,
    DataView: dataView,
    Promise: promise,
    WeakMap: weak("WeakMap"),
    WeakSet: weak("WeakSet"),
  };
  for (const name of Object.keys(shared.typedArrays)) kinds[name] = typedArray;
  shared.inspectKinds = kinds;
  shared.framesOf = framesOf;
})
