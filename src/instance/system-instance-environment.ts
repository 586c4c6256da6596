import { Worker } from 'node:worker_threads';
import { entryFile } from '../base/entry.ts';
import { loadTopologyModule } from '../package/load-module.ts';
import { systemEnvironment } from '../process-start/system-environment.ts';
import { atomicsDoorbells } from '../ring/atomics-doorbell.ts';
import type {
  GatewayThread,
  GatewayThreadEvents,
  InstanceEnvironment,
} from './instance-environment.ts';
import { BlockingRoomWait } from './task/room-wait.ts';
import type { GatewayStart, ToTask } from './thread-channel.ts';

/** The real world of an instance. */
export function systemInstanceEnvironment(): InstanceEnvironment {
  return {
    ...systemEnvironment(),
    doorbells: atomicsDoorbells,
    roomWait: ({ dataOut, status }) => new BlockingRoomWait(dataOut, status),
    startGateway,
    loadTopology: loadTopologyModule,
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
