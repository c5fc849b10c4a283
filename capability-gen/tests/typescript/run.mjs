// argv: the folder of a generated module. stdout: what each exported function passes to the host, and each schema.
import { pathToFileURL } from 'node:url';

const calls = [];
globalThis.__agentSpaces = { callCapability: (...values) => (calls.push(values), 'answer') };
const exported = await import(pathToFileURL(`${process.argv[2]}/index.js`));
const shapes = {};
const call = (name, value) => {
  shapes[name] = [value.name, value({ a: 1 }), value()];
};
const visit = (name, value) => {
  if (typeof value === 'function') return call(name, value);
  for (const key of Object.keys(value)) visit(`${name}.${key}`, value[key]);
  shapes[name] = [Object.isFrozen(value), Object.getPrototypeOf(value)];
};
for (const [name, value] of Object.entries(exported)) visit(name, value);
process.stdout.write(JSON.stringify({ calls, shapes }));
