// Drives every tool with the TypeScript SDK's client, and prints what it saw as one line of JSON.
// `node typescript.mjs SDK http URL TOKEN`, or `node typescript.mjs SDK stdio PROGRAM ARGUMENT…`
const [sdk, kind, ...rest] = process.argv.slice(2);
const { Client } = await import(`${sdk}/dist/esm/client/index.js`);

async function transport() {
  if (kind === 'stdio') {
    const { StdioClientTransport } = await import(`${sdk}/dist/esm/client/stdio.js`);
    const [command, ...args] = rest;
    return new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' });
  }
  const { StreamableHTTPClientTransport } = await import(`${sdk}/dist/esm/client/streamableHttp.js`);
  const [url, token] = rest;
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
}

const client = new Client({ name: 'test', version: '1' });
const used = await transport();
await client.connect(used);
const text = (result) => result.content[0].text;
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const program = (body) => ({ code: `import { hostile } from '@capabilities/mcp-hostile';\n${body}` });
const seen = { server: client.getServerVersion().name };

seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
seen.search = text(await call('search_capabilities', { query: 'echo a message' }));
const [specifier] = seen.search.match(/@capabilities\/[\w-]+/) ?? [];
seen.describe = text(await call('describe_capabilities', { names: [specifier] }));

const ran = await call('run_code', program(`export default await hostile.echo({ message: 'hello' });`));
seen.run = text(ran);
seen.resume = text(await call('run_code', { resume: ran.structuredContent.runId }));

const { resources } = await client.listResources();
seen.resources = resources.length;
seen.read = (await client.readResource({ uri: resources[0].uri })).contents[0].text.length;

const progress = [];
const slow = program(`await hostile.sleep({ ms: 1500 }); export default 'slept';`);
seen.slow = text(await call('run_code', slow, { onprogress: (step) => progress.push(step.message) }));
seen.progress = progress.length;

const stop = new AbortController();
setTimeout(() => stop.abort('enough'), 1500);
seen.cancelled = await call('run_code', program(`await hostile.hang();`), { signal: stop.signal }).then(() => false, () => true);
seen.after = text(await call('run_code', program(`export default await hostile.echo({ message: 'after' });`)));
await used.terminateSession?.();
await client.close();
console.log(JSON.stringify(seen));
