// The iterators of Headers and URLSearchParams: live over a list of
// [name, value] pairs, with the iterator helpers of the language.
(function (native) {
  "use strict";
  const { shared } = native;
  const iteratorPrototype = shared.getPrototypeOf(shared.getPrototypeOf([][Symbol.iterator]()));

  // pairsOf(object) gives the current list each time it is asked.
  shared.pairIterator = function pairIterator(constructor, name, pairsOf) {
    class PairIterator {
      #object;
      #part;
      #index = 0;
      constructor(object, part) {
        this.#object = object;
        this.#part = part;
      }
      next() {
        const pairs = pairsOf(this.#object);
        if (this.#index >= pairs.length) return { value: undefined, done: true };
        const pair = pairs[this.#index++];
        return { value: this.#part === 2 ? [pair[0], pair[1]] : pair[this.#part], done: false };
      }
    }
    Object.setPrototypeOf(PairIterator.prototype, iteratorPrototype);
    delete PairIterator.prototype.constructor;
    shared.tag(PairIterator, `${name} Iterator`);

    const { prototype } = constructor;
    // pairsOf throws for a receiver of another class.
    const method = (part) =>
      function () {
        pairsOf(this);
        return new PairIterator(this, part);
      };
    const methods = { keys: method(0), values: method(1), entries: method(2) };
    for (const key of ["entries", "keys", "values"]) {
      Object.defineProperty(methods[key], "name", { value: key, configurable: true });
      shared.hidden(prototype, key, methods[key]);
    }
    shared.hidden(prototype, Symbol.iterator, methods.entries);
    shared.hidden(
      prototype,
      "forEach",
      {
        forEach(callback, receiver) {
          if (typeof callback !== "function") throw new TypeError(`${name}.forEach takes a function`);
          for (let index = 0; index < pairsOf(this).length; index++) {
            const pair = pairsOf(this)[index];
            shared.apply(callback, receiver, [pair[1], pair[0], this]);
          }
        },
      }.forEach,
    );
  };
})
