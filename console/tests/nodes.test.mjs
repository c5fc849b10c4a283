import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { hasMoreThan, levelsWithin } = await load('nodes');
const nested = (width, depth) => (depth === 0 ? 1 : Array.from({ length: width }, () => nested(width, depth - 1)));

test('values are counted at any depth', () => {
  assert.equal(hasMoreThan({ a: 1, b: { c: [1, 2] } }, 5), false);
  assert.equal(hasMoreThan({ a: 1, b: { c: [1, 2] } }, 4), true);
  assert.equal(hasMoreThan('text', 0), false);
  assert.equal(hasMoreThan(Array.from({ length: 300_000 }, (_, i) => i), 500), true);
  assert.equal(hasMoreThan(nested(30, 3), 500), true);
});

test('trees open only as far as their rows are few', () => {
  assert.equal(levelsWithin({ a: { b: { c: 1 } } }, 4, 100), 4);
  assert.equal(levelsWithin(nested(40, 4), 4, 100), 1);
  assert.equal(levelsWithin(nested(10, 4), 4, 100), 2);
  assert.equal(levelsWithin(Array.from({ length: 100_000 }, () => [1]), 3, 100), 3, 'members that are not shown do not count');
});
