// What CommonJS files of packages run on: each is a function that is called when somebody first requires the file.

const fail = (name, reason) =>
  Object.assign(new Error(`Cannot find module '${name}': ${reason}`), { code: "MODULE_NOT_FOUND" });

/** A file. `requires` has, for each name that the file requires, what gives that module. */
export function define(file, requires, body) {
  const known = new Map(requires);
  const folder = file.slice(0, file.lastIndexOf("/")) || "/";
  const require = (name) => {
    const load = known.get(name);
    if (load !== undefined) return load();
    throw fail(name, "only what a file names in the text of require('…') is here");
  };
  require.cache = { __proto__: null };
  require.resolve = (name) => {
    throw fail(name, "require.resolve has no files to look at");
  };
  let module;
  return () => {
    if (module !== undefined) return module.exports;
    // Whoever requires the file while it runs gets what it has exported so far.
    module = { exports: {}, id: file, filename: file, loaded: false, children: [], paths: [], require };
    const made = module;
    try {
      body.call(made.exports, made.exports, require, made, file, folder);
    } catch (error) {
      module = undefined;
      throw error;
    }
    made.loaded = true;
    return made.exports;
  };
}

/** An ES module, for whoever requires it. */
export function fromNamespace(namespace) {
  if ("module.exports" in namespace) return namespace["module.exports"];
  const exports = Object.defineProperty({}, "__esModule", { value: true });
  // Only the names: a module that is required while it is evaluated has exports without a value so far.
  for (const name of Reflect.ownKeys(namespace)) {
    if (typeof name !== "string" || name === "__esModule") continue;
    Object.defineProperty(exports, name, { enumerable: true, get: () => namespace[name] });
  }
  return exports;
}

/** What `import name from` gives of a CommonJS file, unless Node's own rule is asked for. */
export function defaultOf(exports) {
  const isCompiled = Object(exports).__esModule === true;
  return isCompiled && "default" in exports ? exports.default : exports;
}

/** An export that the file's text tells of. */
export function maybe(exports, name) {
  try {
    return exports?.[name];
  } catch {
    return undefined;
  }
}

/** An export that somebody imports and that the file's text does not tell of. */
export function need(exports, name, file) {
  if (name in Object(exports)) return exports[name];
  throw new SyntaxError(`${file} has no export '${name}'`);
}

/** What cannot be required. */
export function missing(name, reason) {
  return () => {
    throw fail(name, reason);
  };
}
