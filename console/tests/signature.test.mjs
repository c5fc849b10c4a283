import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import { load } from './load.mjs';

const { callOf, literal, parametersOf, programOf, schemaOf, takesObject } = await load('signature');
const fn = (name, signature, more = {}) => ({ name, id: `x#${name}`, module: '@capabilities/x', signature, description: '', ...more });

test('parameters of signatures', () => {
  assert.deepEqual(parametersOf('now(): string'), []);
  assert.deepEqual(
    parametersOf("bank.pay(params: { to: string; options?: { a: 'x,y)' }[] }): Promise<Map<string, number>>").map((one) => [one.name, one.optional]),
    [['params', false]],
  );
  assert.deepEqual(
    parametersOf('each(list: (a: number, b: number) => void, ...rest: string[])').map((one) => [one.name, one.type, one.rest]),
    [
      ['list', '(a: number, b: number) => void', false],
      ['rest', 'string[]', true],
    ],
  );
  assert.equal(parametersOf('cut(params: { a: string'), undefined);
  assert.equal(takesObject('cut(params: { a: string'), true);
  assert.equal(takesObject('readFile(path: string): Promise<string>'), false);
});

test('a value means the same in a program', () => {
  const values = [null, 1.5, -0.25, true, '', "it's \\ \n\t\u202e\u2028 \u{1f600} \ud800", [1, [2, []]], { a: { 'b c': [{}] }, 'd-e': 'x'.repeat(200) }];
  for (const value of values) {
    const text = literal(value);
    assert.deepEqual(JSON.parse(JSON.stringify(vm.runInNewContext(`(${text})`))), JSON.parse(JSON.stringify(value)), text);
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u202e\u2028]/);
  }
});

test('a member that is called __proto__ stays a member', () => {
  const value = vm.runInNewContext(`(${literal(JSON.parse('{"__proto__": {"admin": true}}'))})`);
  assert.deepEqual(Object.keys(value), ['__proto__']);
  assert.equal(value.admin, undefined);
});

test('calls with an object, with places, and without parameters', () => {
  assert.equal(callOf(fn('bank.pay', 'pay(params: PayParams): Promise<Receipt>'), { to: 'ada', amount: 5 }), "bank.pay({ to: 'ada', amount: 5 })");
  assert.equal(callOf(fn('fs.writeFile', 'writeFile(path: string, text: string): Promise<void>'), { text: 'b', path: 'a' }), "fs.writeFile('a', 'b')");
  assert.equal(callOf(fn('fs.list', 'list(path?: string): Promise<Entry[]>'), {}), 'fs.list()');
  assert.equal(callOf(fn('time.add', 'add(a?: string, b?: string)'), { b: 'x' }), "time.add(undefined, 'x')");
  assert.equal(callOf(fn('slack.listChannels', 'listChannels(): Promise<Channel[]>'), {}), 'slack.listChannels()');
  assert.equal(callOf(fn('greet', 'greet(params: { name: string }): string'), { name: 'x' }), "greet({ name: 'x' })");
  assert.equal(programOf(fn('bank.balance', 'balance(): number'), undefined), "import { bank } from '@capabilities/x';\n\nexport default await bank.balance();\n");
});

test('a schema is the one of the server, or made of the signature', () => {
  const given = { type: 'object', properties: { to: { type: 'string' } } };
  assert.equal(schemaOf(fn('a.b', 'b(params: P): void', { parameters: given })), given);
  assert.equal(schemaOf(fn('a.b', 'b(): void')), undefined);
  assert.deepEqual(schemaOf(fn('fs.hash', "hash(algorithm: 'sha256' | 'blake3', text?: string): string")), {
    type: 'object',
    properties: { algorithm: { enum: ['sha256', 'blake3'] }, text: { type: 'string' } },
    required: ['algorithm'],
    additionalProperties: false,
  });
});
