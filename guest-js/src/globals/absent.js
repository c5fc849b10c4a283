// Names that other JavaScript hosts have and this one does not, each with
// what to use instead. The names stay undefined, so that feature tests work;
// the engine adds the hint to an uncaught ReferenceError.
(function (native) {
  "use strict";
  const network = "There is no network here: import a capability that has it.";
  const files = "There is no file system here: import a capability that has files; modules of the workspace are imported as './name'.";
  const modules = "Scripts are ES modules: use import, with a capability module or a file of the workspace.";
  const page = "There is no web page here: scripts run in a sandbox without a browser.";
  const host = "This is not Node, Deno or Bun: import what you need from a capability module.";
  const locale = "There is no Intl here: toLocaleString and localeCompare format as en-US, or format by hand.";
  native.shared.absent = {
    __proto__: null,
    fetch: network,
    XMLHttpRequest: network,
    WebSocket: network,
    EventSource: network,
    Request: network,
    Response: network,
    FormData: network,
    fs: files,
    process:
      "There is no process here: a script has no environment, arguments or exit; return a value, or throw to fail.",
    Buffer: "There is no Buffer here: use Uint8Array with TextEncoder, TextDecoder, atob and btoa.",
    require: modules,
    module: modules,
    exports: modules,
    __dirname: files,
    __filename: files,
    global: "There is no `global` here: use globalThis.",
    Deno: host,
    Bun: host,
    Intl: locale,
    window: page,
    document: page,
    localStorage: page,
    sessionStorage: page,
    navigator: page,
    alert: page,
    self: "There is no `self` here: use globalThis.",
    WebAssembly: "There is no WebAssembly inside a script.",
    Worker: "There are no workers here: use Promise.all to run calls side by side.",
    ReadableStream: "There are no streams here: read the whole value.",
    Blob: "There is no Blob here: use Uint8Array.",
    Temporal: "There is no Temporal here: use Date.",
  };
})
