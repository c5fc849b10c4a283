// className(object): which built-in kind an object is, whatever its prototype
// and properties claim: "Map", "Date", "Uint8Array", …
(function (native) {
  "use strict";
  // Internal class names, learnt from one sample of each: the engine gives
  // only numbers (JS_GetClassName of QuickJS-ng 0.15 answers with wrong names).
  const classNames = { __proto__: null };
  const samples = {
    Object: {},
    Array: [],
    Error: new Error(),
    DOMException: new DOMException(),
    Number: Object(0),
    String: Object(""),
    Boolean: Object(false),
    Symbol: Object(Symbol()),
    BigInt: Object(0n),
    Date: new Date(0),
    RegExp: /./,
    Map: new Map(),
    Set: new Set(),
    WeakMap: new WeakMap(),
    WeakSet: new WeakSet(),
    WeakRef: new WeakRef({}),
    ArrayBuffer: new ArrayBuffer(0),
    DataView: new DataView(new ArrayBuffer(0)),
    SharedArrayBuffer: new SharedArrayBuffer(0),
    Promise: new Promise(() => {}),
    Generator: (function* () {})(),
    "Map Iterator": new Map().keys(),
    "Set Iterator": new Set().keys(),
    AsyncGenerator: (async function* () {})(),
    Arguments: (function () {
      return arguments;
    })(),
    MappedArguments: new Function("return arguments")(),
    GeneratorFunction: function* () {},
    AsyncFunction: async function () {},
    AsyncGeneratorFunction: async function* () {},
  };
  // Name → constructor; structuredClone and the console go through it too.
  const typedArrays = { __proto__: null };
  const prefixes = "Uint8Clamped Int8 Uint8 Int16 Uint16 Int32 Uint32 BigInt64 BigUint64 Float16 Float32 Float64";
  for (const prefix of prefixes.split(" ")) {
    const constructor = globalThis[`${prefix}Array`];
    if (constructor === undefined) continue; // Float16Array is young
    typedArrays[`${prefix}Array`] = constructor;
    samples[`${prefix}Array`] = new constructor(0);
  }
  for (const name of Object.keys(samples)) classNames[native.classId(samples[name])] = name;

  native.shared.typedArrays = typedArrays;
  // undefined for classes not listed above.
  native.shared.className = (object) => classNames[native.classId(object)];
})
