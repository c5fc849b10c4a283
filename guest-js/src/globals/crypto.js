// crypto: randomness only.
(function (native) {
  "use strict";
  const { shared } = native;
  const { expose, className, viewBuffer, viewByteOffset, viewByteLength, numberToString } = shared;
  const { DOMException, Uint8Array } = globalThis;
  // The standard's own limit on one call.
  const MAX_BYTES = 65536;
  const INTEGER_ARRAYS = {
    __proto__: null,
    Int8Array: 1,
    Uint8Array: 1,
    Uint8ClampedArray: 1,
    Int16Array: 1,
    Uint16Array: 1,
    Int32Array: 1,
    Uint32Array: 1,
    BigInt64Array: 1,
    BigUint64Array: 1,
  };

  const crypto = {
    getRandomValues(array) {
      if (array === null || typeof array !== "object" || INTEGER_ARRAYS[className(array)] === undefined) {
        throw new DOMException("crypto.getRandomValues takes an integer typed array", "TypeMismatchError");
      }
      const length = viewByteLength(array);
      if (length > MAX_BYTES)
        throw new DOMException(
          `crypto.getRandomValues fills at most ${MAX_BYTES} bytes at a time, not ${length}`,
          "QuotaExceededError",
        );
      if (length > 0) native.random(new Uint8Array(viewBuffer(array), viewByteOffset(array), length));
      return array;
    },
    randomUUID() {
      const bytes = new Uint8Array(16);
      native.random(bytes);
      bytes[6] = (bytes[6] & 0x0f) | 0x40; // version 4
      bytes[8] = (bytes[8] & 0x3f) | 0x80; // RFC 4122 variant
      let text = "";
      for (let index = 0; index < 16; index++) {
        if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
        text += (bytes[index] < 16 ? "0" : "") + numberToString(bytes[index], 16);
      }
      return text;
    },
  };
  Object.defineProperty(crypto, Symbol.toStringTag, { value: "Crypto", configurable: true });
  expose("crypto", crypto);
})
