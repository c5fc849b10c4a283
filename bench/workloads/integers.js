function collatz(limit) {
  let longest = 0;
  let at = 0;
  for (let start = 1; start < limit; start++) {
    let steps = 0;
    for (let n = start; n !== 1; steps++) n = n & 1 ? 3 * n + 1 : n >> 1;
    if (steps > longest) {
      longest = steps;
      at = start;
    }
  }
  return [at, longest];
}

export default collatz(4000);
