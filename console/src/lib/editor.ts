/** What pages give to the editor. */

/** Mark in the editor. Lines and columns are 1-based. */
export interface Marker {
  line: number;
  column?: number;
  kind: 'error' | 'warning' | 'info';
  text: string;
}

/** Word that the editor offers. `members` are offered after `label.`. */
export interface Completion {
  label: string;
  detail?: string;
  info?: string;
  kind?: 'function' | 'variable' | 'module' | 'keyword' | 'property' | 'type';
  /** Text to insert instead of the label. */
  insert?: string;
  members?: Completion[];
}

export interface EditorProps {
  value: string;
  readonly?: boolean;
  markers?: Marker[];
  completions?: Completion[];
  /** Ctrl+Enter, or Cmd+Enter. */
  onrun?: () => void;
  label: string;
  /** Lines to show as marked; the first is scrolled into view. 1-based. */
  highlight?: number | number[];
  /** Called with the line of the cursor. */
  online?: (line: number) => void;
  /** CSS lengths. */
  minHeight?: string;
  maxHeight?: string;
}
