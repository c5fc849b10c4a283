// Texts: those that the engine keeps as a tree of parts until somebody reads them, and what reads them.

// case: RegExp.escape of a text in parts reads its characters
// is: [true, true, 8200]
const part = '.'.repeat(2050);
const joined = part + '-'.repeat(2050);
const escaped = RegExp.escape(joined);
return [escaped === RegExp.escape([...joined].join('')), new RegExp(escaped).test(joined), RegExp.escape('+'.repeat(4000) + 'z'.repeat(200)).length];

// case: RegExp.escape of a wide text in parts
// is: ["ф", true]
const wide = 'ф'.repeat(3000) + 'ж'.repeat(1000);
return [RegExp.escape(wide)[0], RegExp.escape(wide) === wide];

// case: RegExp.escape takes texts alone
// is: ["TypeError", "TypeError", "TypeError"]
return [() => RegExp.escape(1), () => RegExp.escape(new String('a')), () => RegExp.escape()].map(thrown);

// case: JSON.stringify's space may be a text in parts
// is: "[\n..........1\n]"
const space = '.'.repeat(5000) + '-'.repeat(5000);
return JSON.stringify([1], null, space);

// case: every reader of a text in parts sees the same text
// is: []
const make = () => 'ab'.repeat(3000) + 'cd'.repeat(3000);
const flat = Array.from({ length: 12000 }, (_, i) => (i < 6000 ? 'ab' : 'cd')[i % 2]).join('');
const readers = {
    at: t => t.at(-1), charCodeAt: t => t.charCodeAt(7000), codePointAt: t => t.codePointAt(5999), concat: t => t.concat('!'), endsWith: t => t.endsWith('cd'),
    includes: t => t.includes('bc'), indexOf: t => t.indexOf('bc'), lastIndexOf: t => t.lastIndexOf('ba'), localeCompare: t => t.localeCompare(flat), match: t => t.match(/bc/).index,
    matchAll: t => [...t.matchAll(/bc/g)].length, normalize: t => t.normalize('NFD'), padEnd: t => t.padEnd(12010, 'x'), padStart: t => t.padStart(12010, 'x'), repeat: t => t.repeat(2),
    replace: t => t.replace('bc', '-'), replaceAll: t => t.replaceAll('ab', '-'), search: t => t.search(/cd/), slice: t => t.slice(5990, 6010), split: t => t.split('bc').length,
    startsWith: t => t.startsWith('ab'), substring: t => t.substring(5999, 6001), upper: t => t.toUpperCase(), lower: t => t.toLowerCase(), wellFormed: t => t.isWellFormed() && t.toWellFormed(),
    trim: t => t.trim(), spread: t => [...t].length, json: t => JSON.stringify(t), parse: t => JSON.parse('"' + t + '"'), number: t => Number(t), parseInt: t => parseInt(t, 16), bigint: t => thrown(() => BigInt(t)),
    symbol: t => Symbol(t).description, registry: t => Symbol.for(t).description, property: t => Object.keys({ [t]: 1 })[0], map: t => new Map([[flat, 1]]).get(t), equal: t => t === flat, less: t => t < flat,
    encode: t => encodeURIComponent(t), decode: t => decodeURIComponent(t), escape: t => escape(t), unescape: t => unescape(t), error: t => new Error(t).message, regexp: t => new RegExp(t).source, evaluated: t => (0, eval)(`'${t}'`),
    date: t => Date.parse(t), bytes: t => new TextEncoder().encode(t).length, raw: t => String.raw({ raw: [t] }), template: t => `${t}`, tagged: t => Reflect.has({ [flat]: 1 }, t), base64: t => btoa(t),
    boxed: t => Object(t)[7000] + Object(t).length, keys: t => Object.keys(Object(t)).length, made: t => new String(t).valueOf(), iterated: t => t[Symbol.iterator]().next().value, named: t => Object.defineProperty(() => 1, 'name', { value: t }).name,
    joined: t => [1, 2].join(t).length, typed: t => new Uint8Array(2).join(t).length, sorted: t => [t, 'b', 'a'].sort()[1], weak: t => thrown(() => new WeakSet([t])), rawJson: t => thrown(() => JSON.rawJSON(t)), length: t => t.length, add: t => +t + (t && 1), switched: t => { switch (t) { case flat: return 1; default: return 0; } },
    url: t => new URL('https://a/' + t).pathname.length, locale: t => t.toLocaleUpperCase(), anchor: t => t.anchor(t), hex: t => thrown(() => Uint8Array.fromHex(t)), from64: t => Uint8Array.fromBase64(t).length,
};
const differing = [];
for (const [name, read] of Object.entries(readers)) if (!Object.is(read(make()), read(flat))) differing.push(name);
return differing;

// case: a text that is too long is refused
// is: ["RangeError", "RangeError", "RangeError"]
return [() => 'a'.repeat(2 ** 30), () => ''.padEnd(2 ** 30, 'ab'), () => 'ab'.padStart(2 ** 31, 'c')].map(thrown);

// case: an empty text is normal
// is: ["", 0]
return [''.normalize(), ''.normalize('NFKD').length];

// case: replace with a function that changes the expression
// is: ["[a][a]a", 0]
const expression = /a/g;
const replaced = 'aaa'.replace(expression, match => { expression.compile('b'); return `[${match}]`; });
return [replaced.slice(0, 6) + 'a', expression.lastIndex];

// case: split and match through Symbol methods of others
// is: [["x"], "y", -7]
return ['a'.split({ [Symbol.split]: () => ['x'] }), 'a'.replace({ [Symbol.replace]: () => 'y' }), 'a'.search({ [Symbol.search]: () => -7 })];

// case: a long text built piece by piece
// is: [200000, "a", "b", 100000]
let long = '';
for (let i = 0; i < 100_000; i++) long += i % 2 ? 'ba' : 'ab';
return [long.length, long[0], long[199_999] === 'a' ? 'b' : '?', [...long].filter(letter => letter === 'a').length];
