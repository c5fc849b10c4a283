// Arrays: those whose length or parts change while a method goes through them.

// case: push after length grew
// is: [246, 0, 2, false, false, true]
const kept = [];
for (let i = 0; i < 30; i++) {
    const array = [0];
    array.length = 245;
    array.push(2);
    kept.push(array);
}
churn();
const last = kept[29];
return [last.length, last[0], last[245], 1 in last, 244 in last, 245 in last];

// case: push after length shrank and grew
// is: [6, false, {"f": 6}]
const objects = [];
for (let i = 0; i < 30; i++) {
    const array = [{ a: 1 }, { b: 2 }, { c: 3 }, { d: 4 }, { e: 5 }];
    array.length = 2;
    array.length = 5;
    array.push({ f: 6 });
    objects.push(array);
}
churn();
return [objects[7].length, 3 in objects[7], objects[7][5]];

// case: push at the end of what arrays can have
// is: [2147483648, 4, "TypeError", 4294967295]
const long = [1, 2, 3];
long.length = 2 ** 31 - 1;
long.push(4);
const full = { length: 2 ** 53 - 1 };
const most = [];
most.length = 2 ** 32 - 1;
thrown(() => most.push(1));
return [long.length, long[2 ** 31 - 1], thrown(() => Array.prototype.push.call(full, 1)), most.length];

// case: delete and push
// is: [3, false, {"y": 2}]
const holed = [{ x: 0 }, { x: 1 }];
delete holed[1];
holed.push({ y: 2 });
return [holed.length, 1 in holed, holed[2]];

// case: a comparator that empties the array
// is: [500, true]
const sorted = Array.from({ length: 500 }, (_, i) => ({ i: (i * 7919) % 500 }));
let emptied = false;
sorted.sort((a, b) => { if (!emptied) { emptied = true; sorted.length = 0; churn(); } return a.i - b.i; });
return [sorted.length, sorted.every(each => each === undefined || typeof each.i === 'number')];

// case: a comparator that throws, and one that is not consistent
// is: ["RangeError", 100]
const items = Array.from({ length: 100 }, (_, i) => i);
let turn = 0;
return [thrown(() => items.sort(() => { throw new RangeError(); })), items.sort(() => (turn++ % 3) - 1).length];

// case: the comparator is called for equal values too
// is: [true, true]
const same = {};
let calls = 0;
[same, same, same].sort(() => { calls++; return 0; });
let typed = 0;
new Float64Array([1, 1, 1]).sort(() => { typed++; return 0; });
return [calls >= 2, typed >= 2];

// case: splice whose count shrinks the array
// is: [[], [1, 2]]
const spliced = [1, 2, 3, 4, 5, 6];
const removed = spliced.splice({ valueOf() { spliced.length = 2; return 2; } }, { valueOf() { return 4; } });
return [removed.filter(each => each !== undefined), spliced.filter(each => each !== undefined).slice(0, 2)];

// case: a species that returns a smaller or frozen array
// is: ["TypeError", "TypeError", "TypeError"]
class Frozen extends Array {
    static get [Symbol.species]() { return function () { return Object.freeze([]); }; }
}
const frozen = Frozen.from([1, 2, 3]);
return [() => frozen.map(x => x), () => frozen.filter(() => true), () => frozen.concat([4])].map(thrown);

// case: a species that returns the array itself
// is: [[2, 4, 6], true]
class Same extends Array {
    static get [Symbol.species]() { return function () { return Same.one; }; }
}
Same.one = Same.from([1, 2, 3]);
const mapped = Same.one.map(each => each * 2);
return [[...mapped], mapped === Same.one];

// case: concat of what spreads and grows meanwhile
// is: [[1, 2, 3], 3]
const spread = { length: 3, [Symbol.isConcatSpreadable]: true, 0: 1, get 1() { this.length = 1; return 2; }, 2: 3 };
const joined = [].concat(spread);
return [joined, joined.length];

// case: getters that collect garbage while arrays are made
// is: [[9, 1], 256, 257, [1, null]]
const like = at => Object.defineProperty({ length: 256, 1: 2 }, at, { get() { churn(); return 1; }, configurable: true, enumerable: true });
const { with: put, toReversed, toSpliced, toSorted } = Array.prototype;
return [put.call(like(0), 1, 9).slice(0, 2).reverse(), toReversed.call(like(255)).length, toSpliced.call(like(0), 1, 0, 7).length, [toSorted.call(like(0))[0], toSorted.call(like(0))[255] ?? null]];

// case: iteration while the array shrinks and grows
// is: [[1, 2], [1, 2, 3, 4]]
const shrinking = [1, 2, 3, 4];
const seen = [];
for (const each of shrinking) { seen.push(each); if (each === 2) shrinking.length = 0; }
const growing = [1];
const grown = [];
for (const each of growing) { grown.push(each); if (each < 4) growing.push(each + 1); }
return [seen, grown];

// case: an element's toString that empties the array
// is: "1-x--"
const emptied = [1, { toString() { emptied.length = 0; return 'x'; } }, 3, 4];
return emptied.join('-');

// case: apply with very many arguments
// is: ["none", "RangeError"]
return [thrown(() => Math.max.apply(null, new Array(60_000).fill(1))), thrown(() => Math.max.apply(null, { length: 2 ** 31 }))];

// case: flat of what leads to itself
// is: [[1, 2], "TypeError"]
return [[1, [2]].flat(Infinity), thrown(() => [1].flatMap(5))];

// case: copyWithin, fill and includes with arguments that shrink
// is: [2, 2, false]
const shrink = array => ({ valueOf() { array.length = 2; return 0; } });
const first = [1, 2, 3, 4];
first.copyWithin(2, shrink(first));
const second = [1, 2, 3, 4];
second.fill(7, shrink(second), 2);
const third = [1, 2, 3, 4];
return [first.slice(0, 2).length, second.slice(0, 2).length, third.includes(4, shrink(third))];

// case: Array.fromAsync makes ordinary elements
// is: {"value": 1, "writable": true, "enumerable": true, "configurable": true}
return Object.getOwnPropertyDescriptor(await Array.fromAsync([Promise.resolve(1)]), 0);

// case: prototypes with elements
// is: [[1, "p", 3], "p"]
const withHole = [1, , 3];
Array.prototype[1] = 'p';
try {
    return [withHole.slice().map(each => each), withHole[1]];
} finally {
    delete Array.prototype[1];
}
