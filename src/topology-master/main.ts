import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { COMMON_FLAGS, CommandLine, PORT } from '../base/command-line.ts';
import { userError } from '../base/errors.ts';
import { topologyId, topologyName } from '../base/ids.ts';
import { openLogger } from '../base/log-file.ts';
import { runProcess } from '../base/process-main.ts';
import { createSystemRandom } from '../base/random.ts';
import { Settings } from '../model/settings.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
import { createStateManager } from '../state-manager/create.ts';
import { decodeTopology } from '../wire/topology.ts';
import { TopologyMaster } from './topology-master.ts';

/*
  The topology master's process. It ends by itself only when it cannot go on: 69 when the state
  manager, the topology or the location node stay away too long, 73 when a port is taken, 77 when
  another incarnation has taken over or the name belongs to another submit.
*/

const NAME = 'heron-tmanager';
const MEBIBYTE = 1024 * 1024;
const FLAGS = [
  ...COMMON_FLAGS,
  'server-port',
  'controller-port',
  'stats-port',
  'metrics-manager-port',
] as const;

runProcess({ name: NAME }, async (context) => {
  const flags = new CommandLine(process.argv.slice(2), FLAGS);
  const token = process.env['HERON_TOKEN'];
  if (token === undefined || token === '') throw userError('INVALID_ARGUMENT', 'no HERON_TOKEN');
  const definition = decodeTopology(await readFile(flags.text('definition-file')));
  const settings = new Settings(definition.config);
  context.setGrace(settings.get('heron.shutdown.grace.ms'));
  const clock = systemClock;
  const random = createSystemRandom();
  const logger = openLogger({
    file: join(flags.text('log-directory'), `${NAME}.log`),
    level: 'info',
    name: NAME,
    clock,
    maxBytes: settings.get('heron.logging.maximum.size.mb') * MEBIBYTE,
    filesMax: settings.get('heron.logging.maximum.files'),
  });
  context.logTo(logger);
  const root = flags.text('state-root');
  const stateManager = createStateManager({ kind: 'file', root, clock, random, logger });
  const master = new TopologyMaster({
    topologyName: topologyName(flags.text('topology-name')),
    topologyId: topologyId(flags.text('topology-id')),
    token,
    host: flags.text('host'),
    serverPort: flags.wholeNumber('server-port', PORT),
    controllerPort: flags.wholeNumber('controller-port', PORT),
    statsPort: flags.wholeNumber('stats-port', PORT),
    metricsManagerPort: flags.wholeNumber('metrics-manager-port', PORT),
    settings,
    stateManager,
    network: tcpNetwork,
    clock,
    random,
    logger,
    onFailure: (error) => context.fail(error),
  });
  context.onShutdown(() => master.close());
  context.onShutdown(() => stateManager.close());
  await master.start();
});
