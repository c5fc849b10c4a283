// What the engine needs to have stacks written out, whatever a script does to Error. Elsewhere than in QuickJS these are
// no accessors, and nothing asks for them.
(function (native) {
  "use strict";
  const { descriptorOf, startsWith, stringSlice, uncurryThis } = native.shared;
  const prepare = descriptorOf(Error, "prepareStackTrace");
  if (prepare?.set === undefined) return;
  const stack = descriptorOf(Error.prototype, "stack");
  const stackOf = uncurryThis(stack.get);
  const heading = uncurryThis(Error.prototype.toString);
  // As V8 has it: programs print `error.stack` to tell what happened. QuickJS gives the frames alone.
  const { get } = descriptorOf(
    {
      get stack() {
        const frames = stackOf(this);
        if (frames === "") return heading(this);
        // What a script's `Error.prepareStackTrace` gave stays as it is.
        if (typeof frames !== "string" || !startsWith(frames, "    at ")) return frames;
        return `${heading(this)}\n${stringSlice(frames, 0, -1)}`;
      },
    },
    "stack",
  );
  Object.defineProperty(Error.prototype, "stack", { ...stack, get });
  native.shared.stacks = {
    __proto__: null,
    stackOf: stack.get,
    prepare: prepare.get,
    setPrepare: prepare.set,
    limit: descriptorOf(Error, "stackTraceLimit").get,
  };
})
