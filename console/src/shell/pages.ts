/** Pages of the console, in the order of the navigation. Each one is loaded when it is shown first. */

import type { Component } from 'svelte';

export interface PageProps {
  path: string[];
  query: URLSearchParams;
}

export interface PageEntry {
  id: string;
  label: string;
  /** Second key of the shortcut `g …`. */
  key: string;
  load: () => Promise<{ default: Component<PageProps> }>;
}

export const PAGES: PageEntry[] = [
  { id: 'runs', label: 'Runs', key: 'r', load: () => import('../pages/runs/Index.svelte') },
  { id: 'approvals', label: 'Approvals', key: 'a', load: () => import('../pages/approvals/Index.svelte') },
  { id: 'spaces', label: 'Spaces', key: 's', load: () => import('../pages/spaces/Index.svelte') },
  { id: 'capabilities', label: 'Capabilities', key: 'c', load: () => import('../pages/capabilities/Index.svelte') },
  { id: 'playground', label: 'Playground', key: 'p', load: () => import('../pages/playground/Index.svelte') },
  { id: 'agents', label: 'Agents', key: 'g', load: () => import('../pages/agents/Index.svelte') },
  { id: 'audit', label: 'Audit log', key: 'l', load: () => import('../pages/audit/Index.svelte') },
  { id: 'servers', label: 'MCP servers', key: 'm', load: () => import('../pages/servers/Index.svelte') },
];
