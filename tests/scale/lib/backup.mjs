// Backups of a server, and servers restored from them.

import { cpSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, sleep, until } from './common.mjs';
import { BIN, DATABASE, Single } from './postgres.mjs';

const LONG = 600_000;

class Backup {
  constructor(workroom, server) {
    Object.assign(this, { workroom, server });
    this.folder = workroom.make('backup', server.user);
    this.rights = server.user ? { uid: server.user.uid, gid: server.user.gid } : {};
  }

  at(server) {
    return ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres'];
  }
}

/** Base backup, and the log as it is written: nothing is lost. */
export class LogBackup extends Backup {
  /** Receives the log from now on. Commits wait for it. */
  async begin() {
    const { server, workroom } = this;
    this.archive = workroom.make('backup/wal', server.user);
    const slot = [...this.at(server), '-D', this.archive, '--slot', 'backup'];
    await run(join(BIN, 'pg_receivewal'), [...slot, '--create-slot'], { ...this.rights, cwd: this.folder });
    const env = { ...process.env, PGAPPNAME: 'backup' };
    this.receiver = workroom.start('pg_receivewal', join(BIN, 'pg_receivewal'), [...slot, '--synchronous'], { user: server.user, cwd: this.folder, env });
    await server.sql("ALTER SYSTEM SET synchronous_standby_names = 'backup'", 'postgres');
    await server.sql('SELECT pg_reload_conf()', 'postgres');
    await until('the archive is synchronous', 60_000, async () => {
      const rows = await server.sql("SELECT sync_state FROM pg_stat_replication WHERE application_name = 'backup'");
      return rows[0]?.[0] === 'sync';
    });
  }

  async take() {
    const words = [...this.at(this.server), '-D', join(this.folder, 'base'), '-X', 'none', '-c', 'fast'];
    await run(join(BIN, 'pg_basebackup'), words, { ...this.rights, cwd: this.folder, timeout: LONG });
  }

  /** Starts a server with all that was committed. */
  async restore() {
    await sleep(1000);
    this.receiver.kill('SIGINT');
    await this.receiver.ended;
    const { workroom, server, archive } = this;
    const data = join(workroom.make('pg-second', server.user), 'data');
    cpSync(join(this.folder, 'base'), data, { recursive: true, preserveTimestamps: true });
    // The segment that was being received counts as well.
    for (const file of readdirSync(archive)) {
      if (file.endsWith('.partial')) renameSync(join(archive, file), join(archive, file.replace('.partial', '')));
    }
    // Settings of the lost server are not those of this one: it has no archive yet.
    writeFileSync(join(data, 'postgresql.auto.conf'), `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_timeline = 'current'\n`);
    writeFileSync(join(data, 'recovery.signal'), '');
    if (server.user) await run('chown', ['-R', `${server.user.uid}:${server.user.gid}`, data]);
    await run('chmod', ['0700', data]);
    const second = new Single(workroom, 'pg-second');
    await second.start({ restored: true });
    await until('recovery is over', LONG, async () => (await second.sql('SELECT pg_is_in_recovery()', 'postgres'))[0][0] === 'f');
    return second;
  }
}

/** Dump of the schema: a moment in the past. */
export class DumpBackup extends Backup {
  async begin() {}

  async take() {
    this.file = join(this.folder, 'dump');
    const words = [...this.at(this.server), '-d', DATABASE, '--schema=agent_spaces', '-Fc', '-f', this.file];
    await run(join(BIN, 'pg_dump'), words, { ...this.rights, cwd: this.folder, timeout: LONG });
  }

  async restore() {
    const second = new Single(this.workroom, 'pg-second');
    await second.start();
    await run(join(BIN, 'pg_restore'), [...this.at(second), '-d', DATABASE, '--exit-on-error', this.file], { ...this.rights, cwd: this.folder, timeout: LONG });
    return second;
  }
}
