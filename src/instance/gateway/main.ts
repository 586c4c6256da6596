/* The gateway's thread of an instance; started by ../main.ts. */

import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../base/assert.ts';
import { systemClock } from '../../base/clock.ts';
import { messageOf, toEnvelope, environmentError } from '../../base/errors.ts';
import { createSystemRandom } from '../../base/random.ts';
import { type LogFile, openLogger } from '../../base/log-file.ts';
import { BYTES_PER_MB } from '../../base/units.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import { Settings } from '../../model/settings.ts';
import { watchParent } from '../../net/parent-pipe.ts';
import { tcpNetwork } from '../../net/tcp-network.ts';
import { decodeTopology } from '../../wire/topology.ts';
import type { GatewayStart, ToGateway, ToTask } from '../thread-channel.ts';
import { Gateway } from './gateway.ts';
import { mainThreadStack } from './main-thread-stack.ts';

const port = parentPort;
assert(port !== null, 'the gateway is a worker thread of an instance');
const start = workerData as GatewayStart;
const send = (message: ToTask): void => port.postMessage(message);

try {
  const topology = readDefinition(start.identity.definitionFile);
  const gateway = createGateway(topology);
  port.on('message', (message: ToGateway) => gateway.handle(message));
  // The task's thread may be busy for ever: only this one notices in time that the parent is gone.
  watchParent(() => gateway.stop());
  gateway.start();
} catch (error) {
  send({ kind: 'cannot-start', error: toEnvelope(error, 'STATE_CORRUPTED') });
}

function createGateway(topology: LogicalTopology): Gateway {
  return new Gateway({
    start,
    topology,
    send,
    network: tcpNetwork,
    clock: systemClock,
    random: createSystemRandom(),
    logger: openGatewayLog(topology),
    taskStack: () => mainThreadStack(systemClock),
    kill: () => process.kill(process.pid, 'SIGKILL'),
  });
}

function openGatewayLog(topology: LogicalTopology): LogFile {
  const { instance, logDirectory } = start.identity;
  const settings = new Settings(topology.config);
  return openLogger({
    file: `${logDirectory}/${instance}.gateway.log`,
    level: 'info',
    name: `${instance}/gateway`,
    clock: systemClock,
    maxBytes: settings.get('heron.logging.maximum.size.mb') * BYTES_PER_MB,
    filesMax: settings.get('heron.logging.maximum.files'),
  });
}

function readDefinition(file: string): LogicalTopology {
  try {
    return decodeTopology(readFileSync(file));
  } catch (cause) {
    const message = `the topology definition ${file} cannot be read: ${messageOf(cause)}`;
    throw environmentError('STATE_CORRUPTED', message, { cause });
  }
}
