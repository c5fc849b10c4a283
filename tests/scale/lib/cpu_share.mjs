// Shares of the processor smaller than a core, by control groups (version 1 or 2). Needs root.

import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Period of the quota in microseconds: short, so that a host is slow and not stopped. */
const PERIOD = 20_000;

export class CpuShare {
  /** `cores` may be a fraction, such as 0.25. */
  constructor(name, cores) {
    const [first, second] = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup'];
    const isFirst = existsSync(join(first, 'cpu.cfs_quota_us')) || existsSync(join(first, 'cgroup.procs'));
    this.folder = join(isFirst ? first : second, `agent-spaces-scale-${process.pid}-${name}`);
    mkdirSync(this.folder);
    const quota = Math.round(cores * PERIOD);
    if (isFirst) {
      writeFileSync(join(this.folder, 'cpu.cfs_period_us'), String(PERIOD));
      writeFileSync(join(this.folder, 'cpu.cfs_quota_us'), String(quota));
    } else {
      writeFileSync(join(this.folder, 'cpu.max'), `${quota} ${PERIOD}`);
    }
    process.once('exit', () => this.remove());
  }

  /** Moves a process with all its threads. */
  add(pid) {
    writeFileSync(join(this.folder, 'cgroup.procs'), String(pid));
  }

  /** Removes the group once its processes have ended. */
  remove() {
    try {
      if (readdirSync(this.folder)) rmdirSync(this.folder);
    } catch {
      // A process is still in it, or it is gone.
    }
  }
}
