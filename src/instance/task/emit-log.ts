import type { TaskHook } from '../../api/topology-context.ts';
import type { Logger } from '../../base/logger.ts';
import { describeValues } from './component-failure.ts';

/** Writes every emitted tuple to the log: the setting `topology.debug`. */
export function emitLog(logger: Logger): TaskHook {
  return {
    emit({ stream, values, targetTasks }): void {
      logger.info('emitted', {
        stream,
        values: describeValues(values),
        ...(targetTasks && { targetTasks }),
      });
    },
  };
}
