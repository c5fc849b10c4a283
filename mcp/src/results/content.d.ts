/** Text for the reader. */
export interface TextContent {
  type: 'text';
  text: string;
  annotations?: ContentAnnotations;
}

/** An image or a sound. Its bytes: `Uint8Array.fromBase64(block.data)`. */
export interface MediaContent {
  type: 'image' | 'audio';
  /** Such as `image/png`. */
  mimeType: string;
  /** The bytes in base64. */
  data: string;
  annotations?: ContentAnnotations;
}

/** A resource that the answer brings along. */
export interface ResourceContent {
  type: 'resource';
  resource: ResourceContents;
  annotations?: ContentAnnotations;
}

/** A resource that can be read by its address. */
export interface ResourceLink {
  type: 'resource_link';
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** In bytes. */
  size?: number;
  annotations?: ContentAnnotations;
}

/** What a tool answers where it is more than text. */
export type Content = TextContent | MediaContent | ResourceContent | ResourceLink;

/** For whom content is, and how much it matters: from 0 to 1. */
export interface ContentAnnotations {
  audience?: ('user' | 'assistant')[];
  priority?: number;
  lastModified?: string;
}

/** What a resource holds: text or bytes. The bytes of a blob: `Uint8Array.fromBase64(contents.blob)`. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  /** The bytes in base64. */
  blob?: string;
}

/** What reading a resource gives. */
export interface ResourceAnswer {
  contents: ResourceContents[];
}

/** What getting a prompt gives. */
export interface PromptAnswer {
  description?: string;
  messages: { role: 'user' | 'assistant'; content: Content }[];
}
