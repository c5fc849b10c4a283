/** Text of scripts, servers and models: made safe to show as text. */

/**
 * Makes control and invisible format characters visible, so that text cannot hide or reorder what a person reads:
 * C0 and C1 controls (but line feeds and tabs), bidirectional marks, zero-width characters, tags, lone surrogates.
 */
export function visible(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, '\u2421')
    .replace(
      /[\u0080-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu,
      (c, at: number, whole: string) => (joins(c, at, whole) ? c : `\u27e8U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}\u27e9`),
    );
}

const JOINED = /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}]$/u;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;

/** True for joiners where writing needs them: in emoji, and between letters of scripts that join. */
function joins(c: string, at: number, whole: string): boolean {
  if (c !== '\u200d' && c !== '\u200c') return false;
  const before = whole.slice(Math.max(0, at - 2), at);
  const after = String.fromCodePoint(whole.codePointAt(at + 1) ?? 0x20);
  return (JOINED.test(before) && (JOINED.test(after) || after === ' ')) || (c === '\u200d' && PICTURE.test(before) && PICTURE.test(after));
}

/** First `max` UTF-16 units of a text, never half of a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** One line for lists: visible, without line breaks, cut. */
export function oneLine(text: string, max = 200): string {
  const short = visible(cut(text, max * 2)).replace(/\s+/g, ' ').trim();
  return short.length > max ? `${cut(short, max)}…` : short;
}

/** JSON of a value on one line, cut. */
export function preview(value: unknown, max = 120): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_name, part: unknown) => {
      // Only the beginning is shown: megabytes are not written for it.
      if (typeof part === 'string') return cut(part, max * 2);
      return Array.isArray(part) && part.length > max ? part.slice(0, max) : part;
    });
  } catch {
    text = undefined;
  }
  return oneLine(text ?? String(value), max);
}
