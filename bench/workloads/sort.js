function shuffled(count) {
  let seed = 42;
  return Array.from({ length: count }, () => (seed = (seed * 16807) % 2147483647));
}

function sorted(count) {
  const numbers = shuffled(count).sort((a, b) => a - b);
  const people = shuffled(count / 2).map((id) => ({ id, name: `name-${id.toString(36)}` }));
  people.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return [numbers[0], numbers[count >> 1], people[0].name, people[people.length - 1].id];
}

export default sorted(6000);
