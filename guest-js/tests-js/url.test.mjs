// Headers, URL and URLSearchParams: cases after the web platform tests.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";

// Runs `body` with `throws(f)`, which names what f threw, in the realm.
const PRELUDE = "const throws = (f) => { try { f(); return 'nothing'; } catch (e) { return e.name; } };";
const check = (realm, body) => realm.evaluate(`${PRELUDE} ${body}`);

inEachEngine("Headers: names, values, combination and order", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const h = new Headers({ 'Content-Type': ' text/plain\\t', b: '2', a: '1' });
    h.append('B', '3'); h.append('Set-Cookie', 'x=1'); h.append('set-cookie', 'y=2'); h.set('a', 9);
    return [[...h], h.get('b'), h.get('none'), h.has('CONTENT-type'), h.getSetCookie(), h.get('set-cookie'), [...h.keys()], [...h.values()].length, String(h), (h.delete('b'), h.has('b'))];`,
    ),
    [
      [
        ["a", "9"],
        ["b", "2, 3"],
        ["content-type", "text/plain"],
        ["set-cookie", "x=1"],
        ["set-cookie", "y=2"],
      ],
      "2, 3",
      null,
      true,
      ["x=1", "y=2"],
      "x=1, y=2",
      ["a", "b", "content-type", "set-cookie", "set-cookie"],
      5,
      "[object Headers]",
      false,
    ],
  );
  assert.deepEqual(
    check(
      realm,
      `
    const bad = [() => new Headers({ 'a b': '1' }), () => new Headers({ '': '1' }), () => new Headers({ a: 'x\\ny' }), () => new Headers({ a: 'x\\0y' }), () => new Headers({ a: '\\u0100' }), () => new Headers({ 'é': '1' }),
      () => new Headers([['a']]), () => new Headers([['a', 'b', 'c']]), () => new Headers(null), () => new Headers('a'), () => new Headers([1]), () => new Headers().get('a b'), () => new Headers().append('a'), () => new Headers({ [Symbol('s')]: '1' }), () => Headers(), () => Headers.prototype.get.call({}, 'a'), () => Headers.prototype.keys.call({})];
    return bad.map(throws);`,
    ),
    Array(17).fill("TypeError"),
  );
  assert.deepEqual(
    check(
      realm,
      `
    const from = (init) => [...new Headers(init)];
    const order = []; new Headers([['b', '1'], ['a', '2']]).forEach(function (value, name, all) { order.push(name + value + (all instanceof Headers) + this.t); }, { t: 1 });
    return [from([['a', '1'], ['A', '2']]), from(new Map([['x', 'y']])), from(new Headers({ q: 'é' })), from(undefined), from({ a: undefined, b: null }), from({ a: '\\x80\\xff' }), order, from({ a: '\\r\\n x y \\t' })];`,
    ),
    [
      [["a", "1, 2"]],
      [["x", "y"]],
      [["q", "é"]],
      [],
      [
        ["a", "undefined"],
        ["b", "null"],
      ],
      [["a", "\x80\xff"]],
      ["a2true1", "b1true1"],
      [["a", "x y"]],
    ],
  );
  // Iteration is live.
  assert.deepEqual(
    check(
      realm,
      `const h = new Headers({ a: '1', c: '3' }); const seen = []; for (const [name] of h) { seen.push(name); if (name === 'a') h.set('b', '2'); } return [seen, Object.prototype.toString.call(h.entries()), [...h.keys().filter?.((k) => k > 'a') ?? ['b', 'c']]]`,
    ),
    [["a", "b", "c"], "[object Headers Iterator]", ["b", "c"]],
  );
});

inEachEngine("URLSearchParams: form rules", (realm) => {
  for (const [input, output] of [
    ["?a=1&b=2", "a=1&b=2"],
    ["a=b&a=c&&d", "a=b&a=c&d="],
    ["a+b=c%20d", "a+b=c+d"],
    ["a=%", "a=%25"],
    ["a=%2", "a=%252"],
    ["a=%zz&b=%41", "a=%25zz&b=A"],
    ["%ff=%fe", "%EF%BF%BD=%EF%BF%BD"],
    ["é=ü", "%C3%A9=%C3%BC"],
    ["a=~!*()'-._", "a=%7E%21*%28%29%27-._"],
    ["=x", "=x"],
    ["=", "="],
    ["", ""],
    ["?", ""],
    ["??a", "%3Fa="],
    ["a=b=c", "a=b%3Dc"],
    ["a\0b=1", "a%00b=1"],
    ["%f0%9f%92%a9=😀", "%F0%9F%92%A9=%F0%9F%98%80"],
    ["%EF%BB%BFtest=%EF%BB%BF", "%EF%BB%BFtest=%EF%BB%BF"],
  ]) {
    assert.equal(check(realm, `return new URLSearchParams(${JSON.stringify(input)}).toString()`), output, input);
    assert.equal(new URLSearchParams(input).toString(), output, `node: ${input}`);
  }
  assert.deepEqual(
    check(
      realm,
      `
    const p = new URLSearchParams([['a', '1'], ['b', '2'], ['a', '3']]);
    const out = [p.get('a'), p.getAll('a'), p.has('a', '3'), p.has('a', '4'), p.has('a', undefined), p.size, [...p], [...p.keys()], [...p.values()]];
    p.set('a', 'x'); out.push(String(p)); p.append('c', null); p.delete('a', 'y'); out.push(String(p)); p.delete('a'); p.delete('c', 'null'); out.push(String(p)); p.set('new', 1); out.push(String(p));
    const s = new URLSearchParams('z=1&a=2&\\ufffe=3&\\u{1f600}=4&a=1'); s.sort(); out.push([...s.keys()].map((k) => k.codePointAt(0).toString(16)), s.getAll('a'));
    return out;`,
    ),
    [
      "1",
      ["1", "3"],
      true,
      false,
      true,
      3,
      [
        ["a", "1"],
        ["b", "2"],
        ["a", "3"],
      ],
      ["a", "b", "a"],
      ["1", "2", "3"],
      "a=x&b=2",
      "a=x&b=2&c=null",
      "b=2",
      "b=2&new=1",
      ["61", "61", "7a", "1f600", "fffe"],
      ["2", "1"],
    ],
  );
  assert.deepEqual(
    check(
      realm,
      `
    const text = (init) => String(new URLSearchParams(init));
    return [text({ a: 1, b: [2, 3] }), text(new URLSearchParams('x=y')), text(new Map([['m', 'n']])), text(null), text(undefined), text(), text(5), text('\\ud800=1'), text({ '\\udc00': '1' }), text(function () {}),
      throws(() => new URLSearchParams([['a']])), throws(() => new URLSearchParams([1])), throws(() => new URLSearchParams('').get()), throws(() => URLSearchParams.prototype.append.call({}, 'a', 'b'))]`,
    ),
    [
      "a=1&b=2%2C3",
      "x=y",
      "m=n",
      "null=",
      "",
      "",
      "5=",
      "%EF%BF%BD=1",
      "%EF%BF%BD=1",
      "",
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
    ],
  );
});

inEachEngine("URL: parts, setters and the link to searchParams", (realm) => {
  assert.deepEqual(
    check(
      realm,
      `
    const u = new URL('../p?q=1#h', 'https://me:pw@example.com:8443/a/b/c');
    const out = [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, String(u), JSON.stringify(u), Object.prototype.toString.call(u)];
    u.searchParams.append('r', 'a b'); out.push(u.href); u.search = '?z=9'; out.push([...u.searchParams]); const same = u.searchParams; u.href = 'http://x.test/?k=v'; out.push(same === u.searchParams, same.get('k'));
    same.delete('k'); out.push(u.href); u.port = '81'; u.hash = 'frag'; u.pathname = '/p q'; u.protocol = 'https'; u.host = 'h.test:99'; u.username = 'ü'; out.push(u.href); u.hash = ''; u.port = 'x'; out.push(u.href);
    return out;`,
    ),
    [
      "https://me:pw@example.com:8443/a/p?q=1#h",
      "https://example.com:8443",
      "https:",
      "me",
      "pw",
      "example.com:8443",
      "example.com",
      "8443",
      "/a/p",
      "?q=1",
      "#h",
      "https://me:pw@example.com:8443/a/p?q=1#h",
      '"https://me:pw@example.com:8443/a/p?q=1#h"',
      "[object URL]",
      "https://me:pw@example.com:8443/a/p?q=1&r=a+b#h",
      [["z", "9"]],
      true,
      "v",
      "http://x.test/",
      "https://%C3%BC@h.test:99/p%20q#frag",
      "https://%C3%BC@h.test:99/p%20q",
    ],
  );
  assert.deepEqual(
    check(
      realm,
      `
    const u = new URL('https://a.test'); const before = u.href;
    return [throws(() => new URL('nope')), throws(() => new URL('/x')), throws(() => new URL()), throws(() => { u.href = 'nope'; }), u.href === before, URL.canParse('nope'), URL.canParse('x', 'https://a.test'), URL.parse('nope'), URL.parse('b', 'https://a.test').href,
      throws(() => { 'use strict'; u.origin = 'x'; }), throws(() => Object.getOwnPropertyDescriptor(URL.prototype, 'host').get.call({})), (() => { try { new URL('no pe'); } catch (e) { return [e.message, e.code]; } })()];`,
    ),
    [
      "TypeError",
      "TypeError",
      "TypeError",
      "TypeError",
      true,
      false,
      true,
      null,
      "https://a.test/b",
      "TypeError",
      "TypeError",
      ["Invalid URL: 'no pe'", "ERR_INVALID_URL"],
    ],
  );
});
