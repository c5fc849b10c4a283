// What the inspector calls a value: the name of its class, its prefix before
// the brace, the text of a function. Nothing here runs a script's code.
(function (native) {
  "use strict";
  const { shared } = native;
  const { className, descriptorOf, prototypeOf, startsWith, uncurryThis, unwrap } = shared;
  const functionToString = uncurryThis(Function.prototype.toString);

  // The name of the class whose prototype the object has; null for a null
  // prototype. `Foo.prototype` itself is no Foo, so constructors are checked.
  function constructorName(object, links = 0) {
    let first;
    for (let link = object, depth = 0; link !== null && depth < 100; depth++) {
      const constructor = descriptorOf(link, "constructor")?.value;
      if (typeof constructor === "function" && unwrap(constructor) === constructor) {
        const name = descriptorOf(constructor, "name")?.value;
        const prototype = descriptorOf(constructor, "prototype")?.value;
        if (typeof name === "string" && name !== "" && inherits(object, prototype)) return name;
      }
      link = prototypeOf(link);
      if (first === undefined) first = link;
    }
    if (first === null || first === undefined) return null;
    const inner = links > 2 ? "Complex prototype" : constructorName(first, links + 1);
    return `${className(object) ?? "Object"} <${inner ?? "[Object: null prototype] {}"}>`;
  }

  function inherits(object, prototype) {
    for (let depth = 0; depth < 100; depth++) {
      object = prototypeOf(object);
      if (object === null) return false;
      if (object === prototype) return true;
    }
    return false;
  }

  function prefixOf(constructor, tag, fallback, size = "") {
    const suffix = tag !== "" && (constructor ?? fallback) !== tag ? `[${tag}] ` : "";
    return constructor === null ? `[${fallback}${size}: null prototype] ${suffix}` : `${constructor}${size} ${suffix}`;
  }

  function functionBase(value, constructor, tag) {
    const name = descriptorOf(value, "name")?.value;
    const named = typeof name === "string" && name !== "";
    const suffix = tag !== "" && constructor !== tag ? ` [${tag}]` : "";
    // Only a class has source text that begins so and a fixed prototype.
    if (descriptorOf(value, "prototype")?.writable === false && startsWith(functionToString(value), "class")) {
      const parent = prototypeOf(value);
      const parentName = parent === null ? "[null prototype]" : descriptorOf(parent, "name")?.value;
      const odd = constructor !== "Function" && constructor !== null ? ` [${constructor}]` : "";
      return `[class ${named ? name : "(anonymous)"}${odd}${suffix}${typeof parentName === "string" && parentName !== "" ? ` extends ${parentName}` : ""}]`;
    }
    const kind = className(value);
    const type =
      kind === "GeneratorFunction" || kind === "AsyncFunction" || kind === "AsyncGeneratorFunction" ? kind : "Function";
    return (
      `[${type}${constructor === null ? " (null prototype)" : ""}${named ? `: ${name}` : " (anonymous)"}]` +
      `${constructor !== type && constructor !== null ? ` ${constructor}` : ""}${suffix}`
    );
  }

  shared.naming = { __proto__: null, constructorName, prefixOf, functionBase };
})
