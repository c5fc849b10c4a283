// Names that other JavaScript hosts have and this one does not, each with
// what to use instead (absent.json, which the host reads too). The names stay
// undefined, so that feature tests work; the engine adds the hint to an
// uncaught ReferenceError.
(function (native) {
  "use strict";
  const { everywhere, script, subtle } = JSON.parse(native.absent);
  native.shared.absent = { __proto__: null, ...everywhere, ...script };
  native.shared.absentSubtle = subtle;
  delete native.absent;
})
