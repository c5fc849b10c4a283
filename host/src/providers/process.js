// The global `process` of a handler: the variables that the configuration gives its module, and nothing of the machine.
let values = null;
let owner = "";
/** Whether something was asked for before the variables of a call were there. */
export let wasAskedEarly = false;

// Names that libraries look at to find out where they are. They stay absent unless they are given.
const QUIET = new Set([
  "CI", "COLORTERM", "DEBUG", "FORCE_COLOR", "LOG_LEVEL", "NODE_DEBUG", "NODE_OPTIONS", "NO_COLOR", "TERM", "VERBOSE",
]);

export function give(given, module) {
  values = given;
  owner = module;
}

const env = new Proxy({ __proto__: null }, {
  get(_, name) {
    if (typeof name !== "string") return undefined;
    if (values === null) wasAskedEarly = true;
    if (values !== null && Object.hasOwn(values, name)) return values[name];
    if (name === "NODE_ENV") return "production";
    if (QUIET.has(name)) return undefined;
    throw new CapabilityError(
      `process.env.${name} is not given to the handlers of ${owner || "this module"}`,
      { code: "call.denied" },
    );
  },
  has: (_, name) => values !== null && Object.hasOwn(values, name),
  ownKeys: () => (values === null ? [] : Object.keys(values)),
  getOwnPropertyDescriptor(_, name) {
    if (values === null || !Object.hasOwn(values, name)) return undefined;
    return { value: values[name], writable: false, enumerable: true, configurable: true };
  },
  set(_, name) {
    throw new TypeError(`process.env.${String(name)} cannot be set here`);
  },
  defineProperty: () => false,
  deleteProperty: () => false,
});

globalThis.process = { __proto__: null, env, argv: [], version: "", versions: {}, platform: "agent-spaces" };
// Older packages know no other name for it.
globalThis.global = globalThis;
