// crypto: randomness, and hashes by crypto.subtle.digest.
(function (native) {
  "use strict";
  const { shared } = native;
  const { expose, hidden, tag, className, viewBuffer, viewByteOffset, viewByteLength, numberToString } = shared;
  const { getterOf, typedArrays, bufferByteLength, toUpperCase, stringSlice } = shared;
  const { DOMException, Uint8Array } = globalThis;
  const dataViewBuffer = getterOf(DataView.prototype, "buffer");
  const dataViewOffset = getterOf(DataView.prototype, "byteOffset");
  const dataViewLength = getterOf(DataView.prototype, "byteLength");
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

  // The bytes of a BufferSource, not copied.
  function bytesOf(data) {
    const kind = data !== null && typeof data === "object" ? className(data) : undefined;
    if (kind === "ArrayBuffer") return bufferByteLength(data) === 0 ? new Uint8Array(0) : new Uint8Array(data);
    if (kind === "DataView") return new Uint8Array(dataViewBuffer(data), dataViewOffset(data), dataViewLength(data));
    if (kind === undefined || typedArrays[kind] === undefined)
      throw new TypeError(
        "crypto.subtle.digest takes an ArrayBuffer, a typed array or a DataView; new TextEncoder().encode(text) makes one of text",
      );
    const length = viewByteLength(data);
    return length === 0 ? new Uint8Array(0) : new Uint8Array(viewBuffer(data), viewByteOffset(data), length);
  }

  class SubtleCrypto {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
    async digest(algorithm, data) {
      const given = algorithm !== null && typeof algorithm === "object" ? algorithm.name : algorithm;
      if (given === undefined) throw new TypeError("crypto.subtle.digest: the algorithm has no name");
      const name = `${given}`;
      const hash = native.digest(toUpperCase(name), bytesOf(data));
      if (hash === undefined)
        throw new DOMException(
          `crypto.subtle.digest has no ${stringSlice(name, 0, 40)}, only SHA-1, SHA-256, SHA-384 and SHA-512`,
          "NotSupportedError",
        );
      return viewBuffer(hash);
    }
  }
  const { absentSubtle } = shared;
  for (const name of Object.keys(absentSubtle)) {
    hidden(
      SubtleCrypto.prototype,
      name,
      {
        async [name]() {
          throw new DOMException(
            `crypto.subtle.${name} is not available here: ${absentSubtle[name]}`,
            "NotSupportedError",
          );
        },
      }[name],
    );
  }
  tag(SubtleCrypto, "SubtleCrypto");
  expose("SubtleCrypto", SubtleCrypto);

  const crypto = {
    subtle: Object.create(SubtleCrypto.prototype),
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
