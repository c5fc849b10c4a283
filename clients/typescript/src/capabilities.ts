/** Capabilities: list, get, search. */
import { List, type ListOptions, type PageOf } from './pages.js';
import { segment } from './paths.js';
import type { CallOptions, Transport } from './transport.js';
import type { Capability, CapabilityFunction, FoundFunctions } from './types.js';

/** Options with a space: its capabilities instead of all. */
type InSpace = CallOptions & { space?: string };

export class Capabilities {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list({ space, limit, ...call }: InSpace & ListOptions = {}): List<Capability> {
    return new List((cursor) =>
      this.#transport.json<PageOf<Capability>>({ ...call, method: 'GET', path: '/v1/capabilities', query: { space, limit, cursor }, repeatable: 'always' }),
    );
  }

  /** Returns a capability with the TypeScript declarations and WIT of its module. */
  get(name: string, { space, ...call }: InSpace = {}): Promise<Capability> {
    return this.#transport.json({ ...call, method: 'GET', path: `/v1/capabilities/${segment(name)}`, query: { space }, repeatable: 'always' });
  }

  /** Finds functions by what they do. */
  async search(q: string, { space, limit, ...call }: InSpace & ListOptions = {}): Promise<CapabilityFunction[]> {
    const request = { ...call, method: 'GET', path: '/v1/capabilities/search', query: { q, space, limit }, repeatable: 'always' } as const;
    return (await this.#transport.json<FoundFunctions>(request)).items;
  }
}
