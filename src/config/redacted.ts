export const REDACTED = '(redacted)';

/** Parts of keys whose values nobody should read over a shoulder. */
const SECRET =
  /pass(word|wd|phrase)|secret|token|credential|(^|[._-])(api|private|access)?[._-]?key$/i;
/** `https://name:secret@host`; the name stays. */
const ADDRESS_SECRET = /(:\/\/[^/?#\s:@]*):[^/?#\s@]+@/g;

/** A setting's text as it may be shown. */
export function redacted(key: string, text: string): string {
  if (SECRET.test(key)) return REDACTED;
  return text.replaceAll(ADDRESS_SECRET, `$1:${REDACTED}@`);
}
