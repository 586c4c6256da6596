import type { z } from '@hono/zod-openapi';
import type { SeenError } from '../../topology-client/series.ts';
import type { lastError } from './figures-schema.ts';

export type LastError = z.output<typeof lastError>;

/** Of a message that somebody else wrote. */
const TEXT_CHARACTERS_MAX = 300;

/** In the form of the pages: the first line of a stack trace says what it was. */
export function lastErrorOf(
  component: string,
  { instance, lastTime, stackTrace, count }: SeenError,
): LastError {
  const [text = ''] = stackTrace.split('\n', 1);
  return { component, instance, at: lastTime, text: text.slice(0, TEXT_CHARACTERS_MAX), count };
}

/** The newest of several; times that do not compare as text, as those of Java, keep their order. */
export function newestFirst(errors: readonly LastError[]): LastError[] {
  return errors.toSorted((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
}
