/** What programs of a space can call, with the decisions of its policy. */

import { ApiError, get, path, send } from '../../lib/api';
import { outOfReach, readManifest, type Manifest, type ManifestFunction } from '../../lib/manifest';
import { isStandard, STANDARD } from '../../lib/standard';
import type { Capability, Check, PolicyDecision, Space } from '../../lib/types';

const AT_ONCE = 3;

export interface ReachFunction {
  name: string;
  id: string;
  description: string;
  decision?: PolicyDecision;
  terms: string[];
  because?: string;
}

export interface ReachGroup {
  capability: string;
  module: string;
  functions: ReachFunction[];
}

export interface SpaceReach {
  groups: ReachGroup[];
  files?: Manifest['files'];
  network?: Manifest['network'];
  /** False if nothing is known about files and network. */
  checked: boolean;
  /** False if the server could not say what is denied. */
  complete: boolean;
}

/** Manifest of a program that imports modules and does nothing. */
async function manifestOf(space: Space, source: string): Promise<Manifest | undefined> {
  const checked = await send<Check>('POST', path`/v1/spaces/${space.id}/check`, { source, name: 'reach' });
  return checked.manifest === undefined ? undefined : readManifest(checked.manifest);
}

function importing(modules: string[]): string {
  return `${modules.map((module) => `import ${JSON.stringify(module)};`).join('\n')}\nexport default null;\n`;
}

/** Manifest of a program that uses one part of the standard library; undefined if the policy leaves nothing of it. */
async function standardPart(space: Space, part: 'fs' | 'http'): Promise<Manifest | undefined> {
  return manifestOf(space, `import { ${part} } from '${STANDARD}';\nexport default typeof ${part};\n`);
}

/** Group of a function that no capability of the list has: one that only the operator sees. */
function groupName(fn: ManifestFunction): string {
  return fn.name.split('.')[0] ?? fn.name;
}

/** Asks the server. One request says all, unless a module cannot be imported: then each capability is asked for. */
export async function reachOf(space: Space, capabilities: Capability[], operator: boolean, signal: AbortSignal): Promise<SpaceReach> {
  const listed = capabilities.map((one) => one.module);
  const modules = [...new Set([...listed, ...(operator ? space.modules : []), STANDARD])].filter((module) => module.startsWith('@') && module !== '@agent-spaces/input');
  let manifest: Manifest | undefined;
  let rest: Pick<SpaceReach, 'files' | 'network' | 'checked'> = { checked: false };
  try {
    manifest = await manifestOf(space, importing(modules));
    signal.throwIfAborted();
    const files = manifest?.files ?? (await standardPart(space, 'fs'))?.files;
    const network = manifest?.network ?? (await standardPart(space, 'http'))?.network;
    rest = { checked: true, ...(files ? { files } : {}), ...(network ? { network } : {}) };
  } catch (error) {
    // A server that refuses the check can still say what each capability has.
    if (!(error instanceof ApiError) || error.status < 400 || error.status === 401) throw error;
  }
  signal.throwIfAborted();
  const reach = (groups: ReachGroup[], complete: boolean): SpaceReach => ({ groups: rest.checked ? groups.map((group) => withoutUnreachable(group, rest, space)) : groups, complete, ...rest });
  if (manifest && manifest.functions.length > 0) return reach(grouped(capabilities, manifest), true);

  const groups: ReachGroup[] = [];
  const queue = [...capabilities.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [index, capability] = next;
      const detail = await get<Capability>(path`/v1/capabilities/${capability.name}`, { space: space.id }, signal).catch(() => capability);
      const functions = detail.module === capability.module ? detail.functions : capability.functions;
      groups[index] = { capability: capability.name, module: capability.module, functions: functions.map((fn) => ({ name: fn.name, id: fn.id, description: fn.description, terms: [], ...(fn.decision ? { decision: fn.decision } : {}) })) };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return reach(groups, false);
}

/** Says what is refused because the space lacks the files or the network that it needs. */
function withoutUnreachable(group: ReachGroup, rest: Pick<SpaceReach, 'files' | 'network'>, space: Space): ReachGroup {
  if (!isStandard(group.module)) return group;
  const functions = group.functions.map((fn): ReachFunction => {
    const why = outOfReach(fn.name, rest, space.hasFiles);
    return why === undefined || fn.decision === 'deny' ? fn : { ...fn, decision: 'deny', terms: [why] };
  });
  return { ...group, functions };
}

function grouped(capabilities: Capability[], manifest: Manifest): ReachGroup[] {
  const decided = new Map(manifest.functions.map((fn) => [fn.id, fn]));
  const used = new Set<string>();
  const groups = capabilities.map((capability): ReachGroup => ({
    capability: capability.name,
    module: capability.module,
    functions: capability.functions.map((fn) => {
      const found = decided.get(fn.id) ?? manifest.functions.find((one) => one.name === fn.name);
      if (found) used.add(found.id);
      return { name: fn.name, id: fn.id, description: fn.description, terms: found?.terms ?? [], ...(found ? { decision: found.decision, ...(found.because === undefined ? {} : { because: found.because }) } : {}) };
    }),
  }));
  for (const fn of manifest.functions) {
    if (used.has(fn.id)) continue;
    const name = groupName(fn);
    let group = groups.find((one) => one.capability === name);
    if (!group) groups.push((group = { capability: name, module: '', functions: [] }));
    group.functions.push({ name: fn.name, id: fn.id, description: '', decision: fn.decision, terms: fn.terms, ...(fn.because === undefined ? {} : { because: fn.because }) });
  }
  return groups;
}
