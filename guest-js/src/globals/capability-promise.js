// CapabilityPromise: what a capability function that returns a list gives. It is
// a promise of the list that takes the methods of arrays, each of which waits:
// `await trainSchedule.getSchedule().filter(isMorning)`.
(function (native) {
  "use strict";
  const { apply, hidden } = native.shared;
  const { create, setPrototypeOf } = Object;
  const { prototype: promisePrototype } = Promise;
  const { then } = promisePrototype;

  // Its constructor is Promise: `await` then takes it as it is, and what `then` gives need not be a list.
  const prototype = create(promisePrototype);

  const giveLists = ["concat", "filter", "flat", "flatMap", "map", "reverse", "slice", "sort", "toReversed", "toSorted",
    "toSpliced", "with"];
  const giveOthers = ["at", "every", "find", "findIndex", "findLast", "findLastIndex", "forEach", "includes", "indexOf",
    "join", "lastIndexOf", "reduce", "reduceRight", "some"];
  for (const names of [giveLists, giveOthers]) {
    for (const name of names) {
      const method = Array.prototype[name];
      const isList = names === giveLists;
      const { [name]: waiting } = {
        [name](...parameters) {
          const promise = apply(then, this, [(list) => apply(method, list, parameters)]);
          return isList ? setPrototypeOf(promise, prototype) : promise;
        },
      };
      hidden(prototype, name, waiting);
    }
  }
  native.shared.capabilityPromise = prototype;
})
