import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { changedParts, diff, textOf } = await load('diff');
const show = (before, after) => diff(before, after).lines.map((line) => `${{ same: ' ', added: '+', removed: '-' }[line.kind]}${line.text}`);

/** Both texts can be read from a diff, and its line numbers are theirs. */
function consistent(before, after) {
  const { lines } = diff(before, after);
  const left = lines.filter((line) => line.kind !== 'added');
  const right = lines.filter((line) => line.kind !== 'removed');
  assert.equal(left.map((line) => line.text).join('\n'), before);
  assert.equal(right.map((line) => line.text).join('\n'), after);
  left.forEach((line, i) => assert.equal(line.before, i + 1));
  right.forEach((line, i) => assert.equal(line.after, i + 1));
  return lines.filter((line) => line.kind !== 'same').length;
}

test('changes in the middle and at the ends', () => {
  assert.deepEqual(show('a\nb\nc', 'a\nx\nc'), [' a', '-b', '+x', ' c']);
  assert.deepEqual(show('', 'a'), ['+a']);
  assert.deepEqual(show('a', ''), ['-a']);
  assert.deepEqual(show('a\nb', 'a\nb'), [' a', ' b']);
  assert.deepEqual(show('b\nc', 'a\nb\nc\nd'), ['+a', ' b', ' c', '+d']);
});

test('a diff is as short as possible', () => {
  assert.equal(consistent('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc'), 5);
});

test('random texts are told completely', () => {
  let seed = 1;
  const random = (n) => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff), seed % n);
  for (let i = 0; i < 200; i++) {
    const text = () => Array.from({ length: 1 + random(30) }, () => 'abcd'[random(4)]).join('\n');
    consistent(text(), text());
  }
});

test('long and entirely different texts are bounded', () => {
  const a = Array.from({ length: 4000 }, (_, i) => `a${i}`).join('\n');
  const b = Array.from({ length: 4000 }, (_, i) => `b${i}`).join('\n');
  const start = Date.now();
  consistent(a, b);
  assert.ok(Date.now() - start < 5000);
  assert.equal(diff(`${'x\n'.repeat(6000)}`, 'y').cut, true);
});

test('members of values are sorted, so that their order is no difference', () => {
  assert.equal(textOf({ b: 1, a: { d: 1, c: 2 } }), textOf({ a: { c: 2, d: 1 }, b: 1 }));
  assert.equal(textOf('text'), 'text');
  assert.equal(textOf(undefined), 'undefined');
});

test('parts of lines that changed are told, also far behind the beginning', () => {
  const parts = (before, after) => {
    const { lines } = diff(before, after);
    const found = changedParts(lines);
    return lines.flatMap((line) => (found.has(line) ? [line.text.slice(...found.get(line))] : []));
  };
  assert.deepEqual(parts('{\n"amount": 42,\n}', '{\n"amount": 4200,\n}'), ['', '00']);
  assert.deepEqual(parts('pay 10 EUR', 'pay 99 EUR'), ['10', '99']);
  const long = 'x'.repeat(1_000_000);
  assert.deepEqual(parts(`${long}a${long}`, `${long}b${long}`), ['a', 'b']);
  assert.deepEqual(parts('one 😀', 'one 😁'), ['😀', '😁'], 'no half characters');
  assert.deepEqual(parts('a', 'b'), [], 'nothing in common');
  assert.deepEqual(parts('a1\na2', 'a3'), [], 'no counterpart');
});
