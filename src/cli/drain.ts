import { hasCode } from '../base/errors.ts';
import type { TopologyName } from '../base/ids.ts';
import type { Completion } from '../model/completion.ts';
import {
  type DrainRequest,
  encodeDrainRequest,
  parseDrainRequest,
} from '../model/drain-request.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { Interrupted } from './advised-error.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { whileGuarded } from './guard-scheduler.ts';
import { type Place, placeText } from './place.ts';
import type { LaunchedTopology } from './submission.ts';
import { readCompletion } from './topology-watch.ts';
import { TAKE_DOWN_LIMIT_MS } from './take-down-limit.ts';

/*
  The client's part of a drain (model/drain-request.ts): ask for it, then wait for the topology's
  end. The rest is done by the topology's own processes, whether this command lives or not; as long
  as it does, it looks after their scheduler.
*/

/** Asks for the drain, once: of two deadlines the earlier holds. */
export async function requestDrain(
  stateManager: StateManager,
  name: TopologyName,
  wish: DrainRequest,
): Promise<DrainRequest> {
  const path = paths.drain(name);
  const bytes = await stateManager.read(path);
  const earlier = bytes === undefined ? undefined : unlessDamaged(bytes);
  const isAsked = earlier?.topologyId === wish.topologyId && earlier.deadlineMs <= wish.deadlineMs;
  if (isAsked) return earlier;
  await stateManager.write(path, encodeDrainRequest(wish));
  return wish;
}

/**
 * Waits for the end of a topology that is drained. Resolves with its completion; undefined when it
 * did not complete in time, whether it is gone or not.
 */
export async function awaitDrained(
  drained: Pick<LaunchedTopology, 'place' | 'topology'>,
  request: DrainRequest,
  cluster: Cluster,
  context: CommandContext,
): Promise<Completion | undefined> {
  const { place, topology } = drained;
  await whileGuarded(drained, cluster, context, () =>
    untilGone(topology.name, place, request, cluster, context),
  );
  return await readCompletion(cluster.stateManager, topology);
}

function untilGone(
  name: TopologyName,
  place: Place,
  { deadlineMs }: DrainRequest,
  { stateManager }: Cluster,
  { clock, interruption }: CommandContext,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      limit.cancel();
      clock.soon(() => watch.close());
      interruption.removeEventListener('abort', onInterruption);
      end();
    };
    const onInterruption = (): void => {
      const next = `it goes on and then ends; 'heron kill ${placeText(place)} ${name}' ends it now`;
      settle(() => reject(new Interrupted(`${name} is being drained`, next)));
    };
    const limitMs = Math.max(0, deadlineMs - clock.wallNow()) + TAKE_DOWN_LIMIT_MS;
    const limit = clock.after(limitMs, () => settle(resolve));
    const watch = stateManager.watch(paths.topology(name), (bytes) => {
      if (bytes === undefined) settle(resolve);
    });
    interruption.addEventListener('abort', onInterruption);
    if (interruption.aborted) onInterruption();
  });
}

function unlessDamaged(bytes: Uint8Array): DrainRequest | undefined {
  try {
    return parseDrainRequest(bytes);
  } catch (error) {
    if (hasCode(error, 'STATE_CORRUPTED')) return undefined;
    throw error;
  }
}
