// Events, abort signals, timers and microtasks.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";

// Runs `body` with `throws(f)`, which names what f threw, in the realm.
const PRELUDE = "const throws = (f) => { try { f(); return 'nothing'; } catch (e) { return e.name; } };";
const check = (realm, body) => realm.evaluate(`${PRELUDE} ${body}`);

inEachEngine("events: order, once, removal, errors reported", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const seen = []; const t = new EventTarget(); const f = (e) => seen.push('f' + e.type);
    t.addEventListener('x', f); t.addEventListener('x', f); t.addEventListener('x', { handleEvent(e) { seen.push('object', e.target === t, e.currentTarget === t); } });
    t.addEventListener('x', () => { throw new Error('listener'); }, { once: true }); t.addEventListener('x', (e) => { e.preventDefault(); }, { once: true });
    const c = new AbortController(); t.addEventListener('x', () => seen.push('signalled'), { signal: c.signal }); t.addEventListener('y', null);
    const e = new Event('x', { cancelable: true }); seen.push(t.dispatchEvent(e), e.defaultPrevented, e.currentTarget === null);
    c.abort(); t.removeEventListener('x', f); seen.push('second'); seen.push(t.dispatchEvent(new CustomEvent('x', { detail: 5 })));
    return [seen, harness.reported, new CustomEvent('x', { detail: 5 }).detail, throws(() => new Event()), throws(() => t.dispatchEvent({})), throws(() => t.addEventListener('x', 5)), throws(() => t.addEventListener('x', f, { signal: {} })),
      (() => { let n; t.addEventListener('again', (e) => { n = throws(() => t.dispatchEvent(e)); }); t.dispatchEvent(new Event('again')); return n; })(),
      (() => { const order = []; t.addEventListener('z', (e) => { order.push(1); e.stopImmediatePropagation(); }); t.addEventListener('z', () => order.push(2)); t.dispatchEvent(new Event('z')); return order; })()];`,
    ),
    [
      ["fx", "object", true, true, "signalled", false, true, true, "second", "object", true, true, true],
      ["Error: listener"],
      5,
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
      "InvalidStateError",
      [1],
    ],
  );
});

inEachEngine("abort: reasons, any, timeout, handlers", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const out = []; const c = new AbortController(); const s = c.signal;
    s.onabort = function (e) { out.push('on', this === s, e.type, s.onabort !== null); }; s.addEventListener('abort', () => out.push('listener'));
    out.push(s.aborted, s.reason === undefined); s.throwIfAborted(); c.abort(); c.abort('again');
    out.push(s.aborted, s.reason.name, s.reason instanceof DOMException, s.reason instanceof Error, s.reason.code, throws(() => s.throwIfAborted()));
    const a = AbortSignal.abort('why'); out.push(a.aborted, a.reason, AbortSignal.abort().reason.name);
    const c1 = new AbortController(), c2 = new AbortController(); const any = AbortSignal.any([c1.signal, c2.signal]); const nested = AbortSignal.any([any]);
    nested.onabort = () => out.push('nested', any.aborted); any.onabort = () => out.push('any', nested.aborted, any.reason); c2.abort('two'); c1.abort('one'); out.push(any.reason, nested.reason);
    out.push(AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason);
    const t = AbortSignal.timeout(30); out.push(t.aborted); await new Promise((r) => t.addEventListener('abort', r)); out.push(t.reason.name, performance.now() >= 30);
    out.push(throws(() => new AbortSignal()), throws(() => AbortSignal.timeout(-1)), throws(() => AbortSignal.timeout()), throws(() => AbortSignal.any([{}])), throws(() => AbortSignal.any(5)), String(s), String(c), new AbortController().abort.length);
    const fallback = new AbortController(); fallback.abort(null); out.push(fallback.signal.reason);
    return out;`,
    ),
    [
      false,
      true,
      "on",
      true,
      "abort",
      true,
      "listener",
      true,
      "AbortError",
      true,
      true,
      20,
      "AbortError",
      true,
      "why",
      "AbortError",
      "any",
      true,
      "two",
      "nested",
      true,
      "two",
      "two",
      false,
      1,
      false,
      "TimeoutError",
      true,
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
      "[object AbortSignal]",
      "[object AbortController]",
      1,
      null,
    ],
  );
});

inEachEngine("timers: order, arguments, ids, refusals; microtasks", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const out = []; const id = setTimeout((...a) => out.push('t', ...a), 20, 1, 2); setTimeout(() => out.push('first'), 10); const dead = setTimeout(() => out.push('never'), 5); clearTimeout(dead); clearTimeout(undefined); clearTimeout({}); clearTimeout('x'); clearTimeout(-1); clearTimeout(1.5); clearTimeout(1e20);
    let n = 0; await new Promise((done) => { const i = setInterval(() => { if (++n === 3) { clearInterval(i); done(); } }, 10); });
    queueMicrotask(() => { out.push('micro'); throw new RangeError('late'); }); out.push('sync'); await null; await new Promise((r) => setTimeout(r));
    out.push(n, typeof id, throws(() => setTimeout('code')), throws(() => setTimeout()), throws(() => queueMicrotask(1)), harness.reported.slice(), setTimeout.length);
    await new Promise((r) => setTimeout(r, NaN)); await new Promise((r) => setTimeout(r, -5)); await new Promise((r) => setImmediate(r));
    return out;`,
    ),
    ["first", "t", 1, 2, "sync", "micro", 3, "number", "TypeError", "TypeError", "TypeError", ["RangeError: late"], 1],
  );
});
