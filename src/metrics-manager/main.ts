import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { COMMON_FLAGS, CommandLine, PORT } from '../base/command-line.ts';
import { userError } from '../base/errors.ts';
import { topologyId } from '../base/ids.ts';
import { openLogger } from '../base/log-file.ts';
import { runProcess } from '../base/process-main.ts';
import { createSystemRandom } from '../base/random.ts';
import { Settings } from '../model/settings.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
import { createStateManager } from '../state-manager/create.ts';
import { decodeTopology } from '../wire/topology.ts';
import { MetricsManager } from './metrics-manager.ts';

/* The metrics manager's process. It needs neither master nor state manager to be up. */

const MEBIBYTE = 1024 * 1024;

runProcess({ name: 'heron-metricsmgr' }, async (context) => {
  const flags = new CommandLine(process.argv.slice(2), [...COMMON_FLAGS, 'id', 'port']);
  const token = process.env['HERON_TOKEN'];
  if (token === undefined || token === '') throw userError('INVALID_ARGUMENT', 'no HERON_TOKEN');
  const topology = decodeTopology(await readFile(flags.text('definition-file')));
  const settings = new Settings(topology.config);
  context.setGrace(settings.get('heron.shutdown.grace.ms'));
  const clock = systemClock;
  const random = createSystemRandom();
  const id = flags.text('id');
  const logDirectory = flags.text('log-directory');
  const logger = openLogger({
    file: join(logDirectory, `heron-${id}.log`),
    level: 'info',
    name: id,
    clock,
    maxBytes: settings.get('heron.logging.maximum.size.mb') * MEBIBYTE,
    filesMax: settings.get('heron.logging.maximum.files'),
  });
  context.logTo(logger);
  const root = flags.text('state-root');
  const stateManager = createStateManager({ kind: 'file', root, clock, random, logger });
  const manager = new MetricsManager({
    id,
    topologyId: topologyId(flags.text('topology-id')),
    topology,
    token,
    host: flags.text('host'),
    port: flags.wholeNumber('port', PORT),
    logDirectory,
    settings,
    stateManager,
    network: tcpNetwork,
    clock,
    random,
    logger,
  });
  context.onShutdown(() => manager.close());
  context.onShutdown(() => stateManager.close());
  await manager.start();
});
