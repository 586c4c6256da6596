import { attach, type AnyComponent, isSpout } from '../../../../src/api/component-runtime.ts';
import { TopologyContext } from '../../../../src/api/topology-context.ts';
import { Tuple, TupleOrigin } from '../../../../src/api/tuple.ts';
import { assertDefined } from '../../../../src/base/assert.ts';
import {
  componentName,
  streamName,
  type TaskId,
  taskId,
  topologyId,
} from '../../../../src/base/ids.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import type { PackingPlan } from '../../../../src/model/packing-plan.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import {
  ExpectedRouting,
  isForEach,
  keyOf,
  type Reader,
} from '../../../../src/simulation/checkers/expected-routing.ts';
import { knownTuple, type KnownTuple } from '../../../../src/simulation/checkers/deliveries.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import type { Workload } from '../../../../src/simulation/workload/workload.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';
import { aPhysicalPlan } from '../../../support/topologies.ts';

/*
  Runs the user code of a workload without any engine: tuples go straight from `emit` into the inbox
  of their destination. What comes of it is how a perfect run looks, or, with a distortion, one that
  went wrong in one way.
*/

const ROUNDS_MAX = 100_000;

interface LoopTask {
  readonly task: TaskId;
  readonly name: string;
  readonly component: AnyComponent;
  readonly inbox: Tuple[];
  phase: 'running' | 'finishing' | 'ended';
  isBusy: boolean;
}

/** Where a tuple goes in place of the tasks that it should go to. */
export type Distortion = (tuple: number, tasks: readonly TaskId[], reader: Reader) => TaskId[];

export class LoopbackEngine {
  readonly clock = new ManualClock();
  readonly #workload: Workload;
  readonly #routing: ExpectedRouting;
  readonly #tasks = new Map<TaskId, LoopTask>();
  readonly #distort: Distortion;
  readonly #places: Places;
  readonly #turns = new Map<string, number>();
  readonly #contexts = new Map<TaskId, TopologyContext>();

  constructor(
    workload: Workload,
    packing: PackingPlan,
    distort: Distortion = (_, tasks) => [...tasks],
  ) {
    this.#workload = workload;
    this.#places = new Places(packing);
    this.#routing = new ExpectedRouting(workload.plan, packing);
    this.#distort = distort;
    workload.ledger.useClock(() => this.clock.now());
    const topology = {
      ...workload.topology.topology,
      id: topologyId('loop-1'),
      state: 'RUNNING',
    } as const;
    const plan = new PlanIndex(aPhysicalPlan(topology, packing));
    for (const task of this.#routing.tasks) this.#addTask(task, plan);
  }

  async run(): Promise<void> {
    for (const { component, task } of this.#tasks.values()) {
      const context = assertDefined(this.#contexts.get(task), 'each task has one');
      if (isSpout(component)) await component.open(context);
      else await component.prepare(context);
    }
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const left = [...this.#tasks.values()].filter(({ phase }) => phase !== 'ended');
      if (left.length === 0) return;
      for (const task of left) this.#step(task);
      await settled();
      this.clock.advance(1);
      await settled();
    }
    throw new Error('the workload does not come to its end');
  }

  #addTask(task: TaskId, plan: PlanIndex): void {
    const name = this.#routing.componentOf(task);
    const factory = this.#workload.topology.factories.get(componentName(name));
    const component = assertDefined(factory, 'each component has one')();
    const context = new TopologyContext({
      plan,
      task,
      log: silentLogger,
      random: createSeededRandom(1),
      clock: this.clock,
      workingDirectory: '/',
      registerMetric() {},
      every: () => ({ cancel() {} }),
      after: () => ({ cancel() {} }),
      addHook() {},
      wake() {},
    });
    this.#contexts.set(task, context);
    const loop: LoopTask = { task, name, component, inbox: [], phase: 'running', isBusy: false };
    this.#tasks.set(task, loop);
    attach(
      component,
      {
        emit: (stream, values, _anchors, messageId) => {
          this.#route(loop, stream, values);
          ackSoon(component, messageId);
        },
        emitDirect: (to, stream, values, _anchors, messageId) => {
          this.#route(loop, stream, values, taskId(to));
          ackSoon(component, messageId);
        },
        inputEnded: false,
        deadLetter: () => Promise.resolve(),
        ack() {},
        fail() {},
        reportError() {},
        endOfInput: () => void (loop.phase = 'ended'),
      },
      context,
    );
  }

  #step(loop: LoopTask): void {
    const { component } = loop;
    if (loop.isBusy) return;
    if (isSpout(component)) this.#call(loop, () => component.nextTuple());
    else {
      const tuple = loop.inbox.shift();
      if (tuple !== undefined) {
        this.#call(loop, () => component.execute(tuple));
        if (!loop.isBusy) this.#step(loop);
      } else if (this.#hasAllInput(loop)) {
        loop.phase = 'finishing';
        this.#call(
          loop,
          () => component.finish(),
          () => void (loop.phase = 'ended'),
        );
      }
    }
  }

  #call(loop: LoopTask, call: () => unknown, then: () => void = () => {}): void {
    const returned = call();
    if (!(returned instanceof Promise)) {
      then();
      return;
    }
    loop.isBusy = true;
    void returned.then(() => {
      loop.isBusy = false;
      then();
    });
  }

  #hasAllInput({ name, phase }: LoopTask): boolean {
    const bolt = this.#workload.plan.bolts.find((candidate) => candidate.name === name);
    const sources = new Set(bolt?.inputs.map(({ component }) => component));
    const upstream = [...this.#tasks.values()].filter((source) => sources.has(source.name));
    return phase === 'running' && upstream.every((source) => source.phase === 'ended');
  }

  #route(source: LoopTask, streamIndex: number, values: readonly unknown[], direct?: TaskId): void {
    const { topology } = this.#workload.topology;
    const component = topology.components.find(({ name }) => name === source.name);
    const stream = assertDefined(component?.outputs[streamIndex], 'it is declared');
    const origin = new TupleOrigin(componentName(source.name), stream.stream, stream.fields);
    const number = Number(values[0]);
    for (const reader of this.#routing.readersOf(source.name, streamName(stream.stream))) {
      const tasks = direct === undefined ? this.#choose(reader, number) : [direct];
      for (const task of this.#distort(number, tasks, reader)) {
        this.#tasks.get(task)?.inbox.push(new Tuple(origin, source.task, values));
      }
    }
  }

  #choose(reader: Reader, number: number): readonly TaskId[] {
    const tuple = assertDefined(knownTuple(this.#workload.ledger, number), 'it is in the ledger');
    const tasks = this.#routing.allowedTasks(reader, tuple);
    if (isForEach(reader)) return tasks;
    const at = keyOf(reader, tuple, tuple) === undefined ? this.#nextTurn(tuple, reader) : 0;
    const { grouping } = reader;
    const fields = grouping.kind === 'fields' ? grouping.fields : [];
    const hash = fields.reduce(
      (sum, field) => sum * 7 + (field === 'first' ? tuple.firstKey : tuple.secondKey),
      at,
    );
    return [tasks[hash % tasks.length] as TaskId];
  }

  /** Each stream manager gives the tasks of each reader their turn. */
  #nextTurn({ task, component, stream }: KnownTuple, { bolt }: Reader): number {
    const key = `${this.#places.of(task).streamManager} ${component} ${stream} ${bolt}`;
    const turn = this.#turns.get(key) ?? 0;
    this.#turns.set(key, turn + 1);
    return turn;
  }
}

/** Under at most once a message is settled when the call is over that emitted it. */
function ackSoon(component: AnyComponent, messageId: unknown): void {
  if (messageId === undefined || !isSpout(component)) return;
  void Promise.resolve().then(() => component.ack(messageId));
}
