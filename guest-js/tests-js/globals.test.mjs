// Which globals there are, and the small ones: base64, crypto, errors.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";

// Runs `body` with `throws(f)`, which names what f threw, in the realm.
const PRELUDE = "const throws = (f) => { try { f(); return 'nothing'; } catch (e) { return e.name; } };";
const check = (realm, body) => realm.evaluate(`${PRELUDE} ${body}`);

inEachEngine("globals are there, writable, configurable and not enumerable", (realm) => {
  const names = [
    "console",
    "DOMException",
    "Event",
    "CustomEvent",
    "EventTarget",
    "AbortController",
    "AbortSignal",
    "structuredClone",
    "Headers",
    "URL",
    "URLSearchParams",
    "TextDecoder",
    "TextEncoder",
    "atob",
    "btoa",
    "setTimeout",
    "clearTimeout",
    "setInterval",
    "clearInterval",
    "setImmediate",
    "clearImmediate",
    "queueMicrotask",
    "crypto",
    "performance",
    "CapabilityError",
  ];
  assert.deepEqual(
    check(
      realm,
      `return ${JSON.stringify(names)}.filter((name) => { const d = Object.getOwnPropertyDescriptor(globalThis, name); return !d || !d.writable || !d.configurable || d.enumerable; })`,
    ),
    [],
  );
  assert.deepEqual(
    check(realm, `return Object.keys(globalThis).filter((name) => name !== 'native' && name !== 'harness')`),
    [],
  );
  assert.deepEqual(
    check(
      realm,
      `return Object.keys(harness.absent()).filter((name) => name in globalThis || !harness.absent()[name].endsWith('.'))`,
    ).filter((name) => name !== "WebAssembly" && name !== "Intl"),
    [],
  ); // a vm context has these two
  assert.equal(
    check(realm, `return typeof fetch + typeof process + typeof require + harness.absent().toString`),
    "undefinedundefinedundefinedundefined",
  );
});

inEachEngine("base64: round trips and refusals", (realm) => {
  for (const text of ["", "a", "ab", "abc", "abcd", "\x00\xff\x80", "hello world"]) {
    assert.equal(check(realm, `return btoa(${JSON.stringify(text)})`), btoa(text));
    assert.equal(check(realm, `return atob(${JSON.stringify(btoa(text))})`), text);
  }
  for (const text of [" ", "YQ", "YQ==", "Y Q = =", "YWI=", "YWI", "\tYWJj\n", "YR==", "ab\f\r", "////", "AA/="])
    assert.equal(check(realm, `return atob(${JSON.stringify(text)})`), atob(text), text);
  for (const text of [
    "a",
    "=",
    "==",
    "a=",
    "YQ=",
    "YQ===",
    "Y=Q=",
    "YWJj=",
    "é",
    "YQ-_",
    "\u00a0YQ==",
    "YQ==YQ==",
    "Y\0Q=",
    "\ud83d\ude00",
    "abcd=",
    "ab\vcd",
  ]) {
    assert.throws(() => atob(text), `node: ${text}`);
    assert.equal(
      check(realm, `return throws(() => atob(${JSON.stringify(text)}))`),
      "InvalidCharacterError",
      JSON.stringify(text),
    );
  }
  assert.deepEqual(
    check(
      realm,
      `return [throws(() => btoa('\\u0100')), btoa(null), btoa(12), throws(() => { try { atob('*') } catch (e) { if (e.code !== 5 || !(e instanceof DOMException)) return; throw e; } })]`,
    ),
    ["InvalidCharacterError", "bnVsbA==", "MTI=", "InvalidCharacterError"],
  );
  assert.equal(check(realm, `const big = 'x'.repeat(3e5) + '\\xff'; return atob(btoa(big)) === big`), true);
});

inEachEngine("crypto and random: types, quota, lazily seeded", (realm) => {
  assert.deepEqual(
    check(
      realm,
      "const before = harness.randomCalls(); Math.random(); Math.random(); return [before, harness.randomCalls()]",
    ),
    [0, 1],
  );
  assert.deepEqual(
    check(
      realm,
      `
    const a = new Uint32Array(3); const same = crypto.getRandomValues(a) === a && a.some((x) => x !== 0);
    const view = new Uint8Array(new ArrayBuffer(8), 2, 3); crypto.getRandomValues(view); const around = new Uint8Array(view.buffer);
    const r = Array.from({ length: 1000 }, () => Math.random());
    return [same, around[0] + around[1] + around[5] + around[6], view.some((x) => x !== 0), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.randomUUID() !== crypto.randomUUID(),
      throws(() => crypto.getRandomValues(new Uint8Array(65537))), crypto.getRandomValues(new Uint8Array(65536)).length, throws(() => crypto.getRandomValues(new Float64Array(1))), throws(() => crypto.getRandomValues([1])), throws(() => crypto.getRandomValues(new DataView(new ArrayBuffer(1)))),
      r.every((x) => x >= 0 && x < 1), new Set(r).size, Math.abs(r.reduce((x, y) => x + y) / 1000 - 0.5) < 0.05, Math.random.name, Object.keys(Math).length];`,
    ),
    [
      true,
      0,
      true,
      true,
      true,
      "QuotaExceededError",
      65536,
      "TypeMismatchError",
      "TypeMismatchError",
      "TypeMismatchError",
      true,
      1000,
      true,
      "random",
      0,
    ],
  );
  assert.deepEqual(
    check(
      realm,
      `const start = performance.now(); await new Promise((r) => setTimeout(r, 7)); return [performance.now() - start, performance.timeOrigin > 1.7e12, performance.timeOrigin === performance.timeOrigin]`,
    ),
    [7, true, true],
  );
});

inEachEngine("crypto.subtle hashes, and says what to use for the rest", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => (byte + 256).toString(16).slice(1)).join('');
    const bytes = new TextEncoder().encode('abc'); const rejected = (promise) => promise.then(() => 'none', (e) => e.name + ': ' + e.message);
    const view = new Uint8Array([0, ...bytes, 0]).subarray(1, 4);
    return [hex(await crypto.subtle.digest('SHA-1', bytes)), hex(await crypto.subtle.digest({ name: 'sha-256' }, view)), hex(await crypto.subtle.digest('SHA-256', new DataView(bytes.buffer))),
      (await crypto.subtle.digest('SHA-384', bytes.buffer)).byteLength, (await crypto.subtle.digest('SHA-512', new ArrayBuffer(0))) instanceof ArrayBuffer,
      await rejected(crypto.subtle.digest('MD5', bytes)), await rejected(crypto.subtle.digest('SHA-256', 'text')), await rejected(crypto.subtle.digest('SHA-256')), await rejected(crypto.subtle.sign()), await rejected(crypto.subtle.importKey()),
      Object.prototype.toString.call(crypto.subtle), typeof crypto.subtle.nothing];`,
    ),
    [
      "a9993e364706816aba3e25717850c26c9cd0d89d",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      48,
      true,
      "NotSupportedError: crypto.subtle.digest has no MD5, only SHA-1, SHA-256, SHA-384 and SHA-512",
      "TypeError: crypto.subtle.digest takes an ArrayBuffer, a typed array or a DataView; new TextEncoder().encode(text) makes one of text",
      "TypeError: crypto.subtle.digest takes an ArrayBuffer, a typed array or a DataView; new TextEncoder().encode(text) makes one of text",
      "NotSupportedError: crypto.subtle.sign is not available here: use `crypto.hmac` of '@agent-spaces/std'; there are no signatures by key pairs.",
      "NotSupportedError: crypto.subtle.importKey is not available here: keys are bytes here: give them to `crypto.hmac` or `crypto.encrypt` of '@agent-spaces/std'.",
      "[object SubtleCrypto]",
      "undefined",
    ],
  );
});

inEachEngine("CapabilityError and DOMException carry their fields", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const e = new CapabilityError('no', { code: 'call.denied', retryable: true, details: { a: 1 } }); const d = new DOMException('m', 'DataCloneError');
    return [e instanceof Error, e.name, e.message, e.code, e.retryable, e.details, Object.keys(e), String(e), new CapabilityError('x').retryable, typeof e.stack, d instanceof Error, d.name, d.message, d.code, String(d), new DOMException().name, DOMException.ABORT_ERR, d.ABORT_ERR, Object.prototype.toString.call(d), typeof d.stack, new DOMException('', 'Custom').code, throws(() => DOMException())]`,
    ),
    [
      true,
      "CapabilityError",
      "no",
      "call.denied",
      true,
      { a: 1 },
      ["code", "retryable", "details"],
      "CapabilityError: no",
      false,
      "string",
      true,
      "DataCloneError",
      "m",
      25,
      "DataCloneError: m",
      "Error",
      20,
      20,
      "[object DOMException]",
      "string",
      0,
      "TypeError",
    ],
  );
});
