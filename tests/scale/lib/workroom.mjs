// Temporary folder of a test, and everything that runs in it.
//
// A shell outside of the process ends all programs and removes the folder when its standard input ends, and that is when
// this process does, in whatever way.

import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const CLEAN = `
cat >/dev/null
kill_all() { while read -r pid start; do
  # A number is used again: only the process that began then is ours.
  if [ "$(cut -d')' -f2- /proc/$pid/stat 2>/dev/null | cut -d' ' -f21)" = "$start" ]; then kill -KILL $pid 2>/dev/null; fi
done <"$1/processes"; }
kill_all "$1"
for file in "$1"/pg-*/data/postmaster.pid; do if [ -f "$file" ]; then kill -KILL "$(head -n 1 "$file")" 2>/dev/null; fi; done
sleep 1
kill_all "$1"
if [ "$2" = remove ]; then rm -rf "$1"; fi
`;

export class Workroom {
  /** `keep` leaves logs and data where they are. */
  constructor(keep = false) {
    this.folder = mkdtempSync('/tmp/agent-spaces-scale-');
    chmodSync(this.folder, 0o755);
    writeFileSync(join(this.folder, 'processes'), '');
    const cleaner = spawn('/bin/sh', ['-c', CLEAN, 'clean', this.folder, keep ? 'keep' : 'remove'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    cleaner.unref();
    cleaner.stdin.unref?.();
    this.cleaner = cleaner;
    this.keep = keep;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
  }

  path(...names) {
    return join(this.folder, ...names);
  }

  /** Makes a folder, which belongs to `user` if one is given. */
  make(name, user) {
    const folder = this.path(name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (user) chownSync(folder, user.uid, user.gid);
    return folder;
  }

  /** Writes a file, which belongs to `user` if one is given. */
  write(name, text, user) {
    const file = this.path(name);
    writeFileSync(file, text, { mode: 0o600 });
    if (user) chownSync(file, user.uid, user.gid);
    return file;
  }

  /** Starts a program whose output goes to a file. */
  start(name, program, words, { user, env, cwd, cpus, stdout } = {}) {
    const log = openSync(this.path(`${name}.log`), 'a');
    const [file, list] = cpus === undefined ? [program, words] : ['taskset', ['-c', String(cpus), program, ...words]];
    const child = spawn(file, list, {
      cwd: cwd ?? this.folder,
      env: env ?? process.env,
      stdio: ['ignore', stdout ?? log, log],
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
    });
    closeSync(log);
    child.ended = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
    child.once('error', (error) => appendFileSync(this.path(`${name}.log`), `${program}: ${error.message}\n`));
    if (child.pid) appendFileSync(this.path('processes'), `${child.pid} ${startOf(child.pid)}\n`);
    return child;
  }

  /** Text of a log, its end only. */
  log(name, bytes = 4000) {
    try {
      return readFileSync(this.path(`${name}.log`), 'utf8').slice(-bytes);
    } catch {
      return '';
    }
  }
}

/** Time at which a process began, in ticks since the start of the machine. */
function startOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')[19];
  } catch {
    return '0';
  }
}

/** User that Postgres runs as, since it refuses root; undefined if this process is not root. */
export function unprivileged() {
  if (process.getuid() !== 0) return undefined;
  const number = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
  return { uid: number('-u'), gid: number('-g') };
}

/** CPU seconds of processes and of their children that have ended. */
export function cpuSeconds(pids) {
  let ticks = 0;
  for (const pid of pids) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
      ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    } catch {
      // It has ended.
    }
  }
  return ticks / 100;
}

/** All processes below these, with these. */
export function descendants(roots) {
  const found = new Set(roots);
  const pairs = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  for (let grew = true; grew; ) {
    grew = false;
    for (const [pid, parent] of pairs) {
      if (found.has(parent) && !found.has(pid)) {
        found.add(pid);
        grew = true;
      }
    }
  }
  return [...found];
}
