// Composes a program with its plugs into one component. `wac plug` does the same; this needs no other tool, because what a
// host imports is known: the sections that declare it come from a component of that world, and the rest is names.
import { componentEmbed, componentNew } from '@bytecodealliance/jco-transpile/wasm-tools';
import { hostWit } from './wit.mjs';

const HOST_TYPES = 'agent-spaces:host/types@0.1.0';
const RUN = 'wasi:cli/run@0.3.0';

// Sections of a component, by their ids.
const SECTION = { custom: 0, coreModule: 1, component: 4, instance: 5, alias: 6, import: 10, export: 11 };
const SORT_FUNCTION = 0x01;
const SORT_INSTANCE = 0x05;

/**
 * Composes a component that exports `wasi:cli/run`, or another interface of the last part.
 *
 * `parts` are components in the order of their instantiation; each is given what the host has and what earlier parts
 * export, by name. An import that nobody has is an error.
 */
export async function compose(world, parts, exported = RUN) {
  const host = await dummy(world);
  const sections = split(host);
  const end = sections.findIndex(({ id }) => id === SECTION.coreModule || id === SECTION.component);
  const declared = sections.slice(0, end).filter(({ id }) => id !== SECTION.custom);
  const output = [host.subarray(0, 8), ...declared.map(({ bytes }) => bytes)];

  // Instances by the name of their interface.
  const instances = new Map();
  let next = 0;
  for (const { name } of declared.filter(({ id }) => id === SECTION.import).flatMap(({ payload }) => imports(payload))) {
    instances.set(name, next++);
  }
  const all = instances.has(HOST_TYPES) ? parts : [await dummy('types-only'), ...parts];
  for (const [index, part] of all.entries()) {
    const { needs, gives } = interfaces(part);
    const missing = needs.filter((name) => !instances.has(name));
    if (missing.length > 0) throw new Error(`nothing answers ${missing.join(', ')}: add a plug that exports it`);
    output.push(section(SECTION.component, part));
    const given = needs.map((name) => [...text(name), SORT_INSTANCE, ...number(instances.get(name))]);
    output.push(section(SECTION.instance, [1, 0x00, ...number(index), ...number(given.length), ...given.flat()]));
    const instance = next++;
    for (const name of gives) {
      output.push(section(SECTION.alias, [1, SORT_INSTANCE, 0x00, ...number(instance), ...text(name)]));
      instances.set(name, next++);
    }
  }
  if (!instances.has(exported)) throw new Error(`the program does not export ${exported}: compile it with --target wasi`);
  output.push(section(SECTION.export, [1, 0x00, ...text(exported), SORT_INSTANCE, ...number(instances.get(exported)), 0x00]));
  return Buffer.concat(output);
}

/** Names of the interfaces that a component imports (`needs`) and exports (`gives`). */
export function interfaces(component) {
  const sections = split(component);
  const of = (id, read) => sections.filter((each) => each.id === id).flatMap(({ payload }) => read(payload));
  return { needs: of(SECTION.import, imports).map(({ name }) => name), gives: of(SECTION.export, exports) };
}

/** A component of a world, which does nothing. */
async function dummy(world) {
  const core = await componentEmbed({ dummy: true, witSource: hostWit(), world });
  return componentNew(core, []);
}

/** Top-level sections. */
function split(component) {
  const bytes = Buffer.from(component);
  if (bytes.readUInt32LE(0) !== 0x6d736100 || bytes[6] !== 1) throw new Error('this file is no WebAssembly component');
  const sections = [];
  for (let at = 8; at < bytes.length; ) {
    const reader = new Reader(bytes, at + 1);
    const size = reader.number();
    const end = reader.at + size;
    if (end > bytes.length) throw new Error('the component is cut off');
    sections.push({ id: bytes[at], bytes: bytes.subarray(at, end), payload: bytes.subarray(reader.at, end) });
    at = end;
  }
  return sections;
}

/** Entries of an import section. Components that WIT describes import instances only. */
function imports(payload) {
  const reader = new Reader(payload, 0);
  return Array.from({ length: reader.number() }, () => {
    const name = reader.name();
    if (reader.byte() !== SORT_INSTANCE) throw new Error(`${name} is imported, and is no interface`);
    reader.number();
    return { name };
  });
}

/** Names in an export section that are instances. */
function exports(payload) {
  const reader = new Reader(payload, 0);
  const names = [];
  for (let left = reader.number(); left > 0; left--) {
    const name = reader.name();
    const sort = reader.byte();
    if (sort === SORT_INSTANCE) names.push(name);
    else if (sort !== SORT_FUNCTION) throw new Error(`${name} is exported, and is neither an interface nor a function`);
    reader.number();
    // Perhaps its type: the sort again, and an index.
    if (reader.byte() === 0x01) {
      reader.byte();
      reader.number();
    }
  }
  return names;
}

class Reader {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new Error('the component is cut off');
    return this.bytes[this.at++];
  }

  /** Unsigned LEB128 of at most 32 bits. */
  number() {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error('the component has a number that is too long');
  }

  /** Name of an import or export, with its kind in front. */
  name() {
    const kind = this.byte();
    if (kind > 1) throw new Error('the component has names of an unknown kind');
    const length = this.number();
    const name = this.bytes.toString('utf8', this.at, this.at + length);
    this.at += length;
    return name;
  }
}

function number(value) {
  const bytes = [];
  do {
    const low = value % 128;
    value = Math.floor(value / 128);
    bytes.push(value > 0 ? low | 0x80 : low);
  } while (value > 0);
  return bytes;
}

function text(value) {
  const bytes = Buffer.from(value);
  return [...number(bytes.length), ...bytes];
}

function section(id, payload) {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from([id, ...number(bytes.length)]), bytes]);
}
