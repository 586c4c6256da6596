import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSystemRandom } from '../../../src/base/random.ts';
import { RotatingFile, type RotatingFileOptions } from '../../../src/base/rotating-file.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import type { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { MetricsManager } from '../../../src/metrics-manager/metrics-manager.ts';
import { MetricsPublisher } from '../../../src/metrics-publisher/metrics-publisher.ts';
import type { LogicalTopology } from '../../../src/model/logical-topology.ts';
import { Settings } from '../../../src/model/settings.ts';
import { listenHttp } from '../../../src/net/http-server.ts';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { systemResourceUse } from '../../../src/process-start/system-resource-use.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

/* A metrics manager in the test's own process, and an instance that publishes to it. */

export const HOST = '127.0.0.1';
export const OURS = aTopology([aSpout('word')]);
export const THEIRS = aTopology([aSpout('word', { language: 'java' })]);
export const common = {
  network: tcpNetwork,
  openAppendFile: (options: RotatingFileOptions) => new RotatingFile(options),
  files: systemFiles,
  listenHttp,
  resourceUse: systemResourceUse,
  clock: systemClock,
  random: createSystemRandom(),
  logger: silentLogger,
};

export const IDENTITY = {
  hostname: 'host-1',
  port: 1,
  componentName: 'word',
  instanceId: 'container_1_word_1',
  instanceIndex: 0,
};

export interface Running {
  readonly manager: MetricsManager;
  readonly port: number;
  readonly stateManager: MemoryStateManager;
  readonly metricsFile: string;
  readonly logDirectory: string;
}

export async function start(
  t: TestContext,
  topology: LogicalTopology = OURS,
  settings: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const folder = await temporaryFolder();
  const stateManager = new MemoryStateManager();
  const manager = new MetricsManager({
    ...common,
    id: 'metricsmgr-1',
    topologyId: topology.id,
    topology,
    token: 'secret',
    host: HOST,
    port: 0,
    httpPort: 0,
    cluster: 'local',
    role: 'ada',
    environ: 'default',
    container: 1,
    logDirectory: folder.path,
    settings: new Settings(topology.config, new Map(Object.entries(settings))),
    stateManager,
  });
  t.after(async () => {
    await manager.close();
    await folder[Symbol.asyncDispose]();
  });
  await manager.start();
  const { port } = manager;
  assert.ok(port !== undefined);
  const metricsFile = join(folder.path, 'metricsmgr-1-metrics.jsonl');
  return { manager, port, stateManager, metricsFile, logDirectory: folder.path };
}

export function publisher(t: TestContext, port: number, registry: MetricsRegistry) {
  const made = new MetricsPublisher({
    ...common,
    metricsManager: { host: HOST, port },
    token: 'secret',
    identity: IDENTITY,
    collect: () => registry.collect(),
    collectHistograms: () => registry.collectHistograms(),
    intervalMs: 60_000,
    reconnectMs: 10,
  });
  t.after(() => made.close());
  made.start();
  return made;
}
