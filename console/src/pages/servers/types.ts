/** MCP servers as the API shows them to those who review their changes. */

import type { McpServer, ServerChange } from '../../lib/types';

export interface ReviewedChange extends ServerChange {
  /** Untrusted: the change in words. */
  text?: string;
  /** The tool, or the server, is refused until the change is accepted. */
  breaking?: boolean;
}

export interface ReviewedServer extends McpServer {
  /** Hash of what it offers: what is accepted must be what was read. Only the operator has it. */
  offer?: string;
  changes?: ReviewedChange[];
}
