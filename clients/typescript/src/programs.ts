/** Programs: publish, list, get, versions, delete. */
import { newKey } from './idempotency.js';
import { List, type ListOptions, type PageOf } from './pages.js';
import { segment } from './paths.js';
import type { CallOptions, Transport } from './transport.js';
import type { NewProgram, Program, ProgramVersion } from './types.js';

export class Programs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Publishes a new version; the source of the newest version publishes nothing. The key makes repeated requests one version; random by default, so that
   * the client's own retries are.
   */
  publish(program: NewProgram, options: CallOptions & { idempotencyKey?: string } = {}): Promise<ProgramVersion> {
    const { idempotencyKey = newKey(), ...call } = options;
    const headers = { 'Idempotency-Key': idempotencyKey };
    return this.#transport.json({ ...call, method: 'POST', path: '/v1/programs', headers, json: program, repeatable: 'always' });
  }

  list(options: ListOptions & CallOptions = {}): List<Program> {
    return this.#list('/v1/programs', options);
  }

  /** Returns a program, with the number of its newest version. */
  get(name: string, options: CallOptions = {}): Promise<Program> {
    return this.#transport.json({ ...options, method: 'GET', path: `/v1/programs/${segment(name)}`, repeatable: 'always' });
  }

  /** Returns one version, with its source. */
  version(name: string, version: number, options: CallOptions = {}): Promise<ProgramVersion> {
    return this.#transport.json({ ...options, method: 'GET', path: `/v1/programs/${segment(name)}/versions/${segment(version)}`, repeatable: 'always' });
  }

  /** Lists the versions of a program, newest first, without their sources. */
  versions(name: string, options: ListOptions & CallOptions = {}): List<ProgramVersion> {
    return this.#list(`/v1/programs/${segment(name)}/versions`, options);
  }

  /** Deletes all versions. */
  async delete(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.remove(`/v1/programs/${segment(name)}`, options);
  }

  #list<T>(path: string, { limit, ...call }: ListOptions & CallOptions): List<T> {
    return new List((cursor) => this.#transport.json<PageOf<T>>({ ...call, method: 'GET', path, query: { limit, cursor }, repeatable: 'always' }));
  }
}
