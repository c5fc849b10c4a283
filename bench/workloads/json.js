function tree(depth, at) {
  const node = { at, name: `node "${at}"`, open: at % 2 === 0, weight: at / 8, note: null };
  node.children = depth === 0 ? [] : [0, 1, 2, 3].map((child) => tree(depth - 1, at * 4 + child));
  return node;
}

function weigh(node) {
  return node.weight + node.children.reduce((sum, child) => sum + weigh(child), 0);
}

function copied(depth, times) {
  let value = tree(depth, 1);
  let length = 0;
  for (let i = 0; i < times; i++) {
    const text = JSON.stringify(value);
    length += text.length;
    value = JSON.parse(text);
  }
  return [length, weigh(value)];
}

export default copied(5, 2);
