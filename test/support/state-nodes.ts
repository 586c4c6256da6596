import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemProcessIdentities } from '../../src/base/process-identities.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { systemFiles } from '../../src/base/system-files.ts';
import { createStateManager } from '../../src/state-manager/create.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Where the state of the cluster `local` is, below a data root. */
export const STATE = 'repository/state/local';

/** A data root whose state holds these nodes. */
export async function writeNodes(
  t: TestContext,
  nodes: Readonly<Record<string, Uint8Array>>,
): Promise<string> {
  const { path } = await temporaryFolder(t);
  const stateManager = createStateManager({
    kind: 'file',
    root: join(path, STATE),
    clock: systemClock,
    random: createSystemRandom(),
    logger: silentLogger,
    files: systemFiles,
    processes: systemProcessIdentities,
  });
  for (const [node, bytes] of Object.entries(nodes)) await stateManager.write(node, bytes);
  await stateManager.close();
  return path;
}
