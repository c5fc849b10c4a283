// Typed arrays and buffers that are detached, shrunk or moved while somebody looks at them.

// case: a comparator that shrinks the buffer
// is: [10, 10]
const buffer = new ArrayBuffer(256, { maxByteLength: 2560 });
const bytes = new Uint8Array(buffer).fill(3);
bytes.sort((a, b) => { if (buffer.byteLength > 10) buffer.resize(10); return a - b; });
return [bytes.length, buffer.byteLength];

// case: a comparator that detaches the buffer
// is: [0, true]
const moved = new Float64Array([3, 1, 2]);
moved.sort(() => { if (!moved.buffer.detached) moved.buffer.transfer(); return -1; });
return [moved.length, moved.buffer.detached];

// case: a prototype getter that shrinks the buffer under a constructor
// is: ["number", true]
const resizable = new ArrayBuffer(16, { maxByteLength: 16 });
const target = Object.defineProperty((function () {}).bind(), 'prototype', { get() { resizable.resize(0); return Uint8Array.prototype; } });
const viewed = thrown(() => Reflect.construct(Uint8Array, [resizable], target));
const source = new Uint8Array(new ArrayBuffer(8, { maxByteLength: 8 }));
const other = new Proxy(function () {}, { get(of, name) { if (name === 'prototype') source.buffer.resize(0); return Reflect.get(of, name); } });
return [typeof resizable.byteLength, ['none', 'RangeError', 'TypeError'].includes(viewed) && ['none', 'RangeError', 'TypeError'].includes(thrown(() => Reflect.construct(Uint8Array, [source], other)))];

// case: indices whose conversion shrinks the buffer
// is: [-1, false, -1, 4, 0]
const make = () => new Uint8Array(new ArrayBuffer(8, { maxByteLength: 8 })).fill(7);
const shrink = (view, to = 4) => ({ valueOf() { view.buffer.resize(to); return 5; } });
const views = Array.from({ length: 6 }, make);
return [views[0].indexOf(7, shrink(views[0])), views[1].includes(7, shrink(views[1])), views[2].lastIndexOf(9, shrink(views[2])), views[3].fill(1, 0, shrink(views[3])).length, views[4].slice(shrink(views[4])).filter(each => each !== 0).length];

// case: lastIndexOf goes on in what is left
// is: [2, -1]
const rest = new Float64Array(new ArrayBuffer(32, { maxByteLength: 32 })).fill(1);
const none = new Int32Array(new ArrayBuffer(16, { maxByteLength: 16 }), 0, 4).fill(5);
return [rest.lastIndexOf(1, { valueOf() { rest.buffer.resize(24); return -1; } }), none.lastIndexOf(5, { valueOf() { none.buffer.resize(8); return 3; } })];

// case: a value whose conversion detaches the buffer is written nowhere
// is: [0, null, "none"]
const gone = new Int32Array(4);
const value = { valueOf() { gone.buffer.transfer(); return 1; } };
const outcome = thrown(() => { gone[0] = value; });
return [gone.length, gone[0] ?? null, outcome];

// case: set from itself while it shrinks
// is: "RangeError"
const own = new Uint16Array(new ArrayBuffer(16, { maxByteLength: 16 }));
return thrown(() => own.set({ length: 9, get 0() { own.buffer.resize(2); return 1; } }));

// case: subarray of a detached buffer by a species of its own
// is: [3, 16, 0]
const detached = new Float64Array(new ArrayBuffer(16), 8, 1);
let given;
detached.constructor = { [Symbol.species]: function (...all) { given = all; return new Float64Array(0); } };
detached.subarray(1, { valueOf() { detached.buffer.transfer(); return 0; } });
return [given.length, given[1], given[2]];

// case: slice into a view of the same buffer
// is: [20, 20, 20, 60]
const overlapping = new Int32Array([10, 20, 30, 40, 50, 60]);
overlapping.constructor = { [Symbol.species]: function () { return new Int32Array(overlapping.buffer, 8); } };
return [...overlapping.slice(1, 4)];

// case: a species that is too short, or of another kind
// is: ["TypeError", "TypeError", "TypeError"]
const short = new Uint8Array(8);
short.constructor = { [Symbol.species]: function () { return new Uint8Array(1); } };
const big = new Uint8Array(2);
big.constructor = { [Symbol.species]: BigInt64Array };
const plain = new Uint8Array(2);
plain.constructor = { [Symbol.species]: Array };
return [() => short.map(x => x), () => big.slice(), () => plain.filter(() => true)].map(thrown);

// case: numbers and BigInts do not mix
// is: ["TypeError", "TypeError", "TypeError", "TypeError", "RangeError"]
return [() => new Int8Array(new BigInt64Array()), () => new BigUint64Array(new Int8Array()), () => new BigInt64Array(1).set([1]), () => new BigInt64Array(1).with(0, 1), () => new BigInt64Array().with(0, 1n)].map(thrown);

// case: views that track a length have no fixed extent
// is: ["TypeError", "none"]
const tracking = new Int8Array(new ArrayBuffer(4, { maxByteLength: 8 }));
return [thrown(() => Object.preventExtensions(tracking)), thrown(() => Object.preventExtensions(new Int8Array(4)))];

// case: a view over what was resized away
// is: [0, 0, "TypeError", 4]
const away = new ArrayBuffer(16, { maxByteLength: 16 });
const fixed = new Int32Array(away, 8, 2);
away.resize(8);
const before = [fixed.length, fixed.byteOffset, thrown(() => fixed.fill(1))];
away.resize(16);
return [...before, new DataView(away, 4, 4).byteLength];

// case: DataView's offsets and values that resize
// is: ["RangeError", "TypeError", "RangeError"]
const data = new DataView(new ArrayBuffer(16, { maxByteLength: 16 }));
return [() => data.setInt32(8, { valueOf() { data.buffer.resize(8); return 1; } }), () => { data.buffer.resize(0); new DataView(data.buffer.transfer()).buffer.transfer(); data.getInt8(0); }, () => new DataView(new ArrayBuffer(8)).getInt8(2 ** 53)].map(thrown);

// case: transfer shrinks, grows and detaches
// is: [4, 32, 0, true, "TypeError"]
const original = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer;
const smaller = original.transfer(4);
const larger = smaller.transfer(32);
return [new Uint8Array(larger)[3], larger.byteLength, original.byteLength, original.detached, thrown(() => original.slice(0))];

// case: bytes that the realm made can be transferred
// is: [3, 97, 0]
const encoded = new TextEncoder().encode('abc');
const longer = encoded.buffer.transfer(10);
return [encoded.length + 3, new Uint8Array(longer)[0], new Uint8Array(longer)[9]];

// case: a buffer that is larger than memory is refused
// is: ["RangeError", "RangeError", "RangeError"]
return [() => new ArrayBuffer(2 ** 53), () => new ArrayBuffer(8, { maxByteLength: 4 }), () => new Float64Array(2 ** 31)].map(thrown);

// case: writes outside, to somebody else's receiver
// is: [true, 0, true, 1]
let conversions = 0;
const counting = { valueOf() { conversions++; return 1; } };
const numbers = new Int32Array(2);
const strange = Reflect.set(numbers, 100, counting, {});
const after = conversions;
return [strange, after, Reflect.set(numbers, 100, counting, numbers), conversions];

// case: base64 and hexadecimal into a small array
// is: [{"read": 4, "written": 3}, "SyntaxError", "ff00"]
return [new Uint8Array(4).setFromBase64('AAEC'), thrown(() => Uint8Array.fromHex('0')), new Uint8Array([255, 0]).toHex()];

// case: options that detach the target
// is: "TypeError"
const into = new Uint8Array(4);
return thrown(() => into.setFromBase64('AAAA', { get alphabet() { into.buffer.transfer(); return 'base64'; } }));
