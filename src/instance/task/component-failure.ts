import { inspect } from 'node:util';
import type { AnyTuple } from '../../api/tuple.ts';
import { EngineError, messageOf, stackOf } from '../../base/errors.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { Callback } from '../task-status.ts';

/** Longer values are cut: an error message is for a person, the tuple may have megabytes. */
const TUPLE_TEXT_MAX = 200;

/**
 * What a component threw, with everything that a person needs to find it: component, task, method,
 * tuple, and the author's own stack (source-mapped by Node).
 */
export function componentFailure(
  thrown: unknown,
  where: {
    readonly identity: Pick<InstanceIdentity, 'component' | 'task'>;
    readonly callback: Callback;
    readonly tuple?: AnyTuple | undefined;
  },
): EngineError {
  const { component, task } = where.identity;
  const on = where.tuple === undefined ? '' : ` on ${describeTuple(where.tuple)}`;
  const code = thrown instanceof EngineError ? thrown.code : 'COMPONENT_FAILED';
  const error = new EngineError(
    code,
    `${where.callback} of '${component}' (task ${task}) failed${on}: ${messageOf(thrown)}`,
    { domain: 'user', cause: thrown },
  );
  error.stack = stackOf(thrown);
  return error;
}

function describeTuple(tuple: AnyTuple): string {
  const source = `${tuple.sourceComponent}/${tuple.sourceStream} (task ${tuple.sourceTask})`;
  return `the tuple ${describeValues(tuple.values)} of ${source}`;
}

/** Whatever the values are, this does not throw: cycles, accessors and foreign classes too. */
export function describeValues(values: readonly unknown[]): string {
  const text = inspect(values, {
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: TUPLE_TEXT_MAX,
    maxArrayLength: 20,
    customInspect: false,
  });
  return text.length > TUPLE_TEXT_MAX ? `${text.slice(0, TUPLE_TEXT_MAX)}…` : text;
}
