/** Parser of server-sent events, as the HTML standard defines them. */
import { ConnectionFailed } from './errors.js';

/** One message of a stream. */
export interface Message {
  /** Event name; `message` by default. */
  event: string;
  data: string;
  /** Last id of the stream so far. */
  id: string | undefined;
}

/** Longest message in UTF-16 units: several times the largest event, which has one call's arguments. */
const MAX_MESSAGE = 64 * 1024 * 1024;

/** Incremental parser: feed it chunks of any size. A message without its blank line at the end of the stream was cut, and is dropped. */
export class Parser {
  readonly #decoder = new TextDecoder();
  /** Parts of the line that has not ended yet. They are joined once, so that a long line costs no more than its length. */
  #line: string[] = [];
  #lineLength = 0;
  #data: string[] = [];
  #dataLength = 0;
  #event = '';
  #id: string | undefined;
  /** True if the previous chunk ended with CR: a following LF belongs to it. */
  #afterCr = false;

  /** Returns the messages that this chunk completes. */
  push(chunk: Uint8Array): Message[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    const messages: Message[] = [];
    let start = 0;
    if (this.#afterCr && text !== '') {
      if (text[0] === '\n') start = 1;
      this.#afterCr = false;
    }
    const ends = /\r\n|\r|\n/g;
    ends.lastIndex = start;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      this.#keep(text.slice(start, end.index));
      start = ends.lastIndex;
      const line = this.#line.join('');
      this.#line = [];
      this.#lineLength = 0;
      const message = this.#take(line);
      if (message !== undefined) messages.push(message);
      if (end[0] === '\r' && start === text.length) this.#afterCr = true;
    }
    this.#keep(text.slice(start));
    return messages;
  }

  #keep(part: string): void {
    if (part === '') return;
    this.#line.push(part);
    this.#lineLength += part.length;
    if (this.#lineLength + this.#dataLength > MAX_MESSAGE) throw new ConnectionFailed(`event is longer than ${MAX_MESSAGE} characters`);
  }

  #take(line: string): Message | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? '' : line.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    // An empty field name is a comment; `retry` is not used, because the client has its own backoff.
    if (field === 'data') {
      this.#data.push(value);
      this.#dataLength += value.length;
    } else if (field === 'event') {
      this.#event = value;
    } else if (field === 'id' && !value.includes('\0')) {
      this.#id = value;
    }
    return undefined;
  }

  #dispatch(): Message | undefined {
    const message = this.#data.length === 0 ? undefined : { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id };
    this.#data = [];
    this.#dataLength = 0;
    this.#event = '';
    return message;
  }
}
