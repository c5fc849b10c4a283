// The worker that gives scripts to Cloudflare's executor, which loads a fresh worker for each.

import { DynamicWorkerExecutor } from 'codemode';
import { desk } from 'desk';

export default {
  async fetch(request, { LOADER }) {
    const { body } = await request.json();
    const executor = new DynamicWorkerExecutor({ loader: LOADER });
    const { result, error } = await executor.execute(`async () => {\n${body}\n}`, [{ name: 'desk', fns: desk }]);
    return error === undefined ? Response.json(result) : new Response(error, { status: 500 });
  },
};
