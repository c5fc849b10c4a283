// Postgres 15 in the temporary folder: two servers under Patroni with a synchronous standby, or one alone.

import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { freePort, run, say, sleep, until } from './common.mjs';
import { unprivileged } from './workroom.mjs';

export const BIN = '/usr/lib/postgresql/15/bin';

/** Database and role of the hosts. */
export const DATABASE = 'agents';

const PARAMETERS = {
  max_connections: 300,
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  wal_log_hints: 'on',
  fsync: 'on',
  synchronous_commit: 'on',
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': 1000,
  track_io_timing: 'on',
  log_min_messages: 'warning',
};

/** Common to all servers: SQL as the administrator. */
class Server {
  constructor(workroom) {
    this.workroom = workroom;
    this.user = unprivileged();
  }

  /** Executes SQL on the server at a port, and returns its rows. */
  async sqlAt(port, sql, database = DATABASE, timeout = 30_000) {
    const words = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database, '-qAt', '-F', '\t', '-v', 'ON_ERROR_STOP=1'];
    const output = await run(join(BIN, 'psql'), words, { input: sql, timeout, env: { ...process.env, PGCONNECT_TIMEOUT: '3' } });
    return output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  }

  /** Makes the role and the database of the hosts. */
  async prepare(port) {
    await this.sqlAt(port, `CREATE ROLE ${DATABASE} LOGIN;\nCREATE DATABASE ${DATABASE} OWNER ${DATABASE};\n`, 'postgres');
    await this.sqlAt(port, 'CREATE EXTENSION pg_stat_statements;\n');
  }

  hba() {
    return ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  }
}

/** One server without Patroni: for measurements, and for restores. */
export class Single extends Server {
  constructor(workroom, name = 'pg-single') {
    super(workroom);
    this.name = name;
    this.nodes = [this];
  }

  /** Starts it. `restored` means that its data folder is there already. */
  async start({ restored = false, cpus } = {}) {
    const folder = this.workroom.make(this.name, this.user);
    this.data = join(folder, 'data');
    this.port = await freePort();
    if (!restored) {
      const rights = this.user ? { uid: this.user.uid, gid: this.user.gid } : {};
      const words = ['-D', this.data, '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '--auth=trust', '--data-checksums', '--no-sync'];
      await run(join(BIN, 'initdb'), words, { cwd: folder, timeout: 600_000, ...rights });
    }
    const settings = { ...PARAMETERS, port: this.port, listen_addresses: '127.0.0.1', unix_socket_directories: folder };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.child = this.workroom.start(this.name, join(BIN, 'postgres'), ['-D', this.data, ...words], { user: this.user, cpus, cwd: folder });
    await until(`${this.name} answers`, 300_000, () => this.sqlAt(this.port, 'SELECT 1', 'postgres'));
    if (!restored) await this.prepare(this.port);
  }

  async primary() {
    return this;
  }

  sql(sql, database) {
    return this.sqlAt(this.port, sql, database);
  }

  pids() {
    return [this.child.pid];
  }

  /** Ends it at once, as a power failure does. */
  async kill() {
    this.child.kill('SIGKILL');
    await this.child.ended;
  }

  async stop() {
    this.child.kill('SIGINT');
    await this.child.ended;
  }
}

/** Two servers under Patroni, and etcd. */
export class Cluster extends Server {
  /** Most seconds that Patroni lets a leader be silent; it allows no fewer than 20. */
  static TTL = 20;

  async start({ cpus } = {}) {
    this.cpus = cpus;
    await this.startEtcd();
    this.nodes = [];
    for (const name of ['pg-a', 'pg-b']) {
      const folder = this.workroom.make(name, this.user);
      this.nodes.push({ name, folder, data: join(folder, 'data'), port: await freePort(), api: await freePort() });
    }
    for (const node of this.nodes) {
      this.workroom.write(`${node.name}.yml`, JSON.stringify(this.patroniSettings(node), null, 2), this.user);
    }
    const [first, second] = this.nodes;
    this.startNode(first);
    await until('the first server is the primary', 300_000, () => this.is(first, 'primary'));
    this.startNode(second);
    await this.healthy(300_000);
    await this.prepare((await this.primary()).port);
  }

  async startEtcd() {
    const [client, peer] = [await freePort(), await freePort()];
    this.etcd = `127.0.0.1:${client}`;
    const folder = this.workroom.make('etcd', this.user);
    const urls = { client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` };
    const words = ['--name', 'one', '--data-dir', join(folder, 'data'), '--listen-client-urls', urls.client, '--advertise-client-urls', urls.client];
    words.push('--listen-peer-urls', urls.peer, '--initial-advertise-peer-urls', urls.peer, '--initial-cluster', `one=${urls.peer}`);
    // A busy disk must not look like a dead leader: there is only one.
    words.push('--heartbeat-interval', '500', '--election-timeout', '5000', '--logger', 'zap');
    const env = { PATH: process.env.PATH };
    this.etcdChild = this.workroom.start('etcd', 'etcd', words, { user: this.user, env, cwd: folder });
    await until('etcd answers', 30_000, async () => (await get(client, '/health')).status === 200);
  }

  patroniSettings(node) {
    const replication = { username: 'replicator', password: 'not-asked-for' };
    const superuser = { username: 'postgres', password: 'not-asked-for' };
    return {
      scope: 'scale',
      name: node.name,
      restapi: { listen: `127.0.0.1:${node.api}`, connect_address: `127.0.0.1:${node.api}` },
      etcd3: { host: this.etcd },
      bootstrap: {
        dcs: {
          ttl: Cluster.TTL,
          loop_wait: 2,
          retry_timeout: 5,
          // A primary that crashed is not waited for.
          primary_start_timeout: 0,
          synchronous_mode: true,
          postgresql: { use_pg_rewind: true, use_slots: true, parameters: PARAMETERS, pg_hba: this.hba() },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums', 'no-sync'],
        users: { replicator: { password: 'not-asked-for', options: ['replication'] } },
      },
      postgresql: {
        listen: `127.0.0.1:${node.port}`,
        connect_address: `127.0.0.1:${node.port}`,
        data_dir: node.data,
        bin_dir: BIN,
        pgpass: join(node.folder, 'pgpass'),
        authentication: { replication, superuser, rewind: superuser },
        parameters: { unix_socket_directories: node.folder },
        basebackup: [{ checkpoint: 'fast' }],
        pg_hba: this.hba(),
        // So that a former primary whose state cannot be rewound is copied again.
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    };
  }

  startNode(node) {
    const env = { PATH: `${BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`, HOME: node.folder, LANG: 'C.UTF-8' };
    const file = this.workroom.path(`${node.name}.yml`);
    node.child = this.workroom.start(node.name, '/usr/bin/patroni', [file], { user: this.user, env, cwd: node.folder, cpus: this.cpus });
  }

  async is(node, role) {
    return (await get(node.api, `/${role}`)).status === 200;
  }

  /** The server that takes writes. */
  async primary() {
    for (const node of this.nodes) {
      if (await this.is(node, 'primary').catch(() => false)) return node;
    }
    throw new Error('there is no primary');
  }

  /** Waits for a primary with a synchronous standby. */
  async healthy(ms) {
    await until('a primary with a synchronous standby', ms, async () => {
      const primary = await this.primary();
      const rows = await this.sqlAt(primary.port, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 'postgres', 5000);
      return rows[0]?.[0] === '1';
    });
  }

  async sql(sql, database) {
    return this.sqlAt((await this.primary()).port, sql, database);
  }

  pids() {
    return this.nodes.flatMap((node) => postmaster(node) ?? []);
  }

  /** Kills the server of the primary. Its Patroni is there and hands the lead over at once. */
  async crashPrimary() {
    const node = await this.primary();
    killTree(postmaster(node));
    return node;
  }

  /** Kills the primary with its Patroni, as the loss of a machine does. `revive` brings it back. */
  async losePrimary() {
    const node = await this.primary();
    node.child.kill('SIGKILL');
    killTree(postmaster(node));
    await node.child.ended;
    return node;
  }

  revive(node) {
    this.startNode(node);
  }

  /** Hands the lead over in order. */
  async switchover() {
    const leader = await this.primary();
    const answer = await get(leader.api, '/switchover', 'POST', JSON.stringify({ leader: leader.name }));
    if (answer.status !== 200) throw new Error(`no switchover: ${answer.status} ${answer.text}`);
    return leader;
  }

  /** Waits until a server other than this one is the primary, and returns the time. */
  async promoted(former, ms = 120_000) {
    const begun = Date.now();
    await until('another primary', ms, async () => (await this.primary()) !== former, 100);
    return Date.now() - begun;
  }
}

/** PID of the server with this data folder. */
export function postmaster(node) {
  const file = join(node.data, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return pid > 1 ? pid : undefined;
}

/** Kills the server first: its processes end when they notice, as all of them do within moments. */
function killTree(pid) {
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}

/** Requests without a pool of connections. */
function get(port, path, method = 'GET', body) {
  return new Promise((done, failed) => {
    const headers = body ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {};
    const request = http.request({ host: '127.0.0.1', port, path, method, headers, agent: false, timeout: 30_000 }, (response) => {
      let text = '';
      response.on('data', (part) => (text += part));
      response.on('end', () => done({ status: response.statusCode, text }));
      response.on('error', failed);
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', failed);
    request.end(body);
  });
}

/** Starts what a test asked for. */
export async function database(workroom, { single = false, cpus } = {}) {
  const server = single ? new Single(workroom) : new Cluster(workroom);
  const begun = Date.now();
  await server.start({ cpus });
  say(`${single ? 'Postgres' : 'Postgres with a synchronous standby'} is up after ${((Date.now() - begun) / 1000).toFixed(0)} s`);
  await sleep(200);
  return server;
}
