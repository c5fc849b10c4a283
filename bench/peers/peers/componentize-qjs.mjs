export default {
  name: 'componentize-qjs',
  title: 'componentize-qjs, a component instance to each run',
  isolation: 'own memory',
  packages: ['componentize-qjs'],
  cannot: () => 'no component runs in node: componentize.mjs makes one, and the benchmark runs it in wasmtime',
};
