import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stateManagerAt } from './state-manager-at.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Where the state of the cluster `local` is, below a data root. */
export const STATE = 'repository/state/local';

/** A data root whose state holds these nodes. */
export async function writeNodes(
  t: TestContext,
  nodes: Readonly<Record<string, Uint8Array>>,
): Promise<string> {
  const { path } = await temporaryFolder(t);
  const stateManager = stateManagerAt(join(path, STATE));
  for (const [node, bytes] of Object.entries(nodes)) await stateManager.write(node, bytes);
  await stateManager.close();
  return path;
}
