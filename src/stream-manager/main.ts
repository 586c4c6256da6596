import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { COMMON_FLAGS, CommandLine, PORT } from '../base/command-line.ts';
import { userError } from '../base/errors.ts';
import { instanceId, streamManagerId, topologyId, topologyName } from '../base/ids.ts';
import { openLogger } from '../base/log-file.ts';
import { runProcess } from '../base/process-main.ts';
import { createSystemRandom } from '../base/random.ts';
import { ENGINE_VERSION } from '../base/version.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { registerProcessMetrics } from '../metrics/process-metrics.ts';
import { MetricsPublisher } from '../metrics-publisher/metrics-publisher.ts';
import { Settings } from '../model/settings.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
import { createStateManager } from '../state-manager/create.ts';
import { StoredTopology } from '../wire/messages.ts';
import { topologyFromMessage } from '../wire/topology.ts';
import { StreamManager } from './stream-manager.ts';

/*
  The stream manager's process. It ends by itself only when it cannot go on: 69 when the topology
  master is not found in time, 73 when a port is taken, 77 when the name belongs to another submit
  or the plan has other tasks.
*/

const NAME = 'heron-stmgr';
const MEBIBYTE = 1024 * 1024;
const FLAGS = [
  ...COMMON_FLAGS,
  'id',
  'instance-ids',
  'data-port',
  'local-data-port',
  'metrics-manager-port',
  'shell-port',
] as const;

runProcess({ name: NAME }, async (context) => {
  const flags = new CommandLine(process.argv.slice(2), FLAGS);
  const token = process.env['HERON_TOKEN'];
  if (token === undefined || token === '') throw userError('INVALID_ARGUMENT', 'no HERON_TOKEN');
  const definition = StoredTopology.decode(await readFile(flags.text('definition-file')));
  const settings = new Settings(topologyFromMessage(definition).config);
  context.setGrace(settings.get('heron.shutdown.grace.ms'));
  const id = streamManagerId(flags.text('id'));
  const host = flags.text('host');
  const clock = systemClock;
  const random = createSystemRandom();
  const logger = openLogger({
    file: join(flags.text('log-directory'), `heron-${id}.log`),
    level: 'info',
    name: id,
    clock,
    maxBytes: settings.get('heron.logging.maximum.size.mb') * MEBIBYTE,
    filesMax: settings.get('heron.logging.maximum.files'),
  });
  context.logTo(logger);
  const root = flags.text('state-root');
  const stateManager = createStateManager({ kind: 'file', root, clock, random, logger });
  const metrics = new MetricsRegistry();
  registerProcessMetrics(metrics, clock);
  const streamManager = new StreamManager({
    id,
    own: {
      topologyName: topologyName(flags.text('topology-name')),
      topologyId: topologyId(flags.text('topology-id')),
      token,
      engineVersion: ENGINE_VERSION,
    },
    instanceIds: flags.text('instance-ids').split(',').map(instanceId),
    definition,
    settings,
    host,
    dataPort: flags.wholeNumber('data-port', PORT),
    localDataPort: flags.wholeNumber('local-data-port', PORT),
    shellPort: flags.wholeNumber('shell-port', PORT),
    workingDirectory: process.cwd(),
    pid: process.pid,
    stateManager,
    network: tcpNetwork,
    clock,
    random,
    logger,
    metrics,
    onFailure: (error) => context.fail(error),
  });
  context.onShutdown(() => streamManager.close());
  context.onShutdown(() => stateManager.close());
  await streamManager.start();
  const publisher = new MetricsPublisher({
    network: tcpNetwork,
    clock,
    random,
    logger,
    metricsManager: { host, port: flags.wholeNumber('metrics-manager-port', PORT) },
    token,
    identity: {
      hostname: host,
      port: streamManager.ports.localData,
      componentName: '__stmgr__',
      instanceId: id,
      instanceIndex: -1,
    },
    collect: () => metrics.collect(),
    intervalMs: settings.get('heron.metrics.export.interval.ms'),
    reconnectMs: settings.get('heron.instance.reconnect.metricsmgr.interval.ms'),
  });
  context.onShutdown(() => publisher.close());
  publisher.start();
});
