// Stacks of calls, for the engine: taking one must cost little, since nearly all calls succeed. So the call sites are
// kept, and become text only where a call fails. Elsewhere than in QuickJS there is nothing to set up.
(function (native) {
  "use strict";
  const { descriptorOf, getPrototypeOf, getterOf, isArray, uncurryThis } = native.shared;
  const prepare = descriptorOf(Error, "prepareStackTrace");
  if (prepare?.set === undefined) return;
  const stackOf = getterOf(Error.prototype, "stack");
  Error.prepareStackTrace = (_error, sites) => sites;
  const site = getPrototypeOf(stackOf(new Error())[0]);
  Error.prepareStackTrace = undefined;
  const isNative = uncurryThis(site.isNative);
  const functionName = uncurryThis(site.getFunctionName);
  const fileName = uncurryThis(site.getFileName);
  const line = uncurryThis(site.getLineNumber);
  const column = uncurryThis(site.getColumnNumber);

  native.shared.callSites = {
    __proto__: null,
    prepare: prepare.get,
    setPrepare: prepare.set,
    // The stack as QuickJS writes it; nothing where none was taken.
    text(error) {
      const sites = stackOf(error);
      if (!isArray(sites)) return undefined;
      let text = "";
      for (let i = 0; i < sites.length; i++) {
        const site = sites[i];
        const place = isNative(site) ? "native" : `${fileName(site)}:${line(site)}:${column(site)}`;
        text += `    at ${functionName(site) ?? "<anonymous>"} (${place})\n`;
      }
      return text;
    },
  };
})
