// What other files need of DOMException; the class is the engine's own, in C
// (JS_AddIntrinsicDOMException), as are atob and btoa (JS_AddIntrinsicAToB).
(function (native) {
  "use strict";
  const { shared } = native;
  const { className, getterOf } = shared;
  const nameOf = getterOf(DOMException.prototype, "name");
  const messageOf = getterOf(DOMException.prototype, "message");

  // The name and message of a DOMException, whatever a script put in the way;
  // undefined for any other object.
  shared.domException = (value) =>
    className(value) === "DOMException" ? { name: nameOf(value), message: messageOf(value) } : undefined;
})
