// A real server process that can be killed and started again, and a TCP proxy in front of it that cuts event streams.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { random } from './fake.mjs';

// Path of the server's program; tests that need it are skipped without.
export const BINARY = process.env.AGENT_SPACES_BINARY;
export const TOKEN = 'token-of-the-clients-tests';
const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));

// The names that the examples of the documentation use. Handlers beside the tool lists stand for the MCP servers.
const CONFIGURATION = {
  capabilities: { registry: { '@company/internal-sdk': './sdk/company-crm.ts' } },
  mcpServers: {
    slack: { command: 'slack-mcp', tools: './mcp/mcp-slack.json' },
    github: { command: 'github-mcp', tools: './mcp/mcp-github.json' },
  },
  spaces: { support: { capabilities: ['@company/internal-sdk', 'mcp:slack', 'mcp:github'] } },
};

export class Server {
  async start() {
    this.folder = mkdtempSync(join(tmpdir(), 'agent-spaces-server-'));
    const project = join(this.folder, 'project');
    mkdirSync(project);
    cpSync(join(examples, 'company-crm/capabilities'), join(project, 'sdk'), { recursive: true });
    cpSync(join(examples, 'slack/capabilities'), join(project, 'mcp'), { recursive: true });
    writeFileSync(join(project, 'agent-spaces.config.json'), JSON.stringify(CONFIGURATION));
    await this.#spawn();
    this.proxy = await new Proxy(this).start();
    this.url = this.proxy.url;
    return this;
  }

  // Kills the process as a crash would, and starts another one on the same data.
  async crash() {
    await this.#kill();
    await this.#spawn();
  }

  async stop() {
    await this.#kill();
    this.proxy?.stop();
    rmSync(this.folder, { recursive: true });
  }

  async #spawn() {
    const flags = ['serve', '--space', 'support', '--listen', '127.0.0.1:0', '--data', join(this.folder, 'data'), '--json'];
    const options = { cwd: join(this.folder, 'project'), env: { ...process.env, AGENT_SPACES_TOKEN: TOKEN }, stdio: ['ignore', 'pipe', 'pipe'] };
    this.process = spawn(BINARY, flags, options);
    let talk = '';
    this.process.stderr.on('data', (text) => (talk += text));
    this.gone = new Promise((resolve) => this.process.once('close', resolve));
    const failed = this.gone.then(() => Promise.reject(new Error(`the server did not start:\n${talk}`)));
    const line = new Promise((resolve) => createInterface(this.process.stdout).once('line', resolve));
    failed.catch(() => {});
    this.port = Number(new URL(JSON.parse(await Promise.race([line, failed])).url).port);
  }

  async #kill() {
    this.process.kill('SIGKILL');
    await this.gone;
  }
}

// Forwards connections to wherever the server listens now. Event streams are cut after some bytes, as long as `cuts` is positive.
class Proxy {
  constructor(server) {
    this.target = server;
    this.cuts = 0;
    this.random = random(42);
    this.sockets = new Set();
    this.server = createServer((client) => this.#serve(client));
  }

  async start() {
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  stop() {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  #serve(client) {
    const upstream = connect(this.target.port, '127.0.0.1');
    let left = Infinity; // bytes until the cut
    let cut = false;
    for (const [socket, other] of [[client, upstream], [upstream, client]]) {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.sockets.delete(socket);
        if (!cut) other.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (this.cuts > 0 && chunk.includes('text/event-stream')) left = 100 + this.random(1800);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (chunk.length < left || this.cuts === 0) {
        left -= chunk.length;
        client.write(chunk);
        return;
      }
      this.cuts -= 1;
      cut = true;
      upstream.destroy();
      // Both kinds of end: one that a proxy or a shutdown sends, and a reset.
      const part = chunk.subarray(0, left);
      client.removeAllListeners('data');
      if (this.random(2) === 0) return void client.end(part);
      client.write(part);
      // The client has read what was sent before it sees the reset.
      setTimeout(() => client.resetAndDestroy(), 5);
    });
  }
}
