import { systemClock } from '../../src/base/clock.ts';
import { taskId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import {
  type AnyComponent,
  attach,
  type Collector,
  type GivenUpMessage,
} from '../../src/api/component-runtime.ts';
import { type ContextSource, TopologyContext } from '../../src/api/topology-context.ts';
import type { AnyTuple } from '../../src/api/index.ts';
import type { Component } from '../../src/model/logical-topology.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { packRoundRobin } from '../../src/packing/round-robin.ts';
import { aPhysicalPlan, aSpout, aTopology } from './topologies.ts';

/** Stands in for an instance: writes down what a component asks of it. */
export class RecordingCollector implements Collector {
  readonly emitted: {
    readonly streamIndex: number;
    readonly values: readonly unknown[];
    readonly anchors: readonly AnyTuple[] | undefined;
    readonly messageId: unknown;
  }[] = [];
  readonly direct: {
    readonly task: number;
    readonly streamIndex: number;
    readonly values: readonly unknown[];
    readonly anchors: readonly AnyTuple[] | undefined;
    readonly messageId: unknown;
  }[] = [];
  readonly acked: AnyTuple[] = [];
  readonly failed: { readonly tuple: AnyTuple; readonly reason: unknown }[] = [];
  readonly errors: unknown[] = [];
  readonly givenUp: GivenUpMessage[] = [];
  ends = 0;

  emit(
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void {
    this.emitted.push({ streamIndex, values, anchors, messageId });
  }

  emitDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
    messageId: unknown,
  ): void {
    this.direct.push({ task, streamIndex, values, anchors, messageId });
  }

  ack(tuple: AnyTuple): void {
    this.acked.push(tuple);
  }

  fail(tuple: AnyTuple, reason: unknown): void {
    this.failed.push({ tuple, reason });
  }

  reportError(error: unknown): void {
    this.errors.push(error);
  }

  endOfInput(): void {
    this.ends += 1;
  }

  get inputEnded(): boolean {
    return this.ends > 0;
  }

  async deadLetter(message: GivenUpMessage): Promise<void> {
    this.givenUp.push(message);
  }
}

/** The context of task 1 of a topology with these components, each in the same container. */
export function aContext(
  components: readonly Component[] = [aSpout('lines')],
  change: Partial<ContextSource> = {},
): TopologyContext {
  const topology = aTopology(components);
  return new TopologyContext({
    plan: new PlanIndex(aPhysicalPlan(topology, packRoundRobin(topology).plan)),
    task: taskId(1),
    log: silentLogger,
    clock: systemClock,
    random: createSeededRandom(1),
    workingDirectory: '/topology',
    registerMetric() {},
    every: () => ({ cancel() {} }),
    after: () => ({ cancel() {} }),
    addHook() {},
    wake() {},
    ...change,
  });
}

/** Attaches a component as task 1 of a component named `lines`. */
export function attached(component: AnyComponent): RecordingCollector {
  const collector = new RecordingCollector();
  attach(component, collector, aContext());
  return collector;
}
