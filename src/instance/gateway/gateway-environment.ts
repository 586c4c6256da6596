import type { Inspected } from '../../inspection/inspected.ts';
import type { ProcessEnvironment } from '../../process-start/process-environment.ts';
import type { Doorbells } from '../../ring/doorbell.ts';
import type { GatewayStart, ToGateway, ToTask } from '../thread-channel.ts';

/** The gateway's end of what joins the two threads (thread-channel.ts). */
export interface GatewayPort {
  readonly start: GatewayStart;
  send(message: ToTask): void;
  /** Called once; what has been posted before waits for it. */
  onMessage(handle: (message: ToGateway) => void): void;
}

/** The world as an instance's gateway sees it; of the process's world it needs a part. */
export interface GatewayEnvironment
  extends Pick<
    ProcessEnvironment,
    'clock' | 'random' | 'network' | 'files' | 'openLog' | 'resourceUse' | 'startBeating'
  > {
  readonly doorbells: Doorbells;
  /** The stack of the task's thread, or undefined while it is inside a native call. */
  taskStack(): Promise<string | undefined>;
  /** Ends the whole process at once, whatever the task's thread is doing. */
  kill(): void;
  /** Answers what the process that started this one asks about the task. */
  answerParent(task: Pick<Inspected, 'activity' | 'sample'>): void;
  /** Calls once when the process that started this one is gone. */
  watchParent(onGone: () => void): void;
}
