import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { cut, oneLine, preview, visible } = await load('text');

test('control and invisible characters become visible', () => {
  assert.equal(visible('a\u0007b'), 'a␇b');
  assert.equal(visible('\u001b[31m'), '␛[31m');
  assert.equal(visible('x\u202egpj'), 'x⟨U+202E⟩gpj');
  assert.equal(visible('a\u200bb\ufeff'), 'a⟨U+200B⟩b⟨U+FEFF⟩');
  assert.equal(visible('\u{e0041}'), '⟨U+E0041⟩');
  assert.equal(visible('\ud800x'), '⟨U+D800⟩x');
  assert.equal(visible('\u0085'), '⟨U+0085⟩');
});

test('line breaks, tabs and ordinary text stay', () => {
  assert.equal(visible('a\r\nb\tc'), 'a\nb\tc');
  assert.equal(visible('a\rb'), 'a␍b');
  assert.equal(visible('Grüße שלום 日本 👍🏽'), 'Grüße שלום 日本 👍🏽');
});

test('joiners stay where writing needs them, and nowhere else', () => {
  assert.equal(visible('👩🏽\u200d💻'), '👩🏽\u200d💻');
  assert.equal(visible('می\u200cخواهم'), 'می\u200cخواهم');
  assert.equal(visible('pay\u200dpal'), 'pay⟨U+200D⟩pal');
  assert.equal(visible('\u200c'), '⟨U+200C⟩');
});

test('a cut is never within a character', () => {
  assert.equal(cut('ab👍', 3), 'ab');
  assert.equal(cut('ab👍', 4), 'ab👍');
});

test('one line has no breaks and a bound', () => {
  assert.equal(oneLine('a\n\n  b'), 'a b');
  assert.equal(oneLine('x'.repeat(300), 10), `${'x'.repeat(10)}…`);
  assert.equal(preview({ a: [1] }), '{"a":[1]}');
  assert.equal(preview(undefined), 'undefined');
});
