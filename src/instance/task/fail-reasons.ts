import { messageOf } from '../../base/errors.ts';
import type { FailError, FailKind, FailReason } from '../../model/fail-reason.ts';
import type { InstanceIdentity } from '../instance-identity.ts';

/**
 * A reason travels to the spout with each tuple that fails, and into its dead letters: long enough
 * to find the place, little next to a tuple.
 */
const MESSAGE_CHARACTERS_MAX = 1_000;
const STACK_CHARACTERS_MAX = 4_000;

/** Why a tuple fails at this task. `given` is what was thrown, or what the user gave to `fail`. */
export function failReason(
  kind: FailKind,
  { component, task }: Pick<InstanceIdentity, 'component' | 'task'>,
  given: unknown,
): FailReason {
  return { kind, component, task, error: given === undefined ? undefined : failError(given) };
}

function failError(given: unknown): FailError {
  const message = cut(messageOf(given), MESSAGE_CHARACTERS_MAX);
  const stack = given instanceof Error ? given.stack : undefined;
  return { message, stack: stack === undefined ? undefined : cut(stack, STACK_CHARACTERS_MAX) };
}

/** Never in the middle of a character: halves of one are no text on the wire. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return `${text.slice(0, isHalf ? max - 1 : max)}…`;
}
