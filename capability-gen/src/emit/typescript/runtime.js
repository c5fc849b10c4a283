// What generated capability modules import.

// Taken once, so that a script that changes the global changes only its own view of it.
const { callCapability } = __agentSpaces;

// An object of functions that call the host. `functions` is { name: { handler: 'capability.function', schema } };
// the host checks parameters against its own copy of the schema. What has no handler is a part of its own.
export function createCapabilityProxy(name, functions) {
  const proxy = Object.create(null);
  for (const key of Object.keys(functions)) {
    const { handler } = functions[key];
    const value = handler === undefined ? functions[key] : caller(name, key, handler);
    Object.defineProperty(proxy, key, { __proto__: null, value, enumerable: true });
  }
  return Object.freeze(proxy);
}

function caller(name, key, handler) {
  const dot = handler.indexOf('.');
  const capability = dot === -1 ? name : handler.slice(0, dot);
  const called = handler.slice(dot + 1);
  return { [key]: (...values) => callCapability(capability, called, ...values) }[key];
}
