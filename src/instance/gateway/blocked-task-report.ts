import type { InstanceIdentity } from '../instance-identity.ts';
import type { BlockedTask } from './blocked-task-watch.ts';

const MS_PER_S = 1000;

/** What a person needs to find the place where a task hangs. Begins with one line, then the stack. */
export async function describeBlockedTask(
  identity: Pick<InstanceIdentity, 'component' | 'task'>,
  { callback, how, blockedMs }: BlockedTask,
  takeStack: () => Promise<string | undefined>,
): Promise<string> {
  const { component, task } = identity;
  const seconds = (blockedMs / MS_PER_S).toFixed(1);
  if (how === 'promise') {
    return (
      `BlockedTask: ${callback} of '${component}' (task ${task}) returned a promise ` +
      `that has not settled for ${seconds} s; nothing else of this task runs meanwhile`
    );
  }
  const what = `BlockedTask: ${callback} of '${component}' (task ${task}) has not returned for ${seconds} s`;
  const stack = await takeStack();
  return stack === undefined
    ? `${what}; it is inside a native call, which has no stack to show`
    : `${what}; it is here:\n${stack}`;
}
