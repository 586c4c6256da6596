import type { BuiltTopology } from '../api/topology.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import type { RuntimeUse } from '../metrics/runtime-metrics.ts';
import type { LoadOptions } from '../package/load-module.ts';
import type { ProcessEnvironment } from '../process-start/process-environment.ts';
import type { Doorbells } from '../ring/doorbell.ts';
import type { RoomWait } from './task/room-wait.ts';
import type { TaskPorts } from './task/task-ports.ts';
import type { GatewayStart, ToGateway, ToTask } from './thread-channel.ts';

/** What the gateway's thread tells the task's; no call comes before `startGateway` has returned. */
export interface GatewayThreadEvents {
  onMessage(message: ToTask): void;
  /** An exception that nobody caught; `onExit` follows. */
  onError(error: unknown): void;
  onExit(): void;
}

/** The gateway's thread as the task's sees it. Messages keep their order, both ways. */
export interface GatewayThread {
  /** What is posted before the thread listens waits for it; nothing comes of it once it is gone. */
  post(message: ToGateway): void;
  /** Ends the thread at once; resolves when it is gone. Idempotent. */
  terminate(): Promise<void>;
}

/**
 * The world of an instance's main thread: little of that of every process, since its gateway has
 * the connections, and what makes its two threads.
 */
export interface InstanceEnvironment
  extends Pick<
    ProcessEnvironment,
    | 'arguments'
    | 'variables'
    | 'workingDirectory'
    | 'clock'
    | 'random'
    | 'files'
    | 'openLog'
    | 'sayReady'
  > {
  readonly doorbells: Doorbells;
  /** This process. */
  readonly process: ProcessIdentity;
  /** How `emit` waits for room in the ring of these ports. */
  roomWait(ports: TaskPorts): RoomWait;
  startGateway(start: GatewayStart, events: GatewayThreadEvents): GatewayThread;
  /** Of the main thread; undefined where nothing is measured. */
  readonly runtimeUse?: () => RuntimeUse;
  /** Imports a topology module, whose path is absolute, and builds its topology. */
  loadTopology(file: string, options: LoadOptions): Promise<BuiltTopology>;
}
