// The standard library. What each function may do is decided by the space's policy; a call that is refused rejects
// (or throws) with a CapabilityError.
declare module '@agent-spaces/std' {
  /** Files of the space's workspace. Paths are relative to it and use `/`. */
  export const fs: {
    /** The text of a file. */
    readFile(path: string): Promise<string>;
    /** The bytes of a file. */
    readBytes(path: string): Promise<Uint8Array>;
    /** Writes a file, in place of what was there. */
    writeFile(path: string, text: string): Promise<void>;
    /** Writes a file, in place of what was there. */
    writeBytes(path: string, bytes: Uint8Array): Promise<void>;
    /** Adds text at the end of a file, which is made if it is not there. */
    appendFile(path: string, text: string): Promise<void>;
    /** What is in a folder, by name; in the workspace itself if none is named. */
    list(path?: string): Promise<Entry[]>;
    /** What a path is. */
    stat(path: string): Promise<Stats>;
    /** Whether there is something at a path. */
    exists(path: string): Promise<boolean>;
    /** Deletes a file or an empty folder. */
    delete(path: string, options?: DeleteOptions): Promise<void>;
    /** Makes a folder, and those above it. */
    mkdir(path: string): Promise<void>;
    // Paths of files that fit a pattern such as data/**/*.csv, in order.
    glob(pattern: string): Promise<string[]>;
  };

  export type Kind = 'file' | 'directory' | 'other';

  export interface Entry {
    /** The name without its folder. */
    name: string;
    kind: Kind;
    /** In bytes; of a file. */
    size?: number;
  }

  export interface Stats {
    kind: Kind;
    /** In bytes. */
    size: number;
    /** RFC 3339. */
    modified?: string;
  }

  export interface DeleteOptions {
    /** Delete a folder with all that is in it. */
    recursive?: boolean;
  }

  /** Requests to the hosts that the policy lists. */
  export const http: {
    get(url: string, options?: HttpOptions): Promise<HttpResponse>;
    /** Sends a value as JSON; for other bodies leave it out and use the options. */
    post(url: string, body?: unknown, options?: HttpOptions): Promise<HttpResponse>;
    put(url: string, body?: unknown, options?: HttpOptions): Promise<HttpResponse>;
    patch(url: string, body?: unknown, options?: HttpOptions): Promise<HttpResponse>;
    delete(url: string, options?: HttpOptions): Promise<HttpResponse>;
    request(method: string, url: string, options?: HttpOptions): Promise<HttpResponse>;
  };

  export interface HttpOptions {
    headers?: Record<string, string>;
    /** Added to the address. */
    query?: Record<string, string | number | boolean>;
    /** The body, sent as JSON. */
    json?: unknown;
    /** The body, sent as text. */
    text?: string;
    /** The body, sent as it is. */
    bytes?: Uint8Array;
    /** How long to wait for the whole answer, at most as long as the policy allows. */
    timeoutMs?: number;
    /** What the body is given as; by its media type if nothing is said. */
    responseType?: 'auto' | 'json' | 'text' | 'bytes';
  }

  export interface HttpResponse {
    status: number;
    /** Whether the status is one of success. */
    ok: boolean;
    /** Where the answer came from, after redirects. */
    url: string;
    /** Names in lower case; values of a name that comes twice are joined by a comma. */
    headers: Record<string, string>;
    /** The body's value, if it is JSON. */
    json?: any;
    /** The body, if it is other text. */
    text?: string;
    /** The body, if it is neither. */
    bytes?: Uint8Array;
  }

  /** JSON text. */
  export const json: {
    /** The value of a JSON text; an error says line and column. */
    parse(text: string): any;
    /** A value as JSON text, indented by so many spaces. */
    stringify(value: unknown, indent?: number): string;
  };

  /** Comma-separated values, RFC 4180. */
  export const csv: {
    /** Rows as objects by column name. */
    parse(text: string, options?: CsvParseOptions & { header?: true }): Record<string, string>[];
    /** Rows as lists of strings. */
    parse(text: string, options: CsvParseOptions & { header: false }): string[][];
    /** The text of rows that are objects, or lists. */
    stringify(rows: readonly (Record<string, unknown> | readonly unknown[])[], options?: CsvStringifyOptions): string;
  };

  export interface CsvParseOptions {
    /** One character; a comma if nothing is said. */
    delimiter?: string;
    /** Whether the first row names the columns; true if nothing is said. */
    header?: boolean;
  }

  export interface CsvStringifyOptions {
    /** One character; a comma if nothing is said. */
    delimiter?: string;
    /** The columns, in order; all members in the order in which they are met if nothing is said. */
    columns?: string[];
    /** Whether the first row names the columns; true if nothing is said. */
    header?: boolean;
  }

  export type HashAlgorithm = 'sha256' | 'sha384' | 'sha512' | 'blake3';
  export type HmacAlgorithm = 'sha256' | 'sha384' | 'sha512';
  export type Encoding = 'hex' | 'base64' | 'base64url';

  /** Hashes, codes, keys and chance. */
  export const crypto: {
    /** The hash of a text's UTF-8, in lower-case hex. */
    hash(algorithm: HashAlgorithm, text: string): string;
    /** The hash of bytes, in lower-case hex. */
    hashBytes(algorithm: HashAlgorithm, bytes: Uint8Array): string;
    /** The code of a text under a key, in lower-case hex. */
    hmac(algorithm: HmacAlgorithm, key: Uint8Array, text: string): string;
    /** Encrypts with AES-GCM under a key of 16 or 32 bytes; the nonce stands before the text. */
    encrypt(key: Uint8Array, plain: Uint8Array): Uint8Array;
    /** Decrypts what `encrypt` gave; refuses what was changed. */
    decrypt(key: Uint8Array, sealed: Uint8Array): Uint8Array;
    /** Unpredictable bytes. */
    randomBytes(count: number): Uint8Array;
    /** A random UUID, version 4. */
    uuid(): string;
    /** Bytes as text. */
    encode(encoding: Encoding, bytes: Uint8Array): string;
    /** Text as bytes. */
    decode(encoding: Encoding, text: string): Uint8Array;
  };

  /** Dates, times and waiting. Instants are RFC 3339, zones are IANA names. */
  export const time: {
    /** Now, in UTC. */
    now(): string;
    /** The instant that a text names: RFC 3339, RFC 2822, or a date and time with a zone of their own or this one. */
    parse(text: string, zone?: string): string;
    /** An instant as a text; the pattern is strftime's, the zone UTC if nothing is said. */
    format(instant: string, pattern: string, zone?: string): string;
    /** The parts of an instant in a zone. */
    parts(instant: string, zone?: string): TimeParts;
    /** An instant plus a duration such as `1h 30m`, `-2d` or `P1M`; days and months are those of the zone. */
    add(instant: string, duration: string, zone?: string): string;
    /** Milliseconds from one instant to another. */
    since(earlier: string, later: string): number;
    /** Waits. */
    sleep(milliseconds: number): Promise<void>;
  };

  export interface TimeParts {
    year: number;
    month: number;
    day: number;
    hour: number;
    minute: number;
    second: number;
    millisecond: number;
    /** 1 is Monday. */
    weekday: number;
    /** Such as `+02:00`. */
    offset: string;
    zone: string;
  }
}

/** What `fetch` gives. */
interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly redirected: boolean;
  readonly headers: Headers;
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  json(): Promise<any>;
  bytes(): Promise<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
  clone(): FetchResponse;
}

interface FetchOptions {
  method?: string;
  headers?: Headers | Record<string, string> | [string, string][];
  body?: string | Uint8Array | ArrayBuffer | URLSearchParams | null;
  signal?: AbortSignal | null;
  redirect?: 'follow';
}

// The names that other hosts have for these.
interface Response extends FetchResponse {}
interface RequestInit extends FetchOptions {}
type HeadersInit = NonNullable<FetchOptions['headers']>;
type BodyInit = NonNullable<FetchOptions['body']>;
type RequestInfo = string | URL;

/** `http` of the standard library under the name that other hosts have; there where the policy lets scripts use a network. */
declare function fetch(input: string | URL, init?: FetchOptions): Promise<FetchResponse>;
