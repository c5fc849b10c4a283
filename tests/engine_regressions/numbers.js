// Numbers, BigInts, dates and JSON.

// case: BigInt.asUintN of negative numbers
// is: ["18446744073709551615", "340282366920938463463374607431768211455", "1", "4294967295"]
return [BigInt.asUintN(64, -1n), BigInt.asUintN(128, -1n), BigInt.asUintN(1, -1n), BigInt.asUintN(32, -1n)].map(String);

// case: BigInt.asIntN and asUintN at the edges of a limb
// is: ["-9223372036854775808", "9223372036854775808", "-1", "18446744073709551614"]
return [BigInt.asIntN(64, 2n ** 63n), BigInt.asUintN(64, -(2n ** 63n)), BigInt.asIntN(200, -1n), BigInt.asUintN(64, -2n)].map(String);

// case: BigInts that are too wide
// is: ["RangeError", "RangeError", "RangeError"]
return [() => BigInt.asUintN(2 ** 53 - 1, -1n), () => 1n << (2n ** 40n), () => 2n ** (2n ** 32n)].map(thrown);

// case: BigInt arithmetic over several limbs
// is: ["-1", "0", "-340282366920938463463374607431768211456", "true"]
const wide = 2n ** 128n;
return [-1n >> 200n, wide % wide, ~(wide - 1n), (wide * wide) / wide === wide].map(String);

// case: division of the lowest by minus one
// is: [-2147483648, 0, 2147483648, "9223372036854775808"]
const lowest = -2147483648;
return [lowest | 0, Math.abs(lowest % -1), lowest / -1, String((-(2n ** 63n)) / -1n)];

// case: BigInts from texts
// is: ["255", "SyntaxError", "0", "RangeError"]
return [String(BigInt('0xff')), thrown(() => BigInt('1n')), String(BigInt('  ')), thrown(() => BigInt(1.5))];

// case: numbers in all bases
// is: ["0.1", "1e21", "zik0zj", "RangeError", "1.2e+0", "0.000001"]
return [(0.1).toString(), String(1e21).replace('+', ''), (2 ** 31 - 1).toString(36), thrown(() => (1).toString(37)), (1.23).toExponential(1), (1e-6).toString()];

// case: toFixed and toPrecision at their edges
// is: ["1.00", "RangeError", "123456789012345683968.00", "1.0e+21"]
return [(1.0).toFixed(2), thrown(() => (1).toFixed(101)), (123456789012345680000).toFixed(2), (1e21).toPrecision(2)];

// case: shifts and conversions of what is no integer
// is: [0, -1, 1, 0, -2147483648]
return [NaN | 0, -1.9 | 0, 2 ** 32 + 1 | 0, Infinity >> 1, 2 ** 31 | 0];

// case: Math with strange arguments
// is: [true, true, 0, true]
return [Object.is(Math.round(-0.4), -0), Number.isNaN(Math.max(1, NaN)), Math.clz32(-1), Math.abs(Math.hypot(...new Array(64).fill(1)) - 8) < 1e-9];

// case: sums that are exact
// is: [0.6, true]
return [Math.sumPrecise?.([0.1, 0.2, 0.3]) ?? 0.6, Object.is(Math.sumPrecise?.([]) ?? -0, -0)];

// case: dates at the edges of time
// is: [8640000000000000, null, "Invalid Date", "RangeError"]
const edge = new Date(8.64e15);
return [edge.getTime(), new Date(8.64e15 + 1).getTime(), String(new Date(NaN)), thrown(() => new Date(NaN).toISOString())];

// case: date texts that are too long or malformed
// is: [null, null, 0, null]
return ['1'.repeat(5000), '2020-13-01T00:00:00Z', '1970-01-01T00:00:00.000Z', '2020-01-01T00:00:00+99:99'].map(text => Date.parse(text));

// case: a date changed while it is set
// is: [true, null]
const date = new Date(0);
date.setMilliseconds({ valueOf() { date.setTime(NaN); return 5; } });
const other = new Date(NaN);
return [date.getTime() === 5 || Number.isNaN(date.getTime()), other.setMonth(1)];

// case: JSON.parse with a reviver that changes what is read
// is: [{"a": 1}, [1, null], "SyntaxError"]
const deleted = JSON.parse('{"a":1,"b":{"c":2}}', function (key, value) { if (key === 'a') delete this.b; return value; });
const shortened = JSON.parse('[1,2,3]', function (key, value) { if (key === '0') this.length = 2; return key === '1' ? null : value; });
return [deleted, shortened.slice(0, 2), thrown(() => JSON.parse('{"a":1,}'))];

// case: a reviver that is given the source text
// is: ["1.0", "12345678901234567890"]
const sources = [];
JSON.parse('[1.0,12345678901234567890]', (key, value, context) => { if (context.source) sources.push(context.source); return value; });
return sources;

// case: a reviver that replaces parts by proxies and itself
// is: "none"
return thrown(() => JSON.parse('[[1],[2],{"x":[3]}]', function (key, value) { if (key === '0' && Array.isArray(this) && this.length === 3) this[1] = new Proxy([1, 2], {}); return value; }));

// case: JSON.stringify with getters, toJSON and lists of names
// is: ["{\"a\":1}", "{\"b\":2,\"a\":1}", "[null,null]", "TypeError"]
const losing = { get a() { delete this.b; return 1; }, b: 2 };
const cyclic = [];
cyclic.push({ cyclic });
return [JSON.stringify(losing), JSON.stringify({ a: 1, b: 2, c: 3 }, ['b', 'a', 'b']), JSON.stringify([undefined, () => 1]), thrown(() => JSON.stringify(cyclic))];

// case: JSON.stringify of very deep values
// is: true
let nested = [];
for (let i = 0; i < 1000; i++) nested = [nested];
return JSON.stringify(nested).length === 2002;

// case: raw JSON
// is: ["{\"n\":1e1000}", "SyntaxError", true]
return [JSON.stringify({ n: JSON.rawJSON('1e1000') }), thrown(() => JSON.rawJSON('{}')), JSON.isRawJSON(JSON.rawJSON('1'))];

// case: texts that are not numbers
// is: [null, 0, 1, 255, null]
return [Number('1_000'), Number(''), Number(' 1\n'), Number('0xff'), Number('0x')];

// case: Symbol descriptions and registries
// is: [null, "", "TypeError", "a"]
return [Symbol().description ?? null, Symbol('').description, thrown(() => Symbol() + ''), Symbol.keyFor(Symbol.for('a'))];
