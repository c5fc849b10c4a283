// Math.random: sfc32 (a small, well-tested generator of 32-bit words), seeded
// from the host at the first call of a run. A seed taken while loading would
// be in the snapshot, and so the same in every run.
(function (native) {
  "use strict";
  const { Uint32Array, Uint8Array } = globalThis;
  let seeded = false;
  let a = 0;
  let b = 0;
  let c = 0;
  let counter = 1;

  function word() {
    const result = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result;
  }

  function seed() {
    const words = new Uint32Array(3);
    native.random(new Uint8Array(native.shared.viewBuffer(words)));
    a = words[0] | 0;
    b = words[1] | 0;
    c = words[2] | 0;
    for (let round = 0; round < 12; round++) word(); // the mixing its author asks for
    seeded = true;
  }

  native.shared.hidden(Math, "random", function random() {
    if (!seeded) seed();
    // 53 bits: 27 from one word, 26 from the next.
    return ((word() >>> 5) * 67108864 + (word() >>> 6)) / 9007199254740992;
  });
})
