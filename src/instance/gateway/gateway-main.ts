import { beatPeriodMs } from '../../base/beat.ts';
import { messageOf, toEnvelope, environmentError } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import type { LogFile } from '../../base/log-file.ts';
import { BYTES_PER_MB } from '../../base/units.ts';
import { logLevelOf } from '../../model/log-level.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import { Settings } from '../../model/settings.ts';
import { decodeTopology } from '../../wire/topology.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { GatewayEnvironment, GatewayPort } from './gateway-environment.ts';
import { Gateway } from './gateway.ts';

/**
 * The gateway's thread of an instance, from its start. Returns undefined when it could not begin,
 * of which it has told the task.
 */
export function gatewayMain(
  port: GatewayPort,
  environment: GatewayEnvironment,
): Gateway | undefined {
  const { identity } = port.start;
  try {
    const topology = readDefinition(environment.files, identity.definitionFile);
    const settings = new Settings(topology.config);
    // First of all: the task's thread may be busy with the user's modules for as long as it takes.
    environment.startBeating(beatPeriodMs(settings.get('heron.executor.child.silence.ms')));
    const logger = openGatewayLog(environment, identity, topology);
    const gateway = new Gateway({
      environment,
      start: port.start,
      topology,
      logger,
      setLogLevel: (level) => logger.setLevel(level),
      send: (message) => port.send(message),
    });
    port.onMessage((message) => gateway.handle(message));
    // The task's thread may be busy for ever: only this one notices in time that the parent is
    // gone.
    environment.watchParent(() => gateway.stop());
    environment.answerParent({
      activity: () => gateway.taskActivity,
      sample: (wish) => gateway.samples.take(wish),
    });
    gateway.start();
    return gateway;
  } catch (error) {
    port.send({ kind: 'cannot-start', error: toEnvelope(error, 'STATE_CORRUPTED') });
    return undefined;
  }
}

function openGatewayLog(
  environment: GatewayEnvironment,
  { instance, component, logDirectory }: InstanceIdentity,
  topology: LogicalTopology,
): LogFile {
  const settings = new Settings(topology.config);
  return environment.openLog({
    file: `${logDirectory}/${instance}.gateway.log`,
    level: logLevelOf(topology, component),
    name: `${instance}/gateway`,
    maxBytes: settings.get('heron.logging.maximum.size.mb') * BYTES_PER_MB,
    filesMax: settings.get('heron.logging.maximum.files'),
  });
}

function readDefinition(files: Files, file: string): LogicalTopology {
  try {
    return decodeTopology(files.readNow(file));
  } catch (cause) {
    const message = `the topology definition ${file} cannot be read: ${messageOf(cause)}`;
    throw environmentError('STATE_CORRUPTED', message, { cause });
  }
}
