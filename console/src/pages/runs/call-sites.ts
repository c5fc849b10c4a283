/** Lines of a script that call a function. Events have no places: the name is looked up in the text, as a reader would. */

const MAX_LINES = 50;

function quote(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Lines (1-based), best guess first: `bank.pay(`, else `.pay(`, else `pay(`. */
export function callSites(source: string, capability: string, name: string): number[] {
  const fn = name.slice(name.lastIndexOf('.') + 1);
  if (fn === '' || fn.length > 200) return [];
  const call = `${quote(fn)}\\s*(?:<[^()<>]{0,100}>)?\\s*\\(`;
  const patterns = [
    new RegExp(`(?<![\\w$])${quote(capability)}\\s*\\??\\.\\s*${call}`),
    new RegExp(`\\.\\s*${call}`),
    new RegExp(`(?<![\\w$.])${call}`),
  ];
  const lines = source.split('\n');
  for (const pattern of patterns) {
    const found: number[] = [];
    for (let i = 0; i < lines.length && found.length < MAX_LINES; i++) {
      const line = (lines[i] ?? '').slice(0, 2000);
      if (!/^\s*(\/\/|\*|\/\*|import\b)/.test(line) && pattern.test(line)) found.push(i + 1);
    }
    if (found.length > 0) return found;
  }
  return [];
}
