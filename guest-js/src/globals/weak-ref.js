// WeakRef keeps its target until the run yields: once when it is made and
// each time deref gives it. QuickJS counts references and would free it at once.
(function (native) {
  "use strict";
  const { shared } = native;
  const { expose, hidden, uncurryThis } = shared;
  const { construct } = Reflect;
  const { WeakRef: Plain, Set, TypeError } = globalThis;
  const { prototype } = Plain;
  const derefPlain = uncurryThis(prototype.deref);
  const add = uncurryThis(Set.prototype.add);
  const clear = uncurryThis(Set.prototype.clear);
  const kept = new Set();
  let isEmpty = true;

  function keep(target) {
    add(kept, target);
    if (!isEmpty) return;
    isEmpty = false;
    native.keepsWeak();
  }

  function WeakRef(target) {
    if (new.target === undefined) throw new TypeError("Constructor WeakRef requires 'new'");
    const reference = construct(Plain, [target], new.target);
    keep(target);
    return reference;
  }
  hidden(prototype, "constructor", WeakRef);
  const { deref } = {
    deref() {
      const target = derefPlain(this);
      if (target !== undefined) keep(target);
      return target;
    },
  };
  hidden(prototype, "deref", deref);
  Object.defineProperty(WeakRef, "prototype", { __proto__: null, value: prototype, writable: false });
  expose("WeakRef", WeakRef);

  // For the engine, when nothing is left to run and something is kept.
  shared.releaseWeak = () => {
    isEmpty = true;
    clear(kept);
  };
})
