/** Manifest of a program: what it can call, with the policy's decisions, as the check of a program returns it. */

import { bytes } from './format';
import type { Limits, Location, PolicyDecision } from './types';

export interface ManifestFunction {
  name: string;
  id: string;
  decision: PolicyDecision;
  /** Kind of provider: `mcp`, `command`. */
  provider?: string;
  because?: string;
  terms: string[];
  namedAt: Location[];
}

export interface ManifestFiles {
  read: boolean;
  write: boolean;
  maxFileBytes?: number;
  maxTotalBytes?: number;
  workspace?: string;
}

export interface ManifestNetwork {
  enabled: boolean;
  domains: string[];
  methods: string[];
}

export interface Manifest {
  functions: ManifestFunction[];
  files?: ManifestFiles;
  network?: ManifestNetwork;
  limits?: Limits;
}

const MAX_FUNCTIONS = 5000;

function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Decision in the words of the API: manifests say `approve`. */
export function decisionOf(value: unknown): PolicyDecision {
  return value === 'allow' ? 'allow' : value === 'approve' || value === 'approval' ? 'approval' : 'deny';
}

/** Reads a manifest. Members that are missing or of another type are left out. */
export function readManifest(value: unknown): Manifest {
  const manifest = record(value);
  const functions: ManifestFunction[] = [];
  for (const entry of list(manifest['interfaces'])) {
    for (const item of list(record(entry)['functions'])) {
      const fn = record(item);
      const name = text(fn['function']) ?? text(fn['name']);
      if (name === undefined || functions.length >= MAX_FUNCTIONS) continue;
      const provider = text(record(fn['provider'])['kind']);
      const because = text(fn['because']);
      functions.push({
        name,
        id: text(fn['functionId']) ?? name,
        decision: decisionOf(fn['decision']),
        ...(provider === undefined ? {} : { provider }),
        ...(because === undefined ? {} : { because }),
        terms: list(fn['terms']).filter((term): term is string => typeof term === 'string'),
        namedAt: list(fn['namedAt']).filter((place): place is Location => typeof record(place)['line'] === 'number'),
      });
    }
  }
  const result: Manifest = { functions };
  if (manifest['files'] !== undefined && manifest['files'] !== null) {
    const files = record(manifest['files']);
    const [max, total, workspace] = [number(files['maxFileBytes']), number(files['maxTotalBytes']), text(files['workspace'])];
    result.files = {
      read: files['read'] === true,
      write: files['write'] === true,
      ...(max === undefined ? {} : { maxFileBytes: max }),
      ...(total === undefined ? {} : { maxTotalBytes: total }),
      ...(workspace === undefined ? {} : { workspace }),
    };
  }
  if (manifest['network'] !== undefined && manifest['network'] !== null) {
    const network = record(manifest['network']);
    const strings = (from: unknown): string[] => list(from).filter((one): one is string => typeof one === 'string');
    result.network = { enabled: network['enabled'] === true, domains: strings(network['domains']), methods: strings(network['methods']) };
  }
  if (manifest['limits'] !== undefined) result.limits = record(manifest['limits']) as Limits;
  return result;
}

/** Functions of `fs` that change files; all others read. */
const WRITES = new Set(['writeFile', 'writeBytes', 'appendFile', 'delete', 'mkdir']);

function hasFiles(files: ManifestFiles | undefined, given: boolean): boolean {
  return given && (!files || files.read || files.write);
}

function hasNetwork(network: ManifestNetwork | undefined): network is ManifestNetwork {
  return network !== undefined && network.enabled && network.domains.length > 0;
}

/**
 * Why calls of a function of the standard library fail, though the rules over functions allow them: they need files or a network
 * that the space does not have. Undefined if it has them.
 */
export function outOfReach(name: string, { files, network }: Pick<Manifest, 'files' | 'network'>, given: boolean): string | undefined {
  const [part, fn = ''] = name.split('.');
  if (part === 'http') return hasNetwork(network) ? undefined : 'Programs have no network of their own.';
  if (part !== 'fs') return undefined;
  if (!hasFiles(files, given)) return 'Programs have no files.';
  if (!files) return undefined;
  if (WRITES.has(fn)) return files.write ? undefined : 'Programs may not write files.';
  return files.read ? undefined : 'Programs may not read files.';
}

/** What programs may do with files, as a sentence. `given` is `hasFiles` of the space. */
export function filesSentence(files: ManifestFiles | undefined, given: boolean): string {
  if (!hasFiles(files, given)) return 'Programs have no files.';
  if (!files) return 'Programs have the files of this space.';
  const may = files.read && files.write ? 'read and write' : files.read ? 'read, but not write,' : 'write, but not read,';
  const sizes = [files.maxFileBytes === undefined ? '' : `a file up to ${bytes(files.maxFileBytes)}`, files.maxTotalBytes === undefined ? '' : `${bytes(files.maxTotalBytes)} in all`].filter(Boolean);
  return `Programs may ${may} the files of this space${sizes.length > 0 ? `: ${sizes.join(', ')}` : ''}.`;
}

/** What programs may reach in the network, as a sentence. */
export function networkSentence(network: ManifestNetwork | undefined): string {
  if (!hasNetwork(network)) return 'Programs have no network of their own.';
  const hosts = network.domains.includes('*') ? 'any host' : network.domains.slice(0, 20).join(', ') + (network.domains.length > 20 ? ` and ${network.domains.length - 20} more` : '');
  const methods = network.methods.length === 0 ? '' : `${network.methods.join(', ')} `;
  return `Programs may send ${methods}requests to ${hosts}.`;
}
