import assert from 'node:assert/strict';
import test from 'node:test';
import { StringStream } from '@codemirror/language';
import { load } from './load.mjs';

const { typescriptMode: mode } = await load('typescript-mode');

function tokens(source) {
  const state = mode.startState(2);
  const list = [];
  for (const line of source.split('\n')) {
    const stream = new StringStream(line, 2, 2);
    while (!stream.eol()) {
      stream.start = stream.pos;
      const style = mode.token(stream, state);
      assert.ok(stream.pos > stream.start, `progress at ${line}:${stream.pos}`);
      if (style) list.push(`${stream.current()} ${style}`);
    }
  }
  return { list, state };
}

const has = (source, ...expected) => {
  const { list } = tokens(source);
  for (const one of expected) assert.ok(list.includes(one), `${one} in ${JSON.stringify(list)}`);
};

test('names, calls, properties and keywords', () => {
  has("import { bank } from '@capabilities/bank';", 'import keyword', 'bank variableName', 'from keyword', "'@capabilities/bank' string");
  has('const x = await bank.pay({ account: a, type: 1 });', 'await keyword', 'pay propertyName.function', 'account propertyName', 'type propertyName', 'a variableName');
  has('type A = Map<string, number>; const type = 1; x.delete(y)', 'type keyword', 'Map typeName', 'string typeName', 'type variableName', 'delete propertyName.function');
});

test('keys are told from conditional expressions', () => {
  has('const x = a ? b : c; f({ b: 1, c?: 2 }); y?.z ?? w', 'b variableName', 'b propertyName', 'c propertyName', 'z propertyName', 'w variableName');
});

test('templates nest', () => {
  const { list, state } = tokens('`a${b + `c${{ d: 1 }.d}` + f("}")}e` + g');
  assert.ok(list.includes('g variableName'), JSON.stringify(list));
  assert.ok(list.includes('d propertyName'));
  assert.deepEqual([state.template, state.holes.length, state.open.length], [false, 0, 0]);
  has('`one\ntwo ${x} three`; y', 'two ${ string', 'x variableName', 'y variableName');
});

test('comments and regular expressions', () => {
  has('a /* b\nc */ d // e', 'a variableName', '/* b comment', 'c */ comment', 'd variableName', '// e comment');
  has('const r = /a[/]b\\/c/gi.test(x) / 2 / y', '/a[/]b\\/c/gi regexp', '2 number', 'y variableName');
  has('(a + b) / c / d', 'c variableName', 'd variableName');
});

test('numbers and texts', () => {
  has("0x1F + 1_000.5e-3 + 10n + 'it\\'s' + \"x\"", '0x1F number', '1_000.5e-3 number', '10n number', "'it\\'s' string", '"x" string');
});

test('indentation follows brackets', () => {
  const { state } = tokens('function f() {\n  g({');
  assert.equal(mode.indent(state, 'x', { unit: 2 }), 4);
  assert.equal(mode.indent(state, '});', { unit: 2 }), 2);
  assert.equal(mode.indent(tokens('f({ a: [1] });').state, 'x', { unit: 2 }), 0);
});

test('any text makes progress', () => {
  let seed = 3;
  const random = (n) => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff), seed % n);
  const parts = ['`', '${', '}', '{', '/', '*', '//', '\\', "'", '"', '\n', 'a', '.', '1', '(', ')', '[', ']', '\u202e', '👍', ' ', 'é'];
  for (let i = 0; i < 300; i++) tokens(Array.from({ length: 60 }, () => parts[random(parts.length)]).join(''));
});
