import { hasCode } from '../../base/errors.ts';
import { type TopologyName, topologyName } from '../../base/ids.ts';
import { paths } from '../../state-manager/paths.ts';
import { type Cluster, targetOf } from '../cluster.ts';
import type { CommandContext } from '../command-context.ts';
import { isAt, type WrittenPlace } from '../place.ts';
import { readPhysicalPlan, readReports } from '../read-status.ts';
import { isElsewhere, notFound, placeOf, readTopologyRecord } from '../topology-record.ts';
import { FigureReader, type FiguresAnswer } from './figure-reader.ts';
import { detailOf } from './read-detail.ts';
import type { Overview, TopologyDetail, TopologyPage } from './top-model.ts';

/*
  Reads what `heron top` shows, again and again. Changes nothing: unlike `status` it starts no dead
  scheduler again, so that a screen that is left open does nothing behind anybody's back.

  P1. The work of one look is bounded: topologies are read some at a time, and the command pauses
      the longer the longer a look has taken.
*/

/** Topologies that are read at the same time. */
const AT_ONCE = 8;

export interface TopReaderOptions {
  readonly place: WrittenPlace;
  /** As it was written, to be shown. */
  readonly placeText: string;
  readonly cluster: Cluster;
  readonly context: Pick<CommandContext, 'clock' | 'currentUser'>;
  /** How long a look waits for one topology's master. */
  readonly patienceMs: number;
}

export class TopReader {
  readonly #options: TopReaderOptions;
  readonly #figures = new Map<string, FigureReader>();
  readonly #seen = new Set<TopologyName>();

  constructor(options: TopReaderOptions) {
    this.#options = options;
  }

  async overview(): Promise<Overview> {
    const { cluster, context, placeText } = this.#options;
    const { stateManager } = cluster;
    const names = new Set([
      ...(await stateManager.list(paths.topologies)),
      ...(await stateManager.list(paths.executionStates)),
      ...(await stateManager.list(paths.completedTopologies)),
    ]);
    const rest = [...names].toSorted().map((name) => topologyName(name));
    const details: TopologyDetail[] = [];
    while (rest.length > 0) {
      const some = rest.splice(0, AT_ONCE);
      details.push(...(await Promise.all(some.map((name) => this.#detail(name)))).flat());
    }
    this.#forget(names);
    return {
      kind: 'overview',
      place: placeText,
      atMs: context.clock.wallNow(),
      topologies: details.map(({ row }) => row).filter(({ state }) => state !== 'GONE'),
    };
  }

  /** @throws EngineError TOPOLOGY_NOT_FOUND for one that was never there. */
  async topology(name: TopologyName): Promise<TopologyPage> {
    const { cluster, context, place, placeText } = this.#options;
    const [detail] = await this.#detail(name, { isWanted: true });
    if (detail === undefined) throw await notFound(cluster.stateManager, name, place);
    if (detail.row.state === 'GONE' && !this.#seen.has(name)) {
      throw await notFound(cluster.stateManager, name, place);
    }
    this.#seen.add(name);
    const atMs = context.clock.wallNow();
    return { kind: 'topology', place: placeText, atMs, topology: detail };
  }

  /** Nothing for a topology of another place. */
  async #detail(
    name: TopologyName,
    { isWanted }: { readonly isWanted: boolean } = { isWanted: false },
  ): Promise<readonly TopologyDetail[]> {
    const { cluster, context, place: written } = this.#options;
    const { stateManager } = cluster;
    const record = await readTopologyRecord(stateManager, name);
    const place = placeOf(record, written, context.currentUser);
    if (record.hasNodes && !isAt(place, written)) {
      if (isWanted) throw isElsewhere(name, place);
      return [];
    }
    const { topology } = record;
    const plan = await readPhysicalPlan(stateManager, record);
    const physicalPlan = plan?.topology.id === topology?.id ? plan : undefined;
    const facts = {
      name,
      place,
      record,
      physicalPlan,
      reports: await readReports(stateManager, record),
      hasScheduler: await this.#hasScheduler(name, place),
      figures: await this.#figuresOf(name, record, physicalPlan?.instances ?? []),
    };
    return [detailOf(facts)];
  }

  async #figuresOf(
    name: TopologyName,
    { topology, execution, completion }: Awaited<ReturnType<typeof readTopologyRecord>>,
    instances: Parameters<FigureReader['read']>[1],
  ): Promise<FiguresAnswer> {
    if (topology === undefined || completion !== undefined) {
      return { isKnown: false, because: 'it does not run' };
    }
    const { clock } = this.#options.context;
    const key = `${name} ${topology.id}`;
    const reader =
      this.#figures.get(key) ?? new FigureReader(clock, this.#options.cluster.stateManager);
    this.#figures.set(key, reader);
    const startedMs = (execution?.submittedAtSeconds ?? 0) * 1_000;
    return reader.read(topology, instances, { patienceMs: this.#options.patienceMs, startedMs });
  }

  /** Undefined while another command works on the topology, or when nobody can tell. */
  async #hasScheduler(
    name: TopologyName,
    place: Parameters<typeof targetOf>[0],
  ): Promise<boolean | undefined> {
    const { stateManager, scheduler } = this.#options.cluster;
    try {
      const { schedulerPid } = await scheduler.describe(targetOf(place, name));
      if (schedulerPid !== undefined) return true;
    } catch (error) {
      if (!hasCode(error, 'STATE_CORRUPTED', 'FILE_FAILED')) throw error;
    }
    // On another machine; of one that has died here the node reads as absent.
    if ((await stateManager.read(paths.scheduler(name))) !== undefined) return true;
    return (await stateManager.read(paths.command(name))) === undefined ? false : undefined;
  }

  #forget(names: ReadonlySet<string>): void {
    for (const key of this.#figures.keys()) {
      if (!names.has(key.split(' ', 1)[0] ?? '')) this.#figures.delete(key);
    }
  }
}
