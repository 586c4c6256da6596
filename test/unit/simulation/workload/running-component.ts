import { attach } from '../../../../src/api/component-runtime.ts';
import { TopologyContext } from '../../../../src/api/topology-context.ts';
import { Tuple, TupleOrigin } from '../../../../src/api/tuple.ts';
import { assertDefined } from '../../../../src/base/assert.ts';
import { componentName, streamName, type TaskId, topologyId } from '../../../../src/base/ids.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import { ExpectedRouting } from '../../../../src/simulation/checkers/expected-routing.ts';
import type { Workload } from '../../../../src/simulation/workload/workload.ts';
import { WORKLOAD_FIELDS } from '../../../../src/simulation/workload/workload-description.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingCollector } from '../../../support/recording-collector.ts';
import { aPhysicalPlan } from '../../../support/topologies.ts';
import { packingOf } from '../checkers/finished-run.ts';

/** The first task of a component of a workload, attached to a collector that writes down. */
export class RunningComponent {
  readonly clock = new ManualClock();
  readonly collector = new RecordingCollector();
  readonly context: TopologyContext;
  readonly task: TaskId;
  readonly component;
  wakes = 0;
  readonly #workload: Workload;

  constructor(workload: Workload, name: string) {
    const packing = packingOf(workload);
    const topology = {
      ...workload.topology.topology,
      id: topologyId('small-1'),
      state: 'RUNNING',
    } as const;
    const tasks = new ExpectedRouting(workload.plan, packing).tasksOf(name);
    this.#workload = workload;
    this.task = assertDefined(tasks[0], 'the component has tasks');
    this.context = new TopologyContext({
      plan: new PlanIndex(aPhysicalPlan(topology, packing)),
      task: this.task,
      log: silentLogger,
      random: createSeededRandom(1),
      clock: this.clock,
      workingDirectory: '/',
      registerMetric() {},
      every: () => ({ cancel() {} }),
      after: () => ({ cancel() {} }),
      addHook() {},
      wake: () => void (this.wakes += 1),
    });
    workload.ledger.useClock(() => this.clock.now());
    const factory = workload.topology.factories.get(componentName(name));
    this.component = assertDefined(factory, 'it is a component')();
    attach(this.component, this.collector, this.context);
  }

  /** Numbers of the tuples that it has emitted. */
  get emitted(): readonly unknown[] {
    return this.collector.emitted.map(({ values }) => values[0]);
  }

  /** A tuple of another component, as it is in the ledger. */
  tupleFrom(source: RunningComponent, index: number): Tuple {
    const { values, streamIndex } = assertDefined(source.collector.emitted[index], 'it emitted');
    const name = source.context.componentName;
    const stream = assertDefined(source.context.streams[streamIndex], 'it is declared').stream;
    const origin = new TupleOrigin(name, streamName(stream), [...WORKLOAD_FIELDS]);
    return new Tuple(origin, source.task, values);
  }

  get life() {
    return assertDefined(this.#workload.ledger.livesOf(this.task).at(-1), 'it was opened');
  }
}
