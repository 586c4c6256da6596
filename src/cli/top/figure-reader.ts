import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { ComponentName } from '../../base/ids.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { InstanceAddress } from '../../model/physical-plan.ts';
import { Settings } from '../../model/settings.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import {
  findMaster,
  type MasterPorts,
  readRegistrations,
  readTaskMinutes,
} from '../../topology-client/master-client.ts';
import { figuresOf, metricsOf } from '../explore/figures.ts';
import { exploredComponent } from '../explore/state-source.ts';
import { RateBook } from './rate-book.ts';
import { type Flow, flowOf } from './top-model.ts';

/*
  The figures of one topology, asked of its master.

  A1. A master that hangs holds nobody up: who asks waits for `patienceMs` and gets what was known
      before, as long as that is not older than STALE_MS.
  A2. One question at a time is under way for a topology, whoever asks how often.
*/

export interface Figures {
  /** By instance; of those of which something is known. */
  readonly flows: ReadonlyMap<string, Flow>;
  /** Stream managers that the master has lost, or waits for. */
  readonly absent: ReadonlySet<string>;
}

export type FiguresAnswer =
  | { readonly isKnown: true; readonly figures: Figures }
  | { readonly isKnown: false; readonly because: string };

const STREAM_MANAGER = '__stmgr__';
const BEHIND = '__time_spent_back_pressure_by_compid/';
/** Names of instances in one question, which has to fit into a packet. */
const INSTANCES_ASKED_MAX = 5_000;
/** The running minute and the two before it. */
const WINDOW_SECONDS = 120;
/** Older figures are no figures of now. */
const STALE_MS = 15_000;
const MS_PER_SECOND = 1_000;

type Asked = Pick<LogicalTopology, 'id' | 'name' | 'components' | 'config'>;

export class FigureReader {
  readonly #clock: Clock;
  readonly #stateManager: StateManager;
  readonly #books = new Map<ComponentName | typeof STREAM_MANAGER, RateBook>();
  #underWay: Promise<void> | undefined;
  #answer: FiguresAnswer = { isKnown: false, because: 'no answer of its master yet' };
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, stateManager: StateManager) {
    this.#clock = clock;
    this.#stateManager = stateManager;
  }

  async read(
    topology: Asked,
    instances: readonly InstanceAddress[],
    { patienceMs, startedMs }: { readonly patienceMs: number; readonly startedMs: number },
  ): Promise<FiguresAnswer> {
    this.#underWay ??= this.#ask(topology, instances, startedMs).finally(() => {
      this.#underWay = undefined;
    });
    await this.#patiently(this.#underWay, patienceMs);
    const isStale = this.#clock.now() - this.#answeredAtMs > STALE_MS;
    return this.#answer.isKnown && isStale
      ? { isKnown: false, because: 'its master does not answer' }
      : this.#answer;
  }

  async #ask(
    topology: Asked,
    instances: readonly InstanceAddress[],
    startedMs: number,
  ): Promise<void> {
    try {
      const master = await findMaster(this.#stateManager, topology.name, topology.id);
      this.#answer =
        master === undefined
          ? { isKnown: false, because: 'it has no topology master' }
          : await this.#figures(master, topology, instances, startedMs);
    } catch (error) {
      this.#answer = { isKnown: false, because: messageOf(error) };
    }
    this.#answeredAtMs = this.#clock.now();
  }

  async #figures(
    master: MasterPorts,
    topology: Asked,
    instances: readonly InstanceAddress[],
    startedMs: number,
  ): Promise<FiguresAnswer> {
    const seconds = WINDOW_SECONDS;
    const asked = instances.slice(0, INSTANCES_ASKED_MAX);
    const behind = asked.map(({ id }) => `${BEHIND}${id}`);
    const components = topology.components.map((component) => exploredComponent(component));
    const [{ absent }, held, ...answers] = await Promise.all([
      readRegistrations(master),
      readTaskMinutes(master, STREAM_MANAGER, { metric: behind, seconds }),
      ...components.map((component) =>
        readTaskMinutes(master, component.name, { metric: metricsOf(component), seconds }),
      ),
    ]);
    const heldBook = this.#bookOf(STREAM_MANAGER, topology, startedMs);
    const nowSeconds = this.#clock.wallNow() / MS_PER_SECOND;
    heldBook.observe(held, nowSeconds);
    const heldMs = heldFor(heldBook, behind);
    const flows = new Map<string, Flow>();
    for (const [index, component] of components.entries()) {
      const name = topology.components[index]?.name;
      const answer = answers[index];
      if (name === undefined || answer === undefined) continue;
      const book = this.#bookOf(name, topology, startedMs);
      book.observe(answer, nowSeconds);
      const metrics = metricsOf(component);
      for (const instance of book.instances) {
        const numbers = book.numbers(instance, metrics) ?? new Map<string, number>();
        const figures = figuresOf(component, instance, numbers);
        flows.set(instance, flowOf(figures, heldMs.get(`${BEHIND}${instance}`)));
      }
    }
    return { isKnown: true, figures: { flows, absent: new Set(absent) } };
  }

  #bookOf(
    key: ComponentName | typeof STREAM_MANAGER,
    { config }: Asked,
    startedMs: number,
  ): RateBook {
    const known = this.#books.get(key);
    if (known !== undefined) return known;
    const exportMs = new Settings(config).get('heron.metrics.export.interval.ms');
    const book = new RateBook({
      exportSeconds: exportMs / MS_PER_SECOND,
      startedSeconds: startedMs / MS_PER_SECOND,
    });
    this.#books.set(key, book);
    return book;
  }

  async #patiently(work: Promise<void>, patienceMs: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const limit = this.#clock.after(patienceMs, over.resolve);
    await Promise.race([work, over.promise]);
    limit.cancel();
  }
}

/** Milliseconds per second, by the name of the metric: what all stream managers have measured. */
function heldFor(book: RateBook, metrics: readonly string[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const instance of book.instances) {
    for (const [metric, value] of book.numbers(instance, metrics) ?? []) {
      sums.set(metric, (sums.get(metric) ?? 0) + value);
    }
  }
  return sums;
}
