import type { Clock, Timer } from '../../base/clock.ts';
import type { Settings } from '../../model/settings.ts';
import type { TaskStatusWriter } from '../task-status.ts';
import type { TrackedMessages } from './tracked-messages.ts';

const MS_PER_SECOND = 1_000;
/** How often, in a time-out, the task looks for messages that have timed out, as in Heron. */
const LOOKS_PER_TIME_OUT = 10;

/**
 * Fails messages that have timed out, where the stream manager does not tell of them (T3 in
 * tracked-messages.ts). Undefined when the topology has no time-outs.
 */
export function watchTimeOuts(
  messages: TrackedMessages,
  options: {
    readonly settings: Settings;
    readonly clock: Clock;
    readonly status: TaskStatusWriter;
    readonly wake: () => void;
  },
): Timer | undefined {
  const { settings, clock, status, wake } = options;
  if (!settings.get('topology.enable.message.timeouts')) return undefined;
  const timeOutMs = settings.get('topology.message.timeout.secs') * MS_PER_SECOND;
  return clock.every(timeOutMs / LOOKS_PER_TIME_OUT, () => {
    if (!status.forgetsTimeOuts) return;
    messages.expire(clock.now() - timeOutMs);
    wake();
  });
}
