import type { InstanceIdentity } from '../instance-identity.ts';
import type { TaskStatusReader } from '../task-status.ts';
import type { BlockedTask } from './blocked-task-watch.ts';

const MS_PER_S = 1000;

/** What a person needs to find where a task hangs: one line, and the stack where there is one. */
export async function describeBlockedTask(
  identity: Pick<InstanceIdentity, 'component' | 'task'>,
  { callback, how, blockedMs }: BlockedTask,
  takeStack: () => Promise<string | undefined>,
): Promise<string> {
  const { component, task } = identity;
  const method = callback === 'none' ? 'a callback (of a timer or a promise)' : callback;
  const who = `BlockedTask: ${method} of '${component}' (task ${task})`;
  const seconds = (blockedMs / MS_PER_S).toFixed(1);
  if (how === 'promise') {
    return (
      `${who} waits for a promise that has not settled for ${seconds} s; ` +
      'nothing else of this task runs meanwhile'
    );
  }
  const stack = await takeStack();
  return stack === undefined
    ? `${who} has not returned for ${seconds} s; ` +
        'it is inside a native call, which has no stack to show'
    : `${who} has not returned for ${seconds} s; it is here:\n${stack}`;
}

/** One line: whose code runs, or why none does. */
export function activityText(
  { component, task }: Pick<InstanceIdentity, 'component' | 'task'>,
  { activity, callback }: Pick<TaskStatusReader, 'activity' | 'callback'>,
): string {
  const whose = `'${component}' (task ${task})`;
  switch (activity) {
    case 'idle':
      return `${whose} waits for something to do`;
    case 'user-code':
      return `${callback} of ${whose} is running`;
    case 'room':
      return `${whose} waits inside emit for room in its ring: back pressure`;
    case 'promise':
      return `${callback} of ${whose} waits for its promise`;
  }
}
