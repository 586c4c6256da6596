import type { TopologyName } from '../base/ids.ts';
import { isAlive, ownIdentity, parseIdentity } from '../base/process-identity.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';

/*
  A submit that was killed while it waited may have left a topology that runs, or one that never
  will, and nobody was told of either. So it leaves a note until it has said that the topology runs:
  the next submit of that name replaces what a dead submit never confirmed, as if it had been
  interrupted by Ctrl-C. A `status` that says RUNNING confirms as well.
*/

export async function noteSubmit(stateManager: StateManager, name: TopologyName): Promise<void> {
  await stateManager.write(paths.submit(name), Buffer.from(JSON.stringify(ownIdentity())));
}

export async function confirmSubmit(stateManager: StateManager, name: TopologyName): Promise<void> {
  await stateManager.delete(paths.submit(name));
}

/** `live`: the submit still waits. `dead`: it never came to its end. */
export async function unconfirmedSubmit(
  stateManager: StateManager,
  name: TopologyName,
): Promise<'live' | 'dead' | undefined> {
  const bytes = await stateManager.read(paths.submit(name));
  if (bytes === undefined) return undefined;
  const identity = parseIdentity(jsonOf(bytes));
  return identity !== undefined && isAlive(identity) ? 'live' : 'dead';
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined; // Damaged: nobody holds it.
  }
}
