// What test262 wants of its host, in plain JavaScript, and how a test tells the runner what came of it.
// This stands at the top of every script that the runner writes; what a test may change is taken here first.
const { Promise, Reflect, String } = globalThis;
const evaluate = globalThis.eval;
const { then } = Promise.prototype;
const { transfer } = ArrayBuffer.prototype;
const { defineProperty, getOwnPropertyDescriptor } = Object;
const isDetached = getOwnPropertyDescriptor(ArrayBuffer.prototype, "detached").get;

const define = (name, value) =>
  defineProperty(globalThis, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });

// One line that the runner reads: the constructor's name, a tab, what else is known.
const thrown = (error) => {
  let name = "";
  let message = "";
  try {
    name = String(error.constructor.name);
  } catch {}
  try {
    message = String(typeof error === "object" && error !== null ? error.message : error);
  } catch {}
  return "threw " + name + "\t" + message;
};

define("$262", {
  global: globalThis,
  evalScript: (source) => evaluate(source),
  detachArrayBuffer: (buffer) => {
    if (!Reflect.apply(isDetached, buffer, [])) Reflect.apply(transfer, buffer, []);
  },
  gc: () => {
    throw new TypeError("a script cannot start a garbage collection here");
  },
});

const printed = new Promise((resolve) =>
  define("print", (text) => {
    text = String(text);
    if (text.startsWith("Test262:")) resolve("printed " + text);
  }),
);

const runScript = (harness, test, isAsync) => {
  try {
    evaluate(harness);
    evaluate(test);
  } catch (error) {
    return thrown(error);
  }
  return isAsync ? printed : "completed";
};

const runModule = (harness, load, isAsync) => {
  evaluate(harness);
  return new Promise((resolve) => {
    const finish = () => (isAsync ? Reflect.apply(then, printed, [resolve]) : resolve("completed"));
    Reflect.apply(then, load(), [finish, (error) => resolve(thrown(error))]);
  });
};

