// inspect(value, depth): a value as text, as Node's util.inspect writes it.
// It never runs a script's code: no getters, no proxy traps, no toJSON, no
// Symbol.toStringTag getters, no custom inspect hooks.
(function (native) {
  "use strict";
  const { shared } = native;
  const { constructorName, prefixOf, functionBase } = shared.naming;
  const {
    push,
    indexOf,
    keys: keysOf,
    isArray,
    hasOwn,
    isEnumerable,
    descriptorOf,
    ownKeys,
    prototypeOf,
    unwrap,
    dataString,
    className,
    matches,
    stringSlice,
    stringIndexOf,
    startsWith,
    uncurryThis,
    layout,
    views,
    mapGet,
  } = shared;
  const getSymbols = Object.getOwnPropertySymbols;
  const symbolToString = uncurryThis(Symbol.prototype.toString);
  const sameValue = Object.is;
  const { toStringTag } = Symbol;

  const MAX_ITEMS = 100;
  // Values formatted in one call, so that a huge structure costs little:
  // far more than fits into the console's cap on one call's text.
  const MAX_VALUES = 10000;
  // Names that are not indices are looked for only in arrays up to here, since
  // the engine can only list them together with all indices.
  const MAX_LISTED = 1000;
  // Holes walked over to find the next item of a sparse array.
  const MAX_HOLES = 10000;
  const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
  const INDEX = /^(0|[1-9][0-9]{0,9})$/;

  const plural = (count, noun) => `${count} ${noun}${count > 1 ? "s" : ""}`;
  const moreItems = (count) => `... ${plural(count, "more item")}`;

  function primitive(value, indentation) {
    switch (typeof value) {
      case "string":
        return layout.quoteNested(value, indentation);
      case "number":
        return sameValue(value, -0) ? "-0" : `${value}`;
      case "bigint":
        return `${value}n`;
      case "symbol":
        return symbolToString(value);
      default:
        return `${value}`;
    }
  }

  function enumerableKeys(object, skipIndices) {
    let names;
    try {
      names = keysOf(object);
    } catch {
      names = ownKeys(object); // a module namespace still being initialised
    }
    const keys = skipIndices ? [] : names;
    for (let index = 0; skipIndices && index < names.length; index++) {
      if (!matches(INDEX, names[index])) push(keys, names[index]);
    }
    const symbols = getSymbols(object);
    for (let index = 0; index < symbols.length; index++) {
      if (isEnumerable(object, symbols[index])) push(keys, symbols[index]);
    }
    return keys;
  }

  function formatValue(context, value, level) {
    if (value === null || (typeof value !== "object" && typeof value !== "function"))
      return primitive(value, context.indentation);
    if (++context.values > MAX_VALUES) return "...";
    value = unwrap(value);
    if (value === null) return "<Revoked Proxy>";
    if (indexOf(context.seen, value) !== -1) {
      let index = indexOf(context.circular, value);
      if (index === -1) index = push(context.circular, value) - 1;
      return `[Circular *${index + 1}]`;
    }
    return formatObject(context, value, level);
  }

  function formatObject(context, value, level) {
    const constructor = constructorName(value);
    const kind = className(value);
    let tag = dataString(value, toStringTag) ?? "";
    if (tag !== "" && isEnumerable(value, toStringTag)) tag = "";
    // What one kind of object shows: its keys, what stands before the brace,
    // the braces, the function that writes what is not a property; or its text.
    const shape = {
      base: "",
      open: "{",
      close: "}",
      keys: undefined,
      content: undefined,
      array: undefined,
      text: undefined,
    };
    const describe = typeof value === "function" ? undefined : shared.inspectKinds[kind];
    const viewed = describe === shared.inspectKinds.Uint8Array;
    const listed = viewed || kind === "Array" || kind === "String";
    const length = viewed ? shared.viewLength(value) : listed ? value.length : 0;
    shape.keys = length > MAX_LISTED ? [] : enumerableKeys(value, listed);

    if (typeof value === "function") {
      shape.base = functionBase(value, constructor, tag);
      if (shape.keys.length === 0) return shape.base;
    } else if (describe !== undefined) {
      describe(context, value, {
        constructor,
        tag,
        kind,
        length,
        shape,
        prefix: (fallback, size) => prefixOf(constructor, tag, fallback, size),
      });
      if (shape.text !== undefined) return shape.text;
    } else {
      const view = viewOf(value);
      if (view !== undefined) {
        if (level > context.depth) return `[${constructor}]`;
        const text = formatObject(context, view, level);
        const start = startsWith(text, "Map(") ? stringSlice(text, stringIndexOf(text, "{")) : text;
        return `${constructor} ${start}`;
      }
      if (constructor !== "Object" || tag !== "") shape.open = `${prefixOf(constructor, tag, "Object")}{`;
      if (kind === "Arguments" || kind === "MappedArguments") shape.open = "[Arguments] {";
      if (kind === "Generator" || kind === "AsyncGenerator") shape.open = `Object [${kind}] {`;
      if (shape.keys.length === 0) return `${shape.open}}`;
    }

    if (level > context.depth) {
      const name = stringSlice(prefixOf(constructor, tag, kind ?? "Object"), 0, -1);
      return constructor === null ? name : `[${isArray(value) && constructor === "Array" ? "Array" : name}]`;
    }
    return formatParts(context, value, level + 1, shape);
  }

  // The view a host class registered for its objects, if this is one.
  function viewOf(value) {
    for (let link = prototypeOf(value), depth = 0; link !== null && depth < 100; link = prototypeOf(link), depth++) {
      const view = mapGet(views, link);
      if (view !== undefined) return view(value);
    }
    return undefined;
  }

  function formatParts(context, value, level, shape) {
    push(context.seen, value);
    context.deepest = level;
    const parts = [];
    shape.content?.(context, value, level, parts);
    const { keys } = shape;
    for (let index = 0; index < keys.length; index++) {
      if (context.values > MAX_VALUES) {
        push(parts, `... ${keys.length - index} more properties`);
        break;
      }
      push(parts, property(context, value, level, keys[index]));
    }
    context.seen.length--;
    const reference = indexOf(context.circular, value);
    if (reference !== -1) shape.base = `<ref *${reference + 1}>${shape.base === "" ? "" : ` ${shape.base}`}`;
    return layout.joinParts(
      parts,
      shape.base,
      shape.open,
      shape.close,
      context.indentation,
      context.deepest - level,
      shape.array,
    );
  }

  function propertyValue(context, value, level, key) {
    let descriptor;
    try {
      descriptor = descriptorOf(value, key);
    } catch {
      return "<uninitialized>"; // an export of a module that has not run yet
    }
    if (descriptor === undefined) return "undefined";
    if (!hasOwn(descriptor, "value")) {
      return descriptor.get === undefined ? "[Setter]" : descriptor.set === undefined ? "[Getter]" : "[Getter/Setter]";
    }
    context.values++;
    context.indentation += 2;
    const text = formatValue(context, descriptor.value, level);
    context.indentation -= 2;
    return text;
  }

  function property(context, value, level, key) {
    const text = propertyValue(context, value, level, key);
    let name;
    if (typeof key === "symbol") name = `[${layout.escapeText(symbolToString(key), 39)}]`;
    else if (key === "__proto__") name = "['__proto__']";
    else if (!isEnumerable(value, key)) name = `[${layout.escapeText(key, 39)}]`;
    else name = matches(IDENTIFIER, key) ? key : layout.quote(key);
    return `${name}: ${text}`;
  }

  // The items of an array, with runs of holes counted.
  function arrayItems(context, value, level, parts) {
    const { length } = value;
    let index = 0;
    let holes = 0;
    while (index < length && parts.length < MAX_ITEMS && context.values <= MAX_VALUES) {
      if (hasOwn(value, index)) {
        push(parts, propertyValue(context, value, level, index));
        index++;
        continue;
      }
      const start = index;
      while (index < length && !hasOwn(value, index) && holes < MAX_HOLES) {
        index++;
        holes++;
      }
      if (holes === MAX_HOLES && index < length) {
        index = start;
        break;
      }
      push(parts, `<${plural(index - start, "empty item")}>`);
    }
    if (index < length) push(parts, moreItems(length - index));
    return index < length;
  }

  shared.inspectParts = { __proto__: null, MAX_ITEMS, primitive, formatValue, arrayItems, moreItems, plural };

  // depth: levels of nesting shown below the value.
  shared.inspect = function inspect(value, depth = 2) {
    const context = { __proto__: null, depth, indentation: 0, values: 0, deepest: 0, seen: [], circular: [] };
    return formatValue(context, value, 0);
  };
})
