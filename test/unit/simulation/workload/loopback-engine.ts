import { attach, type AnyComponent, isSpout } from '../../../../src/api/component-runtime.ts';
import { TopologyContext } from '../../../../src/api/topology-context.ts';
import { Tuple, TupleOrigin } from '../../../../src/api/tuple.ts';
import { assertDefined } from '../../../../src/base/assert.ts';
import { componentName, streamName, type TaskId } from '../../../../src/base/ids.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { PackingPlan } from '../../../../src/model/packing-plan.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import {
  allowedTasks,
  copiesFor,
  ExpectedRouting,
  keyOf,
  type Reader,
} from '../../../../src/simulation/checkers/expected-routing.ts';
import { knownTuple } from '../../../../src/simulation/checkers/deliveries.ts';
import type { Workload } from '../../../../src/simulation/workload/workload.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';
import { aPhysicalPlan } from '../../../support/topologies.ts';
import { topologyId } from '../../../../src/base/ids.ts';

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
  #turn = 0;

  constructor(
    workload: Workload,
    packing: PackingPlan,
    distort: Distortion = (_, tasks) => [...tasks],
  ) {
    this.#workload = workload;
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

  readonly #contexts = new Map<TaskId, TopologyContext>();

  #addTask(task: TaskId, plan: PlanIndex): void {
    const name = this.#routing.componentOf(task);
    const factory = this.#workload.topology.factories.get(componentName(name));
    const component = assertDefined(factory, 'each component has one')();
    const context = new TopologyContext({
      plan,
      task,
      log: silentLogger,
      clock: this.clock,
      registerMetric() {},
      wake() {},
    });
    this.#contexts.set(task, context);
    const loop: LoopTask = { task, name, component, inbox: [], phase: 'running', isBusy: false };
    this.#tasks.set(task, loop);
    attach(
      component,
      {
        emit: (stream, values) => this.#route(loop, stream, values),
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

  #route(source: LoopTask, streamIndex: number, values: readonly unknown[]): void {
    const { topology } = this.#workload.topology;
    const component = topology.components.find(({ name }) => name === source.name);
    const stream = assertDefined(component?.outputs[streamIndex], 'it is declared');
    const origin = new TupleOrigin(componentName(source.name), stream.stream, stream.fields);
    const number = Number(values[0]);
    for (const reader of this.#routing.readersOf(source.name, streamName(stream.stream))) {
      for (const task of this.#distort(number, this.#choose(reader, number), reader)) {
        this.#tasks.get(task)?.inbox.push(new Tuple(origin, source.task, values));
      }
    }
  }

  #choose(reader: Reader, number: number): readonly TaskId[] {
    const tasks = allowedTasks(reader);
    if (copiesFor(reader) > 1) return tasks;
    const tuple = assertDefined(knownTuple(this.#workload.ledger, number), 'it is in the ledger');
    const key = keyOf(reader, tuple, tuple);
    this.#turn += 1;
    const turn = key === undefined ? this.#turn : tuple.firstKey + 7 * tuple.secondKey;
    if (key !== undefined && reader.grouping.kind === 'fields') {
      const [field] = reader.grouping.fields;
      const only = field === 'first' ? tuple.firstKey : tuple.secondKey;
      const value = reader.grouping.fields.length === 1 ? only : turn;
      return [tasks[value % tasks.length] as TaskId];
    }
    return [tasks[turn % tasks.length] as TaskId];
  }
}
