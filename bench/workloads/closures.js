const add = (a) => (b) => a + b;
const compose = (...steps) => (value) => steps.reduce((current, step) => step(current), value);

function counter() {
  let count = 0;
  return { more: (by) => (count += by), read: () => count };
}

function run(count) {
  const { more, read } = counter();
  const step = compose(add(1), (n) => n * 3, add(-2), (n) => n % 1009);
  const numbers = Array.from({ length: count }, (_, index) => index);
  numbers.map(step).filter((n) => n % 2 === 0).forEach(more);
  const pairs = numbers.flatMap((n) => (n % 3 === 0 ? [n, step(n)] : []));
  return [read(), pairs.length, pairs.some((n) => n > count), pairs.reduce((sum, n) => (sum + n) % 65521, 0)];
}

export default run(12000);
