/** JSON Schema for forms: references, defaults, and checks before a form is sent. The server checks again. */

import type { Schema, Value } from './types';

const MAX_DEPTH = 24;

export interface SchemaProblem {
  /** JSON pointer of the member: `/amount`. */
  pointer: string;
  text: string;
}

/** What a form shows for a schema. */
export type Kind = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'enum' | 'union' | 'any';

/** Text of a field that is no JSON yet. `validate` finds it, and `send` refuses it. */
export class NotJson {
  constructor(readonly text: string) {}

  /** For previews while somebody types. */
  toJSON(): string {
    return this.text;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Schema that a local reference (`#/$defs/Money`) names. */
function lookUp(ref: string, root: Schema): Schema | undefined {
  if (!ref.startsWith('#')) return undefined;
  let now: unknown = root;
  for (const part of ref.slice(1).split('/').slice(1)) {
    let name: string;
    try {
      name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    } catch {
      return undefined;
    }
    if (now === null || typeof now !== 'object' || !Object.hasOwn(now, name)) return undefined;
    now = (now as Record<string, unknown>)[name];
  }
  if (now === true) return {};
  return isObject(now) ? (now as Schema) : undefined;
}

/** Schema without `$ref` and `allOf` at its top. Members beside a reference win. */
export function resolve(schema: Schema | boolean | undefined, root: Schema, depth = 0): Schema {
  if (schema === undefined || schema === true || !isObject(schema)) return {};
  if (depth > MAX_DEPTH) return {};
  let result: Schema = schema;
  if (typeof result.$ref === 'string') {
    const { $ref, ...own } = result;
    const target = lookUp($ref, root);
    result = target ? { ...resolve(target, root, depth + 1), ...own } : own;
  }
  if (Array.isArray(result.allOf)) {
    const { allOf, ...own } = result;
    result = allOf.map((part) => resolve(part, root, depth + 1)).reduce<Schema>(merge, own);
  }
  return result;
}

function merge(a: Schema, b: Schema): Schema {
  const merged: Schema = { ...b, ...a };
  if (a.properties || b.properties) merged.properties = { ...b.properties, ...a.properties };
  if (a.required || b.required) merged.required = [...new Set([...(a.required ?? []), ...(b.required ?? [])])];
  return merged;
}

/** Alternatives of `anyOf` and `oneOf`, without `null`. */
export function variants(schema: Schema, root: Schema): Schema[] {
  const list = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(list)) return [];
  return list.map((one) => resolve(one, root)).filter((one) => one.type !== 'null' && one.const !== null);
}

/** True if null is a value. */
export function nullable(schema: Schema, root: Schema): boolean {
  if (Array.isArray(schema.type) && schema.type.includes('null')) return true;
  const list = schema.anyOf ?? schema.oneOf;
  return Array.isArray(list) && list.some((one) => resolve(one, root).type === 'null');
}

/** Schema whose single alternative is taken: `anyOf: [X, null]` is X. */
export function simplify(schema: Schema | boolean | undefined, root: Schema): Schema {
  let now = resolve(schema, root);
  for (let i = 0; i < MAX_DEPTH; i++) {
    const list = variants(now, root);
    if (list.length !== 1) break;
    const { anyOf: _any, oneOf: _one, ...own } = now;
    now = { ...list[0], ...own };
  }
  return now;
}

/** Kind of a simplified schema. */
export function kindOf(schema: Schema, root: Schema): Kind {
  if (Array.isArray(schema.enum) || 'const' in schema) return 'enum';
  if (variants(schema, root).length > 1) return 'union';
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== 'null');
  const type = types.length === 1 ? types[0] : types.length === 0 && schema.type !== undefined ? 'null' : undefined;
  switch (type) {
    case 'object':
      return isObject(schema.properties) && Object.keys(schema.properties).length > 0 ? 'object' : 'any';
    case 'array':
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return type;
    default:
      return isObject(schema.properties) ? 'object' : schema.items !== undefined ? 'array' : 'any';
  }
}

/** Values to choose from. */
export function choices(schema: Schema): Value[] {
  return Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
}

/** Value that a new form begins with: defaults, and required members. */
export function initial(schema: Schema | boolean | undefined, root?: Schema, depth = 0): Value {
  const top = root ?? (isObject(schema) ? (schema as Schema) : {});
  const now = simplify(schema, top);
  if (now.default !== undefined) return structuredClone(now.default);
  if ('const' in now) return now.const;
  if (depth > MAX_DEPTH) return undefined;
  switch (kindOf(now, top)) {
    case 'object': {
      const value: Record<string, Value> = {};
      for (const [name, member] of Object.entries(now.properties ?? {})) {
        const inner = simplify(member, top);
        const required = now.required?.includes(name) === true;
        const first = required || inner.default !== undefined ? initial(inner, top, depth + 1) : undefined;
        if (first !== undefined) define(value, name, first);
      }
      return value;
    }
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'union':
      return initial(variants(now, top)[0], top, depth + 1);
    default:
      return undefined;
  }
}

/** Sets a member, also one that is called `__proto__`. */
export function define(object: Record<string, Value>, name: string, value: Value): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function typeOf(value: Value): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

const NAMES: Record<string, string> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};

function fits(value: Value, type: string): boolean {
  const actual = typeOf(value);
  return type === 'integer' ? actual === 'number' && Number.isInteger(value) : actual === type;
}

function same(a: Value, b: Value): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Problems of a value: required members, types, choices, bounds. Patterns and formats are left to the server, because a
 * pattern of a definition could keep the page busy for hours.
 */
export function validate(schema: Schema | boolean | undefined, value: Value, root?: Schema): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  check(schema, value, root ?? (isObject(schema) ? (schema as Schema) : {}), '', problems, 0);
  return problems;
}

function check(schema: Schema | boolean | undefined, value: Value, root: Schema, pointer: string, problems: SchemaProblem[], depth: number): void {
  if (depth > MAX_DEPTH || problems.length >= 100) return;
  const add = (text: string): void => void problems.push({ pointer, text });
  if (value instanceof NotJson) return add('is not valid JSON');
  if (schema === false) return add('is not allowed');
  const now = resolve(schema, root);
  if (value === undefined) return add('is required');
  if (value === null && nullable(now, root)) return;

  const list = now.anyOf ?? now.oneOf;
  if (Array.isArray(list) && list.length > 0) {
    const tries = list.map((one) => {
      const found: SchemaProblem[] = [];
      check(one, value, root, pointer, found, depth + 1);
      return found;
    });
    if (!tries.some((found) => found.length === 0)) {
      tries.sort((a, b) => a.length - b.length);
      problems.push(...(tries[0] ?? []));
      return;
    }
  }
  if (now.type !== undefined) {
    const types = Array.isArray(now.type) ? now.type : [now.type];
    if (!types.some((type) => fits(value, type))) return add(`must be ${types.map((type) => NAMES[type] ?? type).join(' or ')}`);
  }
  if (Array.isArray(now.enum) && !now.enum.some((one) => same(one, value))) return add('must be one of the choices');
  if ('const' in now && !same(now.const, value)) return add(`must be ${JSON.stringify(now.const)}`);

  if (typeof value === 'number') {
    if (now.minimum !== undefined && value < now.minimum) add(`must be at least ${now.minimum}`);
    if (now.maximum !== undefined && value > now.maximum) add(`must be at most ${now.maximum}`);
    if (now.exclusiveMinimum !== undefined && value <= now.exclusiveMinimum) add(`must be more than ${now.exclusiveMinimum}`);
    if (now.exclusiveMaximum !== undefined && value >= now.exclusiveMaximum) add(`must be less than ${now.exclusiveMaximum}`);
  } else if (typeof value === 'string') {
    if (now.minLength !== undefined && value.length < now.minLength) add(now.minLength === 1 ? 'must not be empty' : `must have at least ${now.minLength} characters`);
    if (now.maxLength !== undefined && [...value].length > now.maxLength) add(`must have at most ${now.maxLength} characters`);
  } else if (Array.isArray(value)) {
    if (now.minItems !== undefined && value.length < now.minItems) add(`must have at least ${now.minItems} items`);
    if (now.maxItems !== undefined && value.length > now.maxItems) add(`must have at most ${now.maxItems} items`);
    value.slice(0, 1000).forEach((item, i) => {
      const one = now.prefixItems?.[i] ?? now.items;
      if (one !== undefined) check(one, item, root, `${pointer}/${i}`, problems, depth + 1);
    });
  } else if (isObject(value)) {
    for (const name of now.required ?? []) {
      if (value[name] === undefined) problems.push({ pointer: `${pointer}/${escape(name)}`, text: 'is required' });
    }
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const known = now.properties && Object.hasOwn(now.properties, name) ? now.properties[name] : undefined;
      const inner = `${pointer}/${escape(name)}`;
      if (known !== undefined) check(known, member, root, inner, problems, depth + 1);
      else if (now.additionalProperties === false) problems.push({ pointer: inner, text: 'is not a parameter' });
      else if (isObject(now.additionalProperties)) check(now.additionalProperties as Schema, member, root, inner, problems, depth + 1);
    }
  }
}

/** Part of a JSON pointer. */
export function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Short name of a variant for a choice. */
export function nameOf(schema: Schema, index: number): string {
  if (schema.title) return schema.title;
  if (schema.const !== undefined) return String(schema.const);
  for (const member of Object.values(schema.properties ?? {})) {
    if (isObject(member) && typeof member['const'] === 'string') return member['const'];
  }
  return typeof schema.type === 'string' ? (NAMES[schema.type] ?? schema.type) : `Choice ${index + 1}`;
}
