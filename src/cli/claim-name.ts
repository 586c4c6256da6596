import { hasCode } from '../base/errors.ts';
import type { TopologyName } from '../base/ids.ts';
import type { RepairOutcome, Scheduler, SchedulerTarget } from '../scheduler/scheduler.ts';
import { paths } from '../state-manager/paths.ts';
import { AdvisedError } from './advised-error.ts';
import { type Cluster, targetOf } from './cluster.ts';
import { countLetters, lettersText } from './dead-letters/letter-files.ts';
import type { CommandContext } from './command-context.ts';
import { refuseForeignScheduler } from './foreign-scheduler.ts';
import { type Place, placeText } from './place.ts';
import { placeOf, readTopologyRecord, type TopologyRecord } from './topology-record.ts';
import { unconfirmedSubmit } from './unconfirmed-submit.ts';
import { watchUntil } from './watch-until.ts';
import { TAKE_DOWN_LIMIT_MS } from './take-down-limit.ts';

export interface NameClaim {
  readonly name: TopologyName;
  readonly place: Place;
  /** A topology that lives under this name at the same place is killed. */
  readonly replace: boolean;
}

/**
 * Makes sure that a name is free. To be called under the command lock: then what no scheduler
 * stands behind, or no submit has confirmed, is what a dead command left, and is cleared away.
 *
 * @throws EngineError TOPOLOGY_EXISTS when the name belongs to a topology that lives,
 *   TOPOLOGY_NOT_READY when it does so on another machine.
 */
export async function claimName(
  { name, place, replace }: NameClaim,
  cluster: Cluster,
  context: CommandContext,
): Promise<void> {
  const { scheduler, stateManager } = cluster;
  const record = await readTopologyRecord(stateManager, name);
  const owner = placeOf(record, place, context.currentUser);
  const target = targetOf(owner, name);
  const submit = await unconfirmedSubmit(stateManager, name);
  const outcome = submit === 'dead' ? 'unconfirmed' : await repaired(scheduler, target);
  if (outcome === 'alive' || outcome === 'restarted') {
    const isGoing = record.topology !== undefined && record.completion !== undefined;
    if (!isGoing || !(await isTakenDown(name, cluster, context))) {
      if (!replace || placeText(owner) !== placeText(place)) throw exists(record, owner);
      const letters = await countLetters(await cluster.deadLetters.running(target));
      const withLetters = letters === 0 ? '' : `, and its ${lettersText(letters)}`;
      context.output.say(`killing ${name}, which is replaced${withLetters}`);
      await scheduler.kill(target);
    }
  } else if (outcome === 'unconfirmed' || (record.hasNodes && outcome !== 'ended')) {
    await refuseForeignScheduler(cluster, target);
    context.output.say(`clearing away what an interrupted command left of ${name}`);
    await scheduler.kill(target);
  }
  await cluster.archives(target).clear();
}

/** A launch record that cannot be read helps nobody: what it was about is wreckage. */
async function repaired(
  scheduler: Scheduler,
  target: SchedulerTarget,
): Promise<RepairOutcome | 'damaged'> {
  try {
    return await scheduler.repair(target);
  } catch (error) {
    if (hasCode(error, 'STATE_CORRUPTED')) return 'damaged';
    throw error;
  }
}

function isTakenDown(
  name: TopologyName,
  { stateManager }: Cluster,
  { clock, output }: CommandContext,
): Promise<boolean> {
  output.say(`waiting for the end of ${name}, which has completed`);
  const path = paths.topology(name);
  const watched = { stateManager, clock, path, limitMs: TAKE_DOWN_LIMIT_MS };
  return watchUntil(watched, (bytes) => bytes === undefined);
}

function exists({ name }: TopologyRecord, owner: Place) {
  const there = placeText(owner);
  return new AdvisedError('TOPOLOGY_EXISTS', `the topology '${name}' runs already, as ${there}`, {
    domain: 'user',
    next: `end it with 'heron kill ${there} ${name}' or submit with --replace; or use another name`,
  });
}
