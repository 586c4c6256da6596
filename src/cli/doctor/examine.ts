import { statfs, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { topologyName } from '../../base/ids.ts';
import { ENGINE_VERSION } from '../../base/version.ts';
import { type ConfigLayers, readConfigLayers } from '../../config/config-layers.ts';
import { Settings } from '../../model/settings.ts';
import { tcpNetwork } from '../../net/tcp-network.ts';
import { paths } from '../../state-manager/paths.ts';
import { sameBytes } from '../../state-manager/same-bytes.ts';
import { type Cluster, targetOf } from '../cluster.ts';
import type { CommandContext } from '../command-context.ts';
import { errorReportOf } from '../error-report.ts';
import { placeOf, readTopologyRecord } from '../topology-record.ts';
import { openWorkFolder } from '../work-folder.ts';
import { type Check, fail, ok } from './check.ts';
import { judgeClock, judgeDisk, judgePlatform, judgeSchedulers, judgeState } from './judgements.ts';

/*
  Measures what topologies need of this machine, by doing what they do: writes and reads a node of
  the state tree, listens on ports and calls itself on them. Leaves nothing behind, and changes no
  topology: a dead scheduler is reported, not started.
*/

/** A machine that does not call itself within it has a firewall that drops, or is hopeless. */
const CALL_LIMIT_MS = 5_000;

export function examinePlatform(): Check {
  return judgePlatform({
    nodeVersion: process.versions.node,
    platform: process.platform,
    architecture: process.arch,
    engineVersion: ENGINE_VERSION,
  });
}

/** Also what the other checks go by; undefined when the settings are wrong. */
export async function examineSettings(
  cluster: string,
  context: CommandContext,
): Promise<{ readonly check: Check; readonly layers: ConfigLayers | undefined }> {
  try {
    const layers = await readConfigLayers({ ...context, cluster, properties: new Map() });
    const { size } = layers.entries;
    const [warning] = layers.warnings;
    const count = `${size} set outside of topologies`;
    if (warning === undefined) return { layers, check: ok('settings', count) };
    const check: Check = { name: 'settings', verdict: 'warn', message: warning, next: CONFIG_SHOW };
    return { layers, check };
  } catch (error) {
    return { layers: undefined, check: failed('settings', error) };
  }
}

const CONFIG_SHOW = "'heron config show' says where each setting comes from";

/** Disk and clock: facts of the folder that holds everything of this machine. */
export async function examineDataRoot(context: CommandContext): Promise<readonly Check[]> {
  try {
    await using workFolder = await openWorkFolder(context.dataRoot);
    const { bsize, bavail, blocks, ffree, files } = await statfs(workFolder.path);
    const probe = join(workFolder.path, 'probe');
    const wallMs = context.clock.wallNow();
    await writeFile(probe, 'written by heron doctor');
    const { mtimeMs } = await stat(probe);
    return [
      judgeDisk({
        folder: context.dataRoot,
        freeBytes: bavail * bsize,
        totalBytes: blocks * bsize,
        freeFiles: ffree,
        totalFiles: files,
      }),
      judgeClock({ wallMs, fileMs: mtimeMs }),
    ];
  } catch (error) {
    return [failed('disk', error)];
  }
}

/** One node that only this process knows; it goes with the process whatever happens. */
export async function examineState(cluster: Cluster): Promise<Check> {
  const { name, state, stateManager } = cluster;
  const path = paths.probe(`${hostname()}-${process.pid}`);
  const written = Buffer.from('written by heron doctor');
  try {
    await stateManager.create(path, written, { ephemeral: true });
    const read = await stateManager.read(path);
    await stateManager.delete(path);
    if (read !== undefined && sameBytes(read, written)) {
      const grantedMs = await cluster.grantedSessionMs();
      return judgeState({ cluster: name, address: state, grantedMs });
    }
    return fail('state', 'a node was not read as it was written', 'check the disk and its cables');
  } catch (error) {
    return failed('state', error);
  }
}

export async function examineSchedulers(
  cluster: Cluster,
  { currentUser }: CommandContext,
): Promise<Check> {
  const { stateManager, scheduler, name } = cluster;
  const running: string[] = [];
  const dead: string[] = [];
  try {
    for (const found of await stateManager.list(paths.topologies)) {
      const record = await readTopologyRecord(stateManager, topologyName(found));
      const place = placeOf(record, { cluster: name }, currentUser);
      const { schedulerPid } = await scheduler.describe(targetOf(place, record.name));
      (schedulerPid === undefined ? dead : running).push(found);
    }
    return judgeSchedulers({ cluster: name, running, dead });
  } catch (error) {
    return failed('scheduler', error);
  }
}

/** Listens on each address that containers get, and calls itself there. */
export async function examinePorts(
  layers: ConfigLayers | undefined,
  { clock }: CommandContext,
): Promise<Check> {
  const config = new Map([...(layers?.below ?? []), ...(layers?.above ?? [])]);
  const hosts = new Settings(config).get('heron.scheduler.local.hosts').split(',');
  for (const host of hosts) {
    const limit = new AbortController();
    const timer = clock.after(CALL_LIMIT_MS, () => limit.abort());
    try {
      const listener = await tcpNetwork.listen({ host, port: 0 }, (stream) => stream.destroy());
      try {
        const stream = await tcpNetwork.connect(listener.address, limit.signal);
        stream.destroy();
      } finally {
        listener.close();
      }
    } catch (error) {
      const text = `processes cannot meet on ${host}: ${messageOf(error)}`;
      return fail('ports', text, 'let heron.scheduler.local.hosts name addresses of this machine');
    } finally {
      timer.cancel();
    }
  }
  return ok('ports', `processes can meet on ${hosts.join(', ')}`);
}

function failed(name: string, error: unknown): Check {
  const { message, next } = errorReportOf(error);
  return fail(name, message, next);
}
