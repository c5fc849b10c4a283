/** Words that the editor offers: modules, exports and functions of a space. */

import type { Completion } from '../../lib/editor';
import { simplify } from '../../lib/schema';
import { schemaOf } from '../../lib/signature';
import type { Capability, CapabilityFunction, Schema } from '../../lib/types';

const MAX_MEMBERS = 500;
const MAX_PARAMETERS = 300;

/** Parameters of a function with their descriptions, as text. */
function parameters(fn: CapabilityFunction): string {
  const schema = schemaOf(fn);
  if (!schema) return '';
  const top = simplify(schema, schema);
  return Object.entries(top.properties ?? {})
    .slice(0, 30)
    .map(([name, member]) => {
      const one: Schema = simplify(member, schema);
      const required = top.required?.includes(name) === true;
      return `${name}${required ? '' : '?'}${typeof one.description === 'string' ? `: ${one.description.slice(0, 200)}` : ''}`;
    })
    .join('\n');
}

function functionCompletion(fn: CapabilityFunction, label: string): Completion {
  const members = parameters(fn);
  return {
    label,
    kind: 'function',
    detail: fn.signature.slice(fn.signature.indexOf('(')),
    info: [fn.description, members, fn.module].filter((text) => text !== '').join('\n\n'),
  };
}

/** `details` has the capabilities whose schemas are loaded, by name. */
export function completionsOf(capabilities: Capability[], details: ReadonlyMap<string, Capability>): Completion[] {
  const list: Completion[] = [];
  const modules = new Map<string, string[]>();
  for (const listed of capabilities) {
    const capability = details.get(listed.name) ?? listed;
    modules.set(capability.module, [...(modules.get(capability.module) ?? []), capability.name]);
    const single = capability.functions.find((fn) => fn.name === capability.name);
    if (single) list.push(functionCompletion(single, capability.name));
    else {
      list.push({
        label: capability.name,
        kind: 'variable',
        detail: capability.module,
        info: `import { ${capability.name} } from '${capability.module}';`,
        members: capability.functions.slice(0, MAX_MEMBERS).map((fn) => functionCompletion(fn, fn.name.slice(fn.name.indexOf('.') + 1))),
      });
    }
    list.push({ label: `import { ${capability.name} }`, kind: 'keyword', detail: capability.module, insert: `import { ${capability.name} } from '${capability.module}';` });
  }
  for (const [module, names] of modules) list.push({ label: module, kind: 'module', info: `Exports ${names.join(', ')}` });
  list.push({ label: '@agent-spaces/input', kind: 'module', info: "import input from '@agent-spaces/input';\nThe input of the run, or null." });
  list.push({ label: 'import input', kind: 'keyword', detail: '@agent-spaces/input', insert: "import input from '@agent-spaces/input';" });
  list.push(...parameterNames(details));
  return list;
}

/** Names of the parameters of functions that the program can call. */
function parameterNames(details: ReadonlyMap<string, Capability>): Completion[] {
  const names = new Map<string, { functions: string[]; info: string }>();
  for (const capability of details.values()) {
    for (const fn of capability.functions) {
      const schema = schemaOf(fn);
      if (!schema) continue;
      for (const [name, member] of Object.entries(simplify(schema, schema).properties ?? {})) {
        if (names.size >= MAX_PARAMETERS && !names.has(name)) continue;
        const known = names.get(name) ?? { functions: [], info: '' };
        const description = simplify(member, schema).description;
        names.set(name, { functions: [...known.functions, fn.name], info: known.info || (typeof description === 'string' ? description : '') });
      }
    }
  }
  return [...names].map(([label, { functions, info }]) => ({ label, kind: 'property', detail: `parameter of ${functions.slice(0, 2).join(', ')}`, ...(info ? { info } : {}) }));
}

/** Modules that a program imports, as far as its text shows it. */
export function importsOf(source: string): Set<string> {
  const found = new Set<string>();
  for (const match of source.slice(0, 200_000).matchAll(/\bimport\b[^'"`;]{0,500}?['"]([^'"\n]{1,200})['"]/g)) if (match[1]) found.add(match[1]);
  return found;
}
