import { desk } from '../desk.mjs';
import { marked } from '../marks.mjs';

// Its defaults end runs that call 100 times at once or take 10 MB; the other limits are left as they are.
const executionPolicy = {
  memoryLimitBytes: 256 * 1024 * 1024,
  maxToolOutputBytes: 16 * 1024 * 1024,
  maxInFlightBridgeRequests: 128,
};

export default {
  name: 'vercel-code-mode',
  title: '@ai-sdk/code-mode, a QuickJS context to each run, in a pool of worker threads',
  isolation: 'own memory',
  packages: ['@ai-sdk/code-mode', 'ai'],
  node: 22,
  cannot({ name, kind }) {
    if (kind === 'agent') return 'making a context and evaluating are one call; its engine is that of quickjs-wasi';
    return name === 'waiting' ? 'it refuses more runs at once than it has worker threads, 32 by default' : null;
  },
  async open() {
    const { experimental_runCodeMode: runCodeMode } = await import('@ai-sdk/code-mode');
    const { jsonSchema, tool } = await import('ai');
    const inputSchema = jsonSchema({ type: 'object' });
    const toolsOf = (functions) => Object.fromEntries(Object.entries(functions).map(([name, execute]) => [name, tool({ inputSchema, execute })]));
    const tools = toolsOf(desk);
    return {
      fresh: async () => ({
        async evaluate({ body, kind }) {
          if (kind !== 'kernel') return runCodeMode({ js: `const desk = tools;\n${body}`, tools, options: { executionPolicy } });
          const { js, clock, elapsed } = marked(body, 'await tools.mark({})');
          const answer = await runCodeMode({ js, tools: toolsOf(clock), options: { executionPolicy } });
          this.microseconds = elapsed();
          return answer;
        },
        dispose() {},
      }),
    };
  },
};
