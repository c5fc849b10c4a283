/** Files of a space. */
import { List, type ListOptions, type PageOf } from './pages.js';
import { filePath, segment } from './paths.js';
import type { Answered, CallOptions, Transport } from './transport.js';
import type { FileEntry } from './types.js';

/** Body of a file; a text is written as UTF-8. */
export type FileBody = string | Uint8Array<ArrayBuffer> | Blob;

/** Conditions on the file's state. A request that fails one is refused with `precondition` (412). */
export interface Preconditions {
  /** Only if the file has this ETag. */
  ifMatch?: string;
  /** `*`: only if there is no such file. */
  ifNoneMatch?: string;
}

/** Size and ETag. */
export interface FileState {
  size: number | undefined;
  etag: string | undefined;
}

/** Content of a file. */
export interface FileContent {
  bytes: Uint8Array;
  etag: string | undefined;
  /** Content as UTF-8 text. */
  text(): string;
}

/** Written file. */
export interface WrittenFile {
  etag: string | undefined;
  /** True if the file is new. */
  created: boolean;
}

export class Files {
  readonly #transport: Transport;
  readonly #space: string;

  constructor(transport: Transport, space: string) {
    this.#transport = transport;
    this.#space = space;
  }

  list({ prefix, limit, ...call }: ListOptions & CallOptions & { prefix?: string } = {}): List<FileEntry> {
    const path = `/v1/spaces/${segment(this.#space)}/files`;
    return new List((cursor) =>
      this.#transport.json<PageOf<FileEntry>>({ ...call, method: 'GET', path, query: { prefix, limit, cursor }, repeatable: 'always' }),
    );
  }

  async read(path: string, options: CallOptions = {}): Promise<FileContent> {
    const headers = { Accept: '*/*' };
    const { headers: answered, body } = await this.#transport.send({ ...options, method: 'GET', path: this.#path(path), headers, repeatable: 'always' });
    return { bytes: body, etag: etagOf(answered), text: () => new TextDecoder().decode(body) };
  }

  /** Returns size and ETag without the content. */
  async stat(path: string, options: CallOptions = {}): Promise<FileState> {
    const headers = { Accept: '*/*' };
    const answer: Answered = await this.#transport.send({ ...options, method: 'HEAD', path: this.#path(path), headers, repeatable: 'always' });
    const length = answer.headers.get('content-length');
    return { size: length === null ? undefined : Number(length), etag: etagOf(answer.headers) };
  }

  async write(path: string, body: FileBody, options: CallOptions & Preconditions = {}): Promise<WrittenFile> {
    const { ifMatch, ifNoneMatch, ...call } = options;
    const headers = { 'Content-Type': 'application/octet-stream', 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch };
    // A condition that was true before a lost answer is false after it: the retry would report a conflict with itself.
    const repeatable = ifMatch === undefined && ifNoneMatch === undefined ? 'always' : 'refused';
    const answer = await this.#transport.send({ ...call, method: 'PUT', path: this.#path(path), headers, body, repeatable });
    return { etag: etagOf(answer.headers), created: answer.status === 201 };
  }

  async delete(path: string, options: CallOptions & { ifMatch?: string } = {}): Promise<void> {
    const { ifMatch, ...call } = options;
    await this.#transport.remove(this.#path(path), call, ifMatch);
  }

  #path(path: string): string {
    return `/v1/spaces/${segment(this.#space)}/files/${filePath(path)}`;
  }
}

function etagOf(headers: Headers): string | undefined {
  return headers.get('etag') ?? undefined;
}
