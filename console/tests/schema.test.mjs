import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { initial, kindOf, NotJson, resolve, simplify, validate, variants } = await load('schema');
const found = (schema, value) => validate(schema, value).map((one) => `${one.pointer} ${one.text}`);

test('references are resolved within the schema alone', () => {
  const root = { $defs: { 'a/b': { type: 'string' }, loop: { $ref: '#/$defs/loop' } } };
  assert.equal(resolve({ $ref: '#/$defs/a~1b', title: 'T' }, root).type, 'string');
  assert.equal(resolve({ $ref: '#/$defs/a~1b', title: 'T' }, root).title, 'T');
  assert.deepEqual(resolve({ $ref: 'https://example.com/x' }, root), {});
  assert.deepEqual(resolve({ $ref: '#/$defs/loop' }, root), {});
  assert.deepEqual(resolve({ $ref: '#/__proto__/toString' }, root), {});
});

test('parts of allOf are joined, and an optional type is its type', () => {
  const schema = { allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: {} }, required: ['b'] }], type: 'object' };
  assert.deepEqual(resolve(schema, schema).required, ['a', 'b']);
  const optional = { anyOf: [{ type: 'integer' }, { type: 'null' }] };
  assert.equal(kindOf(simplify(optional, {}), {}), 'integer');
  assert.deepEqual(found(optional, null), []);
  assert.equal(variants({ oneOf: [{ type: 'string' }, { type: 'number' }] }, {}).length, 2);
});

test('forms begin with defaults and required members', () => {
  const schema = { type: 'object', required: ['flag', 'inner', 'name'], properties: { flag: { type: 'boolean' }, inner: { type: 'object', properties: { n: { type: 'integer', default: 3 } } }, name: { type: 'string' }, other: { type: 'array', items: {} } } };
  assert.deepEqual(initial(schema), { flag: false, inner: { n: 3 } });
  const loop = { $defs: { node: { type: 'object', required: ['next'], properties: { next: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' };
  assert.ok(initial(loop));
});

test('problems name their member', () => {
  const schema = { type: 'object', required: ['a', 'b'], additionalProperties: false, properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'string', minLength: 1 }, c: { type: 'array', maxItems: 1, items: { enum: ['x'] } } } };
  assert.deepEqual(found(schema, { a: 0.5, b: '', c: ['y', 'x'], 'd/e': 1 }), ['/a must be a whole number', '/b must not be empty', '/c must have at most 1 items', '/c/0 must be one of the choices', '/d~1e is not a parameter']);
  assert.deepEqual(found(schema, {}), ['/a is required', '/b is required']);
  assert.deepEqual(found(schema, { a: 1, b: 'x' }), []);
  assert.deepEqual(found(schema, []), [' must be an object']);
});

test('alternatives report the nearest one', () => {
  const schema = { oneOf: [{ type: 'object', required: ['x'], properties: { x: { type: 'string' } } }, { type: 'object', required: ['x', 'y', 'z'] }] };
  assert.deepEqual(found(schema, {}), ['/x is required']);
});

test('text that is no JSON is a problem', () => {
  assert.deepEqual(found({ type: 'object', properties: { a: {} } }, { a: new NotJson('{') }), ['/a is not valid JSON']);
});

test('patterns of a definition are not executed', () => {
  const start = Date.now();
  assert.deepEqual(found({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}b`), []);
  assert.ok(Date.now() - start < 1000);
});

test('values are checked to a depth, not for ever', () => {
  const loop = { $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' };
  let deep = {};
  for (let i = 0; i < 5000; i++) deep = { next: deep };
  assert.deepEqual(found(loop, deep), []);
});
