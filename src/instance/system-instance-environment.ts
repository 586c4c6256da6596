import { Worker } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { entryFile } from '../base/entry.ts';
import { openLogger } from '../base/log-file.ts';
import { ownIdentity } from '../base/process-identity.ts';
import { createSystemRandom } from '../base/random.ts';
import { systemFiles } from '../base/system-files.ts';
import { loadTopologyModule } from '../package/load-module.ts';
import { watchRuntime } from '../process-start/system-runtime-use.ts';
import { atomicsDoorbells } from '../ring/atomics-doorbell.ts';
import { sayReady } from '../supervision/ready-message.ts';
import type {
  GatewayThread,
  GatewayThreadEvents,
  InstanceEnvironment,
} from './instance-environment.ts';
import { BlockingRoomWait } from './task/room-wait.ts';
import type { GatewayStart, ToTask } from './thread-channel.ts';

/**
 * The real world of an instance. Not made of that of other processes: there are many instances, and
 * none of their main threads needs to load what connections take.
 */
export function systemInstanceEnvironment(): InstanceEnvironment {
  return {
    arguments: process.argv.slice(2),
    variables: process.env,
    workingDirectory: process.cwd(),
    clock: systemClock,
    random: createSystemRandom(),
    files: systemFiles,
    openLog: (options) => openLogger({ ...options, clock: systemClock }),
    sayReady,
    doorbells: atomicsDoorbells,
    process: ownIdentity(),
    roomWait: ({ dataOut, status }) => new BlockingRoomWait(dataOut, status),
    startGateway,
    loadTopology: loadTopologyModule,
    runtimeUse: watchRuntime(),
  };
}

function startGateway(start: GatewayStart, events: GatewayThreadEvents): GatewayThread {
  const worker = new Worker(entryFile('instance/gateway/main'), { workerData: start });
  worker.on('message', (message: ToTask) => events.onMessage(message));
  worker.on('error', (error) => events.onError(error));
  worker.on('exit', () => events.onExit());
  return {
    post: (message) => worker.postMessage(message),
    terminate: async () => {
      await worker.terminate();
    },
  };
}
