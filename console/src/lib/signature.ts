/** TypeScript signatures of functions, and programs that call them. */

import { define } from './schema';
import { visible } from './text';
import type { CapabilityFunction, Schema, Value } from './types';

export interface Parameter {
  name: string;
  type: string;
  optional: boolean;
  rest: boolean;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const MAX_DEPTH = 64;

/** End of the text that begins with the bracket at `start`: the index of the bracket that closes it. */
function closing(text: string, start: number): number | undefined {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const c = text[i] ?? '';
    if (c === "'" || c === '"' || c === '`') {
      const end = text.indexOf(c, i + 1);
      if (end < 0) return undefined;
      i = end;
    } else if ('([{<'.includes(c)) depth++;
    else if (c === '>' && text[i - 1] === '=') continue;
    else if (')]}>'.includes(c)) {
      depth--;
      if (depth === 0) return i;
    }
  }
  return undefined;
}

function split(text: string, at: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? '';
    if (c === "'" || c === '"' || c === '`') i = Math.max(i, text.indexOf(c, i + 1));
    else if ('([{<'.includes(c)) i = closing(text, i) ?? text.length;
    else if (c === at) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(text.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Parameters of a signature such as `bank.pay(params: PayParams): Promise<Receipt>`; undefined if it cannot be read. */
export function parametersOf(signature: string): Parameter[] | undefined {
  const open = signature.indexOf('(');
  const end = open < 0 ? undefined : closing(signature, open);
  if (end === undefined) return undefined;
  const list: Parameter[] = [];
  for (const part of split(signature.slice(open + 1, end), ',')) {
    const found = /^(\.\.\.)?([\p{ID_Start}$_][\p{ID_Continue}$]*)(\?)?\s*(?::\s*([\s\S]*))?$/u.exec(part);
    if (!found) return undefined;
    list.push({ name: found[2] ?? '', type: (found[4] ?? 'unknown').trim(), optional: found[3] !== undefined, rest: found[1] !== undefined });
  }
  return list;
}

/** True if the function takes one object with all parameters, as functions of capabilities do. */
export function takesObject(signature: string): boolean {
  const list = parametersOf(signature);
  return list === undefined || list.length === 0 || (list.length === 1 && list[0]?.name === 'params');
}

/** What a name stands for in declarations: `export type Kind = 'file' | 'directory';`. */
function aliasOf(type: string, declarations: string): string | undefined {
  if (!/^[A-Z]\w{0,100}$/.test(type)) return undefined;
  return new RegExp(`\\btype ${type} = ([^;{}]{1,500});`).exec(declarations)?.[1]?.trim();
}

function schemaOfType(named: string, declarations: string): Schema {
  const type = aliasOf(named, declarations) ?? named;
  if (type === 'string' || type === 'number' || type === 'boolean') return { type };
  if (type === 'string[]') return { type: 'array', items: { type: 'string' } };
  const literals = split(type, '|');
  if (literals.length > 0 && literals.every((one) => /^'[^'\\]*'$/.test(one))) return { enum: literals.map((one) => one.slice(1, -1)) };
  return { description: type };
}

/** Schema of the parameters: the server's, or what the signature says, with the types that declarations name. */
export function schemaOf(fn: CapabilityFunction, declarations = ''): Schema | undefined {
  const list = parametersOf(fn.signature);
  const given = fn.parameters;
  if (given && typeof given === 'object' && (given.properties !== undefined || given.$ref !== undefined || list === undefined || takesObject(fn.signature))) return given;
  if (list === undefined || list.length === 0) return undefined;
  if (takesObject(fn.signature)) return { type: 'object' };
  const properties: Record<string, Schema> = {};
  for (const parameter of list) define(properties, parameter.name, parameter.rest ? { type: 'array' } : schemaOfType(parameter.type, declarations));
  return { type: 'object', properties, required: list.filter((one) => !one.optional && !one.rest).map((one) => one.name), additionalProperties: false };
}

/** Text of a string in a program: whatever would be invisible there is escaped. */
function quoted(text: string): string {
  let out = "'";
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0;
    if (c === "'" || c === '\\') out += `\\${c}`;
    else if (c === '\n') out += '\\n';
    else if (c === '\t') out += '\\t';
    else if (code < 0x20 || visible(c) !== c) out += code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
    else out += c;
  }
  return `${out}'`;
}

function memberName(name: string): string {
  // `__proto__: x` in a literal would set the prototype.
  if (name === '__proto__') return "['__proto__']";
  return IDENTIFIER.test(name) && visible(name) === name ? name : quoted(name);
}

/** JSON value as an expression of a program. */
export function literal(value: Value, indent = '', depth = 0): string {
  if (depth > MAX_DEPTH) throw new Error('The parameters are nested too deeply.');
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'string') return quoted(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item ?? null, inner, depth + 1));
    return fold('[', items, ']', indent);
  }
  if (typeof value === 'object') {
    // Fields that are not JSON yet refuse here.
    if ('toJSON' in value && typeof value.toJSON === 'function') return literal(value.toJSON() as Value, indent, depth);
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    return fold('{', members.map(([name, item]) => `${memberName(name)}: ${literal(item, inner, depth + 1)}`), '}', indent);
  }
  return 'undefined';
}

function fold(open: string, items: string[], close: string, indent: string): string {
  if (items.length === 0) return `${open}${close}`;
  const space = open === '{' ? ' ' : '';
  const line = `${open}${space}${items.join(', ')}${space}${close}`;
  if (line.length <= 80 && !line.includes('\n')) return line;
  return `${open}\n${items.map((item) => `${indent}  ${item},\n`).join('')}${indent}${close}`;
}

/** Import of the capability that a function belongs to. */
export function importOf(fn: Pick<CapabilityFunction, 'name' | 'module'>): string {
  return `import { ${fn.name.split('.')[0] ?? fn.name} } from ${quoted(fn.module)};`;
}

/** Expression that calls a function with these parameters. */
export function callOf(fn: CapabilityFunction, params: Value): string {
  const [first = '', ...rest] = fn.name.split('.');
  const callee = first + rest.map((part) => (IDENTIFIER.test(part) ? `.${part}` : `[${quoted(part)}]`)).join('');
  if (takesObject(fn.signature)) {
    const list = parametersOf(fn.signature);
    const none = params === undefined || (list?.length === 0 && isEmpty(params)) || (list?.[0]?.optional === true && isEmpty(params));
    return `${callee}(${none ? '' : literal(params)})`;
  }
  const members = (params ?? {}) as Record<string, Value>;
  const list = parametersOf(fn.signature) ?? [];
  const values = list.map((one) => (Object.hasOwn(members, one.name) ? members[one.name] : undefined));
  while (values.length > 0 && values.at(-1) === undefined) values.pop();
  const texts = values.flatMap((value, i) => (list[i]?.rest && Array.isArray(value) ? value.map((item) => literal(item)) : [value === undefined ? 'undefined' : literal(value)]));
  return `${callee}(${texts.join(', ')})`;
}

function isEmpty(value: Value): boolean {
  return value !== null && typeof value === 'object' && Object.values(value).every((item) => item === undefined);
}

/** Program that calls a function and returns its result. */
export function programOf(fn: CapabilityFunction, params: Value): string {
  return `${importOf(fn)}\n\nexport default await ${callOf(fn, params)};\n`;
}
