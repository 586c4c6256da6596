const LENGTH_MAX = 80;

/** A text from outside that can stand in a sentence: on one line, and not longer than one. */
export function quotable(text: string): string {
  const line = text.replaceAll(/\p{Cc}/gu, ' ');
  return line.length <= LENGTH_MAX ? line : `${line.slice(0, LENGTH_MAX)}…`;
}
