// CapabilityError: what a failed capability call throws.
(function (native) {
  "use strict";
  const { expose, hidden, put } = native.shared;

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
})
