import { JsonText } from '../tracker-app.ts';

/*
  Answers that are written once. Each is kept beside what it was made of, which never changes, and
  goes with it: a container's new report leaves the text of the plans standing.
*/

interface KeptText {
  readonly of: string;
  readonly text: JsonText;
}

const keptByOwner = new WeakMap<object, Map<string, KeptText>>();

/**
 * The text that was written before, or the one that is written now.
 *
 * @param owner what `write` reads.
 * @param name tells the texts of one owner apart.
 * @param of all else that `write` reads, in short; another one takes the place of the last.
 */
export function kept(owner: object, name: string, write: () => unknown, of = ''): JsonText {
  let byName = keptByOwner.get(owner);
  if (byName === undefined) {
    byName = new Map();
    keptByOwner.set(owner, byName);
  }
  const known = byName.get(name);
  if (known?.of === of) return known.text;
  const text = new JsonText(JSON.stringify(write()));
  byName.set(name, { of, text });
  return text;
}

/** A list of which the elements have been written already. */
export function listed(elements: readonly JsonText[]): JsonText {
  return new JsonText(`[${elements.map(({ text }) => text).join(',')}]`);
}

/** An object of which some members have been written already. */
export function joined(members: Readonly<Record<string, unknown>>): JsonText {
  const texts = Object.entries(members).map(([name, value]) => {
    const text = value instanceof JsonText ? value.text : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return new JsonText(`{${texts.join(',')}}`);
}
