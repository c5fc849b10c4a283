// Regular expressions: those that are malformed, that change while they match, or that have very much in them.

// case: an unfinished class is an error
// is: ["SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError"]
return [['[', 'v'], ['[', 'u'], ['(?<a', ''], ['a{2,1}', '']].map(([source, flags]) => thrown(() => new RegExp(source, flags)));

// case: many alternatives with a group's name
// is: ["none", "SyntaxError"]
const named = count => '(?<g>a)' + '|x'.repeat(count);
return [thrown(() => new RegExp(named(200))), thrown(() => new RegExp('(?<g>a)(?<g>b)'))];

// case: very many groups are refused or counted
// is: [true, "SyntaxError"]
return [new RegExp('(a)'.repeat(200)).exec('a'.repeat(200)).length === 201, thrown(() => new RegExp('()'.repeat(300)))];

// case: quantifiers inside quantifiers
// is: ["aaaa", null, ""]
return [/(?:a{1,2}){2,3}/.exec('aaaa')[0], /(?:a{3}){3}/.exec('aaaaaaaa'), /(?:(?:a*)*)*/.exec('b')[0]];

// case: looking behind with a group
// is: [["23", "1"], ["b", "a"]]
return [[.../(?<=(\d))23/.exec('123')], [.../(?<=(?<first>a))b/.exec('ab')]];

// case: lastIndex that runs code
// is: [null, "ReferenceError"]
const moved = /a/g;
moved.lastIndex = { valueOf() { return 5; } };
const failing = /a/y;
failing.lastIndex = { valueOf() { throw new ReferenceError(); } };
return [moved.exec('aaa'), thrown(() => failing.exec('a'))];

// case: exec that another replaces it with
// is: ["TypeError", "none", ["ok"]]
const own = /a/g;
own.exec = () => 5;
const empty = /a/;
empty.exec = () => null;
const counted = /a/g;
let calls = 0;
counted.exec = () => (calls++ < 1 ? Object.assign(['ok'], { index: 0 }) : null);
return [thrown(() => own.test('a')), thrown(() => empty.test('a')), 'aaa'.match(counted)];

// case: a replaced match has members of all kinds
// is: "<undefined|9007199254740991>"
const strange = /a/;
strange.exec = () => ({ index: Infinity, 0: 'a', length: 2, 1: undefined });
return 'a'.replace(strange, (match, first, position) => `<${first}|${Number.MAX_SAFE_INTEGER}>`).slice(-28);

// case: sets of texts in a class
// is: [true, true, false]
return [/^[\q{abc|d}]$/v.test('abc'), /^[\q{}]$/v.test(''), /^[[a-z]--[b]]$/v.test('b')].map(Boolean);

// case: case folding over all planes
// is: [true, true, false, true]
return [/\u212a/iu.test('k'), /[^x]/iu.test('\u{1f600}'), /\u212a/i.test('k'), /^\p{Lu}$/iu.test('a')];

// case: matching that would take for ever is bounded by fuel alone
// is: false
return /^(a+)+$/.test('a'.repeat(16) + 'b');

// case: a surrogate is not split by flags u and v
// is: [1, 2, ["\ud83d\ude00"]]
return [[...'😀'.matchAll(/./gu)].length, [...'😀'.matchAll(/./g)].length, [..././v.exec('😀')]];

// case: indices of groups
// is: [[1, 3], [1, 2], null]
const found = /(a)(?:b|(c))/d.exec('xab');
return [found.indices[0], found.indices[1], found.indices[2] ?? null];

// case: backtracking in a very long text
// is: [true, 300000]
const text = 'ab'.repeat(150_000);
return [/^(?:ab)*$/.test(text), text.replace(/(?:)/g, '').length];
