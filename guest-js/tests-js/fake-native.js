// A stand-in for the engine's Rust half, in JavaScript and for tests only:
// timers run in virtual time, "random" bytes count up, promises and proxies
// are told apart by having watched them being made.
var native, harness;
(function () {
  "use strict";
  const global = globalThis;
  const { hostParseUrl, hostSetUrlPart, hostBase64, hostZone, hostDigest, hostDetach, hostDOMException } = global;
  for (const name of [
    "hostParseUrl",
    "hostSetUrlPart",
    "hostBase64",
    "hostZone",
    "hostDigest",
    "hostDetach",
    "hostDOMException",
  ])
    delete global[name];
  const { stringify, parse } = JSON;
  // Captured, since the tests patch prototypes.
  const { apply } = Reflect;
  const { call } = Function.prototype;
  const uncurryThis = call.bind.bind(call);
  const has = uncurryThis(WeakMap.prototype.has);
  const get = uncurryThis(WeakMap.prototype.get);
  const mapGet = uncurryThis(Map.prototype.get);
  const mapSet = uncurryThis(Map.prototype.set);
  const { isArray } = Array;
  const isWellFormed = uncurryThis(String.prototype.isWellFormed);
  const push = uncurryThis(Array.prototype.push);

  const targets = new WeakMap();
  const RealProxy = Proxy;
  const WatchedProxy = function Proxy(target, handler) {
    const proxy = new RealProxy(target, handler);
    targets.set(proxy, target);
    return proxy;
  };
  WatchedProxy.revocable = (target, handler) => {
    const { proxy, revoke } = RealProxy.revocable(target, handler);
    targets.set(proxy, target);
    return { proxy, revoke: () => (targets.set(proxy, null), revoke()) };
  };
  const hide = (object, key, value) =>
    Object.defineProperty(object, key, { value, writable: true, configurable: true, enumerable: false });
  hide(global, "Proxy", WatchedProxy);

  // The engine has these in C; the host's stand in where a test engine has not.
  if (global.DOMException === undefined) hide(global, "DOMException", hostDOMException);
  for (const name of ["atob", "btoa"]) {
    if (global[name] !== undefined) continue;
    hide(global, name, (text) => {
      const answer = parse(hostBase64(name, stringify(`${text}`)));
      if (answer === null) throw new DOMException(`${name}: an invalid character`, "InvalidCharacterError");
      return answer;
    });
  }

  // Every engine we embed has this; a bare vm context does not.
  if (global.queueMicrotask === undefined) {
    const ready = Promise.resolve();
    hide(global, "queueMicrotask", (callback) => void ready.then(callback));
  }

  // Node 20 cannot detach a buffer by itself yet; QuickJS can.
  if (ArrayBuffer.prototype.transfer === undefined) {
    const detached = new WeakSet();
    Object.defineProperty(ArrayBuffer.prototype, "detached", {
      configurable: true,
      get() {
        return detached.has(this);
      },
    });
    ArrayBuffer.prototype.transfer = function () {
      detached.add(this);
      hostDetach(this);
    };
  }

  const settled = new WeakMap();
  const { resolve, reject } = Promise;
  Promise.resolve = function (value) {
    const promise = resolve.call(this, value);
    if (promise !== value) settled.set(promise, [1, value]);
    return promise;
  };
  Promise.reject = function (reason) {
    const promise = reject.call(this, reason);
    settled.set(promise, [2, reason]);
    return promise;
  };

  // Brand checks: methods that throw for any other class.
  const getter = (object, key) => Object.getOwnPropertyDescriptor(object, key).get;
  const tagOf = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
  const brands = {
    Map: getter(Map.prototype, "size"),
    Set: getter(Set.prototype, "size"),
    Date: Date.prototype.getTime,
    Number: Number.prototype.valueOf,
    String: String.prototype.valueOf,
    Boolean: Boolean.prototype.valueOf,
    Symbol: Symbol.prototype.valueOf,
    BigInt: BigInt.prototype.valueOf,
    ArrayBuffer: getter(ArrayBuffer.prototype, "byteLength"),
    SharedArrayBuffer: getter(SharedArrayBuffer.prototype, "byteLength"),
    DataView: getter(DataView.prototype, "byteLength"),
  };
  const sourceOf = uncurryThis(getter(RegExp.prototype, "source"));
  const setHas = uncurryThis(WeakSet.prototype.has);
  const deref = uncurryThis(WeakRef.prototype.deref);
  const exceptionCode = getter(DOMException.prototype, "code");
  const tests = {
    RegExp: (value) => value !== RegExp.prototype && (sourceOf(value), true),
    WeakMap: (value) => (has(value, {}), true),
    WeakSet: (value) => (setHas(value, {}), true),
    WeakRef: (value) => (deref(value), true),
    DOMException: (value) => (apply(exceptionCode, value, []), true),
  };
  const { getPrototypeOf, getOwnPropertyDescriptor } = Object;
  // Walks prototypes up to the first proxy, so that no trap runs.
  function inherits(value, prototype) {
    for (let link = getPrototypeOf(value); link !== null; link = getPrototypeOf(link)) {
      if (link === prototype) return true;
      if (has(targets, link)) return false;
    }
    return false;
  }
  const inherited = [
    ["Error", Error.prototype],
    ["Promise", Promise.prototype],
    ["Generator", getPrototypeOf(function* () {}.prototype)],
    ["AsyncGenerator", getPrototypeOf(async function* () {}.prototype)],
    ["Map Iterator", getPrototypeOf(new Map().keys())],
    ["Set Iterator", getPrototypeOf(new Set().keys())],
    ["GeneratorFunction", getPrototypeOf(function* () {})],
    ["AsyncFunction", getPrototypeOf(async function () {})],
    ["AsyncGeneratorFunction", getPrototypeOf(async function* () {})],
  ];

  const brandNames = Object.keys(brands);
  const testNames = Object.keys(tests);
  function kindOf(value) {
    if (has(targets, value)) return "Proxy";
    if (isArray(value)) return "Array";
    const typed = apply(tagOf, value, []);
    if (typed !== undefined) return typed;
    for (let index = 0; index < brandNames.length; index++) {
      try {
        apply(brands[brandNames[index]], value, []);
        return brandNames[index];
      } catch {}
    }
    for (let index = 0; index < testNames.length; index++) {
      try {
        if (tests[testNames[index]](value)) return testNames[index];
      } catch {}
    }
    for (let index = 0; index < inherited.length; index++)
      if (inherits(value, inherited[index][1])) return inherited[index][0];
    return getOwnPropertyDescriptor(value, "callee") !== undefined ? "Arguments" : "Object";
  }
  const numbers = new Map();
  let kinds = 0;
  function classId(value) {
    const kind = kindOf(value);
    if (mapGet(numbers, kind) === undefined) mapSet(numbers, kind, ++kinds);
    return mapGet(numbers, kind);
  }

  // UTF-8, since neither engine has TextEncoder here.
  const escapeUtf8 = encodeURIComponent;
  const unescapeBytes = unescape;
  const charCodeAt = uncurryThis(String.prototype.charCodeAt);
  const { fromCodePoint } = String;
  const Bytes = Uint8Array;
  const lengthOf = uncurryThis(getter(getPrototypeOf(Uint8Array.prototype), "length"));
  function stringToBytes(text) {
    if (!isWellFormed(text)) throw new TypeError("the host takes UTF-8");
    const escaped = unescapeBytes(escapeUtf8(text));
    const bytes = new Bytes(escaped.length);
    for (let index = 0; index < escaped.length; index++) bytes[index] = charCodeAt(escaped, index);
    return bytes;
  }
  // As String::from_utf8_lossy: one U+FFFD for each longest piece that could
  // have begun a character.
  function bytesToString(bytes) {
    const length = lengthOf(bytes);
    let text = "";
    for (let index = 0; index < length;) {
      const lead = bytes[index++];
      let more = lead < 0x80 ? 0 : lead < 0xc2 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : -1;
      let point = more < 1 ? lead : lead & (0x3f >> more);
      let least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      let most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      for (; more > 0 && bytes[index] >= least && bytes[index] <= most; more--) {
        point = (point << 6) | (bytes[index++] & 0x3f);
        least = 0x80;
        most = 0xbf;
      }
      text += more === 0 ? fromCodePoint(point) : "\ufffd";
    }
    return text;
  }

  let clock = 0;
  let nextTimer = 1;
  let nextByte = 1;
  let randomCalls = 0;
  const timers = new Map();
  const lines = [];
  const reported = [];
  let loading = true;
  const notWhileLoading = (name) => {
    if (loading) throw new Error(`native.${name} was called while loading: its answer would be in the snapshot`);
  };

  native = {
    keepsWeak: () => {},
    now: () => (notWhileLoading("now"), 1736937000000 + clock),
    monotonic: () => (notWhileLoading("monotonic"), clock),
    random(bytes) {
      notWhileLoading("random");
      randomCalls++;
      for (let index = 0; index < bytes.length; index++) bytes[index] = nextByte++ * 37;
    },
    write(level, text) {
      if (!isWellFormed(text)) throw new TypeError("the host takes UTF-8");
      push(lines, [level, text]);
    },
    reportError: (error) => void reported.push(`${error}`),
    setTimer(callback, delay, repeat) {
      timers.set(nextTimer, { callback, delay, repeat, due: clock + delay });
      return nextTimer++;
    },
    clearTimer(id) {
      if (id !== id >>> 0) throw new TypeError("a timer id is a u32");
      timers.delete(id);
    },
    parseUrl: (input, base) => parse(hostParseUrl(input, base === undefined ? "" : `=${base}`)),
    setUrlPart: (href, part, value) => parse(hostSetUrlPart(href, part, value)),
    digest(algorithm, bytes) {
      let hex = "";
      for (let index = 0; index < lengthOf(bytes); index++) hex += (bytes[index] + 256).toString(16).slice(1);
      const answer = hostDigest(algorithm, hex);
      if (answer === "") return undefined;
      const hash = new Bytes(answer.length / 2);
      for (let index = 0; index < hash.length; index++)
        hash[index] = parseInt(answer.slice(index * 2, index * 2 + 2), 16);
      return hash;
    },
    zoneName: (name) => hostZone(name, "") || undefined,
    zoneOffset: (name, seconds) => +hostZone(name, `${seconds}`),
    promiseState: (promise) => get(settled, promise) ?? [0, undefined],
    proxyTarget: (value) => get(targets, value),
    classId,
    stringToBytes,
    bytesToString,
  };

  let result;
  harness = {
    ready() {
      loading = false;
    },
    reported,
    randomCalls: () => randomCalls,
    absent: () => native.shared.absent,
    shared: () => native.shared,
    start(body) {
      result = undefined;
      body().then(
        (value) => {
          result = { value };
        },
        (error) => {
          result = { error: `${error}\n${error?.stack}` };
        },
      );
    },
    // The answer, once there is one; until then, the next timer fires.
    turn() {
      if (result !== undefined) return stringify(result);
      let next;
      for (const [id, timer] of timers) if (next === undefined || timer.due < timers.get(next).due) next = id;
      if (next === undefined) return undefined;
      const timer = timers.get(next);
      clock = timer.due;
      if (timer.repeat) timer.due += Math.max(timer.delay, 1);
      else timers.delete(next);
      timer.callback();
      return undefined;
    },
    takeLines: () => stringify(lines.splice(0)),
  };
})();
