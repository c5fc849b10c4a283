// TextEncoder and TextDecoder, as the Encoding standard has them, for UTF-8,
// UTF-16LE and windows-1252. UTF-8 itself is the host's work; this file keeps
// what a stream has open between two chunks, and knows the other two.
(function (native) {
  "use strict";
  const { shared } = native;
  const {
    expose,
    tag,
    put,
    apply,
    uncurryThis,
    getterOf,
    className,
    typedArrays,
    charCodeAt,
    stringIndexOf,
    stringSlice,
    toLowerCase,
    toWellFormed,
    viewLength,
    viewBuffer,
    viewByteOffset,
    viewByteLength,
    bufferByteLength,
    mapSet,
    layout,
  } = shared;
  const { Uint8Array, Uint16Array } = globalThis;
  const { fromCharCode } = String;
  const { min } = Math;
  const isWellFormed = uncurryThis(String.prototype.isWellFormed);
  const setBytes = uncurryThis(Uint8Array.prototype.set);
  const byteIndexOf = uncurryThis(Uint8Array.prototype.indexOf);
  const dataViewBuffer = getterOf(DataView.prototype, "buffer");
  const dataViewOffset = getterOf(DataView.prototype, "byteOffset");
  const dataViewLength = getterOf(DataView.prototype, "byteLength");
  const EMPTY = new Uint8Array(0);
  const REPLACEMENT = "\ufffd";
  const BYTE_ORDER_MARK = 0xfeff;
  // Characters made per call of fromCharCode: its arguments go on the stack.
  const CHUNK = 4096;

  // Not subarray, which asks the script's constructor[Symbol.species].
  const part = (bytes, start, end) => new Uint8Array(viewBuffer(bytes), viewByteOffset(bytes) + start, end - start);
  const isHighSurrogate = (code) => code >= 0xd800 && code <= 0xdbff;

  // The bytes of a BufferSource, not copied; none if it is detached.
  function bytesOf(input) {
    if (input === undefined) return EMPTY;
    const kind = input !== null && typeof input === "object" ? className(input) : undefined;
    if (kind === "ArrayBuffer") return bufferByteLength(input) === 0 ? EMPTY : new Uint8Array(input);
    if (kind === "SharedArrayBuffer") return new Uint8Array(input);
    if (kind === "DataView") return new Uint8Array(dataViewBuffer(input), dataViewOffset(input), dataViewLength(input));
    if (kind === undefined || typedArrays[kind] === undefined)
      throw new TypeError("TextDecoder.decode takes an ArrayBuffer, a typed array or a DataView");
    const length = viewByteLength(input);
    return length === 0 ? EMPTY : new Uint8Array(viewBuffer(input), viewByteOffset(input), length);
  }

  function joined(first, second) {
    const length = viewLength(first);
    if (length === 0) return second;
    const bytes = new Uint8Array(length + viewLength(second));
    setBytes(bytes, first);
    setBytes(bytes, second, length);
    return bytes;
  }

  // Text of the first `count` code units.
  function textOf(units, count) {
    let text = "";
    for (let start = 0; start < count; start += CHUNK) {
      const size = min(CHUNK, count - start);
      const piece = new Uint16Array(viewBuffer(units), viewByteOffset(units) + start * 2, size);
      // `apply` asks for it, and a script may have patched the prototype's.
      put(piece, "length", size);
      text += apply(fromCharCode, null, piece);
    }
    return text;
  }

  // Of each encoding: its labels; `open`, how many bytes at the end begin a
  // character that the next chunk may complete; `decode`, the text of the
  // bytes, or undefined when they are malformed and that is fatal.
  const ENCODINGS = {
    __proto__: null,
    "utf-8": {
      labels: "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
      open(bytes, length) {
        for (let count = 1; count <= 3 && count <= length; count++) {
          const lead = bytes[length - count];
          if (lead < 0x80) return 0;
          if (lead < 0xc0) continue;
          if (lead < 0xc2 || lead > 0xf4 || count >= (lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4)) return 0;
          if (count === 1) return 1;
          // Second bytes that would make an overlong form, a surrogate or
          // more than U+10FFFF are malformed already.
          const second = bytes[length - count + 1];
          const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
          const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
          return second >= least && second <= most ? count : 0;
        }
        return 0;
      },
      decode(bytes, length, fatal) {
        const text = native.bytesToString(bytes);
        if (!fatal) return text;
        // The host replaces what is malformed; the other U+FFFD were encoded
        // as such, and no malformed sequence can swallow one of those.
        let replaced = 0;
        for (let at = stringIndexOf(text, REPLACEMENT); at !== -1; at = stringIndexOf(text, REPLACEMENT, at + 1))
          replaced++;
        for (let at = 0; replaced > 0 && (at = byteIndexOf(bytes, 0xef, at)) !== -1; at++)
          if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) replaced--;
        return replaced === 0 ? text : undefined;
      },
    },
    "utf-16le": {
      labels: "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
      open(bytes, length) {
        const odd = length % 2;
        return length - odd >= 2 && isHighSurrogate(bytes[length - odd - 1] << 8) ? odd + 2 : odd;
      },
      decode(bytes, length, fatal) {
        // Code units must be aligned in memory; its order is theirs, here and
        // on every machine that this runs on.
        const text = textOf(viewByteOffset(bytes) % 2 === 0 ? bytes : new Uint8Array(bytes), length >> 1);
        const odd = length % 2 !== 0;
        if (fatal) return odd || !isWellFormed(text) ? undefined : text;
        // Half a code unit after half a pair: one error, not two.
        return toWellFormed(text) + (odd && !isHighSurrogate(charCodeAt(text, text.length - 1)) ? REPLACEMENT : "");
      },
    },
    "windows-1252": {
      labels:
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 " +
        "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
      open: () => 0,
      decode(bytes, length) {
        const units = new Uint16Array(bytes);
        // The engine searches far faster than a loop here looks at each byte.
        for (let byte = 0x80; byte <= 0x9f; byte++) {
          const code = charCodeAt(WINDOWS_1252, byte - 0x80);
          for (let at = byteIndexOf(bytes, byte); at !== -1; at = byteIndexOf(bytes, byte, at + 1)) units[at] = code;
        }
        return textOf(units, length);
      },
    },
  };
  // Bytes 0x80 to 0x9f; all others are Latin-1.
  const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
  const encodingOf = { __proto__: null };
  for (const name of Object.keys(ENCODINGS)) {
    for (const label of ENCODINGS[name].labels.split(" ")) encodingOf[label] = name;
  }

  // Only ASCII whitespace is trimmed, unlike by String.prototype.trim.
  const isSpace = (code) => code === 32 || code === 9 || code === 10 || code === 12 || code === 13;
  function nameOf(label) {
    let start = 0;
    let end = label.length;
    while (start < end && isSpace(charCodeAt(label, start))) start++;
    while (end > start && isSpace(charCodeAt(label, end - 1))) end--;
    const name = encodingOf[toLowerCase(stringSlice(label, start, end))];
    if (name !== undefined) return name;
    throw new RangeError(
      `The encoding ${layout.quote(stringSlice(label, 0, 100))} is not supported here; supported are ` +
        "utf-8, utf-16le and windows-1252 (also as latin1, iso-8859-1 or ascii)",
    );
  }

  // A dictionary of options, which may be left out.
  function optionsOf(options, what) {
    if (options === undefined || options === null) return { __proto__: null };
    if (typeof options === "object" || typeof options === "function") return options;
    throw new TypeError(`${what}: the options must be an object`);
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    // Whether the last chunk said that more will come; if so, its open bytes
    // and whether the stream is past the place of a byte order mark.
    #streaming = false;
    #pending = EMPTY;
    #begun = false;

    constructor(label = "utf-8", options = undefined) {
      this.#encoding = nameOf(`${label}`);
      const { fatal, ignoreBOM } = optionsOf(options, "TextDecoder");
      this.#fatal = !!fatal;
      this.#ignoreBOM = !!ignoreBOM;
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(input = undefined, options = undefined) {
      const { open, decode } = ENCODINGS[this.#encoding];
      // Asked first: a getter could detach the input.
      const stream = !!optionsOf(options, "TextDecoder.decode").stream;
      let bytes = bytesOf(input);
      let begun = false;
      if (this.#streaming) {
        bytes = joined(this.#pending, bytes);
        begun = this.#begun;
      }
      // What stays if this throws: the next call begins a new stream.
      this.#streaming = false;
      this.#pending = EMPTY;
      let length = viewLength(bytes);
      let pending = EMPTY;
      const held = stream ? open(bytes, length) : 0;
      if (held > 0) {
        pending = new Uint8Array(part(bytes, length - held, length)); // a copy
        length -= held;
        bytes = part(bytes, 0, length);
      }
      let text = length === 0 ? "" : decode(bytes, length, this.#fatal);
      if (text === undefined) throw new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`);
      if (!begun && text !== "") {
        begun = true;
        if (!this.#ignoreBOM && charCodeAt(text, 0) === BYTE_ORDER_MARK) text = stringSlice(text, 1);
      }
      this.#streaming = stream;
      this.#pending = pending;
      this.#begun = begun;
      return text;
    }
    static {
      mapSet(shared.views, TextDecoder.prototype, (decoder) =>
        #encoding in decoder
          ? { encoding: decoder.#encoding, fatal: decoder.#fatal, ignoreBOM: decoder.#ignoreBOM }
          : undefined,
      );
    }
  }
  tag(TextDecoder, "TextDecoder");

  class TextEncoder {
    #encoding = "utf-8";
    get encoding() {
      return this.#encoding;
    }
    encode(input = "") {
      return native.stringToBytes(toWellFormed(`${input}`));
    }
    encodeInto(source, destination) {
      source = `${source}`;
      if (destination === null || typeof destination !== "object" || className(destination) !== "Uint8Array")
        throw new TypeError("TextEncoder.encodeInto takes a string and a Uint8Array");
      const room = viewLength(destination);
      // A code unit takes a byte or more, so no more than this can fit. Half
      // of a pair that is cut here takes three, and so is dropped below.
      const end = min(source.length, room);
      if (end === 0) return { read: 0, written: 0 };
      const bytes = native.stringToBytes(toWellFormed(stringSlice(source, 0, end)));
      let written = viewLength(bytes);
      if (written <= room) {
        setBytes(destination, bytes);
        return { read: end, written };
      }
      written = room;
      while (written > 0 && (bytes[written] & 0xc0) === 0x80) written--; // back to the start of a character
      const fitting = part(bytes, 0, written);
      setBytes(destination, fitting);
      return { read: native.bytesToString(fitting).length, written };
    }
    static {
      mapSet(shared.views, TextEncoder.prototype, (encoder) =>
        #encoding in encoder ? { encoding: encoder.#encoding } : undefined,
      );
    }
  }
  tag(TextEncoder, "TextEncoder");

  expose("TextDecoder", TextDecoder);
  expose("TextEncoder", TextEncoder);
})
