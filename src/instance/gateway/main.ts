/* The gateway's thread of an instance; started by ../system-instance-environment.ts. */

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../base/assert.ts';
import type { GatewayStart } from '../thread-channel.ts';
import { gatewayMain } from './gateway-main.ts';
import { systemGatewayEnvironment } from './system-gateway-environment.ts';

const port = parentPort;
assert(port !== null, 'the gateway is a worker thread of an instance');
gatewayMain(
  {
    start: workerData as GatewayStart,
    send: (message) => port.postMessage(message),
    onMessage: (handle) => void port.on('message', handle),
  },
  systemGatewayEnvironment(),
);
