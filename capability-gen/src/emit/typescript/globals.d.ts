// What every script finds in the sandbox besides the language itself (ES2023).
// There is no process, require or Buffer: using one is an error that names what to use instead.

// Capabilities

/** What a failed capability call throws. */
declare class CapabilityError extends Error {
  constructor(message?: string, options?: { code?: string; retryable?: boolean; details?: unknown });
  readonly name: 'CapabilityError';
  /** What went wrong, for programs: `call.invalid`, `call.denied`, `call.failed`. */
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** More about it, where there is more. */
  readonly details: unknown;
}

/** A promise of a list, which takes the methods of arrays: `await trainSchedule.getSchedule().filter(…)`. */
interface CapabilityPromise<T extends readonly unknown[]> extends Promise<T> {
  at(index: number): Promise<T[number] | undefined>;
  concat<U = T[number]>(...items: (U | ConcatArray<U>)[]): CapabilityPromise<(T[number] | U)[]>;
  every(predicate: (value: T[number], index: number, array: T) => unknown): Promise<boolean>;
  filter<S extends T[number]>(
    predicate: (value: T[number], index: number, array: T) => value is S,
  ): CapabilityPromise<S[]>;
  filter(predicate: (value: T[number], index: number, array: T) => unknown): CapabilityPromise<T[number][]>;
  find<S extends T[number]>(
    predicate: (value: T[number], index: number, array: T) => value is S,
  ): Promise<S | undefined>;
  find(predicate: (value: T[number], index: number, array: T) => unknown): Promise<T[number] | undefined>;
  findIndex(predicate: (value: T[number], index: number, array: T) => unknown): Promise<number>;
  findLast<S extends T[number]>(
    predicate: (value: T[number], index: number, array: T) => value is S,
  ): Promise<S | undefined>;
  findLast(predicate: (value: T[number], index: number, array: T) => unknown): Promise<T[number] | undefined>;
  findLastIndex(predicate: (value: T[number], index: number, array: T) => unknown): Promise<number>;
  flat<D extends number = 1>(depth?: D): CapabilityPromise<FlatArray<T, D>[]>;
  flatMap<U>(callback: (value: T[number], index: number, array: T) => U | readonly U[]): CapabilityPromise<U[]>;
  forEach(callback: (value: T[number], index: number, array: T) => void): Promise<void>;
  includes(value: T[number], fromIndex?: number): Promise<boolean>;
  indexOf(value: T[number], fromIndex?: number): Promise<number>;
  join(separator?: string): Promise<string>;
  lastIndexOf(value: T[number], fromIndex?: number): Promise<number>;
  map<U>(callback: (value: T[number], index: number, array: T) => U): CapabilityPromise<U[]>;
  reduce(
    callback: (previous: T[number], value: T[number], index: number, array: T) => T[number],
  ): Promise<T[number]>;
  reduce<U>(callback: (previous: U, value: T[number], index: number, array: T) => U, initial: U): Promise<U>;
  reduceRight(
    callback: (previous: T[number], value: T[number], index: number, array: T) => T[number],
  ): Promise<T[number]>;
  reduceRight<U>(callback: (previous: U, value: T[number], index: number, array: T) => U, initial: U): Promise<U>;
  reverse(): CapabilityPromise<T[number][]>;
  slice(start?: number, end?: number): CapabilityPromise<T[number][]>;
  some(predicate: (value: T[number], index: number, array: T) => unknown): Promise<boolean>;
  sort(compare?: (left: T[number], right: T[number]) => number): CapabilityPromise<T[number][]>;
  toReversed(): CapabilityPromise<T[number][]>;
  toSorted(compare?: (left: T[number], right: T[number]) => number): CapabilityPromise<T[number][]>;
  toSpliced(start: number, deleteCount?: number, ...items: T[number][]): CapabilityPromise<T[number][]>;
  with(index: number, value: T[number]): CapabilityPromise<T[number][]>;
}

declare var __agentSpaces: {
  /** The same as calling the function that the script imported. */
  callCapability(capability: string, functionName: string, ...params: unknown[]): Promise<unknown>;
};

// Console

interface Console {
  assert(condition?: unknown, ...values: unknown[]): void;
  count(label?: string): void;
  countReset(label?: string): void;
  debug(...values: unknown[]): void;
  dir(value?: unknown, options?: { depth?: number | null }): void;
  dirxml(...values: unknown[]): void;
  error(...values: unknown[]): void;
  group(...values: unknown[]): void;
  groupCollapsed(...values: unknown[]): void;
  groupEnd(): void;
  info(...values: unknown[]): void;
  log(...values: unknown[]): void;
  table(data?: unknown, columns?: readonly string[]): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
  timeLog(label?: string, ...values: unknown[]): void;
  trace(...values: unknown[]): void;
  warn(...values: unknown[]): void;
}
declare var console: Console;

// Timers

// Whatever takes arguments can be called later: `new Promise((resolve) => setTimeout(resolve, 10))`.
declare function setTimeout(callback: (...values: any[]) => void, delay?: number, ...values: any[]): number;
declare function setInterval(callback: (...values: any[]) => void, delay?: number, ...values: any[]): number;
declare function setImmediate(callback: (...values: any[]) => void, ...values: any[]): number;
declare function clearTimeout(id?: number): void;
declare function clearInterval(id?: number): void;
declare function clearImmediate(id?: number): void;
declare function queueMicrotask(callback: (...values: any[]) => void): void;

interface Performance {
  /** Milliseconds since the run began. */
  now(): number;
  readonly timeOrigin: number;
  toJSON(): { timeOrigin: number };
}
declare var performance: Performance;

// Data

declare function structuredClone<T>(value: T, options?: { transfer?: Iterable<ArrayBuffer> }): T;
declare function atob(data: string): string;
declare function btoa(data: string): string;

interface Uint8ArrayConstructor {
  fromBase64(
    text: string,
    options?: { alphabet?: 'base64' | 'base64url'; lastChunkHandling?: 'loose' | 'strict' | 'stop-before-partial' },
  ): Uint8Array;
}

declare class TextEncoder {
  readonly encoding: 'utf-8';
  encode(input?: string): Uint8Array;
  encodeInto(source: string, destination: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  /** Encodings: utf-8, utf-16le and windows-1252. */
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(input?: ArrayBufferLike | ArrayBufferView, options?: { stream?: boolean }): string;
}

/** Randomness, and hashes. */
interface Crypto {
  readonly subtle: SubtleCrypto;
  getRandomValues<
    T extends
      | Int8Array
      | Uint8Array
      | Uint8ClampedArray
      | Int16Array
      | Uint16Array
      | Int32Array
      | Uint32Array
      | BigInt64Array
      | BigUint64Array,
  >(array: T): T;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
}
declare var crypto: Crypto;

type HashName = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';
/** Hashes alone: `crypto` of '@agent-spaces/std' has the rest. */
interface SubtleCrypto {
  digest(
    algorithm: HashName | Lowercase<HashName> | { name: HashName },
    data: ArrayBuffer | ArrayBufferView,
  ): Promise<ArrayBuffer>;
}

// Intl is declared by the language's library; of that the sandbox has DateTimeFormat, NumberFormat, PluralRules,
// RelativeTimeFormat, ListFormat and Collator, with format, formatToParts, select, compare, resolvedOptions and
// supportedLocalesOf. Locales: de, en, es, fr, ja and sv, and of their regions de-DE, en-CA, en-GB, en-US, es-ES, fr-FR,
// ja-JP and sv-SE. Time zones: all. Any other locale, option or value is a RangeError that says what there is.

// Addresses and headers

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toJSON(): string;
  toString(): string;
}

declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<readonly [string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void, receiver?: unknown): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

declare class Headers {
  constructor(init?: Record<string, string> | Iterable<readonly [string, string]>);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, name: string, parent: Headers) => void, receiver?: unknown): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

// Events

interface EventInit {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}

declare class Event {
  static readonly NONE: 0;
  static readonly CAPTURING_PHASE: 1;
  static readonly AT_TARGET: 2;
  static readonly BUBBLING_PHASE: 3;
  constructor(type: string, init?: EventInit);
  readonly NONE: 0;
  readonly CAPTURING_PHASE: 1;
  readonly AT_TARGET: 2;
  readonly BUBBLING_PHASE: 3;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly currentTarget: EventTarget | null;
  readonly defaultPrevented: boolean;
  readonly eventPhase: number;
  readonly isTrusted: boolean;
  readonly returnValue: boolean;
  readonly srcElement: EventTarget | null;
  readonly target: EventTarget | null;
  readonly timeStamp: number;
  readonly type: string;
  composedPath(): EventTarget[];
  preventDefault(): void;
  stopImmediatePropagation(): void;
  stopPropagation(): void;
}

declare class CustomEvent<T = unknown> extends Event {
  constructor(type: string, init?: EventInit & { detail?: T });
  readonly detail: T;
}

type EventListener = ((event: Event) => void) | { handleEvent(event: Event): void };

declare class EventTarget {
  addEventListener(
    type: string,
    callback: EventListener | null,
    options?: boolean | { once?: boolean; capture?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener(type: string, callback: EventListener | null, options?: boolean | { capture?: boolean }): void;
  dispatchEvent(event: Event): boolean;
}

declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: unknown): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  static timeout(milliseconds: number): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((this: AbortSignal, event: Event) => void) | null;
  throwIfAborted(): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class DOMException extends Error {
  constructor(message?: string, name?: string);
  readonly name: string;
  readonly message: string;
  readonly code: number;
}
