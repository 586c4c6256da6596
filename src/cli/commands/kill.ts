import type { TopologyName } from '../../base/ids.ts';
import { openCluster, targetOf } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { withCommandLock } from '../command-lock.ts';
import { countLetters, lettersText } from '../dead-letters/letter-files.ts';
import { refuseForeignScheduler } from '../foreign-scheduler.ts';
import type { TopologyArguments } from '../find-topology.ts';
import { isAt, parsePlace, type Place, placeText } from '../place.ts';
import { lockOf } from '../submission.ts';
import {
  isElsewhere,
  notFound,
  parseTopologyName,
  placeOf,
  readTopologyRecord,
} from '../topology-record.ts';
import { confirmSubmit, unconfirmedSubmit } from '../unconfirmed-submit.ts';
import { drain } from './drain.ts';

export interface KillArguments extends TopologyArguments {
  /** Succeeds when there is nothing to kill. */
  readonly ifExists: boolean;
  /** Lets it process what it has taken in first, for as long as the timeout allows. */
  readonly drain: boolean;
  readonly timeoutSeconds: number;
}

/** Ends a topology, also one that other commands have left half made or half killed. */
export async function kill(given: KillArguments, context: CommandContext): Promise<CommandResult> {
  const drained = given.drain ? await drain(given, context) : undefined;
  return drained ?? (await killNow(given, context));
}

async function killNow(given: KillArguments, context: CommandContext): Promise<CommandResult> {
  const written = parsePlace(given.place);
  const name = parseTopologyName(given.name);
  await using cluster = await openCluster(written.cluster, context);
  const { stateManager, scheduler } = cluster;
  const lock = { ...lockOf(cluster, context, name), command: 'heron kill' };
  return await withCommandLock(lock, async () => {
    const record = await readTopologyRecord(stateManager, name);
    const place = placeOf(record, written, context.currentUser);
    if (!isAt(place, written)) throw isElsewhere(name, place);
    const target = targetOf(place, name);
    const { schedulerPid } = await scheduler.describe(target);
    const submit = await unconfirmedSubmit(stateManager, name);
    const isThere = record.hasNodes || schedulerPid !== undefined || submit !== undefined;
    await refuseForeignScheduler(cluster, target);
    if (isThere) context.output.say(`killing ${name}`);
    const deadLetters = await countLetters(await cluster.deadLetters.running(target));
    // Also when nothing is known of it: files may be left of a command that died early.
    await scheduler.kill(target);
    context.afterStep('kill');
    await cluster.archives(target).clear();
    context.afterStep('archives');
    await confirmSubmit(stateManager, name);
    if (!isThere && given.ifExists) return nothingToKill(name, place);
    if (!isThere) throw await notFound(stateManager, name, written);
    const wasHalfDead = schedulerPid === undefined;
    return {
      json: { name, ...place, state: 'KILLED', wasHalfDead, deadLetters },
      text: `${name} is gone from ${placeText(place)}${withLetters(deadLetters)}`,
    };
  });
}

function withLetters(count: number): string {
  return count === 0 ? '' : `, and ${lettersText(count)} with it`;
}

function nothingToKill(name: TopologyName, place: Place): CommandResult {
  return {
    json: { name, ...place, state: 'ABSENT', wasHalfDead: false, deadLetters: 0 },
    text: `there is no ${name} in ${placeText(place)}; nothing to kill`,
  };
}
