// The global `process` of a handler: the variables that the configuration gives its module, and nothing of the machine.
let values = null;
let owner = "";
/** Whether anything was asked, be it for a name or for all of them, before the variables of a call were there. */
export let wasAskedEarly = false;

/** The variables; none before a call has given them. */
function given() {
  if (values === null) wasAskedEarly = true;
  return values ?? {};
}

// Names that libraries look at to find out where they are. They stay absent unless they are given.
const QUIET = new Set([
  "CI", "COLORTERM", "DEBUG", "FORCE_COLOR", "LOG_LEVEL", "NODE_DEBUG", "NODE_OPTIONS", "NO_COLOR", "TERM", "VERBOSE",
]);

export function give(variables, module) {
  values = variables;
  owner = module;
}

const env = new Proxy({ __proto__: null }, {
  get(_, name) {
    if (typeof name !== "string") return undefined;
    const known = given();
    if (Object.hasOwn(known, name)) return known[name];
    if (name === "NODE_ENV") return "production";
    if (QUIET.has(name)) return undefined;
    throw new CapabilityError(
      `process.env.${name} is not granted to the handlers of ${owner || "this module"}`,
      { code: "call.denied" },
    );
  },
  has: (_, name) => Object.hasOwn(given(), name),
  ownKeys: () => Object.keys(given()),
  getOwnPropertyDescriptor(_, name) {
    const known = given();
    if (!Object.hasOwn(known, name)) return undefined;
    return { value: known[name], writable: false, enumerable: true, configurable: true };
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
