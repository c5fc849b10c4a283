// CapabilityError: what a failed capability call throws.
(function (native) {
  "use strict";
  const { descriptorOf, expose, hidden, put, uncurryThis } = native.shared;

  class CapabilityError extends Error {
    constructor(message, options = {}) {
      super(message);
      const { code = "call.failed", retryable = false, details } = options ?? {};
      put(this, "code", code);
      put(this, "retryable", !!retryable);
      put(this, "details", details);
    }
  }
  hidden(CapabilityError.prototype, "name", "CapabilityError");
  expose("CapabilityError", CapabilityError);
  // For the engine, which tells where calls were made. Elsewhere than in QuickJS the stack is an own property.
  const accessor = descriptorOf(Error.prototype, "stack");
  native.shared.stackOf = accessor === undefined ? (error) => error.stack : uncurryThis(accessor.get);
})
