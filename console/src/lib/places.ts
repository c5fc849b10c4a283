/** Places in scripts, as the server writes them. */

/** File and line of a place such as `agent.ts:5` or `agent.ts:5:12`. */
export function place(text: string): { file: string; line: number } | undefined {
  const found = /^(.*?):(\d{1,9})(?::\d{1,9})?$/.exec(text);
  return found ? { file: found[1] ?? '', line: Number(found[2]) } : undefined;
}

/** True if a place's file is the script itself, whatever its ending. */
export function isFile(file: string, name: string): boolean {
  const bare = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.[cm]?[jt]sx?$/, '');
  return bare(file) === bare(name);
}
