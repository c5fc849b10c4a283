// TextEncoder and TextDecoder, after the web platform tests.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";

// Runs `body` in the realm with `throws(f)`, which names what f threw, and
// `decode(label, options, ...chunks)`: the text of each chunk (all but the
// last in a stream), or the name of an error.
const PRELUDE = `
  const throws = (f) => { try { f(); return 'nothing'; } catch (e) { return e.name; } };
  const bytes = (...values) => new Uint8Array(values);
  const decode = (label, options, ...chunks) => {
    const decoder = new TextDecoder(label, options);
    return chunks.map((chunk, index) => {
      try { return decoder.decode(new Uint8Array(chunk), { stream: index < chunks.length - 1 }); } catch (e) { return e.name; }
    });
  };`;
const check = (realm, body) => realm.evaluate(`${PRELUDE} ${body}`);

// Pieces that meet each edge of the decoders, and numbers that repeat.
const UTF_8 = [
  [0x61],
  [0xc3, 0xa9],
  [0xe2, 0x82, 0xac],
  [0xf0, 0x9f, 0x98, 0x80],
  [0xef, 0xbf, 0xbd],
  [0xef, 0xbb, 0xbf],
  [0xc0],
  [0xe0, 0x80],
  [0xe0, 0xa0],
  [0xed, 0xa0, 0x80],
  [0xed, 0x9f],
  [0xf0, 0x8f],
  [0xf0, 0x9f, 0x98],
  [0xf4, 0x90, 0x80],
  [0xf4, 0x8f],
  [0xf5],
  [0x80],
  [0xff],
  [0xef],
  [0xef, 0xbf],
];
const UTF_16 = [
  [0x61, 0],
  [0x3d, 0xd8],
  [0, 0xde],
  [0xff, 0xfe],
  [0xfd, 0xff],
  [0x3d, 0xd8, 0, 0xde],
  [0xac, 0x20],
  [0],
];
function* cases(pieces, count) {
  let seed = 1;
  const next = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let number = 0; number < count; number++) {
    const whole = Array.from({ length: next(6) }, () => pieces[next(pieces.length)]).flat();
    const chunks = [];
    for (let at = 0; at < whole.length || chunks.length === 0;) {
      const size = next(4);
      chunks.push(whole.slice(at, at + size));
      at += size;
    }
    yield [whole, chunks];
  }
}

inEachEngine("labels: aliases, case, whitespace, refusals", (realm) => {
  const labels = {
    "utf-8": ["utf-8", "UTF8", " utf-8\n", "\t\f\rutf8 ", "unicode-1-1-utf-8", "x-unicode20utf8"],
    "utf-16le": ["utf-16le", "UTF-16", "ucs-2", "unicode", "csUnicode"],
    "windows-1252": ["latin1", "ISO-8859-1", "iso8859-1", "windows-1252", "ascii", "us-ascii", "cp1252", "l1"],
  };
  for (const [name, aliases] of Object.entries(labels))
    assert.deepEqual(
      check(realm, `return ${JSON.stringify(aliases)}.map((label) => new TextDecoder(label).encoding)`),
      aliases.map(() => name),
    );
  for (const label of ["", "utf", "utf-16be", "shift_jis", "\u00a0utf-8", "utf-8\0", "utf8 utf-8", "__proto__", "null"])
    assert.equal(check(realm, `return throws(() => new TextDecoder(${JSON.stringify(label)}))`), "RangeError", label);
  assert.equal(
    check(realm, `try { new TextDecoder('koi8-r'); } catch (e) { return e.message; }`),
    "The encoding 'koi8-r' is not supported here; supported are utf-8, utf-16le and windows-1252 (also as latin1, iso-8859-1 or ascii)",
  );
});

inEachEngine("shape: attributes, options, what the console and structuredClone make of them", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `const d = new TextDecoder(undefined, { fatal: 1, ignoreBOM: 'x' }), plain = new TextDecoder('utf8', null), e = new TextEncoder();
    return [d.encoding, d.fatal, d.ignoreBOM, plain.fatal, plain.ignoreBOM, e.encoding, String(d), String(e), Object.keys(d), d.decode.length, e.encode.length, e.encodeInto.length, TextDecoder.length,
      harness.shared().inspect([e, d]), harness.shared().inspect(Object.create(TextDecoder.prototype)), throws(() => structuredClone(d)), throws(() => structuredClone(e)),
      throws(() => TextDecoder()), throws(() => new TextDecoder('utf-8', 5)), throws(() => d.decode(bytes(), 5)), throws(() => TextDecoder.prototype.encoding), throws(() => d.decode.call({}, bytes())), throws(() => { d.encoding = 1; (() => { 'use strict'; d.encoding = 1; })(); }), throws(() => new TextDecoder(Symbol()))];`,
    ),
    [
      "utf-8",
      true,
      true,
      false,
      false,
      "utf-8",
      "[object TextDecoder]",
      "[object TextEncoder]",
      [],
      0,
      0,
      2,
      0,
      "[\n  TextEncoder { encoding: 'utf-8' },\n  TextDecoder { encoding: 'utf-8', fatal: true, ignoreBOM: true }\n]",
      "TextDecoder {}",
      "DataCloneError",
      "DataCloneError",
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
    ],
  );
});

inEachEngine("input: every BufferSource, nothing else", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `const d = new TextDecoder(); const b = bytes(120, 97, 98, 99, 121, 0, 0, 0).buffer; const gone = bytes(97); gone.buffer.transfer();
    const shared = new Uint8Array(new SharedArrayBuffer(2)); shared[0] = 104; shared[1] = 105;
    return [d.decode(b).length, d.decode(new Uint8Array(b, 1, 3)), d.decode(new DataView(b, 1, 2)), d.decode(new Uint16Array(b, 2, 1)), d.decode(new Float64Array(b)).length, d.decode(new (class extends Uint8Array {})([97])), d.decode(shared), d.decode(shared.buffer), d.decode(), d.decode(undefined), d.decode(new ArrayBuffer(0)), d.decode(gone), d.decode(gone.buffer),
      [null, 'text', 5, [97], {}, new Proxy(bytes(97), {}), Object.create(Uint8Array.prototype)].map((input) => throws(() => d.decode(input))), new TextDecoder('utf-16le').decode(new Uint8Array(b, 1, 4)), throws(() => d.decode(b, { get stream() { throw new RangeError(); } })),
      (() => { const late = bytes(97); return d.decode(late, { get stream() { late.buffer.transfer(); return false; } }); })()];`,
    ),
    [
      8,
      "abc",
      "ab",
      "bc",
      8,
      "a",
      "hi",
      "hi",
      "",
      "",
      "",
      "",
      "",
      Array(7).fill("TypeError"),
      "\u6261\u7963",
      "RangeError",
      "",
    ],
  );
});

inEachEngine("utf-8: malformed bytes, streams, fatal; as Node's", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `const euro = [0xe2, 0x82, 0xac], smile = [0xf0, 0x9f, 0x98, 0x80];
    return [decode('utf-8', {}, [0xe2], [0x82], [0xac]), decode('utf-8', {}, ...smile.map((byte) => [byte])), decode('utf-8', {}, [0x61, 0xf0, 0x9f], [0x98, 0x80, 0x62]), decode('utf-8', {}, [0xf0, 0x9f], []), decode('utf-8', {}, [0xf0, 0x9f], [0x61]), decode('utf-8', {}, [0xe0], [0x80]), decode('utf-8', {}, [0xe0, 0x80], []), decode('utf-8', {}, [0xe2], [], [0x82, 0xac], [0x61]),
      decode('utf-8', { fatal: true }, [0xe2], [0x82], [0xac]), decode('utf-8', { fatal: true }, [0xf0, 0x9f], []), decode('utf-8', { fatal: true }, [0xe2], [0x61], [0x62]), decode('utf-8', { fatal: true }, [0xef, 0xbf, 0xbd, 0x61]), decode('utf-8', { fatal: true }, [0xef, 0xbf, 0xbd, 0xff]), decode('utf-8', { fatal: true }, [0xef, 0xbf], [0xbd]), decode('utf-8', { fatal: true }, [0xf0, 0x9f, 0x98])];`,
    ),
    [
      ["", "", "€"],
      ["", "", "", "😀"],
      ["a", "😀b"],
      ["", "\ufffd"],
      ["", "\ufffda"],
      ["", "\ufffd\ufffd"],
      ["\ufffd\ufffd", ""],
      ["", "", "€", "a"],
      ["", "", "€"],
      ["", "TypeError"],
      ["", "TypeError", "b"],
      ["\ufffda"],
      ["TypeError"],
      ["", "\ufffd"],
      ["TypeError"],
    ],
  );
  const all = [...cases(UTF_8, 600)];
  const answers = check(
    realm,
    `return ${JSON.stringify(all)}.map(([whole, chunks]) => [decode('utf-8', {}, whole)[0], decode('utf-8', {}, ...chunks).join(''), decode('utf-8', { ignoreBOM: true }, ...chunks).join(''), decode('utf-8', { fatal: true }, whole)[0], decode('utf-8', { fatal: true }, ...chunks).includes('TypeError')])`,
  );
  all.forEach(([whole, chunks], index) => {
    const input = new Uint8Array(whole);
    const text = new TextDecoder().decode(input);
    let strict = "TypeError";
    try {
      strict = new TextDecoder("utf-8", { fatal: true }).decode(input);
    } catch {}
    const kept = new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);
    assert.deepEqual(answers[index], [text, text, kept, strict, strict === "TypeError"], JSON.stringify(chunks));
  });
});

inEachEngine("utf-16le: pairs, halves, streams, fatal; as Node's", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `return [decode('utf-16le', {}, [0x3d], [0xd8, 0], [0xde]), decode('utf-16le', {}, [0x3d, 0xd8], [0x61, 0]), decode('utf-16le', {}, [0x3d, 0xd8, 0]), decode('utf-16le', {}, [0x61, 0, 0]), decode('utf-16le', {}, [0], []), decode('utf-16le', {}, [0, 0xde, 0x61, 0]),
      decode('utf-16le', { fatal: true }, [0], [0]), decode('utf-16le', { fatal: true }, [0, 0], [0]), decode('utf-16le', { fatal: true }, [0x3d, 0xd8], []), decode('utf-16le', { fatal: true }, [0xfd, 0xff]), decode('utf-16le', { fatal: true }, [0, 0xde], [0x61, 0]), new TextDecoder('utf-16le').decode(new Uint16Array(10000).fill(0x20ac)) === '€'.repeat(10000)];`,
    ),
    [
      ["", "", "😀"],
      ["", "\ufffda"],
      ["\ufffd"],
      ["a\ufffd"],
      ["", "\ufffd"],
      ["\ufffda"],
      ["", "\0"],
      ["\0", "TypeError"],
      ["", "TypeError"],
      ["\ufffd"],
      ["TypeError", "a"],
      true,
    ],
  );
  const all = [...cases(UTF_16, 400)];
  const answers = check(
    realm,
    `return ${JSON.stringify(all)}.map(([whole, chunks]) => [decode('utf-16le', {}, whole)[0], decode('utf-16le', {}, ...chunks).join(''), decode('utf-16le', { fatal: true }, whole)[0], decode('utf-16le', { fatal: true }, ...chunks).includes('TypeError')])`,
  );
  all.forEach(([whole, chunks], index) => {
    const text = new TextDecoder("utf-16le").decode(new Uint8Array(whole));
    let strict = "TypeError";
    try {
      strict = new TextDecoder("utf-16le", { fatal: true }).decode(new Uint8Array(whole));
    } catch {}
    assert.deepEqual(answers[index], [text, text, strict, strict === "TypeError"], JSON.stringify(chunks));
  });
});

inEachEngine("windows-1252: every byte", (realm) => {
  // The table of the standard; Node 20 takes some labels for real Latin-1.
  const special =
    "20ac 81 201a 192 201e 2026 2020 2021 2c6 2030 160 2039 152 8d 17d 8f 90 2018 2019 201c 201d 2022 2013 2014 2dc 2122 161 203a 153 9d 17e 178";
  const codes = Array.from({ length: 256 }, (_, byte) => byte);
  codes.splice(128, 32, ...special.split(" ").map((code) => parseInt(code, 16)));
  const text = String.fromCharCode(...codes);
  assert.deepEqual(
    check(
      realm,
      `const all = Array.from({ length: 256 }, (_, byte) => byte); const d = new TextDecoder('latin1'); return [decode('ascii', { fatal: true }, all)[0], decode('latin1', {}, all.slice(0, 131), all.slice(131)).join(''), d.decode(new Uint8Array(9001).fill(0x80)) === '€'.repeat(9001), decode('latin1', {}, [0xef, 0xbb, 0xbf])[0]]`,
    ),
    [text, text, true, "ï»¿"],
  );
});

inEachEngine("the byte order mark: dropped once, at the start of a stream only", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `const mark = [0xef, 0xbb, 0xbf]; const again = new TextDecoder(); const broken = new TextDecoder('utf-8', { fatal: true });
    return [decode('utf-8', {}, [...mark, 0x61]), decode('utf-8', { ignoreBOM: true }, [...mark, 0x61]), decode('utf-8', {}, [0xef], [0xbb], [0xbf], [0x61, ...mark]), decode('utf-8', {}, [...mark, ...mark]), decode('utf-8', {}, mark, mark), decode('utf-8', {}, [], mark, [0x61]), decode('utf-8', {}, [0x61], mark), decode('utf-8', { fatal: true }, mark), decode('utf-8', { ignoreBOM: true }, [0xef, 0xbb], [0xbf]),
      decode('utf-16le', {}, [0xff], [0xfe, 0x61, 0]), decode('utf-16le', { ignoreBOM: true }, [0xff, 0xfe]), decode('utf-16le', {}, [0xfe, 0xff]), decode('utf-8', {}, [0xff, 0xfe]),
      [again.decode(bytes(...mark, 97)), again.decode(bytes(...mark, 98)), again.decode(bytes(0xe2), { stream: true }), again.decode(), again.decode(bytes(...mark))],
      [broken.decode(bytes(97), { stream: true }), throws(() => broken.decode(bytes(0xff), { stream: true })), broken.decode(bytes(...mark, 98))],
      (() => { const d = new TextDecoder(); const chunk = bytes(0xe2, 0x82); d.decode(chunk, { stream: true }); chunk.fill(0); throws(() => d.decode('bad')); return d.decode(bytes(0xac)); })()];`,
    ),
    [
      ["a"],
      ["\ufeffa"],
      ["", "", "", "a\ufeff"],
      ["\ufeff"],
      ["", "\ufeff"],
      ["", "", "a"],
      ["a", "\ufeff"],
      [""],
      ["", "\ufeff"],
      ["", "a"],
      ["\ufeff"],
      ["\ufffe"],
      ["\ufffd\ufffd"],
      ["a", "b", "", "\ufffd", ""],
      ["a", "TypeError", "b"],
      "€",
    ],
  );
});

inEachEngine("encode: all of Unicode, lone halves, other values", (realm) => {
  const texts = ["", "a", "é€😀", "\ufeffx", "\ud83d", "\ude00\ud83d", "a\ud83db", "\0", "\uffff"];
  const encoded = check(
    realm,
    `const e = new TextEncoder(); return ${JSON.stringify(texts)}.map((text) => [...e.encode(text)])`,
  );
  assert.deepEqual(
    encoded,
    texts.map((text) => [...new TextEncoder().encode(text)]),
  );
  assert.deepEqual(
    check(
      realm,
      `const e = new TextEncoder(); const made = e.encode('x'); return [made.constructor === Uint8Array, made.byteOffset, made.buffer.byteLength, e.encode().length, e.encode(undefined).length, [...e.encode(null)], [...e.encode(12)], [...e.encode({ toString: () => 'o' })], throws(() => e.encode(Symbol())), new TextDecoder().decode(e.encode('é'.repeat(1e5))) === 'é'.repeat(1e5)]`,
    ),
    [true, 0, 1, 0, 0, [110, 117, 108, 108], [49, 50], [111], "TypeError", true],
  );
});

inEachEngine("encodeInto: whole characters, as many as fit", (realm) => {
  const texts = [
    "",
    "abc",
    "é",
    "a€",
    "€€",
    "😀",
    "a😀b",
    "\ud83d",
    "ab\ud83d",
    "\ud83da",
    "x\ude00y",
    "😀😀",
    "\ufeffa",
  ];
  const rooms = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12];
  const answers = check(
    realm,
    `const e = new TextEncoder(); return ${JSON.stringify(texts)}.map((text) => ${JSON.stringify(rooms)}.map((room) => { const into = new Uint8Array(room + 4).fill(7); const { read, written } = e.encodeInto(text, into.subarray(2, 2 + room)); return [read, written, ...into]; }))`,
  );
  texts.forEach((text, index) =>
    rooms.forEach((room, at) => {
      const into = new Uint8Array(room + 4).fill(7);
      const { read, written } = new TextEncoder().encodeInto(text, into.subarray(2, 2 + room));
      assert.deepEqual(answers[index][at], [read, written, ...into], JSON.stringify([text, room]));
    }),
  );
  assert.deepEqual(
    check(
      realm,
      `const e = new TextEncoder(); const gone = bytes(1, 2); gone.buffer.transfer(); const shared = new Uint8Array(new SharedArrayBuffer(2));
    return [e.encodeInto('ab', gone), e.encodeInto('hé', shared), shared[0], e.encodeInto(12, bytes(0, 0)), [undefined, null, [], new ArrayBuffer(1), new Uint8ClampedArray(1), new Int8Array(1), new DataView(new ArrayBuffer(1)), new Proxy(bytes(1), {})].map((into) => throws(() => e.encodeInto('a', into)))];`,
    ),
    [{ read: 0, written: 0 }, { read: 1, written: 1 }, 104, { read: 2, written: 2 }, Array(8).fill("TypeError")],
  );
});

inEachEngine("patched prototypes change nothing", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `const d = new TextDecoder(), wide = new TextDecoder('utf-16le'), latin = new TextDecoder('latin1'), strict = new TextDecoder('utf-8', { fatal: true }), e = new TextEncoder();
    const inputs = [bytes(0xe2), bytes(0x82, 0xac), bytes(0x3d, 0xd8, 0, 0xde), bytes(0x80, 0x61), bytes(0xef, 0xbf, 0xbd), bytes(0xff)], into = bytes(0, 0, 0, 0), odd = inputs[2];
    const evil = () => { throw new Error('patched'); }; const saved = [];
    const patch = (object, key) => { const before = Object.getOwnPropertyDescriptor(object, key); saved.push(() => before === undefined ? delete object[key] : Object.defineProperty(object, key, before)); return 'value' in (before ?? { value: 0 }) ? { value: evil, configurable: true, writable: true } : { get: evil, configurable: true }; };
    const TypedArray = Object.getPrototypeOf(Uint8Array);
    const places = [[TypedArray.prototype, ['length', 'buffer', 'byteOffset', 'byteLength', 'set', 'subarray', 'slice', 'indexOf', 'constructor', Symbol.iterator, Symbol.toStringTag]], [Uint8Array.prototype, ['constructor']], [String.prototype, ['charCodeAt', 'slice', 'indexOf', 'toWellFormed', 'isWellFormed', 'toLowerCase', 'split']], [String, ['fromCharCode', 'fromCodePoint']], [Array.prototype, [Symbol.iterator, 'push']], [Function.prototype, ['call', 'apply', 'bind']], [Reflect, ['apply']], [Math, ['min']], [globalThis, ['Uint8Array', 'Uint16Array', 'ArrayBuffer']]];
    const changes = []; for (const [object, keys] of places) for (const key of keys) changes.push([object, key, patch(object, key)]);
    const define = Object.defineProperty; for (let i = 0; i < changes.length; i++) define(changes[i][0], changes[i][1], changes[i][2]);
    let out, failure; try {
      const answer = e.encodeInto('a€😀', into);
      out = { __proto__: null, utf8: d.decode(inputs[0], { stream: true }) + d.decode(inputs[1]), wide: wide.decode(odd), latin: latin.decode(inputs[3]), strict: strict.decode(inputs[4]), made: e.encode('é\\ud83d'), answer };
      try { strict.decode(inputs[5]); } catch (error) { out.error = error; }
    } catch (error) { failure = error; }
    for (let i = saved.length - 1; i >= 0; i--) saved[i]();
    if (failure !== undefined) throw failure;
    return [out.utf8, out.wide, out.latin, out.strict, [...out.made], out.answer, [...into], out.error.name, out.error.message];`,
    ),
    [
      "€",
      "😀",
      "€a",
      "\ufffd",
      [0xc3, 0xa9, 0xef, 0xbf, 0xbd],
      { read: 2, written: 4 },
      [0x61, 0xe2, 0x82, 0xac],
      "TypeError",
      "The encoded data was not valid for encoding utf-8",
    ],
  );
});
