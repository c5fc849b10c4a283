import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { bytes, count, duration, money, plural, relative } = await load('format');

test('sizes have the largest unit that fits', () => {
  assert.equal(bytes(0), '0 B');
  assert.equal(bytes(1023), '1023 B');
  assert.equal(bytes(1536), '1.50 KiB');
  assert.equal(bytes(64 << 20), '64 MiB');
  assert.equal(bytes(undefined), '–');
  assert.equal(bytes(NaN), '–');
});

test('durations have at most two units', () => {
  assert.equal(duration(0.25), '250 µs');
  assert.equal(duration(12), '12 ms');
  assert.equal(duration(999.96), '1000 ms');
  assert.equal(duration(4200), '4.20 s');
  assert.equal(duration(59_999), '60 s');
  assert.equal(duration(185_000), '3 min 5 s');
  assert.equal(duration(7_800_000), '2 h 10 min');
  assert.equal(duration(86_400_000), '1 d');
  assert.equal(duration(-5), '0 µs');
});

test('numbers, costs and counted things', () => {
  assert.equal(count(1234), '1,234');
  assert.equal(count(1_200_000), '1.2M');
  assert.equal(money(0.0126), '0.013');
  assert.equal(money(0.0004), '0.0004');
  assert.equal(money(12), '12.00');
  assert.equal(plural(1, 'run'), '1 run');
  assert.equal(plural(2, 'entry', 'entries'), '2 entries');
});

test('relative times go from seconds to dates', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  assert.equal(relative('2026-01-31T11:59:58Z', now), 'now');
  assert.match(relative('2026-01-31T11:55:00Z', now), /^5 min\.? ago$/);
  assert.match(relative('2026-01-31T14:00:00Z', now), /^in 2 hr\.?$/);
  assert.match(relative('2025-01-31T14:00:00Z', now), /2025/);
  assert.equal(relative('nonsense', now), '–');
});
