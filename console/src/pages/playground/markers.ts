/** Marks in the editor for findings about a program. */

import type { Marker } from '../../lib/editor';
import type { Diagnostic, RunError } from '../../lib/types';

/** Column in UTF-16 units of a column in code points. */
function column(line: string, points: number): number {
  let units = 0;
  let left = points - 1;
  for (const c of line) {
    if (left-- <= 0) break;
    units += c.length;
  }
  return units + 1;
}

export function markersOf(diagnostics: Diagnostic[], source: string): Marker[] {
  const lines = source.split('\n');
  return diagnostics.slice(0, 200).map((one) => ({
    line: one.line,
    column: column(lines[one.line - 1] ?? '', one.column),
    kind: one.severity,
    text: `${one.message}${one.hint === undefined ? '' : `\n${one.hint}`} (${one.code})`,
  }));
}

/** Mark of an error of a run, if it has a place. */
export function errorMarker(error: RunError | undefined, source: string): Marker | undefined {
  if (!error?.location) return undefined;
  const { line, column: at } = error.location;
  return { line, column: column(source.split('\n')[line - 1] ?? '', at), kind: 'error', text: `${error.message} (${error.code})` };
}
